package conformance_test

import (
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/infertel/infertel-go/semconv"
	"github.com/infertel/infertel-go/semconv/conformance"
)

// broken names the rules that are broken, each with its field.
func broken(vs []conformance.Violation) map[string]bool {
	m := map[string]bool{}
	for _, v := range vs {
		m[strings.TrimSpace(string(v.Rule)+" "+v.Field)] = true
	}
	return m
}

func expect(t *testing.T, vs []conformance.Violation, want ...string) {
	t.Helper()
	got := broken(vs)
	for _, w := range want {
		if !got[w] {
			t.Errorf("not noticed: %s; found%s", w, lines(vs))
		}
	}
}

func foreign(scope string, s tracetest.SpanStub) tracetest.SpanStub {
	s.InstrumentationScope = instrumentation.Scope{Name: scope}
	s.SpanContext = spanContext(trace.TraceID{7}, byte(len(s.Name)))
	s.StartTime = time.Unix(1_700_000_000, 0)
	s.EndTime = s.StartTime.Add(time.Second)
	return s
}

// TestLoudOnOpenTelemetryNames judges a span as OpenTelemetry's own conventions
// for generative AI have it, from another instrumentation.
func TestLoudOnOpenTelemetryNames(t *testing.T) {
	f := &fixture{t: t, spans: tracetest.SpanStubs{foreign("opentelemetry.instrumentation.openai", tracetest.SpanStub{
		Name: "chat qwen3-8b", SpanKind: trace.SpanKindClient,
		Attributes: []attribute.KeyValue{
			attribute.String("gen_ai.operation.name", "chat"), attribute.String("gen_ai.provider.name", "openai"), attribute.String("gen_ai.request.model", "qwen3-8b"),
			attribute.Int("gen_ai.request.top_k", 4), attribute.StringSlice("gen_ai.response.finish_reasons", []string{"stop"}), attribute.String("server.address", "localhost"),
		},
		Events: []sdktrace.Event{{Name: "gen_ai.choice", Time: time.Unix(1_700_000_000, 1)}},
	})}}
	found := f.judge()
	expect(t, found, "span.kind", "attribute.undocumented gen_ai.provider.name", "attribute.undocumented server.address", "attribute.missing gen_ai.span.kind",
		"attribute.missing gen_ai.request.is_stream", "attribute.type gen_ai.request.top_k", "event.undocumented event 0 gen_ai.choice")
}

// TestLoudOnNativeEngine judges what vLLM's own tracing exports: kind SERVER, and
// seconds whatever the version.
func TestLoudOnNativeEngine(t *testing.T) {
	f := load(t, preempted)
	for i := range f.spans {
		f.spans[i].InstrumentationScope.Name = "vllm.llm_engine"
	}
	conformance.Assert(t, f.judge()) // the same from elsewhere conforms
	g := load(t, retracted)
	for i := range g.spans {
		g.spans[i].InstrumentationScope.Name = "sglang.srt"
	}
	conformance.Assert(t, g.judge())
	g.span("decode_waiting").SpanKind = trace.SpanKindServer // a stage has no attributes to be known by
	expect(t, g.judge(), "span.kind")
	req := f.span("req")
	req.SpanKind = trace.SpanKindServer
	for i, kv := range req.Attributes {
		if strings.HasPrefix(string(kv.Key), "gen_ai.latency.") {
			req.Attributes[i].Value = attribute.Float64Value(time.Duration(kv.Value.AsInt64()).Seconds())
		}
	}
	expect(t, f.judge(), "span.kind", "attribute.type gen_ai.latency.e2e", "attribute.type gen_ai.latency.time_in_queue",
		"attribute.type gen_ai.latency.time_in_model_inference", "attribute.type gen_ai.latency.time_to_first_token")

	only := *req
	only.Attributes = []attribute.KeyValue{
		attribute.String("gen_ai.request.id", "r"), attribute.Float64("gen_ai.latency.e2e", 0.126), attribute.String("gen_ai.response.model", "m"),
		attribute.Int("gen_ai.usage.prompt_tokens", 1), attribute.Int("gen_ai.usage.completion_tokens", 1), attribute.Float64("gen_ai.latency.time_in_queue", 0.1),
		attribute.Float64("gen_ai.latency.time_in_model_decode", 0.1),
	}
	only.Events = nil
	f = &fixture{t: t, spans: tracetest.SpanStubs{only}}
	expect(t, f.judge(), "span.kind")
}

