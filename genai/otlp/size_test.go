package otlp

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlplog/otlploggrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/log"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/protobuf/proto"

	"github.com/infertel/infertel-go/internal/otlpreceiver"
	"github.com/infertel/infertel-go/internal/otlpreceiver/otlptest"
)

// generator makes telemetry of every shape.
type generator struct{ *rand.Rand }

func (g generator) text() string {
	switch g.IntN(8) {
	case 0:
		return ""
	case 1:
		return strings.Repeat("x", g.IntN(40000)) // lengths of up to three bytes
	case 2:
		return "模型\xff\xe5\xa5" + strings.Repeat("\xfe", g.IntN(200)) // invalid UTF-8
	case 3:
		return strings.Repeat("好🌍", g.IntN(100))
	}
	return strings.Repeat("k", g.IntN(140))
}

func (g generator) value(depth int) attribute.Value {
	n := g.IntN(6)
	kinds := 12
	if depth == 0 {
		kinds = 10
	}
	switch g.IntN(kinds) {
	case 0:
		return attribute.BoolValue(g.IntN(2) == 0)
	case 1:
		return attribute.Int64Value([]int64{0, 1, -1, 127, 128, math.MaxInt64, math.MinInt64, g.Int64()}[g.IntN(8)])
	case 2:
		return attribute.Float64Value([]float64{0, 0.5, math.NaN(), math.Inf(1), g.Float64()}[g.IntN(5)])
	case 3:
		return attribute.StringValue(g.text())
	case 4:
		return attribute.BoolSliceValue(make([]bool, n*n))
	case 5:
		is := make([]int64, n*n)
		for i := range is {
			is[i] = g.Int64() >> g.IntN(64) * int64(1-2*g.IntN(2))
		}
		return attribute.Int64SliceValue(is)
	case 6:
		return attribute.Float64SliceValue(make([]float64, n*n))
	case 7:
		ss := make([]string, n)
		for i := range ss {
			ss[i] = g.text()
		}
		return attribute.StringSliceValue(ss)
	case 8:
		return attribute.ByteSliceValue([]byte(g.text()))
	case 9:
		return attribute.Value{}
	case 10:
		vs := make([]attribute.Value, n)
		for i := range vs {
			vs[i] = g.value(depth - 1)
		}
		return attribute.SliceValue(vs...)
	default:
		return attribute.MapValue(g.attributes(n, depth-1)...)
	}
}

func (g generator) attributes(n, depth int) []attribute.KeyValue {
	kvs := make([]attribute.KeyValue, n)
	for i := range kvs {
		kvs[i] = attribute.KeyValue{Key: attribute.Key("k" + g.text()), Value: g.value(depth)}
	}
	return kvs
}

func (g generator) spanContext() trace.SpanContext {
	c := trace.SpanContextConfig{Remote: g.IntN(2) == 0, TraceFlags: trace.FlagsSampled}
	for i := range c.TraceID {
		c.TraceID[i] = byte(g.IntN(256))
	}
	c.SpanID = trace.SpanID(c.TraceID[:8])
	for range g.IntN(3) {
		c.TraceState, _ = c.TraceState.Insert("k"+string(rune('a'+g.IntN(26))), strings.Repeat("v", 1+g.IntN(200)))
	}
	return trace.NewSpanContext(c)
}

func (g generator) span(origins []origin) sdktrace.ReadOnlySpan {
	o := origins[g.IntN(len(origins))]
	s := tracetest.SpanStub{
		Name: g.text(), SpanContext: g.spanContext(), SpanKind: trace.SpanKind(g.IntN(7)),
		StartTime: time.Unix(g.Int64N(1<<33), 1), EndTime: time.Now(),
		Attributes: g.attributes(g.IntN(8), 3), Resource: o.resource, InstrumentationScope: o.scope,
		Status:            sdktrace.Status{Code: codes.Code(g.IntN(3)), Description: g.text()},
		DroppedAttributes: g.Int() >> g.IntN(63), DroppedEvents: g.Int() >> g.IntN(63), DroppedLinks: g.Int() >> g.IntN(63),
	}
	if g.IntN(2) == 0 {
		s.Parent = g.spanContext()
	}
	for range g.IntN(5) {
		s.Events = append(s.Events, sdktrace.Event{Name: g.text(), Time: time.Now(), Attributes: g.attributes(g.IntN(4), 2), DroppedAttributeCount: g.Int()})
	}
	for range g.IntN(3) {
		s.Links = append(s.Links, sdktrace.Link{SpanContext: g.spanContext(), Attributes: g.attributes(g.IntN(4), 2), DroppedAttributeCount: g.Int()})
	}
	return s.Snapshot()
}

