// Code generated from semconv/registry. DO NOT EDIT.

package semconv

import (
	"go.opentelemetry.io/otel/attribute"
)

// What the request asked for.
const (
	// GenAIRequestModelKey is the key of "gen_ai.request.model": model that the
	// client named in the request.
	//
	// Type: string.
	// Examples: "qwen3-8b".
	// Source: vllm.entry.
	// Source: sglang.entry.
	GenAIRequestModelKey = attribute.Key("gen_ai.request.model")

	// GenAIRequestModelNameKey is the key of "gen_ai.request.model_name": model
	// that the engine serves the request with.
	//
	// Type: string.
	// Examples: "qwen3-8b".
	// Source: vllm.v1.llm_request.
	// Source: vllm.v1.wait.
	// Source: vllm.v1.kv_transfer.
	// Source: vllm.v1.prefill.
	// Source: vllm.v1.decode.
	GenAIRequestModelNameKey = attribute.Key("gen_ai.request.model_name")

	// GenAIRequestIDKey is the key of "gen_ai.request.id": identifier of the
	// request; on an engine's span, the one the engine uses internally.
	//
	// Type: string.
	// Examples: "cmpl-5f2c9a7b-0".
	// Source: sglang.entry, when chat and streaming.
	// Source: sglang.request, when ended normally.
	// Source: vllm.v0.llm_request.
	// Source: vllm.v1.llm_request.
	// Source: vllm.v1.wait.
	// Source: vllm.v1.kv_transfer.
	// Source: vllm.v1.prefill.
	// Source: vllm.v1.decode.
	GenAIRequestIDKey = attribute.Key("gen_ai.request.id")

	// GenAIRequestIsStreamKey is the key of "gen_ai.request.is_stream": whether the
	// client asked for a streamed response.
	//
	// Type: boolean.
	// Source: vllm.entry.
	// Source: sglang.entry.
	GenAIRequestIsStreamKey = attribute.Key("gen_ai.request.is_stream")

	// GenAIRequestChoiceCountKey is the key of "gen_ai.request.choice.count":
	// candidates asked for, the request's `n`.
	//
	// Type: int.
	// Examples: 1, 4.
	// Source: vllm.entry, when set.
	// Source: sglang.entry, when set.
	GenAIRequestChoiceCountKey = attribute.Key("gen_ai.request.choice.count")

	// GenAIRequestNKey is the key of "gen_ai.request.n": candidates asked for, as
	// the engine's sampling parameters hold it.
	//
	// Type: int.
	// Examples: 1, 4.
	// Source: sglang.request, when ended normally and set.
	// Source: vllm.v0.llm_request, when set.
	// Source: vllm.v1.llm_request, when set.
	GenAIRequestNKey = attribute.Key("gen_ai.request.n")

	// GenAIRequestTemperatureKey is the key of "gen_ai.request.temperature":
	// sampling temperature.
	//
	// A zero that was asked for is written; only an unset value is left out.
	//
	// Type: double.
	// Examples: 0.0, 0.7.
	// Source: vllm.entry, when set.
	// Source: sglang.entry, when set.
	// Source: sglang.request, when ended normally and set.
	// Source: vllm.v0.llm_request, when set.
	// Source: vllm.v1.llm_request, when set.
	GenAIRequestTemperatureKey = attribute.Key("gen_ai.request.temperature")

	// GenAIRequestTopPKey is the key of "gen_ai.request.top_p": probability mass
	// that nucleus sampling keeps.
	//
	// Type: double.
	// Examples: 0.95.
	// Source: vllm.entry, when set.
	// Source: sglang.entry, when set.
	// Source: sglang.request, when ended normally and set.
	// Source: vllm.v0.llm_request, when set.
	// Source: vllm.v1.llm_request, when set.
	GenAIRequestTopPKey = attribute.Key("gen_ai.request.top_p")

	// GenAIRequestTopKKey is the key of "gen_ai.request.top_k": number of most
	// likely tokens that sampling keeps; -1 keeps all.
	//
	// A floating-point number on entry spans, as in OpenTelemetry's conventions; an
	// integer on the SGLang request span.
	//
	// Type: double or int.
	// Examples: 20.0, -1.0.
	// Source: vllm.entry, double, when set.
	// Source: sglang.entry, double, when set.
	// Source: sglang.request, int, when ended normally and set.
	GenAIRequestTopKKey = attribute.Key("gen_ai.request.top_k")

	// GenAIRequestMaxTokensKey is the key of "gen_ai.request.max_tokens": upper
	// bound on generated tokens.
	//
	// Type: int.
	// Examples: 256.
	// Source: vllm.entry, when set.
	// Source: sglang.entry, when set.
	// Source: sglang.request, when ended normally and set.
	// Source: vllm.v0.llm_request, when set.
	// Source: vllm.v1.llm_request, when set.
	GenAIRequestMaxTokensKey = attribute.Key("gen_ai.request.max_tokens")

	// GenAIRequestPreemptionCountKey is the key of
	// "gen_ai.request.preemption_count": how often the engine preempted the
	// request.
	//
	// Explains unusually long prefill and decode figures, which include the pauses.
	//
	// Type: int.
	// Examples: 1.
	// Source: vllm.v1.llm_request, when preempted at least once.
	GenAIRequestPreemptionCountKey = attribute.Key("gen_ai.request.preemption_count")

	// GenAIRequestHasToolCallsKey is the key of "gen_ai.request.has_tool_calls":
	// whether the request offers tools to the model.
	//
	// Type: boolean.
	// Source: sglang.entry, when chat and streaming.
	GenAIRequestHasToolCallsKey = attribute.Key("gen_ai.request.has_tool_calls")

	// GenAIRequestToolCallDetectedKey is the key of
	// "gen_ai.request.tool_call_detected": whether the response calls a tool.
	//
	// Type: boolean.
	// Source: sglang.entry, when chat and streaming.
	GenAIRequestToolCallDetectedKey = attribute.Key("gen_ai.request.tool_call_detected")

	// GenAIRequestToolCallsCountKey is the key of
	// "gen_ai.request.tool_calls_count": tool calls found in the response.
	//
	// Type: int.
	// Examples: 0, 2.
	// Source: sglang.entry, when chat and streaming.
	GenAIRequestToolCallsCountKey = attribute.Key("gen_ai.request.tool_calls_count")
)

