package conformance_test

import (
	"time"

	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/infertel/infertel-go/semconv"
	"github.com/infertel/infertel-go/semconv/conformance"
)

func spanMutations() map[conformance.Rule][]mutation {
	ms := time.Millisecond
	return map[conformance.Rule][]mutation{
		conformance.RuleSpanUndocumented: {
			{"vllm", preempted, func(f *fixture) {
				s := *f.span("wait")
				s.Name, s.Attributes = "sample", nil
				f.put("new", "req", s)
			}},
			{"stage", retracted, func(f *fixture) {
				s := *f.span("l1")
				s.Name = "sampling"
				f.put("new", "df2", s)
			}},
		},
		conformance.RuleSpanName: {
			{"entry without its model", "entries", func(f *fixture) { f.span("vllm").Name = "chat" }},
			{"entry with another model", "entries", func(f *fixture) { f.span("sglang").Name = "chat m2" }},
			{"entry of another operation", "entries", func(f *fixture) { f.span("vllm whole").Name = "text_completion m" }},
			{"entry named by its route", "entries", func(f *fixture) { f.span("rerank").Name = "POST /v1/rerank" }},
			{"llm_request", preempted, func(f *fixture) {
				f.drop("wait")
				f.drop("prefill")
				f.drop("decode")
				f.span("req").Name = "LLM request"
			}},
			{"whole rid", retracted, func(f *fixture) { f.span("req").Name = "Req abort-1234567890" }},
			{"request without a rid", retracted, func(f *fixture) { f.span("req").Name = "Req" }},
			{"request known by its module", retracted, func(f *fixture) { f.span("req").Name = "request abort-12" }},
			{"native request", retracted, func(f *fixture) { f.span("req").Name = " Req abort-12" }},
			{"native thread", retracted, func(f *fixture) { f.span("s").Name = "Scheduler [TP 0]  [DP 1] (host:h1 | pid:2)" }},
			{"thread without a rank", retracted, func(f *fixture) { f.span("s").Name = "Scheduler [TP 0] (host:h1 | pid:2)" }},
			{"thread with the whole host", tp2, func(f *fixture) {
				f.span("tok").Name = "Tokenizer (host:9f86d081884c7d659a2feaa0c55ad015 | pid:4242)"
			}},
			{"ranks out of order", retracted, func(f *fixture) { f.span("s").Name = "Scheduler [DP 1] [TP 0] (host:h1 | pid:2)" }},
		},
		conformance.RuleSpanKind: {
			{"server", preempted, func(f *fixture) { f.span("req").SpanKind = trace.SpanKindServer }},
			{"client", "entries", func(f *fixture) { f.span("vllm").SpanKind = trace.SpanKindClient }},
			{"none", tp2, func(f *fixture) { f.span("s0l0").SpanKind = trace.SpanKindUnspecified }},
		},
		conformance.RuleSpanStatus: {
			{"ok", v0, func(f *fixture) { f.span("req").Status.Code = codes.Ok }},
			{"error of a request", aborted, func(f *fixture) { f.span("req").Status = sdktrace.Status{Code: codes.Error, Description: "aborted"} }},
			{"error of a stage", aborted, func(f *fixture) { f.span("l0").Status = sdktrace.Status{Code: codes.Error, Description: "aborted"} }},
			{"error of a V1 stage", producer, func(f *fixture) { f.span("prefill").Status = sdktrace.Status{Code: codes.Error, Description: "x"} }},
			{"error without a description", "entries", func(f *fixture) { f.span("vllm").Status.Code = codes.Error }},
			{"abort without an error", "entries", func(f *fixture) {
				f.set("sglang", semconv.GenAIResponseFinishReasons("stop", "abort"))
			}},
		},
		conformance.RuleSpanTime: {
			{"no end", producer, func(f *fixture) { f.span("prefill").EndTime = time.Time{} }},
			{"no start", "entries", func(f *fixture) { f.span("vllm").StartTime = time.Time{} }},
			{"no end of a request with stages and events", preempted, func(f *fixture) { f.span("req").EndTime = time.Time{} }},
			{"no start of one", preempted, func(f *fixture) { f.span("req").StartTime = time.Time{} }},
			{"no end of a thread", retracted, func(f *fixture) {
				for _, id := range []string{"decode_forward", "df2"} { // they end with it
					f.span(id).EndTime = time.Time{}
					f.span(id).Events = nil
				}
				f.span("s").EndTime = time.Time{}
			}},
			{"no start of an entry with a latency", "entries", func(f *fixture) { f.span("sglang").StartTime = time.Time{} }},
			{"prefill backwards", preempted, func(f *fixture) { f.move("prefill", 0, -100*ms) }},
			{"entry backwards", "entries", func(f *fixture) { f.move("sglang", 0, -5*time.Second) }},
			{"backwards", v0, func(f *fixture) { f.move("req", 0, -100*ms) }},
		},
		conformance.RuleSpanParent: {
			{"stage that is a root", producer, func(f *fixture) { f.span("wait").Parent = trace.SpanContext{} }},
			{"transfer beside wait", preempted, func(f *fixture) {
				f.put("kv", "req", kvTransfer(f))
				f.set("req", semconv.GenAILatencyTimeInKVTransferNanoseconds(2*ms))
			}},
			{"stage in a foreign span", producer, func(f *fixture) {
				s := *f.span("wait")
				s.Name, s.Attributes = "GET", nil
				foreign := f.put("http", "req", s)
				foreign.InstrumentationScope.Name = "otelhttp"
				f.span("wait").Parent = foreign.SpanContext
			}},
			{"thread in a stage", retracted, func(f *fixture) { f.span("tok").Parent = f.span("l0").SpanContext }},
			{"request in a thread", retracted, func(f *fixture) {
				s := *f.span("req")
				s.Links = nil
				f.put("again", "s", s)
			}},
			{"stage in the request", retracted, func(f *fixture) {
				f.span("dispatch").Parent = f.span("req").SpanContext
				f.span("prefill_waiting").Links = nil
			}},
			{"decode_loop in the thread", tp2, func(f *fixture) {
				f.span("s0l1").Parent = f.span("s0").SpanContext
				f.span("s0l1").Events = nil
				f.span("s0l1").Links = f.span("s0df").Links
			}},
			{"chunk in decode_forward", tp2, func(f *fixture) {
				s := *f.span("s0se1")
				s.Name = semconv.StageChunkedPrefill
				f.put("chunk", "s0df", s)
			}},
			{"waiting in prefill_forward", tp2, func(f *fixture) {
				s := *f.span("s0c0")
				s.Name, s.Events = semconv.StagePrefillWaiting, nil
				f.span("s0c0").Events = nil
				f.put("again", "s0pf", s)
			}},
			{"entry in an engine", preempted, func(f *fixture) {
				f.put("entry", "req", entries(f.t).spans[0])
			}},
		},
		conformance.RuleSpanContainment: {
			{"V1 stage", preempted, func(f *fixture) {
				f.move("decode", 0, 2*ms)
				f.set("req", semconv.GenAILatencyTimeInModelDecodeNanoseconds(97*ms), semconv.GenAILatencyTimeInModelInferenceNanoseconds(117*ms))
			}},
			{"V1 stage before", producer, func(f *fixture) {
				f.move("wait", -3*ms, 0)
				f.set("req", semconv.GenAILatencyTimeInQueueNanoseconds(6*ms))
			}},
			{"transfer", preempted, func(f *fixture) {
				kv := kvTransfer(f)
				kv.EndTime = kv.EndTime.Add(6 * ms)
				f.put("kv", "wait", kv)
				f.set("req", semconv.GenAILatencyTimeInKVTransferNanoseconds(8*ms))
			}},
			{"stage", tp2, func(f *fixture) { f.move("s0l1", 0, 2*ms) }},
			{"chunk", tp2, func(f *fixture) { f.move("s0c2", 0, 1*ms) }},
			{"frontend thread", tp2, func(f *fixture) { f.move("tok", -1*ms, 0) }},
		},
		conformance.RuleSpanGranularity: {
			{"stages at 0", producer, func(f *fixture) { f.opts = []conformance.Option{conformance.WithGranularity(0)} }},
		},
		conformance.RuleLinkForbidden: {
			{"nested stage", retracted, func(f *fixture) { f.span("l1").Links = f.span("decode_waiting").Links }},
			{"thread", retracted, func(f *fixture) { f.span("s").Links = f.span("decode_waiting").Links }},
			{"request", prefillPD, func(f *fixture) { f.span("req").Links = f.span("dispatch").Links }},
			{"V1", preempted, func(f *fixture) {
				f.span("decode").Links = []sdktrace.Link{{SpanContext: f.span("prefill").SpanContext}}
			}},
			{"entry that is no root", "entries", func(f *fixture) {
				caller := spanContext(trace.TraceID{9}, 9)
				f.span("vllm").Parent = caller
				f.span("vllm").Links = []sdktrace.Link{{SpanContext: caller}}
			}},
			{"entry with two", "entries", func(f *fixture) {
				l := sdktrace.Link{SpanContext: spanContext(trace.TraceID{9}, 9)}
				f.span("vllm").Links = []sdktrace.Link{l, l}
			}},
		},
		conformance.RuleLinkMissing: {
			{"in the middle", tp2, func(f *fixture) { f.span("s1pf").Links = nil }},
			{"in the frontend", tp2, func(f *fixture) { f.span("dispatch").Links = nil }},
		},
		conformance.RuleLinkTarget: {
			{"one too early", tp2, func(f *fixture) { f.link("s0dw", "s0pw") }},
			{"a later one", tp2, func(f *fixture) { f.link("s0pw", "s0df") }},
			{"itself", tp2, func(f *fixture) { f.link("s0dw", "s0dw") }},
			{"another thread", tp2, func(f *fixture) { f.link("s0dw", "s1pf") }},
			{"a nested stage", tp2, func(f *fixture) { f.link("s0dw", "s0c2") }},
			{"the thread", tp2, func(f *fixture) { f.link("s0rp", "tok") }},
			{"first to its own thread", tp2, func(f *fixture) { f.link("s0rp", "s0df") }},
			{"two links", tp2, func(f *fixture) {
				f.span("s0dw").Links = append(f.span("s0dw").Links, f.span("s0dw").Links[0])
			}},
			{"another trace", tp2, func(f *fixture) {
				f.span("s0rp").Links = []sdktrace.Link{{SpanContext: spanContext(trace.TraceID{9}, 9)}}
			}},
		},
	}
}

// link makes a span link to one other.
func (f *fixture) link(from, to string) {
	f.span(from).Links = []sdktrace.Link{{SpanContext: f.span(to).SpanContext}}
}

// kvTransfer is a transfer in the first 2 ms of the wait of a timeline.
func kvTransfer(f *fixture) tracetest.SpanStub {
	s := *f.span("wait")
	s.Name, s.EndTime = semconv.SpanKVTransfer, s.StartTime.Add(2*time.Millisecond)
	s.Attributes = with(s.Attributes, semconv.GenAIKVTransferDirectionRecv, semconv.GenAIKVTransferCachedTokens(16), semconv.GenAIKVTransferFailed(false))
	return s
}
