package otlp

import (
	"context"

	collogs "go.opentelemetry.io/proto/otlp/collector/logs/v1"
	colmetrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	coltrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/grpc"
)

// ack is what the collector acknowledged of one export. The exporters' errors do
// not tell: an export in several messages fails in part, and a partial success
// is an error even when nothing was rejected.
type ack struct {
	accepted int64
	rejected int64
	message  string // of the last partial success
	err      error  // of the last failed call
}

type ackKey struct{}

func withAck(ctx context.Context, a *ack) context.Context {
	return context.WithValue(ctx, ackKey{}, a)
}

// recordAck is a client interceptor that fills the ack of the context. It runs
// on the goroutine that exports.
func recordAck(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	err := invoke(ctx, method, req, reply, cc, opts...)
	a, ok := ctx.Value(ackKey{}).(*ack)
	if !ok {
		return err
	}
	if err != nil {
		a.err = err
		return err
	}
	switch reply := reply.(type) {
	case *coltrace.ExportTraceServiceResponse:
		n := 0
		for _, rs := range req.(*coltrace.ExportTraceServiceRequest).GetResourceSpans() {
			for _, ss := range rs.GetScopeSpans() {
				n += len(ss.GetSpans())
			}
		}
		ps := reply.GetPartialSuccess()
		a.add(n, ps.GetRejectedSpans(), ps.GetErrorMessage())
	case *collogs.ExportLogsServiceResponse:
		n := 0
		for _, rl := range req.(*collogs.ExportLogsServiceRequest).GetResourceLogs() {
			for _, sl := range rl.GetScopeLogs() {
				n += len(sl.GetLogRecords())
			}
		}
		ps := reply.GetPartialSuccess()
		a.add(n, ps.GetRejectedLogRecords(), ps.GetErrorMessage())
	case *colmetrics.ExportMetricsServiceResponse:
		ps := reply.GetPartialSuccess()
		a.add(1, ps.GetRejectedDataPoints(), ps.GetErrorMessage())
	}
	return nil
}

func (a *ack) add(sent int, rejected int64, message string) {
	rejected = max(0, min(rejected, int64(sent)))
	a.accepted += int64(sent) - rejected
	a.rejected += rejected
	if message != "" {
		a.message = message
	}
}