// TestVersions tells the versions of a request apart that says next to nothing.
func TestVersions(t *testing.T) {
	for _, c := range []struct {
		e2e    attribute.KeyValue
		events []sdktrace.Event
		child  string
		want   string
	}{
		{semconv.GenAILatencyE2ESeconds(time.Second), nil, "", "vllm.v0.llm_request"},
		{semconv.GenAILatencyE2ENanoseconds(time.Second), nil, "", "vllm.v1.llm_request"},
		{semconv.GenAILatencyE2ESeconds(time.Second), []sdktrace.Event{{Name: semconv.EventWait, Time: time.Unix(1_700_000_000, 1)}}, "", "vllm.v1.llm_request"},
		{semconv.GenAILatencyE2ESeconds(time.Second), nil, semconv.SpanPrefill, "vllm.v1.llm_request"},
		{semconv.GenAIRequestTemperature(1), nil, "", "vllm.v1.llm_request"},
	} {
		s := foreign(conformance.Scopes()[1], tracetest.SpanStub{Name: "llm_request", SpanKind: trace.SpanKindServer, Attributes: []attribute.KeyValue{c.e2e}, Events: c.events})
		f := &fixture{t: t, ids: []string{"req"}, spans: tracetest.SpanStubs{s}}
		if c.child != "" {
			f.put("child", "req", tracetest.SpanStub{Name: c.child, StartTime: s.StartTime, EndTime: s.EndTime})
		}
		for _, v := range f.judge() {
			if v.Name == "llm_request" && v.Source != c.want {
				t.Errorf("taken for another version than %s: %s", c.want, v)
			}
		}
	}
}

func TestLoudOnNativeNames(t *testing.T) {
	f := load(t, prefillPD)
	f.span("req").Name = "prefill Req 5f2c9a7b"
	f.span("tok").Name = "PrefillTokenizer(host:9f86d081 | pid:4242)"
	f.set("tok", semconv.ThreadLabel("PrefillTokenizer"))
	f.span("s").Name = "PrefillScheduler [TP 0] (host:9f86d081 | pid:5001)"
	f.set("s", semconv.ThreadLabel("PrefillScheduler"))
	expect(t, f.judge(), "span.name", "thread.label thread_label")
	f.opts = append(f.opts, conformance.WithNativeNames())
	conformance.Assert(t, f.judge())

	f = load(t, retracted)
	f.opts = append(f.opts, conformance.WithNativeNames())
	expect(t, f.judge(), "span.name")
	f.span("req").Name = " Req abort-12"
	f.span("tok").Name = "MultiTokenizer-7(host:h1 | pid:1)"
	f.span("s").Name = "Scheduler [TP 0]  [DP 1] (host:h1 | pid:2)"
	conformance.Assert(t, f.judge())
}

