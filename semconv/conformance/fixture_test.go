package conformance_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/infertel/infertel-go/genai"
	"github.com/infertel/infertel-go/semconv"
	"github.com/infertel/infertel-go/semconv/conformance"
)

// fixture is telemetry that a test may change before it is judged.
type fixture struct {
	t       testing.TB
	spans   tracetest.SpanStubs
	ids     []string // of the spans, in the same order
	metrics metricdata.ResourceMetrics
	logs    []sdklog.Record
	opts    []conformance.Option
}

// judge judges the fixture in the SDK's types and in OTLP and expects the same of
// both.
func (f *fixture) judge() []conformance.Violation {
	f.t.Helper()
	sdk := slices.Concat(
		conformance.CheckSpans(f.spans.Snapshots(), f.opts...),
		conformance.CheckMetrics(&f.metrics, f.opts...),
		conformance.CheckLogs(f.logs, f.opts...))
	otlp := slices.Concat(
		conformance.CheckOTLPSpans(spansToOTLP(f.spans), f.opts...),
		conformance.CheckOTLPMetrics(metricsToOTLP(f.metrics), f.opts...),
		conformance.CheckOTLPLogs(logsToOTLP(f.logs), f.opts...))
	if a, b := lines(sdk), lines(otlp); a != b {
		f.t.Errorf("the two forms are judged differently\n  SDK:%s\n OTLP:%s", a, b)
	}
	return sdk
}

func lines(vs []conformance.Violation) string {
	var b strings.Builder
	for _, v := range vs {
		b.WriteString("\n\t" + v.String())
	}
	return b.String()
}

// span returns the span with an id of the timeline.
func (f *fixture) span(id string) *tracetest.SpanStub {
	f.t.Helper()
	i := slices.Index(f.ids, id)
	if i < 0 {
		f.t.Fatalf("no span %q among %v", id, f.ids)
	}
	return &f.spans[i]
}

// drop takes a span out.
func (f *fixture) drop(id string) {
	f.span(id)
	i := slices.Index(f.ids, id)
	f.spans, f.ids = slices.Delete(f.spans, i, i+1), slices.Delete(f.ids, i, i+1)
}

// put takes a span in, as a child of another.
func (f *fixture) put(id, parent string, s tracetest.SpanStub) *tracetest.SpanStub {
	p := f.span(parent)
	s.Parent = p.SpanContext
	s.SpanContext = spanContext(p.SpanContext.TraceID(), byte(200+len(f.spans)))
	s.SpanKind, s.InstrumentationScope = trace.SpanKindInternal, p.InstrumentationScope
	f.spans, f.ids = append(f.spans, s), append(f.ids, id)
	return &f.spans[len(f.spans)-1]
}

// set sets attributes of a span.
func (f *fixture) set(id string, kvs ...attribute.KeyValue) {
	s := f.span(id)
	s.Attributes = with(s.Attributes, kvs...)
}

// with sets attributes in a copy of a list.
func with(list []attribute.KeyValue, kvs ...attribute.KeyValue) []attribute.KeyValue {
	for _, kv := range kvs {
		list = append(without(list, kv.Key), kv)
	}
	return list
}

// unset removes attributes of a span.
func (f *fixture) unset(id string, keys ...attribute.Key) {
	f.t.Helper()
	s := f.span(id)
	for _, key := range keys {
		if !slices.ContainsFunc(s.Attributes, func(kv attribute.KeyValue) bool { return kv.Key == key }) {
			f.t.Fatalf("%s has no %s to take away", id, key)
		}
		s.Attributes = without(s.Attributes, key)
	}
}

func without(list []attribute.KeyValue, key attribute.Key) []attribute.KeyValue {
	return slices.DeleteFunc(slices.Clone(list), func(kv attribute.KeyValue) bool { return kv.Key == key })
}

// move moves the ends of a span.
func (f *fixture) move(id string, start, end time.Duration) {
	s := f.span(id)
	s.StartTime, s.EndTime = s.StartTime.Add(start), s.EndTime.Add(end)
}

func spanContext(id trace.TraceID, n byte) trace.SpanContext {
	return trace.NewSpanContext(trace.SpanContextConfig{TraceID: id, SpanID: trace.SpanID{1, 0, 0, 0, 0, 0, 0, n}, TraceFlags: trace.FlagsSampled})
}

// timeline is a file of expected telemetry.
type timeline struct {
	Env   map[string]string
	Spans []struct {
		ID, Name   string
		Start, End int64
		Parent     *string
		Attributes map[string]any
		Events     []struct {
			Name       string
			TS         int64
			Attributes map[string]any
		}
		Links  []string
		Status string
	}
	Metrics []struct {
		Name       string
		Value      json.Number
		Attributes map[string]any
	}
}

