package conformance_test

import (
	"math"
	"time"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/infertel/infertel-go/semconv"
	"github.com/infertel/infertel-go/semconv/conformance"
)

func attributeMutations() map[conformance.Rule][]mutation {
	return map[conformance.Rule][]mutation{
		conformance.RuleAttributeUndocumented: {
			{"OpenTelemetry's", "entries", func(f *fixture) { f.set("vllm", attribute.String("gen_ai.provider.name", "vllm")) }},
			{"error.type", "entries", func(f *fixture) { f.set("sglang", attribute.String("error.type", "timeout")) }},
			{"of another engine", v0, func(f *fixture) { f.set("req", semconv.GenAILatencyTimeInTokenizeNanoseconds(1)) }},
			{"on a stage", tp2, func(f *fixture) { f.set("s0pw", semconv.DecodeCT(0)) }},
			{"on a thread", tp2, func(f *fixture) { f.set("s0", attribute.Int("ep_rank", 0)) }},
			{"on a V1 event", preempted, func(f *fixture) { f.event("req", 1, attribute.Int("batch", 1)) }},
			{"on retract", retracted, func(f *fixture) { f.event("decode_forward", 0, semconv.BatchID("b")) }},
		},
		conformance.RuleAttributeMissing: {
			{"V1 cache_read of 0", producer, func(f *fixture) { f.unset("req", semconv.GenAIUsageCacheReadInputTokensKey) }},
			{"V1 decode time of a producer", producer, func(f *fixture) { f.unset("req", semconv.GenAILatencyTimeInModelDecodeKey) }},
			{"V1 first token", producer, func(f *fixture) { f.unset("req", semconv.GenAILatencyTimeToFirstTokenKey) }},
			{"V1 queue", producer, func(f *fixture) { f.unset("req", semconv.GenAILatencyTimeInQueueKey) }},
			{"V1 decode", preempted, func(f *fixture) { f.unset("req", semconv.GenAILatencyTimeInModelDecodeKey) }},
			{"V1 inference", preempted, func(f *fixture) { f.unset("req", semconv.GenAILatencyTimeInModelInferenceKey) }},
			{"V1 end to end", preempted, func(f *fixture) { f.unset("req", semconv.GenAILatencyE2EKey) }},
			{"V1 preemptions", preempted, func(f *fixture) { f.unset("req", semconv.GenAIRequestPreemptionCountKey) }},
			{"V1 transfer", preempted, func(f *fixture) { f.put("kv", "wait", kvTransfer(f)) }},
			{"V1 stage", producer, func(f *fixture) { f.unset("wait", semconv.GenAIPDRoleKey) }},
			{"V1 event", preempted, func(f *fixture) { s := &f.span("req").Events[0]; s.Attributes = nil }},
			{"V1 queue of a request that waited", producer, func(f *fixture) {
				f.drop("prefill")
				f.set("req", semconv.GenAIUsageCompletionTokens(0))
				f.unset("req", semconv.GenAILatencyTimeInQueueKey, semconv.GenAILatencyTimeToFirstTokenKey,
					semconv.GenAILatencyTimeInModelPrefillKey, semconv.GenAILatencyTimeInModelInferenceKey)
			}},
			{"V1 queue of a request that was computed", producer, func(f *fixture) {
				f.drop("wait")
				f.set("req", semconv.GenAIUsageCompletionTokens(0))
				f.unset("req", semconv.GenAILatencyTimeInQueueKey)
			}},
			{"V0 queue", v0, func(f *fixture) { f.unset("req", semconv.GenAILatencyTimeInQueueKey) }},
			{"V0 sequences", v0, func(f *fixture) { f.unset("req", semconv.GenAIUsageNumSequencesKey) }},
			{"V0 e2e", v0, func(f *fixture) { f.unset("req", semconv.GenAILatencyE2EKey) }},
			{"V0 first token", v0, func(f *fixture) { f.unset("req", semconv.GenAILatencyTimeToFirstTokenKey) }},
			{"entry model", "entries", func(f *fixture) { f.unset("vllm", semconv.GenAIRequestModelKey) }},
			{"entry is_stream", "entries", func(f *fixture) { f.unset("vllm whole", semconv.GenAIRequestIsStreamKey) }},
			{"entry is_stream of a stream", "entries", func(f *fixture) { f.unset("sglang", semconv.GenAIRequestIsStreamKey) }},
			{"entry operation", "entries", func(f *fixture) { f.unset("sglang whole", semconv.GenAIOperationNameKey) }},
			{"entry span kind", "entries", func(f *fixture) { f.unset("rerank", semconv.GenAISpanKindKey) }},
			{"vLLM session of a stream", "entries", func(f *fixture) { f.unset("vllm", semconv.SessionIDKey) }},
			{"SGLang id of a chat stream", "entries", func(f *fixture) { f.unset("sglang", semconv.GenAIRequestIDKey) }},
			{"SGLang e2e", "entries", func(f *fixture) { f.unset("sglang whole", semconv.GenAILatencyE2EKey) }},
			{"SGLang model of an answer", "entries", func(f *fixture) { f.unset("sglang whole", semconv.GenAIResponseModelKey) }},
			{"SGLang streamed tokens", "entries", func(f *fixture) { f.unset("sglang", semconv.GenAIResponseTokensStreamedKey) }},
			{"SGLang declared tools", "entries", func(f *fixture) { f.unset("sglang", semconv.GenAIRequestHasToolCallsKey) }},
			{"SGLang tool calls", "entries", func(f *fixture) {
				f.unset("sglang", "gen_ai.completions.0.tool_calls.0.name", "gen_ai.completions.0.tool_calls.0.arguments")
			}},
			{"SGLang detection", "entries", func(f *fixture) {
				f.unset("sglang", semconv.GenAIRequestToolCallDetectedKey, "gen_ai.completions.0.tool_calls.0.name", "gen_ai.completions.0.tool_calls.0.arguments")
			}},
			{"SGLang rid", retracted, func(f *fixture) { f.unset("req", semconv.RIDKey) }},
			{"SGLang after a normal end", retracted, func(f *fixture) { f.unset("req", semconv.GenAIUsageCachedTokensKey) }},
			{"SGLang prefill", retracted, func(f *fixture) { f.unset("req", semconv.GenAILatencyTimeInModelPrefillKey) }},
			{"SGLang decode", retracted, func(f *fixture) { f.unset("req", semconv.GenAILatencyTimeInModelDecodeKey) }},
			{"SGLang inference", retracted, func(f *fixture) { f.unset("req", semconv.GenAILatencyTimeInModelInferenceKey) }},
			{"SGLang first token", retracted, func(f *fixture) { f.unset("req", semconv.GenAILatencyTimeToFirstTokenKey) }},
			{"SGLang end to end", retracted, func(f *fixture) { f.unset("req", semconv.GenAILatencyE2EKey) }},
			{"SGLang room", prefillPD, func(f *fixture) { f.unset("req", semconv.BootstrapRoomKey) }},
			{"SGLang host", tp2, func(f *fixture) { f.unset("s1", semconv.HostIDKey) }},
			{"SGLang pid", tp2, func(f *fixture) { f.unset("s1", semconv.PIDKey) }},
			{"SGLang label", tp2, func(f *fixture) { f.unset("s1", semconv.ThreadLabelKey) }},
			{"SGLang iteration", tp2, func(f *fixture) { f.unset("s1l0", semconv.DecodeCTKey) }},
			{"SGLang event", tp2, func(f *fixture) {
				e := &f.span("s1l0").Events[0]
				e.Attributes = without(e.Attributes, semconv.BatchIDKey)
			}},
		},
		conformance.RuleAttributeForbidden: {
			{"span kind on an engine", preempted, func(f *fixture) { f.set("req", semconv.GenAISpanKindLLM) }},
			{"span kind on a stage", tp2, func(f *fixture) { f.set("s0pf", semconv.GenAISpanKindLLM) }},
			{"SGLang model of a stream", "entries", func(f *fixture) { f.set("sglang", semconv.GenAIResponseModel("m")) }},
			{"SGLang streamed tokens of none", "entries", func(f *fixture) { f.set("sglang whole", semconv.GenAIResponseTokensStreamed(4)) }},
			{"SGLang id of no stream", "entries", func(f *fixture) { f.set("sglang whole", semconv.GenAIRequestID("r")) }},
			{"SGLang tool calls of no stream", "entries", func(f *fixture) {
				f.set("sglang whole", semconv.GenAICompletionsToolCallsArguments(0, 0, "{}"))
			}},
			{"SGLang tools of a completion", "entries", func(f *fixture) { f.set("sglang completions", semconv.GenAIRequestHasToolCalls(true)) }},
			{"SGLang id of a completion", "entries", func(f *fixture) { f.set("sglang completions", semconv.GenAIRequestID("r")) }},
			{"SGLang calls that were not detected", "entries", func(f *fixture) {
				f.set("sglang", semconv.GenAIRequestToolCallDetected(false), semconv.GenAIRequestToolCallsCount(0))
			}},
			{"vLLM session of no stream", "entries", func(f *fixture) { f.set("vllm whole", semconv.SessionID("s")) }},
			{"room without PD", retracted, func(f *fixture) { f.set("req", semconv.BootstrapRoom("0x1")) }},
			{"usage of an aborted request", aborted, func(f *fixture) { f.set("req", semconv.GenAIUsagePromptTokens(9)) }},
			{"temperature of an aborted request", aborted, func(f *fixture) { f.set("req", semconv.GenAIRequestTemperature(1)) }},
		},
		conformance.RuleAttributeType: {
			{"V1 in seconds", preempted, func(f *fixture) { f.set("req", semconv.GenAILatencyTimeInQueueSeconds(7*time.Millisecond)) }},
			{"V0 in nanoseconds", v0, func(f *fixture) { f.set("req", semconv.GenAILatencyTimeInQueueNanoseconds(4*time.Millisecond)) }},
			{"top_k as int", "entries", func(f *fixture) { f.set("vllm", semconv.GenAIRequestTopKInt(4)) }},
			{"top_k as double", prefillPD, func(f *fixture) { f.set("req", semconv.GenAIRequestTopK(4)) }},
			{"reasons as text", "entries", func(f *fixture) { f.set("vllm", semconv.GenAIResponseFinishReasonsJSON(`["stop"]`)) }},
			{"reasons of several types", "entries", func(f *fixture) {
				f.set("vllm", semconv.GenAIResponseFinishReasonsKey.Slice(attribute.StringValue("stop"), attribute.IntValue(1)))
			}},
			{"reasons as list", retracted, func(f *fixture) { f.set("req", semconv.GenAIResponseFinishReasons("stop")) }},
			{"ids as text", preempted, func(f *fixture) { f.event("req", 1, semconv.GenAITokenIDsKey.StringSlice([]string{"1"})) }},
			{"batch as int", tp2, func(f *fixture) { f.event("s0l0", 0, semconv.BatchIDKey.Int(1)) }},
			{"operation as int", "entries", func(f *fixture) { f.set("vllm", semconv.GenAIOperationNameKey.Int(1)) }},
			{"span kind as int", "entries", func(f *fixture) { f.set("vllm", semconv.GenAISpanKindKey.Int(1)) }},
			{"index of a stage as text", producer, func(f *fixture) { f.set("wait", semconv.GenAIEngineIndexKey.String("0")) }},
			{"pid as text", tp2, func(f *fixture) { f.set("s0", semconv.PIDKey.String("5001")) }},
			{"tool arguments as map", "entries", func(f *fixture) {
				f.set("sglang", attribute.Key("gen_ai.completions.0.tool_calls.0.arguments").StringSlice([]string{"{}"}))
			}},
			{"status code as text", aborted, func(f *fixture) { f.set("s", semconv.AbortStatusCodeKey.String("499")) }},
		},
		conformance.RuleAttributeEnum: {
			{"pd_role", producer, func(f *fixture) {
				for _, id := range []string{"req", "wait", "prefill"} {
					f.set(id, semconv.GenAIPDRoleKey.String("prefill"))
				}
			}},
			{"module", retracted, func(f *fixture) { f.set("req", semconv.ModuleKey.String("sglang")) }},
			{"forward_mode", tp2, func(f *fixture) { f.event("s0l0", 0, semconv.ForwardModeKey.String("mixed")) }},
			{"direction", preempted, func(f *fixture) {
				kv := kvTransfer(f)
				kv.Attributes = with(kv.Attributes, semconv.GenAIKVTransferDirectionKey.String("send"))
				f.put("kv", "wait", kv)
				f.set("req", semconv.GenAILatencyTimeInKVTransferNanoseconds(2*time.Millisecond))
			}},
			{"span kind", "entries", func(f *fixture) { f.set("vllm", semconv.GenAISpanKindKey.String("AGENT")) }},
		},
		conformance.RuleAttributeFormat: {
			{"decimal room", prefillPD, func(f *fixture) { f.set("req", semconv.BootstrapRoom("7204969")) }},
			{"capital room", prefillPD, func(f *fixture) { f.set("req", semconv.BootstrapRoom("0x6DEC69")) }},
			{"reasons without a list", retracted, func(f *fixture) { f.set("req", semconv.GenAIResponseFinishReasonsJSON("stop")) }},
			{"messages without a list", "entries", func(f *fixture) { f.set("vllm", semconv.GenAIInputMessages(`{"role":"user"}`)) }},
		},
		conformance.RuleAttributeRange: {
			{"cache_read of -1", producer, func(f *fixture) { f.set("req", semconv.GenAIUsageCacheReadInputTokens(-1)) }},
			{"no preemption", producer, func(f *fixture) { f.set("req", semconv.GenAIRequestPreemptionCount(0)) }},
			{"no preemption, with an event", preempted, func(f *fixture) { f.set("req", semconv.GenAIRequestPreemptionCount(0)) }},
			{"negative calls", "entries", func(f *fixture) { f.set("sglang", semconv.GenAIRequestToolCallsCount(-1)) }},
			{"latency that is no number", v0, func(f *fixture) { f.set("req", semconv.GenAILatencyTimeInQueueKey.Float64(math.NaN())) }},
			{"endless latency", v0, func(f *fixture) { f.set("req", semconv.GenAILatencyTimeInQueueKey.Float64(math.Inf(1))) }},
			{"negative queue", v0, func(f *fixture) { f.set("req", semconv.GenAILatencyTimeInQueueSeconds(-time.Second)) }},
			{"negative rank", "sglang-tp2-spec-l2", func(f *fixture) {
				f.set("s0", semconv.TPRank(-1))
				f.span("s0").Name = "Scheduler [TP -1] (host:9f86d081 | pid:5001)"
			}},
			{"negative batch", tp2, func(f *fixture) { f.event("s0l0", 0, semconv.BatchSize(-1)) }},
		},
		conformance.RuleAttributeDuplicate: {
			{"span", producer, func(f *fixture) {
				s := f.span("req")
				s.Attributes = append(s.Attributes, semconv.GenAIEngineIndex(0))
			}},
		},
		conformance.RuleAttributeConsistency: {
			{"stage of another engine", producer, func(f *fixture) { f.set("wait", semconv.GenAIEngineIndex(1)) }},
			{"stage of another request", producer, func(f *fixture) { f.set("prefill", semconv.GenAIRequestID("req-q")) }},
			{"stage of another role", producer, func(f *fixture) { f.set("wait", semconv.GenAIPDRoleNone) }},
			{"event of another engine", preempted, func(f *fixture) { f.event("req", 0, semconv.GenAIEngineIndex(1)) }},
			{"more preemptions than counted", preempted, func(f *fixture) {
				e := f.span("req").Events
				f.span("req").Events = append(e[:5:5], append([]sdktrace.Event{e[3], e[4]}, e[5:]...)...)
			}},
			{"two ids", retracted, func(f *fixture) { f.set("req", semconv.GenAIRequestID("other")) }},
			{"two counts of drafts", tp2, func(f *fixture) { f.set("s0sv0", semconv.AcceptedTokens(4)) }},
			{"kind of another operation", "entries", func(f *fixture) { f.set("embeddings", semconv.GenAISpanKindLLM) }},
			{"calls that are not detected", "entries", func(f *fixture) { f.set("sglang", semconv.GenAIRequestToolCallsCount(0)) }},
			{"calls counted but not detected", "entries", func(f *fixture) {
				f.set("sglang", semconv.GenAIRequestToolCallDetected(false))
				f.unset("sglang", "gen_ai.completions.0.tool_calls.0.name", "gen_ai.completions.0.tool_calls.0.arguments")
			}},
			{"more calls than counted", "entries", func(f *fixture) {
				f.set("sglang", semconv.GenAICompletionsToolCallsArguments(0, 1, "{}"))
			}},
		},
		conformance.RuleContentSchema: {
			{"OpenAI's form", "entries", func(f *fixture) { f.set("vllm", semconv.GenAIInputMessages(`[{"role":"user","content":"hi"}]`)) }},
			{"no role", "entries", func(f *fixture) { f.set("vllm", semconv.GenAIOutputMessages(`[{"parts":[]}]`)) }},
			{"part without a type", "entries", func(f *fixture) {
				f.set("vllm", semconv.GenAIOutputMessages(`[{"role":"assistant","parts":[{"content":"x"}]}]`))
			}},
		},
	}
}
