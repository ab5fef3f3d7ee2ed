package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/infertel/infertel-go/vllm"
)

// spans returns what emit makes, as text: each span with its parent, times,
// attributes, events and links.
func spans(timed bool, emit func(trace.TracerProvider)) []string {
	exporter := tracetest.NewInMemoryExporter()
	emit(sdktrace.NewTracerProvider(sdktrace.WithSyncer(exporter)))
	names := map[trace.SpanID]string{}
	for _, s := range exporter.GetSpans() {
		names[s.SpanContext.SpanID()] = s.Name
	}
	var out []string
	for _, s := range exporter.GetSpans() {
		var b strings.Builder
		fmt.Fprintf(&b, "%s in %q, %v, %v, %s", s.Name, names[s.Parent.SpanID()], s.SpanKind, s.Status, attributes(s.Attributes))
		if timed {
			fmt.Fprintf(&b, ", from %d to %d", s.StartTime.UnixNano(), s.EndTime.UnixNano())
		}
		for _, e := range s.Events {
			fmt.Fprintf(&b, "\n  event %s at %d, %s", e.Name, e.Time.UnixNano(), attributes(e.Attributes))
		}
		for _, l := range s.Links {
			fmt.Fprintf(&b, "\n  link to %q, %s", names[l.SpanContext.SpanID()], attributes(l.Attributes))
		}
		fmt.Fprintf(&b, ", %d events dropped", s.DroppedEvents)
		out = append(out, b.String())
	}
	slices.Sort(out)
	return out
}

func attributes(kv []attribute.KeyValue) string {
	var out []string
	for _, a := range kv {
		out = append(out, fmt.Sprintf("%s=%v %v", a.Key, a.Value.Type(), a.Value.AsInterface()))
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// points returns what emit measures, as text.
func points(t *testing.T, emit func(metric.MeterProvider)) []string {
	t.Helper()
	reader := sdkmetric.NewManualReader()
	emit(sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)))
	var rm metricdata.ResourceMetrics
	if err := reader.Collect(context.Background(), &rm); err != nil {
		t.Fatal(err)
	}
	var out []string
	add := func(name string, set attribute.Set, kind string, v any) {
		out = append(out, fmt.Sprintf("%s %s %v, %s", name, kind, v, attributes(set.ToSlice())))
	}
	for _, s := range rm.ScopeMetrics {
		for _, m := range s.Metrics {
			switch d := m.Data.(type) {
			case metricdata.Sum[int64]:
				for _, p := range d.DataPoints {
					add(m.Name, p.Attributes, "sum", p.Value)
				}
			case metricdata.Sum[float64]:
				for _, p := range d.DataPoints {
					add(m.Name, p.Attributes, "sum", p.Value)
				}
			case metricdata.Gauge[int64]:
				for _, p := range d.DataPoints {
					add(m.Name, p.Attributes, "gauge", p.Value)
				}
			case metricdata.Gauge[float64]:
				for _, p := range d.DataPoints {
					add(m.Name, p.Attributes, "gauge", p.Value)
				}
			default:
				t.Errorf("%s is %T", m.Name, d)
			}
		}
	}
	slices.Sort(out)
	return out
}

func same(t *testing.T, name string, raw, ours []string, want int) {
	t.Helper()
	if !slices.Equal(raw, ours) {
		t.Errorf("%s:\nraw\n%s\nours\n%s", name, strings.Join(raw, "\n"), strings.Join(ours, "\n"))
	}
	if len(ours) != want {
		t.Errorf("%s: %d of them, want %d", name, len(ours), want)
	}
}

// TestBaselinesMakeTheSameSpans: what is compared is the same telemetry.
func TestBaselinesMakeTheSameSpans(t *testing.T) {
	ctx := context.Background()
	stages, events := vllm.WithGranularity(vllm.GranularityStages), vllm.WithGranularity(vllm.GranularityEvents)
	for _, c := range []struct {
		name      string
		raw, ours func(trace.TracerProvider)
		untimed   bool
		want      int
	}{
		{name: "V1 stages", want: 4,
			raw:  func(tp trace.TracerProvider) { rawStages(ctx, tp.Tracer("raw")) },
			ours: func(tp trace.TracerProvider) { oursStages(ctx, vllmEngine(tp, stages)) }},
		{name: "V1 events", want: 4,
			raw:  func(tp trace.TracerProvider) { rawEvents(ctx, tp.Tracer("raw"), fewIterations) },
			ours: func(tp trace.TracerProvider) { oursEvents(ctx, vllmEngine(tp, events), fewIterations) }},
		{name: "more V1 events than fit, not merged", want: 4,
			raw:  func(tp trace.TracerProvider) { rawEvents(ctx, tp.Tracer("raw"), 2000) },
			ours: func(tp trace.TracerProvider) { oursEvents(ctx, vllmEngine(tp, events), 2000) }},
		{name: "SGLang", want: 4 + 2 + 2*(6+sglangLoops),
			raw:  func(tp trace.TracerProvider) { rawSGLang(ctx, tp.Tracer("raw"), sglangLoops) },
			ours: func(tp trace.TracerProvider) { oursSGLang(ctx, sglangEngine(tp, noop.NewMeterProvider()), sglangLoops) }},
		{name: "entry", want: 1, untimed: true,
			raw:  func(tp trace.TracerProvider) { entryRaw(tp, metrics())() },
			ours: func(tp trace.TracerProvider) { entryOurs(tp, metrics())() }},
	} {
		same(t, c.name, spans(!c.untimed, c.raw), spans(!c.untimed, c.ours), c.want)
	}
	// Merged events hold every token once.
	merged := spans(true, func(tp trace.TracerProvider) {
		oursEvents(ctx, vllmEngine(tp, events, vllm.WithEventCoalescing()), manyIterations)
	})
	if text := strings.Join(merged, "\n"); strings.Count(text, "\n  event ") != 128 || strings.Count(text, "151644") != manyIterations || strings.Contains(text, "1 events dropped") {
		t.Errorf("%d events, %d tokens", strings.Count(text, "\n  event "), strings.Count(text, "151644"))
	}
}