func timelines(t testing.TB) []string {
	files, err := filepath.Glob("testdata/timelines/*.json")
	if err != nil || len(files) != 9 {
		t.Fatalf("%d timelines, %v", len(files), err)
	}
	var names []string
	for _, f := range files {
		names = append(names, strings.TrimSuffix(filepath.Base(f), ".json"))
	}
	return names
}

// load makes telemetry of a timeline.
func load(t testing.TB, name string) *fixture {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata/timelines", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var tl timeline
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber() // 0.0 is a double
	if err := d.Decode(&tl); err != nil {
		t.Fatal(err)
	}
	f := &fixture{t: t}
	scope := instrumentation.Scope{Name: conformance.Scopes()[1]}
	if strings.HasPrefix(name, "sglang") {
		scope.Name = conformance.Scopes()[2]
	}
	switch level := tl.Env["SGLANG_TRACE_LEVEL"]; {
	case level == "2":
		f.opts = append(f.opts, conformance.WithTraceLevel(2))
	case strings.HasPrefix(name, "sglang"):
		f.opts = append(f.opts, conformance.WithTraceLevel(3))
	}
	switch tl.Env["VLLM_TRACE_GRANULARITY"] {
	case "1":
		f.opts = append(f.opts, conformance.WithGranularity(1))
	case "2":
		f.opts = append(f.opts, conformance.WithGranularity(2))
	}
	context := map[string]trace.SpanContext{}
	for i, s := range tl.Spans {
		f.ids = append(f.ids, s.ID)
		context[s.ID] = spanContext(trace.TraceID{1, byte(len(name))}, byte(i+1))
	}
	for _, s := range tl.Spans {
		stub := tracetest.SpanStub{
			Name: s.Name, SpanContext: context[s.ID], SpanKind: trace.SpanKindInternal, StartTime: time.Unix(0, s.Start), EndTime: time.Unix(0, s.End),
			Attributes: keyValues(t, s.Attributes), InstrumentationScope: scope,
		}
		if s.Parent != nil {
			stub.Parent = context[*s.Parent]
		}
		if s.Status == "ERROR" {
			stub.Status = sdktrace.Status{Code: codes.Error, Description: "aborted"}
		}
		for _, e := range s.Events {
			stub.Events = append(stub.Events, sdktrace.Event{Name: e.Name, Time: time.Unix(0, e.TS), Attributes: keyValues(t, e.Attributes)})
		}
		for _, l := range s.Links {
			stub.Links = append(stub.Links, sdktrace.Link{SpanContext: context[l]})
		}
		f.spans = append(f.spans, stub)
	}
	sm := metricdata.ScopeMetrics{Scope: scope}
	for _, m := range tl.Metrics {
		v, err := m.Value.Float64()
		if err != nil {
			t.Fatal(err)
		}
		sm.Metrics = append(sm.Metrics, documented(t, m.Name, v, keyValues(t, m.Attributes)))
	}
	f.metrics.ScopeMetrics = []metricdata.ScopeMetrics{sm}
	return f
}

func keyValues(t testing.TB, m map[string]any) []attribute.KeyValue {
	var out []attribute.KeyValue
	for key, value := range m {
		k := attribute.Key(key)
		switch v := value.(type) {
		case string:
			out = append(out, k.String(v))
		case bool:
			out = append(out, k.Bool(v))
		case json.Number:
			if n, err := v.Int64(); err == nil {
				out = append(out, k.Int64(n))
			} else if f, err := v.Float64(); err == nil {
				out = append(out, k.Float64(f))
			}
		case []any:
			out = append(out, list(t, k, v))
		}
	}
	if len(out) != len(m) {
		t.Fatalf("not all understood: %v", m)
	}
	slices.SortFunc(out, func(a, b attribute.KeyValue) int { return strings.Compare(string(a.Key), string(b.Key)) })
	return out
}

func list(t testing.TB, k attribute.Key, values []any) attribute.KeyValue {
	var texts []string
	var ints []int64
	var floats []float64
	for _, v := range values {
		switch v := v.(type) {
		case string:
			texts = append(texts, v)
		case json.Number:
			if n, err := v.Int64(); err == nil {
				ints = append(ints, n)
			} else if f, err := v.Float64(); err == nil {
				floats = append(floats, f)
			}
		}
	}
	switch len(values) {
	case len(texts):
		return k.StringSlice(texts)
	case len(ints):
		return k.Int64Slice(ints)
	case len(floats):
		return k.Float64Slice(floats)
	}
	t.Fatalf("mixed list %v", values)
	return attribute.KeyValue{}
}

