package otlptest_test

import (
	"context"
	"reflect"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlplog/otlploggrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetricgrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/log"
	"go.opentelemetry.io/otel/metric"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.uber.org/goleak"

	"github.com/infertel/infertel-go/internal/otlpreceiver/otlptest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestFlatSpans(t *testing.T) {
	r := otlptest.New(t)
	exp, err := otlptracegrpc.New(t.Context(), otlptracegrpc.WithEndpointURL(r.Endpoint()), otlptracegrpc.WithCompressor("gzip"))
	if err != nil {
		t.Fatal(err)
	}
	tp := sdktrace.NewTracerProvider(sdktrace.WithSyncer(exp))
	start := time.Unix(1_700_000_000, 5)
	tracer := tp.Tracer("scope")
	ctx, parent := tracer.Start(t.Context(), "parent", trace.WithSpanKind(trace.SpanKindServer), trace.WithTimestamp(start))
	_, child := tracer.Start(ctx, "child", trace.WithLinks(trace.Link{SpanContext: parent.SpanContext()}))
	child.SetAttributes(
		attribute.String("s", "x"), attribute.Int("i", 1), attribute.Float64("f", 1), attribute.Bool("b", true),
		attribute.StringSlice("ss", []string{"x", "y"}), attribute.IntSlice("is", []int{1, 2}),
		attribute.Float64Slice("fs", []float64{0.5}), attribute.BoolSlice("bs", []bool{true}),
		attribute.StringSlice("none", nil), attribute.ByteSlice("bytes", []byte{1}),
		attribute.Slice("mixed", attribute.StringValue("x"), attribute.IntValue(1)),
		attribute.Map("map", attribute.Int("k", 1)), attribute.KeyValue{Key: "empty"})
	child.AddEvent("event", trace.WithAttributes(attribute.Int("n", 7)), trace.WithTimestamp(start))
	child.SetStatus(codes.Error, "bad")
	child.End()
	parent.End(trace.WithTimestamp(start.Add(time.Second)))
	if err := tp.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}

	spans := r.WaitSpans(2, time.Second)
	c, p := spans[0], spans[1]
	if p.Kind != "SERVER" || p.Start != uint64(start.UnixNano()) || p.End-p.Start != 1e9 || p.ParentID != "" || p.Status != "UNSET" {
		t.Errorf("parent: %+v", p)
	}
	if c.Name != "child" || c.Kind != "INTERNAL" || c.Scope != "scope" || c.ParentID != p.SpanID || c.TraceID != p.TraceID || c.Status != "ERROR" || c.StatusMessage != "bad" {
		t.Errorf("child: %+v", c)
	}
	want := map[string]any{
		"s": "x", "i": int64(1), "f": 1.0, "b": true,
		"ss": []string{"x", "y"}, "is": []int64{1, 2}, "fs": []float64{0.5}, "bs": []bool{true},
		"none": []any{}, "bytes": []byte{1}, "mixed": []any{"x", int64(1)}, "map": map[string]any{"k": int64(1)}, "empty": nil,
	}
	if !reflect.DeepEqual(c.Attrs, want) {
		t.Errorf("attributes\n got %#v\nwant %#v", c.Attrs, want)
	}
	if want := []otlptest.Event{{"event", uint64(start.UnixNano()), map[string]any{"n": int64(7)}}}; !reflect.DeepEqual(c.Events, want) {
		t.Errorf("events %v, want %v", c.Events, want)
	}
	if want := []otlptest.Link{{p.TraceID, p.SpanID, map[string]any{}}}; !reflect.DeepEqual(c.Links, want) {
		t.Errorf("links %v, want %v", c.Links, want)
	}
}

func TestFlatLogs(t *testing.T) {
	r := otlptest.New(t)
	exp, err := otlploggrpc.New(t.Context(), otlploggrpc.WithEndpointURL(r.Endpoint()))
	if err != nil {
		t.Fatal(err)
	}
	lp := sdklog.NewLoggerProvider(sdklog.WithProcessor(sdklog.NewSimpleProcessor(exp)))
	sc := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}, TraceFlags: trace.FlagsSampled})
	var rec log.Record
	rec.SetEventName("event")
	rec.SetSeverity(log.SeverityInfo)
	rec.SetTimestamp(time.Unix(1, 0))
	rec.SetBody(attribute.StringValue("body"))
	rec.AddAttributes(attribute.Int("n", 7))
	lp.Logger("scope").Emit(trace.ContextWithSpanContext(t.Context(), sc), rec)
	if err := lp.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := []otlptest.Log{{Scope: "scope", EventName: "event", Time: 1e9, Severity: "INFO", Body: "body",
		Attrs: map[string]any{"n": int64(7)}, TraceID: sc.TraceID().String(), SpanID: sc.SpanID().String()}}
	if got := r.WaitLogs(1, time.Second); !reflect.DeepEqual(got, want) {
		t.Errorf("logs\n got %+v\nwant %+v", got, want)
	}
}

func TestPoints(t *testing.T) {
	r := otlptest.New(t)
	exp, err := otlpmetricgrpc.New(t.Context(), otlpmetricgrpc.WithEndpointURL(r.Endpoint()))
	if err != nil {
		t.Fatal(err)
	}
	mp := sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewPeriodicReader(exp)))
	ctx, meter := context.Background(), mp.Meter("scope")
	count, _ := meter.Int64Counter("count", metric.WithUnit("{token}"))
	count.Add(ctx, 3, metric.WithAttributes(attribute.String("k", "v")))
	if err := mp.ForceFlush(ctx); err != nil {
		t.Fatal(err)
	}
	count.Add(ctx, 4, metric.WithAttributes(attribute.String("k", "v")))
	gauge, _ := meter.Float64Gauge("gauge")
	gauge.Record(ctx, 0.5)
	hist, _ := meter.Float64Histogram("hist", metric.WithUnit("s"), metric.WithExplicitBucketBoundaries(1, 2))
	hist.Record(ctx, 1.5)
	if err := mp.Shutdown(ctx); err != nil {
		t.Fatal(err)
	}
	kv := map[string]any{"k": "v"}
	want := []otlptest.Point{
		{Scope: "scope", Name: "count", Unit: "{token}", Type: "sum", Monotonic: true, Number: "int", Value: int64(7), Attrs: kv},
		{Scope: "scope", Name: "gauge", Type: "gauge", Number: "double", Value: 0.5, Attrs: map[string]any{}},
		{Scope: "scope", Name: "hist", Unit: "s", Type: "histogram", Number: "double", Value: 1.5, Attrs: map[string]any{},
			Count: 1, Bounds: []float64{1, 2}, Buckets: []uint64{0, 1, 0}},
	}
	if got := r.LastPoints(); !reflect.DeepEqual(got, want) {
		t.Errorf("last points\n got %+v\nwant %+v", got, want)
	}
	if got := len(r.Points()); got != 4 {
		t.Errorf("%d points over both collections, want 4", got)
	}
}
