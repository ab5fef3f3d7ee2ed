package otlp

import (
	"context"
	"net"
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

// silent listens, accepts connections and never says anything.
func silent(t testing.TB) (endpoint string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var conns []net.Conn
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			conns = append(conns, c)
		}
	}()
	t.Cleanup(func() {
		_ = l.Close()
		<-done
		for _, c := range conns {
			_ = c.Close()
		}
	})
	return "http://" + l.Addr().String()
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

// A collector that is not there, or says nothing, costs the data and no more.
func TestNoCollector(t *testing.T) {
	for name, endpoint := range map[string]string{
		"unreachable": "http://127.0.0.1:1",
		"silent":      silent(t),
	} {
		for _, tt := range []struct {
			name  string
			env   map[string]string
			after time.Duration // the deadline of Shutdown
			want  func(Losses) bool
		}{
			{"export times out", map[string]string{"OTEL_EXPORTER_OTLP_TIMEOUT": "20"}, 8 * time.Second, func(l Losses) bool {
				return l.Spans.ExportFailed == 3000 && l.LogRecords.ExportFailed == 300 && l.MetricExports.ExportFailed == 1
			}},
			{"shutdown comes first", nil, 100 * time.Millisecond, func(l Losses) bool {
				return l.Spans.Shutdown == 3000 && l.LogRecords.Shutdown == 300 && l.MetricExports.Total() == 1
			}},
		} {
			t.Run(name+", "+tt.name, func(t *testing.T) {
				h := handleErrors(t)
				for k, v := range tt.env {
					t.Setenv(k, v)
				}
				p := setup(t, WithEndpoint(endpoint))
				count(t, p)
				endSpans(p, 3000)
				emitLogs(p, 300, 10)
				err := shutdown(t, p, tt.after)
				if l := p.Losses(); !tt.want(l) || l.Total() != 3301 {
					t.Errorf("lost %+v", l)
				}
				// The first full batch may have been lost before Shutdown.
				if err == nil || !strings.Contains(err.Error(), " spans, 300 log records, 1 metric export") {
					t.Errorf("error %v", err)
				}
				if again := p.Shutdown(t.Context()); again == nil || again.Error() != err.Error() {
					t.Errorf("the second Shutdown returns %v, the first %v", again, err)
				}
				for _, items := range []string{"spans lost", "log records lost", "metric export lost"} {
					h.want(t, items)
				}
				if n := len(h.all()); n != 3 {
					t.Errorf("%d reports: %q", n, h.all())
				}
			})
		}
	}
}

// Ending spans never waits for a collector that is stuck, and what is over the
// queue is counted.
func TestStuckCollector(t *testing.T) {
	h := handleErrors(t)
	t.Setenv("OTEL_BSP_MAX_QUEUE_SIZE", "100")
	t.Setenv("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "10")
	r := otlptest.New(t)
	stuck := make(chan struct{})
	r.SetHook(otlpreceiver.Traces, func(ctx context.Context, _ int) otlpreceiver.Reply {
		select {
		case <-stuck:
		case <-ctx.Done():
		}
		return otlpreceiver.Reply{}
	})
	p := setup(t, WithEndpoint(r.Endpoint()))
	endSpans(p, 1000)
	if l := p.Losses().Spans; l != (Causes{QueueFull: 900}) {
		t.Errorf("lost %+v, want 900 by the queue", l)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
	defer cancel()
	if err := p.ForceFlush(ctx); err == nil {
		t.Error("ForceFlush succeeded")
	}
	close(stuck)
	if err := p.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if n := len(r.Spans()); n != 100 {
		t.Errorf("%d spans arrived, want the 100 that were queued: ForceFlush must not lose what it gives up on", n)
	}
	h.want(t, "100 are waiting")
}

func TestRefused(t *testing.T) {
	for _, tt := range []struct {
		code codes.Code
		hint string
	}{
		{codes.ResourceExhausted, "max_recv_msg_size_mib"},
		{codes.InvalidArgument, "InvalidArgument"},
		{codes.Unauthenticated, "OTEL_EXPORTER_OTLP_HEADERS"},
		{codes.Unimplemented, "_EXPORTER=none"},
	} {
		t.Run(tt.code.String(), func(t *testing.T) {
			h := handleErrors(t)
			r := otlptest.New(t)
			r.Fail(status.Error(tt.code, "because"))
			p := setup(t, WithEndpoint(r.Endpoint()))
			count(t, p)
			endSpans(p, 5)
			emitLogs(p, 3, 10)
			if err := p.ForceFlush(t.Context()); err == nil || !strings.Contains(err.Error(), "lost 5 spans, 3 log records, 1 metric export") {
				t.Errorf("ForceFlush returns %v", err)
			}
			r.Fail(nil)
			endSpans(p, 2)
			emitLogs(p, 1, 10)
			if err := p.Shutdown(t.Context()); err != nil {
				t.Error(err)
			}
			if l := p.Losses(); l != (Losses{Causes{ExportFailed: 5}, Causes{ExportFailed: 3}, Causes{ExportFailed: 1}}) {
				t.Errorf("lost %+v", l)
			}
			if len(r.Spans()) != 2 || len(r.Logs()) != 1 {
				t.Errorf("%d spans, %d logs arrived", len(r.Spans()), len(r.Logs()))
			}
			h.want(t, "5 spans lost", "because", tt.hint)
			h.want(t, "3 log records lost", "because", tt.hint)
			h.want(t, "1 metric export lost", "because", tt.hint)
		})
	}
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

// A collector that comes back gets what is still waiting.
func TestCollectorComesBack(t *testing.T) {
	handleErrors(t)
	r := otlptest.New(t)
	endpoint, addr := r.Endpoint(), r.Addr()
	r.Stop()
	p := setup(t, WithEndpoint(endpoint))
	endSpans(p, 100)
	emitLogs(p, 10, 10)
	flushed := make(chan error)
	go func() { flushed <- p.ForceFlush(t.Context()) }()
	again := otlptest.New(t, otlpreceiver.WithAddr(addr))
	if err := <-flushed; err != nil {
		t.Error(err)
	}
	if len(again.Spans()) != 100 || len(again.Logs()) != 10 || p.Losses().Total() != 0 {
		t.Errorf("%d spans and %d logs arrived, lost %+v", len(again.Spans()), len(again.Logs()), p.Losses())
	}
	// Unavailable for a moment.
	calls := 0
	again.SetHook(otlpreceiver.Traces, func(context.Context, int) otlpreceiver.Reply {
		if calls++; calls == 1 {
			return otlpreceiver.Reply{Err: status.Error(codes.Unavailable, "starting")}
		}
		return otlpreceiver.Reply{}
	})
	endSpans(p, 1)
	if err := p.Shutdown(t.Context()); err != nil || len(again.Spans()) != 101 {
		t.Errorf("%v, %d spans arrived", err, len(again.Spans()))
	}
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