// TestQuietOnOthers lets spans, metrics and log events of other instrumentation
// pass that just look a bit alike.
func TestQuietOnOthers(t *testing.T) {
	f := entries(t)
	for i, s := range []tracetest.SpanStub{
		{Name: "POST /v1/chat/completions", SpanKind: trace.SpanKindServer, Attributes: []attribute.KeyValue{attribute.String("http.request.method", "POST")}},
		{Name: "decode", SpanKind: trace.SpanKindInternal, Attributes: []attribute.KeyValue{attribute.String("codec", "jpeg")}},
		{Name: "tokenize", SpanKind: trace.SpanKindInternal},
		{Name: "wait", SpanKind: trace.SpanKindClient, Status: sdktrace.Status{Code: codes.Ok}},
		{Name: "chat", SpanKind: trace.SpanKindServer, Attributes: []attribute.KeyValue{attribute.String("rpc.method", "chat")}},
		{Name: "invoke_agent planner", SpanKind: trace.SpanKindInternal, Attributes: []attribute.KeyValue{attribute.String("gen_ai.span.kind", "AGENT")}},
	} {
		s = foreign("go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp", s)
		s.SpanContext = spanContext(f.spans[0].SpanContext.TraceID(), byte(i+1))
		f.spans = append(f.spans, s)
	}
	// A word that is also a stage of SGLang, below spans that are no thread of it.
	for i, parent := range []trace.SpanContext{f.spans[0].SpanContext, f.spans[len(f.ids)].SpanContext} {
		s := foreign("tokenizer", tracetest.SpanStub{Name: "tokenize", Parent: parent})
		s.SpanContext = spanContext(parent.TraceID(), byte(100+i))
		f.spans = append(f.spans, s)
	}
	// As in a gateway: the entry span lies within otelhttp's.
	f.spans[0].Parent = f.spans[len(f.ids)].SpanContext
	f.metrics.ScopeMetrics = []metricdata.ScopeMetrics{{
		Scope:   instrumentation.Scope{Name: "otelhttp"},
		Metrics: []metricdata.Metrics{{Name: "http.server.request.duration", Unit: "s", Data: metricdata.Histogram[float64]{}}},
	}}
	var tally conformance.Tally
	f.opts = []conformance.Option{conformance.WithTally(&tally)}
	conformance.Assert(t, f.judge())
	// The SDK's types and OTLP each.
	if want := (conformance.Tally{Spans: 2 * 16, SpansJudged: 2 * 8, Metrics: 2, Logs: 2 * 8, LogsJudged: 2 * 8}); tally != want {
		t.Errorf("counted %+v, want %+v", tally, want)
	}
}

func TestScopesOption(t *testing.T) {
	f := &fixture{t: t, spans: tracetest.SpanStubs{foreign("mine", tracetest.SpanStub{Name: "generate"}), foreign("theirs", tracetest.SpanStub{
		Name: "chat m", SpanKind: trace.SpanKindClient, Attributes: []attribute.KeyValue{attribute.String("gen_ai.operation.name", "chat")},
	})}}
	f.metrics.ScopeMetrics = []metricdata.ScopeMetrics{
		{Scope: instrumentation.Scope{Name: "mine"}, Metrics: []metricdata.Metrics{{Name: "tokens"}}},
		{Scope: instrumentation.Scope{Name: "theirs"}, Metrics: []metricdata.Metrics{{Name: "prompt_tokens_total"}, {Name: "sglang_token_usage"}}},
	}
	f.opts = []conformance.Option{conformance.WithScopes("mine"), nil}
	found := f.judge()
	if len(found) != 2 || found[0].Rule != conformance.RuleSpanUndocumented || found[1].Rule != conformance.RuleMetricUndocumented {
		t.Errorf("found%s", lines(found))
	}
	f.opts = []conformance.Option{conformance.WithScopes()}
	conformance.Assert(t, f.judge())
	f.opts = nil
	expect(t, f.judge(), "span.kind", "metric.instrument", "metric.unit", "metric.snapshot")
}

func TestEntrySource(t *testing.T) {
	f := entries(t)
	f.unset("sglang whole", semconv.GenAILatencyE2EKey, semconv.GenAIUsageCacheReadInputTokensKey)
	conformance.Assert(t, f.judge()) // it looks like vLLM's now
	f.opts = []conformance.Option{conformance.WithEntrySource(semconv.SourceSGLangEntry)}
	expect(t, f.judge(), "attribute.missing gen_ai.latency.e2e", "attribute.undocumented session.id")
	for _, v := range f.judge() {
		if strings.HasPrefix(v.Name, "embeddings") || strings.HasPrefix(v.Name, "rerank") {
			t.Error(v)
		}
	}
	f.opts = []conformance.Option{conformance.WithEntrySource(semconv.SourceVLLMEntry)}
	expect(t, f.judge(), "attribute.undocumented gen_ai.response.tokens_streamed")

	// The engine below tells as well.
	f = load(t, retracted)
	f.opts = nil
	entry := entries(t).spans[6]
	entry.SpanContext = spanContext(f.spans[0].SpanContext.TraceID(), 99)
	entry.Attributes = without(without(entry.Attributes, semconv.GenAILatencyE2EKey), semconv.GenAIUsageCacheReadInputTokensKey)
	f.span("req").Parent = entry.SpanContext
	f.spans = append(f.spans, entry)
	if found := f.judge(); len(found) != 1 || found[0].Source != "sglang.entry" || found[0].Field != "gen_ai.latency.e2e" {
		t.Errorf("found%s", lines(found))
	}
}

