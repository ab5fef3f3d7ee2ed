// Package vllm emits the telemetry of a vLLM engine from Go: the span
// llm_request with its stages wait, kv_transfer, prefill and decode, a span event
// for each iteration, and the engine's metrics. It is for shims beside an engine
// and for gateways that learn the engine's timings.
//
// Make an [EngineV1] or an [EngineV0] for each engine. V1 or V0 in a name means that
// version; what has neither serves both. Then tell each request as it happens
//
//	req := eng.StartRequest(ctx, vllm.Request{ID: id, PromptTokens: 48}, arrival)
//	req.Queued(t1)
//	req.Scheduled(t2)
//	req.Prefill(vllm.Iteration{At: t3})
//	req.Decode(vllm.Iteration{At: t4})
//	req.Finish(vllm.OutcomeV1{At: t5, FinishReason: vllm.FinishReasonStop, CompletionTokens: new(2)})
//
// or afterwards in one call, [EngineV1.RecordRequest], from the engine's final
// statistics. The same facts make the same telemetry both ways, and in whatever
// order they are told.
//
// # Times
//
// Every time comes from the caller, on one wall clock; the package does not mix in
// one of its own. Where both ends of an interval have a monotonic reading, that
// decides its length. A point in time that was not taken is the zero time; so is
// one at or before the Unix epoch, which is how a sentinel of 0 arrives.
//
// An interval needs both its ends. One that lacks an end, or ends before it
// starts, makes neither an attribute nor a span nor a measurement, and is
// reported once for each engine and kind through [otel.Handle]; a request that was
// aborted or failed may lack ends without a report. Only llm_request itself,
// which has started by then, is cut to zero length, without a
// gen_ai.latency.e2e.
//
// # Granularity
//
// [GranularityRequest] makes llm_request alone, [GranularityStages], the default,
// its stages too, and [GranularityEvents] an event for each iteration. It is set
// by [WithGranularity], else the environment variable [EnvGranularity], and by
// [Request.Granularity] for one request. What is switched off, or belongs to a
// trace that is not sampled, costs no allocation; metrics count either way.
//
// # Metrics
//
// A finished request feeds the counters of latency, tokens and success. Gauges,
// prefix cache counters and the count of iterations come from the scheduler:
// [EngineV1.RecordScheduler] and its relatives. There are no gauges before the
// first report, and none after [EngineV1.Close].
//
// gen_ai_server_time_per_output_token adds, for each finished request, the time
// between its first and its last token: the sum of the gaps between tokens.
// Divide its rate by that of the generated tokens for an average. A V0 engine and
// a [CallRecord] know no last token and take the end of the request for it.
//
// genai_llm_usage_tokens is not among the metrics here: it has the dimensions of
// the API layer, where [github.com/infertel/infertel-go/genai] feeds it.
//
// Nothing here panics, a nil engine or request does nothing, and calls on a request
// that has finished are ignored. Nothing blocks, but that to make and to close an
// engine waits for a collection of metrics that runs.
package vllm
