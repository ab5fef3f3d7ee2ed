package otlp

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/log"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/infertel/infertel-go/internal/otlpreceiver"
	"github.com/infertel/infertel-go/internal/otlpreceiver/otlptest"
)

func emitLogs(p *Providers, n, size int) {
	logger := p.LoggerProvider().Logger("test")
	for range n {
		var rec log.Record
		rec.SetBody(attribute.StringValue(strings.Repeat("x", size)))
		logger.Emit(context.Background(), rec)
	}
}

func count(t testing.TB, p *Providers) {
	t.Helper()
	c, err := p.MeterProvider().Meter("test").Int64Counter("count")
	if err != nil {
		t.Fatal(err)
	}
	c.Add(context.Background(), 1)
}

// A burst as an engine makes it arrives whole with Setup. With the defaults of
// the SDK most of it does not.
func TestBurst(t *testing.T) {
	requests, per := 64, 1000
	if raceEnabled {
		requests, per = 64, 300
	}
	burst := func(tp trace.TracerProvider) {
		tracer := tp.Tracer("test")
		var wg sync.WaitGroup
		for range requests {
			wg.Go(func() {
				for i := range per {
					_, s := tracer.Start(context.Background(), "decode_loop", trace.WithAttributes(attribute.Int("i", i)))
					s.End()
				}
			})
		}
		wg.Wait()
	}
	handleErrors(t)
	r := otlptest.New(t)
	p := setup(t, WithEndpoint(r.Endpoint()))
	burst(p.TracerProvider())
	if err := p.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if n := len(r.Spans()); n != requests*per || p.Losses().Total() != 0 {
		t.Errorf("%d of %d spans arrived, %d counted as lost", n, requests*per, p.Losses().Total())
	}

	plain := otlptest.New(t)
	tp := sdktrace.NewTracerProvider(sdktrace.WithBatcher(traceExporter(t, plain)))
	burst(tp)
	if err := tp.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if n := len(plain.Spans()); n > requests*per/2 {
		t.Errorf("%d of %d spans arrived with the SDK's defaults: are larger queues needed?", n, requests*per)
	}
}

// With a queue that is too small, what arrived and what was lost add up, under
// load and when several goroutines flush.
func TestQueueFull(t *testing.T) {
	h := handleErrors(t)
	t.Setenv("OTEL_BSP_MAX_QUEUE_SIZE", "50")
	t.Setenv("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "7")
	t.Setenv("OTEL_BLRP_MAX_QUEUE_SIZE", "40")
	r := otlptest.New(t)
	p := setup(t, WithEndpoint(r.Endpoint()))
	const workers, each = 8, 500
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for i := range each {
				endSpans(p, 1)
				emitLogs(p, 1, 10)
				if i%100 == 0 {
					ctx, cancel := context.WithTimeout(context.Background(), time.Duration(i)*time.Microsecond)
					_ = p.ForceFlush(ctx) // gives up at times
					cancel()
				}
			}
		})
	}
	wg.Wait()
	err := p.Shutdown(t.Context())
	l := p.Losses()
	if l.Spans.QueueFull == 0 || l.LogRecords.QueueFull == 0 {
		t.Errorf("lost %+v: the queues are not small enough for this test", l)
	}
	if l.Spans.Total() != l.Spans.QueueFull || l.LogRecords.Total() != l.LogRecords.QueueFull || err != nil {
		t.Errorf("lost %+v, %v: want by full queues only, before Shutdown", l, err)
	}
	if got := int64(len(r.Spans())) + l.Spans.Total(); got != workers*each {
		t.Errorf("spans: %d arrived + %d lost, want %d", len(r.Spans()), l.Spans.Total(), workers*each)
	}
	if got := int64(len(r.Logs())) + l.LogRecords.Total(); got != workers*each {
		t.Errorf("log records: %d arrived + %d lost, want %d", len(r.Logs()), l.LogRecords.Total(), workers*each)
	}
	h.want(t, "1 span lost", "50 are waiting", "OTEL_BSP_MAX_QUEUE_SIZE")
	h.want(t, "1 log record lost", "40 are waiting", "OTEL_BLRP_MAX_QUEUE_SIZE")
}

// What waits is bounded in bytes too.
func TestQueueBytes(t *testing.T) {
	h := handleErrors(t)
	p := setup(t, WithEndpoint(silent(t)), WithQueueBytes(10_000))
	emitLogs(p, 1, 20_000) // alone it may be larger
	emitLogs(p, 1, 10)
	if l := p.Losses().LogRecords; l != (Causes{QueueFull: 1}) {
		t.Errorf("lost %+v, want 1 by a full queue", l)
	}
	endSpans(p, 200)
	if n := p.Losses().Spans.QueueFull; n < 50 || n > 199 {
		t.Errorf("%d of 200 spans dropped", n)
	}
	_ = shutdown(t, p, 20*time.Millisecond)
	if l := p.Losses(); l.Spans.Total() != 200 || l.LogRecords.Total() != 2 {
		t.Errorf("lost %+v, want 200 and 2", l)
	}
	h.want(t, "1 span lost", "10000 bytes are waiting", "WithQueueBytes")
}

