package otlpreceiver

import (
	"context"

	collogs "go.opentelemetry.io/proto/otlp/collector/logs/v1"
	colmetrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	coltrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
)

type traceService struct {
	coltrace.UnimplementedTraceServiceServer
	r *Receiver
}

func (s traceService) Export(ctx context.Context, req *coltrace.ExportTraceServiceRequest) (*coltrace.ExportTraceServiceResponse, error) {
	var items []Span
	for _, rs := range req.GetResourceSpans() {
		for _, ss := range rs.GetScopeSpans() {
			o := Origin{rs.GetResource(), ss.GetScope(), ss.GetSchemaUrl()}
			for _, sp := range ss.GetSpans() {
				items = append(items, Span{o, sp})
			}
		}
	}
	reply, err := s.r.decide(ctx, Traces, len(items))
	if err != nil {
		return nil, err
	}
	s.r.mu.Lock()
	s.r.spans = append(s.r.spans, accepted(items, reply.Rejected)...)
	s.r.traceReq = append(s.r.traceReq, req)
	s.r.mu.Unlock()
	resp := &coltrace.ExportTraceServiceResponse{}
	if reply.Rejected != 0 || reply.Message != "" {
		resp.PartialSuccess = &coltrace.ExportTracePartialSuccess{RejectedSpans: reply.Rejected, ErrorMessage: reply.Message}
	}
	return resp, nil
}

type metricsService struct {
	colmetrics.UnimplementedMetricsServiceServer
	r *Receiver
}

func (s metricsService) Export(ctx context.Context, req *colmetrics.ExportMetricsServiceRequest) (*colmetrics.ExportMetricsServiceResponse, error) {
	var items []Metric
	for _, rm := range req.GetResourceMetrics() {
		for _, sm := range rm.GetScopeMetrics() {
			o := Origin{rm.GetResource(), sm.GetScope(), sm.GetSchemaUrl()}
			for _, m := range sm.GetMetrics() {
				items = append(items, Metric{o, m})
			}
		}
	}
	reply, err := s.r.decide(ctx, Metrics, len(items))
	if err != nil {
		return nil, err
	}
	s.r.mu.Lock()
	s.r.metrics = append(s.r.metrics, items...)
	s.r.metReq = append(s.r.metReq, req)
	s.r.mu.Unlock()
	resp := &colmetrics.ExportMetricsServiceResponse{}
	if reply.Rejected != 0 || reply.Message != "" {
		resp.PartialSuccess = &colmetrics.ExportMetricsPartialSuccess{RejectedDataPoints: reply.Rejected, ErrorMessage: reply.Message}
	}
	return resp, nil
}

type logsService struct {
	collogs.UnimplementedLogsServiceServer
	r *Receiver
}

func (s logsService) Export(ctx context.Context, req *collogs.ExportLogsServiceRequest) (*collogs.ExportLogsServiceResponse, error) {
	var items []Log
	for _, rl := range req.GetResourceLogs() {
		for _, sl := range rl.GetScopeLogs() {
			o := Origin{rl.GetResource(), sl.GetScope(), sl.GetSchemaUrl()}
			for _, rec := range sl.GetLogRecords() {
				items = append(items, Log{o, rec})
			}
		}
	}
	reply, err := s.r.decide(ctx, Logs, len(items))
	if err != nil {
		return nil, err
	}
	s.r.mu.Lock()
	s.r.logs = append(s.r.logs, accepted(items, reply.Rejected)...)
	s.r.logReq = append(s.r.logReq, req)
	s.r.mu.Unlock()
	resp := &collogs.ExportLogsServiceResponse{}
	if reply.Rejected != 0 || reply.Message != "" {
		resp.PartialSuccess = &collogs.ExportLogsPartialSuccess{RejectedLogRecords: reply.Rejected, ErrorMessage: reply.Message}
	}
	return resp, nil
}

// accepted returns items without the last rejected ones.
func accepted[T any](items []T, rejected int64) []T {
	return items[:len(items)-int(max(0, min(rejected, int64(len(items)))))]
}
