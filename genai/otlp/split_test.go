package otlp

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlplog/otlploggrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/log"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/infertel/infertel-go/internal/otlpreceiver"
	"github.com/infertel/infertel-go/internal/otlpreceiver/otlptest"
)

func traceExporter(t testing.TB, r *otlptest.Receiver) sdktrace.SpanExporter {
	t.Helper()
	e, err := otlptracegrpc.New(t.Context(), otlptracegrpc.WithEndpointURL(r.Endpoint()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Shutdown(context.Background()) })
	return e
}

func named(names ...string) []sdktrace.ReadOnlySpan {
	var stubs tracetest.SpanStubs
	for _, n := range names {
		stubs = append(stubs, tracetest.SpanStub{Name: n})
	}
	return stubs.Snapshots()
}

// eventful ends n spans of some events each.
func eventful(tp trace.TracerProvider, n, events int, phase string) {
	tracer := tp.Tracer("test")
	for range n {
		_, s := tracer.Start(context.Background(), "decode")
		for i := range events {
			s.AddEvent("decode_step", trace.WithAttributes(
				attribute.Int("batch.size", i), attribute.Int("tokens", 3), attribute.Int("kv.used", 400),
				attribute.Float64("kv.pct", 0.5), attribute.String("phase", phase), attribute.Bool("preempted", false)))
		}
		s.End()
	}
}

// Spans with many events do not fit into the messages a collector accepts. The
// exporter alone loses them, Setup and a SplitSpanExporter do not.
func TestManyEvents(t *testing.T) {
	spans, events, phase := 96, 1024, "decode"
	if raceEnabled { // fewer and larger
		spans, events, phase = 64, 100, strings.Repeat("decode", 200)
	}
	h := handleErrors(t)
	t.Setenv("OTEL_SPAN_EVENT_COUNT_LIMIT", "1024")

	check := func(name string, r *otlptest.Receiver) {
		t.Helper()
		n := 0
		for _, s := range r.Spans() {
			n += len(s.GetEvents())
		}
		if len(r.Spans()) != spans || n != spans*events {
			t.Errorf("%s: %d spans with %d events arrived", name, len(r.Spans()), n)
		}
		for _, m := range r.TraceRequests() {
			if size := proto.Size(m); size > MaxMessageBytes {
				t.Errorf("%s: a message of %d bytes", name, size)
			}
		}
	}

	plain := otlptest.New(t)
	tp := sdktrace.NewTracerProvider(sdktrace.WithBatcher(traceExporter(t, plain)))
	eventful(tp, spans, events, phase)
	if err := tp.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if n := len(plain.Spans()); n != 0 {
		t.Errorf("the exporter alone delivers %d spans, so it needs no splitting", n)
	}
	h.want(t, "ResourceExhausted")

	split := otlptest.New(t)
	tp = sdktrace.NewTracerProvider(sdktrace.WithBatcher(&SplitSpanExporter{Exporter: traceExporter(t, split)}))
	eventful(tp, spans, events, phase)
	if err := tp.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	check("SplitSpanExporter", split)

	r := otlptest.New(t)
	p := setup(t, WithEndpoint(r.Endpoint()))
	eventful(p.TracerProvider(), spans, events, phase)
	// Time enough for a busy machine: without a deadline it would be 10 seconds.
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	if err := p.Shutdown(ctx); err != nil {
		t.Error(err)
	}
	check("Setup", r)
}

