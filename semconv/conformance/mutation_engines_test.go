package conformance_test

import (
	"time"

	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/infertel/infertel-go/semconv"
	"github.com/infertel/infertel-go/semconv/conformance"
)

func latencyMutations() map[conformance.Rule][]mutation {
	ms := time.Millisecond
	return map[conformance.Rule][]mutation{
		conformance.RuleLatencySpan: {
			{"V1", preempted, func(f *fixture) { f.set("req", semconv.GenAILatencyE2ENanoseconds(125*ms)) }},
			{"V0 in milliseconds", v0, func(f *fixture) { f.set("req", semconv.GenAILatencyE2EKey.Float64(88)) }},
			{"SGLang", retracted, func(f *fixture) {
				f.set("req", semconv.GenAILatencyE2ESeconds(73*ms), semconv.GenAILatencyTimeInModelDecodeSeconds(48*ms), semconv.GenAILatencyTimeInModelInferenceSeconds(69*ms))
			}},
			{"entry in nanoseconds", "entries", func(f *fixture) { f.set("sglang", semconv.GenAILatencyE2EKey.Float64(2e9)) }},
			{"entry in milliseconds", "entries", func(f *fixture) { f.set("sglang", semconv.GenAILatencyE2EKey.Float64(2000)) }},
		},
		conformance.RuleLatencySum: {
			{"V1", preempted, func(f *fixture) { f.set("req", semconv.GenAILatencyTimeInModelInferenceNanoseconds(114*ms)) }},
			{"SGLang inference", retracted, func(f *fixture) { f.set("req", semconv.GenAILatencyTimeInModelInferenceSeconds(69*ms)) }},
			{"SGLang decode", retracted, func(f *fixture) {
				f.set("req", semconv.GenAILatencyTimeInModelDecodeSeconds(46*ms), semconv.GenAILatencyTimeInModelInferenceSeconds(67*ms))
			}},
		},
		conformance.RuleLatencyStage: {
			{"queue", preempted, func(f *fixture) { f.set("req", semconv.GenAILatencyTimeInQueueNanoseconds(10*ms)) }},
			{"prefill", preempted, func(f *fixture) {
				f.set("req", semconv.GenAILatencyTimeInModelPrefillNanoseconds(21*ms), semconv.GenAILatencyTimeInModelInferenceNanoseconds(116*ms))
			}},
			{"decode", preempted, func(f *fixture) { f.move("decode", 0, -ms) }},
			{"transfer", preempted, func(f *fixture) {
				f.put("kv", "wait", kvTransfer(f))
				f.set("req", semconv.GenAILatencyTimeInKVTransferNanoseconds(3*ms))
			}},
			{"in microseconds", producer, func(f *fixture) { f.set("req", semconv.GenAILatencyTimeInQueueKey.Int(3000)) }},
		},
		conformance.RuleLatencyOrder: {
			{"V1", preempted, func(f *fixture) { f.set("req", semconv.GenAILatencyTimeToFirstTokenNanoseconds(127*ms)) }},
			{"V0", v0, func(f *fixture) { f.set("req", semconv.GenAILatencyTimeToFirstTokenSeconds(89*ms)) }},
			{"SGLang", retracted, func(f *fixture) { f.set("req", semconv.GenAILatencyTimeToFirstTokenSeconds(73*ms)) }},
		},
	}
}

