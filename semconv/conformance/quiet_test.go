package conformance_test

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	logspb "go.opentelemetry.io/proto/otlp/logs/v1"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/infertel/infertel-go/genai"
	"github.com/infertel/infertel-go/genai/wire"
	"github.com/infertel/infertel-go/internal/sdktest"
	"github.com/infertel/infertel-go/semconv"
	"github.com/infertel/infertel-go/semconv/conformance"
)

func TestQuietOnTimelines(t *testing.T) {
	for _, name := range timelines(t) {
		t.Run(name, func(t *testing.T) {
			f := load(t, name)
			conformance.Assert(t, f.judge())
			f.opts = nil
			conformance.Assert(t, f.judge())
		})
	}
}

func TestQuietOnEntries(t *testing.T) { conformance.Assert(t, entries(t).judge()) }

// TestQuietOnGateways judges what only some gateways do.
func TestQuietOnGateways(t *testing.T) {
	f := entries(t)
	// A gateway that does not trust its callers: a root that links to the caller.
	f.span("vllm").Links = []sdktrace.Link{{SpanContext: spanContext(trace.TraceID{9}, 9)}}
	// A request without a model.
	f.unset("rerank", semconv.GenAIRequestModelKey)
	f.span("rerank").Name = "rerank"
	// A failure before anything was known.
	s := f.span("sglang")
	s.Status = sdktrace.Status{Code: codes.Error, Description: "HTTP status 503"}
	f.unset("sglang", semconv.GenAIResponseIDKey, semconv.GenAIRequestIDKey, semconv.GenAIResponseFinishReasonsKey, semconv.GenAIUsageInputTokensKey)
	// A failure that came after the answer had begun.
	f.span("vllm").Status = sdktrace.Status{Code: codes.Error, Description: "the stream broke"}
	f.unset("vllm", semconv.SessionIDKey)
	// A process that was paused between the ends of a latency and of its span.
	f.move("sglang completions", 0, 1200*time.Millisecond)
	// Content that is empty.
	f.set("embeddings", semconv.GenAIInputMessages("[]"))
	conformance.Assert(t, f.judge())
	// A tool call of which the name never came.
	f = entries(t)
	f.unset("sglang", "gen_ai.completions.0.tool_calls.0.name")
	conformance.Assert(t, f.judge())
}

// TestQuietOnFailures judges engine spans with an error, which may lack what the
// error kept from happening.
func TestQuietOnFailures(t *testing.T) {
	f := load(t, preempted)
	f.span("req").Status = sdktrace.Status{Code: codes.Error, Description: "out of memory"}
	f.unset("req", semconv.GenAILatencyTimeToFirstTokenKey, semconv.GenAILatencyTimeInModelPrefillKey,
		semconv.GenAILatencyTimeInModelDecodeKey, semconv.GenAILatencyTimeInModelInferenceKey)
	conformance.Assert(t, f.judge())
	f = load(t, v0)
	f.span("req").Status = sdktrace.Status{Code: codes.Error, Description: "out of memory"}
	f.unset("req", semconv.GenAILatencyTimeToFirstTokenKey)
	conformance.Assert(t, f.judge())
}

// TestQuietOnEmbeddings hangs an embedding request of SGLang below its entry
// span, which has vLLM's form.
func TestQuietOnEmbeddings(t *testing.T) {
	f := load(t, retracted)
	entry := entries(t).spans[3]
	entry.SpanContext = spanContext(f.spans[0].SpanContext.TraceID(), 99)
	f.spans = append(f.spans, entry)
	f.ids = append(f.ids, "entry")
	f.span("req").Parent = entry.SpanContext
	f.unset("req", semconv.GenAIUsageCompletionTokensKey, semconv.GenAILatencyTimeToFirstTokenKey,
		semconv.GenAILatencyTimeInModelPrefillKey, semconv.GenAILatencyTimeInModelDecodeKey)
	conformance.Assert(t, f.judge())
}