// Whatever the spans are, no message is over the limit unless it is one span.
func TestSplitSizes(t *testing.T) {
	r := otlptest.New(t)
	g := generator{rand.New(rand.NewPCG(5, 6))}
	origins := g.origins()
	var spans []sdktrace.ReadOnlySpan
	for range rounds(500) {
		spans = append(spans, g.span(origins))
	}
	const limit = 64 << 10
	e := SplitSpanExporter{Exporter: traceExporter(t, r), MaxBytes: limit}
	if err := e.ExportSpans(t.Context(), spans); err != nil {
		t.Fatal(err)
	}
	if len(r.Spans()) != len(spans) {
		t.Errorf("%d of %d spans arrived", len(r.Spans()), len(spans))
	}
	for _, m := range r.TraceRequests() {
		n := 0
		for _, rs := range m.GetResourceSpans() {
			for _, ss := range rs.GetScopeSpans() {
				n += len(ss.GetSpans())
			}
		}
		if size := proto.Size(m); size > limit && n > 1 {
			t.Errorf("%d spans in a message of %d bytes", n, size)
		}
	}
}

func TestSplitGoesOnAfterAFailure(t *testing.T) {
	r := otlptest.New(t)
	e := SplitSpanExporter{Exporter: traceExporter(t, r), MaxBytes: 1000}
	big := strings.Repeat("x", 900)
	calls := 0
	r.SetHook(otlpreceiver.Traces, func(context.Context, int) otlpreceiver.Reply {
		if calls++; calls == 2 {
			return otlpreceiver.Reply{Err: status.Error(codes.InvalidArgument, "the second")}
		}
		return otlpreceiver.Reply{}
	})
	err := e.ExportSpans(t.Context(), named("a"+big, "b"+big, "c"+strings.Repeat(big, 2), "d", "e"))
	if err == nil || !strings.Contains(err.Error(), "the second") {
		t.Errorf("error %v", err)
	}
	var got []string
	for _, s := range r.Spans() {
		got = append(got, s.GetName()[:1])
	}
	// c is over the limit and goes alone, d and e go together.
	if s := strings.Join(got, ""); s != "acde" || len(r.TraceRequests()) != 3 {
		t.Errorf("%q arrived in %d messages", s, len(r.TraceRequests()))
	}
}

func TestSplitStopsWithItsContext(t *testing.T) {
	r := otlptest.New(t)
	e := SplitSpanExporter{Exporter: traceExporter(t, r), MaxBytes: 1}
	ctx, cancel := context.WithCancel(t.Context())
	r.SetHook(otlpreceiver.Traces, func(context.Context, int) otlpreceiver.Reply {
		cancel()
		return otlpreceiver.Reply{}
	})
	if err := e.ExportSpans(ctx, named("a", "b", "c")); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if n := len(r.TraceRequests()); n > 1 {
		t.Errorf("%d messages after the context had ended", n)
	}
}

func TestSplitLogs(t *testing.T) {
	r := otlptest.New(t)
	exp, err := otlploggrpc.New(t.Context(), otlploggrpc.WithEndpointURL(r.Endpoint()))
	if err != nil {
		t.Fatal(err)
	}
	lp := sdklog.NewLoggerProvider(sdklog.WithProcessor(sdklog.NewBatchProcessor(&SplitLogExporter{Exporter: exp})))
	for range 40 { // 8 MiB in a batch
		var rec log.Record
		rec.SetBody(attribute.MapValue(attribute.String("content", strings.Repeat("x", 200<<10))))
		lp.Logger("test").Emit(t.Context(), rec)
	}
	if err := lp.ForceFlush(t.Context()); err != nil {
		t.Error(err)
	}
	if err := lp.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if len(r.Logs()) != 40 || len(r.LogRequests()) != 3 {
		t.Errorf("%d records in %d messages arrived", len(r.Logs()), len(r.LogRequests()))
	}
}

func TestZeroSplitExporters(t *testing.T) {
	var s SplitSpanExporter
	if err := s.ExportSpans(t.Context(), named("a")); err == nil {
		t.Error("no error without an exporter")
	}
	var l SplitLogExporter
	if err := l.Export(t.Context(), make([]sdklog.Record, 1)); err == nil {
		t.Error("no error without an exporter")
	}
	if err := errors.Join(s.Shutdown(t.Context()), l.ForceFlush(t.Context()), l.Shutdown(t.Context())); err != nil {
		t.Error(err)
	}
}