func (g generator) origins() []origin {
	res := resource.NewWithAttributes("https://example.test/schema", attribute.String("service.name", strings.Repeat("s", g.IntN(300))), attribute.IntSlice("i", []int{1, 2}))
	return []origin{
		{res, instrumentation.Scope{Name: "a", Version: "v1", SchemaURL: "https://example.test/" + strings.Repeat("u", g.IntN(200)), Attributes: attribute.NewSet(attribute.String("k", "v"))}},
		{res, instrumentation.Scope{Name: "b"}},
		{resource.Empty(), instrumentation.Scope{}},
		{resource.NewSchemaless(attribute.String("other", "x")), instrumentation.Scope{Name: "a"}},
	}
}

// checkSize compares what was counted for a message with its real size.
func checkSize(t *testing.T, counted int, m proto.Message, items int) {
	t.Helper()
	real := proto.Size(m)
	if counted < real {
		t.Errorf("counted %d bytes for %d", counted, real)
	}
	// What is counted too much are absent fields: a few bytes each.
	if limit := real + real/2 + 400*items + 400; counted > limit {
		t.Errorf("counted %d bytes for %d", counted, real)
	}
}

func TestSpanSize(t *testing.T) {
	r := otlptest.New(t, otlpreceiver.WithMaxMessageSize(64<<20))
	exp, err := otlptracegrpc.New(t.Context(), otlptracegrpc.WithEndpointURL(r.Endpoint()))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = exp.Shutdown(context.Background()) }()
	g := generator{rand.New(rand.NewPCG(1, 2))}
	for range rounds(400) {
		r.Reset()
		origins := g.origins()
		var spans []sdktrace.ReadOnlySpan
		for range 1 + g.IntN(6) {
			spans = append(spans, g.span(origins))
		}
		spans = validSpans(spans)
		p := pieces{max: math.MaxInt}
		for _, s := range spans {
			p.fits(spanSize(s), s.Resource(), s.InstrumentationScope())
		}
		if err := exp.ExportSpans(t.Context(), spans); err != nil {
			t.Fatal(err)
		}
		checkSize(t, p.size, r.TraceRequests()[0], len(spans)*8)
	}
}

// recorder keeps the records of a provider.
type recorder struct{ records []sdklog.Record }

func (*recorder) Enabled(context.Context, sdklog.EnabledParameters) bool { return true }
func (r *recorder) OnEmit(_ context.Context, rec *sdklog.Record) error {
	r.records = append(r.records, rec.Clone())
	return nil
}
func (*recorder) Shutdown(context.Context) error   { return nil }
func (*recorder) ForceFlush(context.Context) error { return nil }

func (g generator) record() log.Record {
	var rec log.Record
	rec.SetEventName(g.text())
	rec.SetTimestamp(time.Unix(g.Int64N(1<<33), 1))
	rec.SetSeverity(log.Severity(g.IntN(25)))
	rec.SetSeverityText(g.text())
	rec.SetBody(g.value(4))
	rec.AddAttributes(g.attributes(g.IntN(9), 3)...)
	return rec
}

func TestRecordSize(t *testing.T) {
	r := otlptest.New(t, otlpreceiver.WithMaxMessageSize(64<<20))
	exp, err := otlploggrpc.New(t.Context(), otlploggrpc.WithEndpointURL(r.Endpoint()))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = exp.Shutdown(context.Background()) }()
	g := generator{rand.New(rand.NewPCG(3, 4))}
	for range rounds(400) {
		r.Reset()
		o := g.origins()[0]
		rec := &recorder{}
		lp := sdklog.NewLoggerProvider(sdklog.WithResource(o.resource), sdklog.WithProcessor(rec))
		for range 1 + g.IntN(6) {
			logger := lp.Logger(strings.Repeat("l", g.IntN(3)), log.WithSchemaURL(o.scope.SchemaURL), log.WithInstrumentationAttributes(attribute.Int("i", 1)))
			logger.Emit(trace.ContextWithSpanContext(t.Context(), g.spanContext()), g.record())
		}
		records := validRecords(rec.records)
		p := pieces{max: math.MaxInt}
		for i := range records {
			p.fits(recordSize(&records[i]), records[i].Resource(), records[i].InstrumentationScope())
		}
		if err := exp.Export(t.Context(), records); err != nil {
			t.Fatal(err)
		}
		checkSize(t, p.size, r.LogRequests()[0], len(records)*4)
	}
}

func TestVarint(t *testing.T) {
	for _, tt := range []struct {
		v    uint64
		want int
	}{{0, 1}, {127, 1}, {128, 2}, {16383, 2}, {16384, 3}, {math.MaxUint64, 10}} {
		if got := varint(tt.v); got != tt.want {
			t.Errorf("varint(%d) = %d, want %d", tt.v, got, tt.want)
		}
	}
}