func eventMutations() map[conformance.Rule][]mutation {
	ms := time.Millisecond
	return map[conformance.Rule][]mutation{
		conformance.RuleEventUndocumented: {
			{"entry", "entries", func(f *fixture) {
				s := f.span("vllm")
				s.Events = []sdktrace.Event{{Name: "exception", Time: s.StartTime}}
			}},
			{"V0", v0, func(f *fixture) {
				s := f.span("req")
				s.Events = []sdktrace.Event{{Name: semconv.EventWait, Time: s.StartTime}}
			}},
			{"V1", preempted, func(f *fixture) { f.span("req").Events[1].Name = "prefill" }},
			{"V1 stage", preempted, func(f *fixture) { f.span("decode").Events = f.span("req").Events[2:3] }},
			{"request", retracted, func(f *fixture) { f.span("req").Events = f.span("decode_forward").Events }},
			{"stage", tp2, func(f *fixture) { f.span("s0l0").Events[0].Name = "scheduled" }},
		},
		conformance.RuleEventOrder: {
			{"V1", preempted, func(f *fixture) { e := f.span("req").Events; e[7], e[8] = e[8], e[7] }},
		},
		conformance.RuleEventPlacement: {
			{"V1 after the end", preempted, func(f *fixture) { e := f.span("req").Events; e[8].Time = e[8].Time.Add(2 * ms) }},
			{"V1 before the start", preempted, func(f *fixture) {
				f.drop("wait")
				f.span("req").Events[0].Time = f.span("req").StartTime.Add(-ms)
			}},
			{"before the start of a stage", tp2, func(f *fixture) { e := &f.span("s0l1").Events[0]; e.Time = e.Time.Add(-ms / 2) }},
			{"on the stage around it", tp2, func(f *fixture) { f.moveEvents("s0l0", "s0df") }},
			{"on the thread", tp2, func(f *fixture) { f.moveEvents("s0c1", "s0") }},
			{"on the stage before it", tp2, func(f *fixture) { f.moveEvents("s0l1", "s0l0") }},
			{"at the end of a stage", tp2, func(f *fixture) { f.span("s0l0").Events[0].Time = f.span("s0l0").EndTime }},
		},
		conformance.RuleEventSequence: {
			{"no WAIT", preempted, func(f *fixture) { s := f.span("req"); s.Events = append(s.Events[:4:4], s.Events[5:]...) }},
			{"first event is another", preempted, func(f *fixture) { f.span("req").Events = f.span("req").Events[1:] }},
			{"first event in place of WAIT", preempted, func(f *fixture) {
				s := f.span("req")
				s.Events = s.Events[1:]
				s.Events[0].Time = f.span("wait").StartTime
			}},
			{"first WAIT is late", preempted, func(f *fixture) { e := &f.span("req").Events[0]; e.Time = e.Time.Add(ms) }},
			{"at the end", preempted, func(f *fixture) { f.span("req").Events = f.span("req").Events[:4] }},
		},
		conformance.RuleEventLevel: {
			{"granularity", preempted, func(f *fixture) { f.opts = []conformance.Option{conformance.WithGranularity(1)} }},
			{"trace level", aborted, func(f *fixture) {
				f.drop("l0")
				f.opts = []conformance.Option{conformance.WithTraceLevel(2)}
			}},
		},
	}
}

// moveEvents moves the events of one span to another.
func (f *fixture) moveEvents(from, to string) {
	f.span(to).Events = f.span(from).Events
	f.span(from).Events = nil
}