func TestBaselinesMeasureTheSame(t *testing.T) {
	tp := sdktrace.NewTracerProvider()
	for _, c := range []struct {
		name      string
		raw, ours func(metric.MeterProvider) func()
		want      int
	}{
		{"vLLM report", vllmReportRaw, vllmReportOurs, 6},
		{"SGLang report", sglangReportRaw, sglangReportOurs, 8},
		{"entry", func(mp metric.MeterProvider) func() { return entryRaw(tp, mp) }, func(mp metric.MeterProvider) func() { return entryOurs(tp, mp) }, 2},
	} {
		twice := func(of func(metric.MeterProvider) func()) []string {
			return points(t, func(mp metric.MeterProvider) { f := of(mp); f(); f() })
		}
		same(t, c.name, twice(c.raw), twice(c.ours), c.want)
	}
}

// keep is a response writer that keeps what is written.
type keep struct {
	discard
	bytes.Buffer
}

func (k *keep) Write(p []byte) (int, error) { return k.Buffer.Write(p) }

// TestObserversPassTheSameBytes, to a handler that gets the whole request.
func TestObserversPassTheSameBytes(t *testing.T) {
	for _, c := range []struct {
		answer  http.HandlerFunc
		request string
	}{{answerDocument(), "vllm-chat.request.json"}, {answerStream(chunks), "vllm-chat-stream.request.json"}} {
		var want string
		for _, name := range []string{"bare", "otelhttp", "ours", "ours, content", "ours, unsampled", "ours, content unsampled"} {
			w := &keep{discard: discard{header: http.Header{}}}
			serveOnce(observers[name](c.answer), body(c.request), w)()
			if want == "" {
				want = w.String()
			}
			if w.String() != want || len(want) < 500 {
				t.Errorf("%s: %d bytes, want %d", name, w.Len(), len(want))
			}
		}
	}
}

// TestEveryRowHasItsSubjects, and BenchmarkAll does the work of each once.
func TestEveryRowHasItsSubjects(t *testing.T) {
	f := figures{}
	for _, g := range groups() {
		for _, s := range g.subjects {
			f.add(g.name+"/"+s.name, figure{ns: 1000, allocs: 1, bytes: 100})
		}
	}
	measureMemory(f)
	var text bytes.Buffer
	report(&text, f, "no effort")
	for _, tb := range tables() {
		tb.print(&text, f)
		for _, r := range tb.rows {
			if strings.Count(text.String(), r.work) < 2 {
				t.Errorf("%q is missing", r.work)
			}
		}
	}
	if strings.Contains(text.String(), "unknown") || !strings.Contains(text.String(), "otelhttp v0.") {
		t.Errorf("the machine or the modules are missing:\n%s", text.String()[:1000])
	}
}

func TestVerdicts(t *testing.T) {
	f := figures{}
	f.add("g/raw", figure{ns: 100, allocs: 10})
	f.add("g/raw", figure{ns: 110, allocs: 11}) // a slower round changes nothing
	f.add("g/ours", figure{ns: 109, allocs: 10})
	f.add("g/slow", figure{ns: 111, allocs: 10})
	f.add("g/greedy", figure{ns: 90, allocs: 11})
	f.add("g/call", figure{ns: 19})
	for _, c := range []struct {
		r      row
		result string
		want   string
	}{
		{ratioRow("w", "g/raw", "g/ours", 1.10, 1), "1.09 x, 1.00 x allocs", "ok"},
		{ratioRow("w", "g/raw", "g/slow", 1.10, 1), "1.11 x, 1.00 x allocs", "over"},
		{ratioRow("w", "g/raw", "g/greedy", 1.10, 1), "0.90 x, 1.10 x allocs", "over"},
		{ratioRow("w", "g/raw", "g/slow", 0, 0), "1.11 x", "-"},
		{callRow("w", "g/call", 20), "19.0 ns", "ok"},
		{callRow("w", "g/call", 19), "19.0 ns", "over"},
		{callRow("w", "g/ours", 200), "109.0 ns", "over"},
	} {
		if got := c.r.line(f); !strings.HasPrefix(got.result, c.result) || got.verdict() != c.want {
			t.Errorf("got %q %s, want %q %s", got.result, got.verdict(), c.result, c.want)
		}
	}
}

// BenchmarkAll is for profiles: go test -bench 'All/^stream$/^ours$' -cpuprofile.
func BenchmarkAll(b *testing.B) {
	for _, g := range groups() {
		b.Run(g.name, func(b *testing.B) {
			for _, s := range g.subjects {
				b.Run(s.name, s.run)
			}
		})
	}
}