func TestAllowedAttributes(t *testing.T) {
	f := entries(t)
	f.set("vllm", attribute.String("error.type", "timeout"))
	f.logs[0].AddAttributes(attribute.String("error.type", "timeout"))
	f.opts = []conformance.Option{conformance.WithAllowedAttributes("error.type")}
	conformance.Assert(t, f.judge())
}

// TestOrder judges the same telemetry in two orders and expects the same report.
func TestOrder(t *testing.T) {
	f := load(t, tp2)
	for i := range f.spans {
		f.spans[i].SpanKind = trace.SpanKindServer
	}
	a := lines(f.judge())
	for i, j := 0, len(f.spans)-1; i < j; i, j = i+1, j-1 {
		f.spans[i], f.spans[j] = f.spans[j], f.spans[i]
	}
	if b := lines(f.judge()); a != b {
		t.Errorf("in one order%s\nin the other%s", a, b)
	}
}

// TestPartsOfATrace takes each span out in turn: what is not given is not judged
// to be wrong, but for what the spans that are left say about it.
func TestPartsOfATrace(t *testing.T) {
	for _, name := range timelines(t) {
		for i := range load(t, name).spans {
			f := load(t, name)
			gone := f.ids[i]
			f.drop(gone)
			if found := f.judge(); len(found) > 0 {
				t.Errorf("%s without %s:%s", name, gone, lines(found))
			}
		}
	}
}

// TestDropped judges a span of which an SDK limit has dropped attributes.
func TestDropped(t *testing.T) {
	f := entries(t)
	s := f.span("sglang")
	s.Attributes, s.DroppedAttributes = s.Attributes[:6], 20
	conformance.Assert(t, f.judge())

	logs := logsToOTLP(f.logs[:1])
	record := logs[0].GetScopeLogs()[0].GetLogRecords()[0]
	record.Attributes, record.DroppedAttributesCount = nil, 2
	conformance.Assert(t, conformance.CheckOTLPLogs(logs))

	f = load(t, preempted)
	s = f.span("req")
	s.Events, s.DroppedEvents = s.Events[2:], 2
	conformance.Assert(t, f.judge())
}

// TestTwice judges spans that an exporter delivered twice.
func TestTwice(t *testing.T) {
	f := load(t, preempted)
	f.spans = append(f.spans, f.spans...)
	conformance.Assert(t, f.judge())
}

// TestHostileIDs judges spans whose ids lead in a circle.
func TestHostileIDs(t *testing.T) {
	f := load(t, retracted)
	f.span("req").Parent = f.span("l1").SpanContext
	f.span("s").Parent = f.span("s").SpanContext
	if len(f.judge()) == 0 {
		t.Error("not noticed")
	}
	f = load(t, preempted)
	f.span("req").Parent = f.span("wait").SpanContext
	if len(f.judge()) == 0 {
		t.Error("not noticed")
	}
}

func TestNothing(t *testing.T) {
	if v := conformance.CheckSpans([]sdktrace.ReadOnlySpan{nil}); v != nil {
		t.Errorf("found%s", lines(v))
	}
	if v := conformance.CheckMetrics(nil); v != nil {
		t.Errorf("found%s", lines(v))
	}
	if v := conformance.CheckLogs(nil); v != nil {
		t.Errorf("found%s", lines(v))
	}
}