func engineMutations() map[conformance.Rule][]mutation {
	ms := time.Millisecond
	return map[conformance.Rule][]mutation{
		conformance.RulePDRole: {
			{"decode of a producer", producer, func(f *fixture) {
				s := *f.span("prefill")
				s.Name = semconv.SpanDecode
				f.put("decode", "req", s)
			}},
			{"decode time of a producer", producer, func(f *fixture) {
				f.set("req", semconv.GenAILatencyTimeInModelDecodeNanoseconds(ms), semconv.GenAILatencyTimeInModelInferenceNanoseconds(41*ms))
			}},
			{"consumer", producer, func(f *fixture) {
				for _, id := range []string{"req", "wait", "prefill"} {
					f.set(id, semconv.GenAIPDRoleConsumer)
				}
			}},
		},
		conformance.RuleStageAdjacent: {
			{"prefill after the wait", preempted, func(f *fixture) {
				f.move("prefill", ms, 0)
				f.set("req", semconv.GenAILatencyTimeInModelPrefillNanoseconds(19*ms), semconv.GenAILatencyTimeInModelInferenceNanoseconds(114*ms))
			}},
			{"decode before the first token", preempted, func(f *fixture) {
				f.move("decode", -ms, 0)
				f.set("req", semconv.GenAILatencyTimeInModelDecodeNanoseconds(96*ms), semconv.GenAILatencyTimeInModelInferenceNanoseconds(116*ms))
			}},
		},
		conformance.RuleThreadLabel: {
			{"detokenizer", retracted, func(f *fixture) {
				f.set("tok", semconv.ThreadLabel("Detokenizer"))
				f.span("tok").Name = "Detokenizer (host:h1 | pid:1)"
			}},
			{"number", retracted, func(f *fixture) {
				f.set("tok", semconv.ThreadLabel("MultiTokenizer-"))
				f.span("tok").Name = "MultiTokenizer- (host:h1 | pid:1)"
			}},
			{"letter for a number", retracted, func(f *fixture) {
				f.set("tok", semconv.ThreadLabel("MultiTokenizer-a"))
				f.span("tok").Name = "MultiTokenizer-a (host:h1 | pid:1)"
			}},
			{"prefix of the role", prefillPD, func(f *fixture) {
				f.set("tok", semconv.ThreadLabel("Tokenizer"))
				f.span("tok").Name = "Tokenizer (host:9f86d081 | pid:4242)"
			}},
			{"prefix without a role", retracted, func(f *fixture) {
				f.set("tok", semconv.ThreadLabel("Decode Tokenizer"))
				f.span("tok").Name = "Decode Tokenizer (host:h1 | pid:1)"
			}},
			{"native prefix", prefillPD, func(f *fixture) {
				f.set("tok", semconv.ThreadLabel("PrefillTokenizer"))
				f.span("tok").Name = "PrefillTokenizer (host:9f86d081 | pid:4242)"
			}},
		},
		conformance.RuleThreadAbort: {
			{"reason without an error", retracted, func(f *fixture) { f.set("s", semconv.AbortReason("timeout")) }},
			{"error without an error", aborted, func(f *fixture) { f.span("s").Status = sdktrace.Status{Code: codes.Unset} }},
		},
		conformance.RuleStageProcess: {
			{"tokenize in the scheduler", tp2, func(f *fixture) { f.span("s0rp").Name = semconv.StageTokenize }},
			{"dispatch of the controller in the frontend", tp2, func(f *fixture) { f.span("dispatch").Name = semconv.StageDPCDispatch }},
			{"waiting in the frontend", tp2, func(f *fixture) { f.span("dispatch").Name = semconv.StagePrefillWaiting }},
		},
		conformance.RuleStageDeployment: {
			{"request_process under PD", prefillPD, func(f *fixture) { f.span("prefill_prepare").Name = semconv.StageRequestProcess }},
			{"prefill_prepare without PD", tp2, func(f *fixture) { f.span("s0rp").Name = semconv.StagePrefillPrepare }},
			{"decode_prepare on a Prefill node", prefillPD, func(f *fixture) { f.span("prefill_prepare").Name = semconv.StageDecodePrepare }},
			{"run_batch_cpu without PP", tp2, func(f *fixture) {
				s := *f.span("s0l1")
				s.Name, s.Events = semconv.StageRunBatchCPU, nil
				s.Attributes = with(nil, semconv.PPMicroBatchID(0))
				s.StartTime = s.EndTime.Add(-ms / 10)
				f.put("cpu", "s0df", s)
				f.opts = nil
			}},
		},
		conformance.RuleStageLevel: {
			{"3 at 2", tp2, func(f *fixture) {
				f.opts = []conformance.Option{conformance.WithTraceLevel(2)}
				for i := range f.spans {
					f.spans[i].Events = nil
				}
			}},
			{"any at 0", retracted, func(f *fixture) {
				f.opts = []conformance.Option{conformance.WithTraceLevel(0)}
				f.span("decode_forward").Events = nil
			}},
		},
		conformance.RuleStageEnd: {
			{"early", retracted, func(f *fixture) { f.move("df2", 0, -ms) }},
			{"late", tp2, func(f *fixture) { f.move("s0df", 0, ms) }},
		},
		conformance.RuleStageCount: {
			{"again from 0", retracted, func(f *fixture) { f.set("l1", semconv.DecodeCT(0)) }},
			{"backwards", tp2, func(f *fixture) { f.set("s1l0", semconv.DecodeCT(2)) }},
		},
	}
}