// TestQuietOnSkew judges processes whose clocks differ.
func TestQuietOnSkew(t *testing.T) {
	f := load(t, tp2)
	f.move("s0", -40*time.Millisecond, 0) // before its request
	for i := range f.spans {
		if strings.HasPrefix(f.ids[i], "s1") { // the other one ends long after it
			f.move(f.ids[i], time.Second, time.Second)
			for j := range f.spans[i].Events {
				e := &f.spans[i].Events[j]
				e.Time = e.Time.Add(time.Second)
			}
		}
	}
	entry := entries(t).spans[6]
	entry.SpanContext = spanContext(f.spans[0].SpanContext.TraceID(), 99)
	entry.StartTime, entry.EndTime = entry.StartTime.Add(time.Hour), entry.EndTime.Add(time.Hour)
	f.span("req").Parent = entry.SpanContext
	f.spans = append(f.spans, entry)
	conformance.Assert(t, f.judge())
}

// TestQuietOnTies judges first-level stages that start at the same time, whose
// order their ids do not tell.
func TestQuietOnTies(t *testing.T) {
	f := load(t, tp2)
	rp := f.span("s0rp")
	rp.StartTime = rp.EndTime
	rp.SpanContext = spanContext(rp.SpanContext.TraceID(), 250)
	f.link("s0pw", "s0rp")
	conformance.Assert(t, f.judge())
	f.span("s0pw").Links = nil // one of the two may begin the thread, not both
	expect(t, f.judge(), "link.target")
}

// everyMetric is each documented metric of one reporter.
func everyMetric(t testing.TB, scope string, source semconv.Source) metricdata.ScopeMetrics {
	sm := metricdata.ScopeMetrics{Scope: instrumentation.Scope{Name: scope}}
	for _, m := range semconv.Metrics() {
		for _, r := range m.Reporters {
			if r.Source != source {
				continue
			}
			var attrs []attribute.KeyValue
			for _, d := range semconv.DimensionSets() {
				if d.ID == r.Dimensions {
					for _, a := range append(d.Attributes, m.ExtraDimensions...) {
						attrs = append(attrs, example(a))
					}
				}
			}
			sm.Metrics = append(sm.Metrics, documented(t, m.Name, 0.5, attrs))
		}
	}
	return sm
}

func example(a semconv.AttributeSpec) attribute.KeyValue {
	switch {
	case a.Key == semconv.RPCTypeKey:
		return semconv.RPCTypeGenAI
	case a.Type == semconv.TypeInt:
		return a.Key.Int(0)
	case len(a.Enum) > 0:
		return a.Key.String(a.Enum[0])
	}
	return a.Key.String("x")
}

func metrics(t *testing.T) *fixture {
	scopes := conformance.Scopes()
	f := &fixture{t: t}
	f.metrics.ScopeMetrics = []metricdata.ScopeMetrics{
		everyMetric(t, scopes[0], semconv.SourceVLLMToken),
		everyMetric(t, scopes[1], semconv.SourceVLLMV1Metrics),
		everyMetric(t, scopes[2], semconv.SourceSGLangMetrics),
	}
	return f
}

func TestQuietOnMetrics(t *testing.T) {
	conformance.Assert(t, metrics(t).judge())
	f := &fixture{t: t}
	for _, source := range []semconv.Source{semconv.SourceVLLMV0Metrics, semconv.SourceSGLangToken} {
		f.metrics.ScopeMetrics = append(f.metrics.ScopeMetrics, everyMetric(t, "another scope for "+string(source), source))
	}
	if n := len(f.metrics.ScopeMetrics[0].Metrics); n < 14 {
		t.Errorf("only %d metrics of V0", n)
	}
	conformance.Assert(t, f.judge())
}