// GenAIRequestModel returns the attribute "gen_ai.request.model": model that
// the client named in the request.
func GenAIRequestModel(val string) attribute.KeyValue {
	return GenAIRequestModelKey.String(val)
}

// GenAIRequestModelName returns the attribute "gen_ai.request.model_name":
// model that the engine serves the request with.
func GenAIRequestModelName(val string) attribute.KeyValue {
	return GenAIRequestModelNameKey.String(val)
}

// GenAIRequestID returns the attribute "gen_ai.request.id": identifier of the
// request; on an engine's span, the one the engine uses internally.
func GenAIRequestID(val string) attribute.KeyValue {
	return GenAIRequestIDKey.String(val)
}

// GenAIRequestIsStream returns the attribute "gen_ai.request.is_stream":
// whether the client asked for a streamed response.
func GenAIRequestIsStream(val bool) attribute.KeyValue {
	return GenAIRequestIsStreamKey.Bool(val)
}

// GenAIRequestChoiceCount returns the attribute "gen_ai.request.choice.count":
// candidates asked for, the request's `n`.
func GenAIRequestChoiceCount(val int) attribute.KeyValue {
	return GenAIRequestChoiceCountKey.Int(val)
}

// GenAIRequestN returns the attribute "gen_ai.request.n": candidates asked for,
// as the engine's sampling parameters hold it.
func GenAIRequestN(val int) attribute.KeyValue {
	return GenAIRequestNKey.Int(val)
}

// GenAIRequestTemperature returns the attribute "gen_ai.request.temperature":
// sampling temperature.
func GenAIRequestTemperature(val float64) attribute.KeyValue {
	return GenAIRequestTemperatureKey.Float64(val)
}

// GenAIRequestTopP returns the attribute "gen_ai.request.top_p": probability
// mass that nucleus sampling keeps.
func GenAIRequestTopP(val float64) attribute.KeyValue {
	return GenAIRequestTopPKey.Float64(val)
}

// GenAIRequestTopK returns the attribute "gen_ai.request.top_k": number of most
// likely tokens that sampling keeps; -1 keeps all.
func GenAIRequestTopK(val float64) attribute.KeyValue {
	return GenAIRequestTopKKey.Float64(val)
}

// GenAIRequestTopKInt returns the attribute "gen_ai.request.top_k": number of
// most likely tokens that sampling keeps; -1 keeps all.
//
// The value is of type int.
func GenAIRequestTopKInt(val int) attribute.KeyValue {
	return GenAIRequestTopKKey.Int(val)
}

// GenAIRequestMaxTokens returns the attribute "gen_ai.request.max_tokens":
// upper bound on generated tokens.
func GenAIRequestMaxTokens(val int) attribute.KeyValue {
	return GenAIRequestMaxTokensKey.Int(val)
}

// GenAIRequestPreemptionCount returns the attribute
// "gen_ai.request.preemption_count": how often the engine preempted the
// request.
func GenAIRequestPreemptionCount(val int) attribute.KeyValue {
	return GenAIRequestPreemptionCountKey.Int(val)
}

// GenAIRequestHasToolCalls returns the attribute
// "gen_ai.request.has_tool_calls": whether the request offers tools to the
// model.
func GenAIRequestHasToolCalls(val bool) attribute.KeyValue {
	return GenAIRequestHasToolCallsKey.Bool(val)
}

// GenAIRequestToolCallDetected returns the attribute
// "gen_ai.request.tool_call_detected": whether the response calls a tool.
func GenAIRequestToolCallDetected(val bool) attribute.KeyValue {
	return GenAIRequestToolCallDetectedKey.Bool(val)
}

// GenAIRequestToolCallsCount returns the attribute
// "gen_ai.request.tool_calls_count": tool calls found in the response.
func GenAIRequestToolCallsCount(val int) attribute.KeyValue {
	return GenAIRequestToolCallsCountKey.Int(val)
}