// A span over the limit is sent alone and takes no other with it.
func TestOneSpanTooLarge(t *testing.T) {
	h := handleErrors(t)
	r := otlptest.New(t)
	p := setup(t, WithEndpoint(r.Endpoint()))
	endSpans(p, 3)
	_, s := p.TracerProvider().Tracer("test").Start(t.Context(), "large")
	s.SetAttributes(attribute.String("content", strings.Repeat("x", 5<<20)))
	s.End()
	endSpans(p, 3)
	emitLogs(p, 1, 5<<20)
	emitLogs(p, 2, 10)
	if err := p.Shutdown(t.Context()); err == nil {
		t.Error("no error")
	}
	if l := p.Losses(); l.Spans != (Causes{ExportFailed: 1}) || l.LogRecords != (Causes{ExportFailed: 1}) || len(r.Spans()) != 6 || len(r.Logs()) != 2 {
		t.Errorf("lost %+v, %d spans and %d logs arrived", l, len(r.Spans()), len(r.Logs()))
	}
	h.want(t, "1 span lost", "larger than max", "max_recv_msg_size_mib")
}

func TestPartialSuccess(t *testing.T) {
	h := handleErrors(t)
	r := otlptest.New(t)
	reply := otlpreceiver.Reply{Rejected: 2, Message: "two are bad"}
	for _, s := range []otlpreceiver.Signal{otlpreceiver.Traces, otlpreceiver.Metrics, otlpreceiver.Logs} {
		r.SetHook(s, func(context.Context, int) otlpreceiver.Reply { return reply })
	}
	p := setup(t, WithEndpoint(r.Endpoint()))
	send := func() {
		count(t, p)
		endSpans(p, 5)
		emitLogs(p, 5, 10)
		_ = p.ForceFlush(t.Context())
	}
	send()
	if l := p.Losses(); l != (Losses{Causes{Rejected: 2}, Causes{Rejected: 2}, Causes{Rejected: 1}}) {
		t.Errorf("lost %+v", l)
	}
	reply = otlpreceiver.Reply{Message: "deprecated"} // a warning is no loss
	send()
	send()
	reply = otlpreceiver.Reply{}
	if err := p.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if n := p.Losses().Total(); n != 5 || len(r.Spans()) != 13 || len(r.Logs()) != 13 {
		t.Errorf("%d lost, %d spans and %d logs arrived", n, len(r.Spans()), len(r.Logs()))
	}
	h.want(t, "2 spans lost", "two are bad")
	h.want(t, "2 log records lost", "two are bad")
	h.want(t, "1 metric export lost", "two are bad")
	h.want(t, "traces", "warns: deprecated")
	h.want(t, "logs", "warns: deprecated")
	h.want(t, "metrics", "warns: deprecated")
}

func TestRecordsKeepTheirOrder(t *testing.T) {
	handleErrors(t)
	r := otlptest.New(t)
	p := setup(t, WithEndpoint(r.Endpoint()))
	logger := p.LoggerProvider().Logger("test")
	for i := range 2000 {
		var rec log.Record
		rec.SetBody(attribute.IntValue(i))
		logger.Emit(t.Context(), rec)
	}
	if !logger.Enabled(t.Context(), log.EnabledParameters{}) {
		t.Error("not enabled")
	}
	if err := p.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i, l := range r.FlatLogs() {
		if l.Body != int64(i) {
			t.Fatalf("record %d is %v", i, l.Body)
		}
	}
}

// The metric says what Losses says, and nothing before there is something.
func TestLossMetric(t *testing.T) {
	handleErrors(t)
	r := otlptest.New(t)
	p := setup(t, WithEndpoint(r.Endpoint()))
	lost := func() map[string]any {
		t.Helper()
		_ = p.ForceFlush(t.Context())
		m := map[string]any{}
		for _, pt := range r.LastPoints() {
			if pt.Name == "infertel.otlp.lost" {
				if pt.Type != "sum" || !pt.Monotonic || pt.Number != "int" || pt.Unit != "{item}" || pt.Scope != ScopeName {
					t.Errorf("point %+v", pt)
				}
				m[pt.Attrs["signal"].(string)+" "+pt.Attrs["cause"].(string)] = pt.Value
			}
		}
		return m
	}
	count(t, p)
	endSpans(p, 5)
	if m := lost(); len(m) != 0 || len(r.LastPoints()) != 1 {
		t.Errorf("nothing was lost, but the metric says %v", m)
	}
	r.SetHook(otlpreceiver.Traces, func(context.Context, int) otlpreceiver.Reply {
		return otlpreceiver.Reply{Err: status.Error(codes.InvalidArgument, "no")}
	})
	r.SetHook(otlpreceiver.Logs, func(context.Context, int) otlpreceiver.Reply { return otlpreceiver.Reply{Rejected: 2} })
	endSpans(p, 5)
	emitLogs(p, 3, 10)
	lost()
	if m := lost(); len(m) != 2 || m["traces export_failed"] != int64(5) || m["logs rejected"] != int64(2) {
		t.Errorf("the metric says %v", m)
	}
	for _, m := range r.Metrics() {
		if got := m.Scope.GetVersion(); m.Scope.GetName() == ScopeName && got != Version {
			t.Errorf("the version of the scope is %q, want %q", got, Version)
		}
	}
}