// TestQuietOnBodies sends every body of the observer's own tests through it, with
// all content modes, and judges what arrives.
func TestQuietOnBodies(t *testing.T) {
	bed := sdktest.New(t)
	const dir = "../../genai/wire/testdata"
	responses, err := filepath.Glob(dir + "/*")
	if err != nil {
		t.Fatal(err)
	}
	cases, err := filepath.Glob(dir + "/cases/*.*")
	if err != nil {
		t.Fatal(err)
	}
	var opts []conformance.Option
	bodies := 0
	for _, mode := range []genai.ContentMode{genai.ContentNone, genai.ContentSpan, genai.ContentEvent, genai.ContentSpanAndEvent} {
		for _, path := range append(responses, cases...) {
			if isBody(path) {
				observe(t, bed, path, mode)
				bodies++
			}
		}
	}
	bed.Flush()
	if bodies < 4*30 || len(bed.Receiver.Spans()) != bodies {
		t.Errorf("%d spans of %d bodies", len(bed.Receiver.Spans()), bodies)
	}
	var spans []*tracepb.ResourceSpans
	for _, r := range bed.Receiver.TraceRequests() {
		spans = append(spans, r.GetResourceSpans()...)
	}
	conformance.Assert(t, conformance.CheckOTLPSpans(spans, opts...))
	var metrics []*metricspb.ResourceMetrics
	for _, r := range bed.Receiver.MetricRequests() {
		metrics = append(metrics, r.GetResourceMetrics()...)
	}
	conformance.Assert(t, conformance.CheckOTLPMetrics(metrics, opts...))
	var logs []*logspb.ResourceLogs
	for _, r := range bed.Receiver.LogRequests() {
		logs = append(logs, r.GetResourceLogs()...)
	}
	if len(metrics) == 0 || len(bed.Receiver.Logs()) == 0 {
		t.Errorf("%d metrics and %d log events arrived", len(metrics), len(bed.Receiver.Logs()))
	}
	conformance.Assert(t, conformance.CheckOTLPLogs(logs, opts...))
}

func isBody(path string) bool {
	name := filepath.Base(path)
	return (strings.HasSuffix(name, ".json") || strings.HasSuffix(name, ".sse")) && !strings.HasSuffix(name, ".request.json") && name != "expected.json"
}

// observe sends one body, and the request beside it if there is one, through an
// observer for its engine.
func observe(t *testing.T, bed *sdktest.Bed, path string, mode genai.ContentMode) {
	t.Helper()
	name := filepath.Base(path)
	engine, op, status := genai.EngineSGLang, genai.OperationChat, 200
	if strings.HasPrefix(name, "vllm") {
		engine = genai.EngineVLLM
	}
	switch {
	case strings.Contains(name, "completions"):
		op = genai.OperationTextCompletion
	case strings.Contains(name, "embeddings"):
		op = genai.OperationEmbeddings
	case strings.Contains(name, "rerank"):
		op = genai.OperationRerank
	}
	if strings.Contains(name, "error-400") {
		status = 400
	}
	contentType := "application/json"
	if strings.HasSuffix(name, ".sse") || strings.HasSuffix(name, ".writes.json") {
		contentType = "text/event-stream"
	}
	request, err := os.ReadFile(strings.TrimSuffix(strings.TrimSuffix(path, ".json"), ".sse") + ".request.json")
	if err != nil {
		request = []byte(`{"model":"m","stream":true,"messages":[{"role":"user","content":"x"}]}`)
	}
	body, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasSuffix(name, ".writes.json") {
		var w struct {
			Writes []string `json:"writes_hex"`
		}
		if err := json.Unmarshal(body, &w); err != nil {
			t.Fatal(err)
		}
		if body, err = hex.DecodeString(strings.Join(w.Writes, "")); err != nil {
			t.Fatal(err)
		}
	}
	inst, err := genai.New(genai.WithTracerProvider(bed.Traces), genai.WithMeterProvider(bed.Metrics), genai.WithLoggerProvider(bed.Logs),
		genai.WithEngine(engine), genai.WithContent(mode))
	if err != nil {
		t.Fatal(err)
	}
	_, x := wire.Start(context.Background(), inst, wire.RequestHead{Operation: op})
	x.RequestBody(request)
	x.ResponseHead(wire.ResponseHead{Status: status, ContentType: contentType})
	x.ResponseBody(body)
	x.End(nil)
}
