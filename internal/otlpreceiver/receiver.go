// Package otlpreceiver is an OTLP/gRPC receiver inside the process: it listens
// on loopback, takes traces, metrics and logs, and keeps what it was sent.
//
// Tests use it to look at what really arrives on the wire, and the example
// programs use it to print their own telemetry when no collector is named. It
// keeps everything in memory until Reset, so it is not a collector.
package otlpreceiver

import (
	"errors"
	"fmt"
	"net"
	"sync"

	collogs "go.opentelemetry.io/proto/otlp/collector/logs/v1"
	colmetrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	coltrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	logspb "go.opentelemetry.io/proto/otlp/logs/v1"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	_ "google.golang.org/grpc/encoding/gzip" // accepts gzip compressed exports
)

// Signal names one of the three kinds of telemetry.
type Signal string

// The signals.
const (
	Traces  Signal = "traces"
	Metrics Signal = "metrics"
	Logs    Signal = "logs"
)

// Origin is where an item comes from: the resource and the instrumentation
// scope it was sent under. Both may be nil, the getters of their types allow
// that.
type Origin struct {
	Resource  *resourcepb.Resource
	Scope     *commonpb.InstrumentationScope
	SchemaURL string // the scope's schema URL
}

// Span is one received span.
type Span struct {
	Origin
	*tracepb.Span
}

// Metric is one received metric: all its data points of one collection.
type Metric struct {
	Origin
	*metricspb.Metric
}

// Log is one received log record.
type Log struct {
	Origin
	*logspb.LogRecord
}

// Receiver is a running receiver. Its methods may be called concurrently, also
// after Stop.
type Receiver struct {
	addr   string
	scheme string
	server *grpc.Server
	served chan struct{}

	mu       sync.Mutex
	hooks    map[Signal]Hook
	spans    []Span
	metrics  []Metric
	logs     []Log
	traceReq []*coltrace.ExportTraceServiceRequest
	metReq   []*colmetrics.ExportMetricsServiceRequest
	logReq   []*collogs.ExportLogsServiceRequest
}

// Start starts a Receiver, by default on a free loopback port. It fails when
// the address cannot be listened on. The caller ends it with Stop.
func Start(opts ...Option) (*Receiver, error) {
	c := config{addr: "127.0.0.1:0"}
	for _, o := range opts {
		o.apply(&c)
	}
	l, err := net.Listen("tcp", c.addr)
	if err != nil {
		return nil, fmt.Errorf("otlpreceiver: %w", err)
	}
	// Handlers are waited for so that nothing of the receiver runs after Stop.
	gopts := []grpc.ServerOption{grpc.WaitForHandlers(true)}
	if c.maxMessage > 0 {
		gopts = append(gopts, grpc.MaxRecvMsgSize(c.maxMessage))
	}
	scheme := "http"
	if c.tls != nil {
		scheme = "https"
		gopts = append(gopts, grpc.Creds(credentials.NewTLS(c.tls)))
	}
	r := &Receiver{
		addr:   l.Addr().String(),
		scheme: scheme,
		server: grpc.NewServer(gopts...),
		served: make(chan struct{}),
		hooks:  make(map[Signal]Hook),
	}
	coltrace.RegisterTraceServiceServer(r.server, traceService{r: r})
	colmetrics.RegisterMetricsServiceServer(r.server, metricsService{r: r})
	collogs.RegisterLogsServiceServer(r.server, logsService{r: r})
	go func() {
		defer close(r.served)
		if err := r.server.Serve(l); err != nil && !errors.Is(err, grpc.ErrServerStopped) {
			_ = l.Close() // clients see a refused connection, the caller sees no data
		}
	}()
	return r, nil
}

// Stop closes the listener and every connection and returns when no call is
// running any more. What was received stays. Calling it again does nothing.
func (r *Receiver) Stop() {
	r.server.Stop()
	<-r.served
}

// Addr returns the address listened on, as host:port.
func (r *Receiver) Addr() string { return r.addr }

// Endpoint returns the address in the form of OTEL_EXPORTER_OTLP_ENDPOINT:
// http://host:port.
func (r *Receiver) Endpoint() string { return r.scheme + "://" + r.addr }

// Spans returns the accepted spans in the order of their arrival.
func (r *Receiver) Spans() []Span { return snapshot(r, &r.spans) }

// Metrics returns the accepted metrics in the order of their arrival, each as
// often as it was collected.
func (r *Receiver) Metrics() []Metric { return snapshot(r, &r.metrics) }

// Logs returns the accepted log records in the order of their arrival.
func (r *Receiver) Logs() []Log { return snapshot(r, &r.logs) }

// TraceRequests returns the accepted trace requests as they came.
func (r *Receiver) TraceRequests() []*coltrace.ExportTraceServiceRequest {
	return snapshot(r, &r.traceReq)
}

// MetricRequests returns the accepted metric requests as they came.
func (r *Receiver) MetricRequests() []*colmetrics.ExportMetricsServiceRequest {
	return snapshot(r, &r.metReq)
}

// LogRequests returns the accepted log requests as they came.
func (r *Receiver) LogRequests() []*collogs.ExportLogsServiceRequest {
	return snapshot(r, &r.logReq)
}

// Reset forgets everything received so far. Hooks stay.
func (r *Receiver) Reset() { r.Take() }

// Take returns what was received so far and forgets it, for programs that run
// on: nothing that arrives meanwhile is missed.
func (r *Receiver) Take() (spans []Span, metrics []Metric, logs []Log) {
	r.mu.Lock()
	defer r.mu.Unlock()
	spans, metrics, logs = r.spans, r.metrics, r.logs
	r.spans, r.metrics, r.logs = nil, nil, nil
	r.traceReq, r.metReq, r.logReq = nil, nil, nil
	return spans, metrics, logs
}

func snapshot[T any](r *Receiver, items *[]T) []T {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]T(nil), *items...)
}