// documented makes a metric of the documented kind.
func documented(t testing.TB, name string, value float64, attrs []attribute.KeyValue) metricdata.Metrics {
	t.Helper()
	i := slices.IndexFunc(semconv.Metrics(), func(m semconv.MetricType) bool { return m.Name == name })
	if i < 0 {
		t.Fatalf("no metric %q", name)
	}
	m := semconv.Metrics()[i]
	set := attribute.NewSet(attrs...)
	out := metricdata.Metrics{Name: name, Unit: m.Unit, Description: m.Brief}
	ints := []metricdata.DataPoint[int64]{{Attributes: set, Value: int64(value)}}
	floats := []metricdata.DataPoint[float64]{{Attributes: set, Value: value}}
	switch {
	case m.Instrument == semconv.InstrumentGauge && m.Value == semconv.TypeInt:
		out.Data = metricdata.Gauge[int64]{DataPoints: ints}
	case m.Instrument == semconv.InstrumentGauge:
		out.Data = metricdata.Gauge[float64]{DataPoints: floats}
	case m.Value == semconv.TypeInt:
		out.Data = metricdata.Sum[int64]{DataPoints: ints, IsMonotonic: true, Temporality: metricdata.CumulativeTemporality}
	default:
		out.Data = metricdata.Sum[float64]{DataPoints: floats, IsMonotonic: true, Temporality: metricdata.CumulativeTemporality}
	}
	return out
}

// entries makes entry spans and a log event with package genai.
func entries(t testing.TB) *fixture {
	t.Helper()
	spans := tracetest.NewSpanRecorder()
	logs := &recorder{}
	tp := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans))
	lp := sdklog.NewLoggerProvider(sdklog.WithProcessor(sdklog.NewSimpleProcessor(logs)))
	f := &fixture{t: t}
	start := time.Unix(1_700_000_000, 0)
	call := func(id string, e genai.Engine, r genai.Request) {
		inst, err := genai.New(genai.WithTracerProvider(tp), genai.WithLoggerProvider(lp), genai.WithEngine(e), genai.WithContent(genai.ContentSpanAndEvent))
		if err != nil {
			t.Fatal(err)
		}
		r.ID, r.UserID, r.Model, r.HasTools, r.StartTime = "req-1", "u", "m", true, start
		r.ChoiceCount, r.Temperature, r.TopP, r.TopK, r.MaxTokens = new(1), new(0.5), new(0.9), new(-1.0), new(64)
		r.Messages = []genai.Message{{Role: "user", Parts: []genai.Part{genai.TextPart("hello")}}}
		_, c := inst.Start(context.Background(), r)
		c.End(genai.Response{
			ID: "resp-1", Model: "m2", FinishReasons: []string{"stop"}, Increments: 4, EndTime: start.Add(2 * time.Second),
			Usage:     genai.Usage{InputTokens: new(10), OutputTokens: new(4), CacheReadInputTokens: new(8)},
			ToolCalls: [][]genai.ToolCall{{{ID: "a", Name: "f", Arguments: `{"x":1}`}}},
			Messages:  []genai.Message{{Role: "assistant", Parts: []genai.Part{genai.TextPart("hi")}, FinishReason: "stop"}},
		}, nil)
		f.ids = append(f.ids, id)
	}
	call("vllm", genai.EngineVLLM, genai.Request{Stream: true})
	call("vllm whole", genai.EngineVLLM, genai.Request{})
	call("completions", genai.EngineVLLM, genai.Request{Operation: genai.OperationTextCompletion})
	call("embeddings", genai.EngineVLLM, genai.Request{Operation: genai.OperationEmbeddings})
	call("rerank", genai.EngineSGLang, genai.Request{Operation: genai.OperationRerank})
	call("sglang", genai.EngineSGLang, genai.Request{Stream: true})
	call("sglang whole", genai.EngineSGLang, genai.Request{})
	call("sglang completions", genai.EngineSGLang, genai.Request{Operation: genai.OperationTextCompletion, Stream: true})
	f.spans = tracetest.SpanStubsFromReadOnlySpans(spans.Ended())
	f.logs = logs.records
	if len(f.spans) != len(f.ids) || len(f.logs) != len(f.ids) {
		t.Fatalf("%d spans and %d log events of %d calls", len(f.spans), len(f.logs), len(f.ids))
	}
	return f
}

// recorder keeps log records.
type recorder struct{ records []sdklog.Record }

func (r *recorder) Export(_ context.Context, records []sdklog.Record) error {
	for i := range records {
		r.records = append(r.records, records[i].Clone())
	}
	return nil
}
func (*recorder) Shutdown(context.Context) error   { return nil }
func (*recorder) ForceFlush(context.Context) error { return nil }

// event sets attributes of an event of a span.
func (f *fixture) event(id string, n int, kvs ...attribute.KeyValue) {
	e := &f.span(id).Events[n]
	e.Attributes = with(e.Attributes, kvs...)
}
