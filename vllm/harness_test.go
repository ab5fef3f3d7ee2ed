package vllm_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/infertel/infertel-go/internal/sdktest"
	"github.com/infertel/infertel-go/vllm"
)

// t0 is when the requests of the tests arrive.
var t0 = time.Unix(1_700_000_000, 0)

// at returns the time so many milliseconds after t0.
func at(ms float64) time.Time { return t0.Add(time.Duration(ms * float64(time.Millisecond))) }

// span is a span as a value that can be compared.
type span struct {
	name       string
	parent     string // name of its parent, "" for a root
	start, end time.Duration
	attrs      map[string]any
	events     []spanEvent
	dropped    int
	status     string
}

type spanEvent struct {
	name  string
	at    time.Duration
	attrs map[string]any
}

// bed is an engine's surroundings: an SDK in memory.
type bed struct {
	t        testing.TB
	recorder *tracetest.SpanRecorder
	traces   *sdktrace.TracerProvider
	reader   *sdkmetric.ManualReader
	metrics  *sdkmetric.MeterProvider
	handled  *sdktest.Errors
}

func newBed(t testing.TB, opts ...sdktrace.TracerProviderOption) *bed {
	t.Helper()
	b := &bed{t: t, recorder: tracetest.NewSpanRecorder(), reader: sdkmetric.NewManualReader(), handled: sdktest.HandleErrors(t)}
	b.traces = sdktrace.NewTracerProvider(append(opts, sdktrace.WithSpanProcessor(b.recorder))...)
	b.metrics = sdkmetric.NewMeterProvider(sdkmetric.WithReader(b.reader))
	return b
}

func (b *bed) v1(c vllm.EngineConfig, opts ...vllm.OptionV1) *vllm.EngineV1 {
	b.t.Helper()
	if c.Model == "" {
		c.Model = "qwen3-8b"
	}
	e, err := vllm.NewEngineV1(c, append([]vllm.OptionV1{vllm.WithTracerProvider(b.traces), vllm.WithMeterProvider(b.metrics)}, opts...)...)
	if err != nil {
		b.t.Fatal(err)
	}
	return e
}

func (b *bed) v0() *vllm.EngineV0 {
	b.t.Helper()
	e, err := vllm.NewEngineV0("llama-3", vllm.WithTracerProvider(b.traces), vllm.WithMeterProvider(b.metrics))
	if err != nil {
		b.t.Fatal(err)
	}
	return e
}

// spans returns the ended spans in the order of their ends, and forgets them.
func (b *bed) spans() []span {
	ended := b.recorder.Ended()
	b.recorder.Reset()
	names := map[string]string{}
	for _, s := range ended {
		names[s.SpanContext().SpanID().String()] = s.Name()
	}
	var out []span
	for _, s := range ended {
		v := span{
			name: s.Name(), parent: names[s.Parent().SpanID().String()],
			start: s.StartTime().Sub(t0), end: s.EndTime().Sub(t0),
			attrs: plain(s.Attributes()), dropped: s.DroppedEvents(), status: s.Status().Code.String(),
		}
		for _, e := range s.Events() {
			v.events = append(v.events, spanEvent{e.Name, e.Time.Sub(t0), plain(e.Attributes)})
		}
		out = append(out, v)
	}
	return out
}

// request returns the one llm_request that ended, and forgets all spans.
func (b *bed) request() span {
	b.t.Helper()
	spans := b.spans()
	i := slices.IndexFunc(spans, func(s span) bool { return s.name == "llm_request" })
	if i < 0 {
		b.t.Fatalf("no llm_request in %v", spans)
	}
	return spans[i]
}

func plain(kvs []attribute.KeyValue) map[string]any {
	m := map[string]any{}
	for _, kv := range kvs {
		if _, ok := m[string(kv.Key)]; ok {
			panic("twice: " + kv.Key)
		}
		m[string(kv.Key)] = kv.Value.AsInterface()
	}
	return m
}

// points returns the metric data points of one collection as "name{dimensions}".
func (b *bed) points() map[string]float64 {
	b.t.Helper()
	var rm metricdata.ResourceMetrics
	if err := b.reader.Collect(context.Background(), &rm); err != nil {
		b.t.Fatal(err)
	}
	out := map[string]float64{}
	for _, sm := range rm.ScopeMetrics {
		for _, m := range sm.Metrics {
			switch d := m.Data.(type) {
			case metricdata.Sum[int64]:
				add(out, m.Name, d.DataPoints)
			case metricdata.Sum[float64]:
				add(out, m.Name, d.DataPoints)
			case metricdata.Gauge[int64]:
				add(out, m.Name, d.DataPoints)
			case metricdata.Gauge[float64]:
				add(out, m.Name, d.DataPoints)
			}
		}
	}
	return out
}

func add[N int64 | float64](to map[string]float64, name string, points []metricdata.DataPoint[N]) {
	for _, p := range points {
		var dims []string
		for _, kv := range p.Attributes.ToSlice() {
			if kv.Key != "callType" && kv.Key != "rpcType" {
				dims = append(dims, fmt.Sprintf("%s=%v", kv.Key, kv.Value.AsInterface()))
			}
		}
		to[name+"{"+strings.Join(dims, ",")+"}"] = float64(p.Value)
	}
}

// reports returns what was reported to otel.Handle since the last call.
func (b *bed) reports() []string {
	var out []string
	for _, err := range b.handled.Take() {
		out = append(out, err.Error())
	}
	return out
}

func (b *bed) noReports() {
	b.t.Helper()
	if r := b.reports(); len(r) > 0 {
		b.t.Errorf("reported: %q", r)
	}
}

// oneReport asks for exactly one report that contains each of the words.
func (b *bed) oneReport(words ...string) {
	b.t.Helper()
	r := b.reports()
	if len(r) != 1 {
		b.t.Errorf("%d reports, want 1: %q", len(r), r)
		return
	}
	if !containsAll(r[0], words...) {
		b.t.Errorf("report %q does not name all of %q", r[0], words)
	}
}

func containsAll(s string, words ...string) bool {
	return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(s, w) })
}

// names returns the names of the spans in their order.
func names(spans []span) string {
	var out []string
	for _, s := range spans {
		out = append(out, s.name)
	}
	return strings.Join(out, " ")
}

// has asks that m has the entries of want, and lacks those that are absent.
func has(t testing.TB, m, want map[string]any) {
	t.Helper()
	for _, k := range slices.Sorted(maps.Keys(want)) {
		got, ok := m[k]
		switch {
		case want[k] == absent && ok:
			t.Errorf("%s = %v, want none", k, got)
		case want[k] != absent && fmt.Sprintf("%T %v", got, got) != fmt.Sprintf("%T %v", want[k], want[k]):
			t.Errorf("%s = %T %v, want %T %v", k, got, got, want[k], want[k])
		}
	}
}

// absent stands for an attribute that must not be there.
const absent = "<absent>"

// lived runs a request that has every point.
func lived(e *vllm.EngineV1, r vllm.Request) {
	req := e.StartRequest(context.Background(), r, at(0))
	req.Queued(at(2))
	req.Scheduled(at(5))
	req.Prefill(vllm.Iteration{At: at(45)})
	req.Decode(vllm.Iteration{At: at(55)})
	req.Decode(vllm.Iteration{At: at(65)})
	req.Finish(vllm.OutcomeV1{At: at(66), FinishReason: vllm.FinishReasonStop, CompletionTokens: new(3)})
}
