package otlp

import (
	"context"
	"reflect"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/log"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/infertel/infertel-go/internal/otlpreceiver/otlptest"
)

// One string that is no UTF-8 would lose the message it is in, and metrics for
// good.
func TestInvalidUTF8(t *testing.T) {
	h := handleErrors(t)
	r := otlptest.New(t)
	p := setup(t, WithEndpoint(r.Endpoint()))
	const bad, good = "模\xe5\xa5!", "模\uFFFD!"
	attrs := []attribute.KeyValue{
		attribute.String("s", bad), attribute.StringSlice("ss", []string{"x", bad}),
		attribute.Map("m", attribute.String("k", bad)), attribute.Slice("v", attribute.StringValue(bad), attribute.IntValue(1)),
		attribute.Int("i", 1), attribute.ByteSlice("b", []byte(bad)), attribute.Int(bad, 2),
	}
	want := map[string]any{
		"s": good, "ss": []string{"x", good}, "m": map[string]any{"k": good}, "v": []any{good, int64(1)},
		"i": int64(1), "b": []byte(bad), good: int64(2),
	}

	ctx, s := p.TracerProvider().Tracer("test").Start(context.Background(), bad, trace.WithAttributes(attrs...),
		trace.WithLinks(trace.Link{Attributes: attrs}))
	s.AddEvent(bad, trace.WithAttributes(attrs...))
	s.SetStatus(codes.Error, bad)
	s.End()
	endSpans(p, 1) // in the same message

	var rec log.Record
	rec.SetEventName(bad)
	rec.SetSeverityText(bad)
	rec.SetBody(attribute.MapValue(attribute.String("k", bad)))
	rec.AddAttributes(attrs...)
	p.LoggerProvider().Logger("test").Emit(ctx, rec)

	m := p.MeterProvider().Meter("test")
	set := metric.WithAttributes(attrs...)
	ic, _ := m.Int64Counter("ic")
	fc, _ := m.Float64UpDownCounter("fc")
	ig, _ := m.Int64Gauge("ig")
	fg, _ := m.Float64Gauge("fg")
	ih, _ := m.Int64Histogram("ih")
	fh, _ := m.Float64Histogram("fh")
	ic.Add(ctx, 1, set)
	fc.Add(ctx, 1, set)
	ig.Record(ctx, 1, set)
	fg.Record(ctx, 1, set)
	ih.Record(ctx, 1, set)
	fh.Record(ctx, 1, set)

	for range 2 {
		if err := p.ForceFlush(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if err := p.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if e := h.all(); e != nil {
		t.Errorf("reported %q", e)
	}
	spans, logs, points := r.FlatSpans(), r.FlatLogs(), r.LastPoints()
	if len(spans) != 2 || len(logs) != 1 || len(points) != 6 {
		t.Fatalf("%d spans, %d logs, %d points", len(spans), len(logs), len(points))
	}
	sp, lg := spans[0], logs[0]
	if sp.Name != good || sp.StatusMessage != good || sp.Events[0].Name != good || lg.EventName != good {
		t.Errorf("names %q %q %q %q", sp.Name, sp.StatusMessage, sp.Events[0].Name, lg.EventName)
	}
	if want := map[string]any{"k": good}; !reflect.DeepEqual(lg.Body, want) {
		t.Errorf("body %#v", lg.Body)
	}
	got := []map[string]any{sp.Attrs, sp.Events[0].Attrs, sp.Links[0].Attrs, lg.Attrs}
	for _, pt := range points {
		got = append(got, pt.Attrs)
	}
	for i, m := range got {
		if !reflect.DeepEqual(m, want) {
			t.Errorf("attributes %d\n got %#v\nwant %#v", i, m, want)
		}
	}
}

// What is valid is passed on as it is.
func TestValidIsNotCopied(t *testing.T) {
	spans := named("a", "b")
	if got := validSpans(spans); &got[0] != &spans[0] {
		t.Error("copied valid spans")
	}
	spans = named("a", "b\xff")
	if got := validSpans(spans); got[0].Name() != "a" || spans[1].Name() != "b\xff" || got[1].Name() != "b\uFFFD" {
		t.Error("changed the caller's spans, or did not replace the invalid one")
	}
}
