// Code generated from semconv/registry. DO NOT EDIT.

package semconv

import (
	"go.opentelemetry.io/otel/attribute"
)

// What came back.
const (
	// GenAIResponseIDKey is the key of "gen_ai.response.id": identifier of the
	// response.
	//
	// Type: string.
	// Examples: "chatcmpl-5f2c9a7b".
	// Source: vllm.entry, when set.
	// Source: sglang.entry, when set.
	GenAIResponseIDKey = attribute.Key("gen_ai.response.id")

	// GenAIResponseModelKey is the key of "gen_ai.response.model": model named in
	// the response; on an engine's span, the model that the server runs.
	//
	// Type: string.
	// Examples: "qwen3-8b", "Qwen/Qwen3-8B".
	// Source: vllm.entry, when set.
	// Source: sglang.entry, when not streaming.
	// Source: sglang.request, when ended normally.
	// Source: vllm.v0.llm_request.
	GenAIResponseModelKey = attribute.Key("gen_ai.response.model")

	// GenAIResponseFinishReasonsKey is the key of "gen_ai.response.finish_reasons":
	// why each candidate ended, in candidate order.
	//
	// An array on entry spans; one string holding a JSON array on the SGLang
	// request span.
	//
	// Type: string[] or string (JSON array).
	// Examples: ["stop"], ["stop", "length"].
	// Source: vllm.entry, string[], when set.
	// Source: sglang.entry, string[], when set.
	// Source: sglang.request, string (JSON array), when ended normally.
	GenAIResponseFinishReasonsKey = attribute.Key("gen_ai.response.finish_reasons")

	// GenAIResponseTokensStreamedKey is the key of
	// "gen_ai.response.tokens_streamed": estimate of the output tokens of a stream,
	// its increments times the engine's stream interval.
	//
	// Stands in for gen_ai.usage.output_tokens when the server reports no usage.
	//
	// Type: int.
	// Examples: 48.
	// Source: sglang.entry, when streaming.
	GenAIResponseTokensStreamedKey = attribute.Key("gen_ai.response.tokens_streamed")
)

// GenAIResponseID returns the attribute "gen_ai.response.id": identifier of the
// response.
func GenAIResponseID(val string) attribute.KeyValue {
	return GenAIResponseIDKey.String(val)
}

// GenAIResponseModel returns the attribute "gen_ai.response.model": model named
// in the response; on an engine's span, the model that the server runs.
func GenAIResponseModel(val string) attribute.KeyValue {
	return GenAIResponseModelKey.String(val)
}

// GenAIResponseFinishReasons returns the attribute
// "gen_ai.response.finish_reasons": why each candidate ended, in candidate
// order.
func GenAIResponseFinishReasons(val ...string) attribute.KeyValue {
	return GenAIResponseFinishReasonsKey.StringSlice(val)
}

// GenAIResponseFinishReasonsJSON returns the attribute
// "gen_ai.response.finish_reasons": why each candidate ended, in candidate
// order.
//
// The value is of type string (JSON array).
func GenAIResponseFinishReasonsJSON(val string) attribute.KeyValue {
	return GenAIResponseFinishReasonsKey.String(val)
}

// GenAIResponseTokensStreamed returns the attribute
// "gen_ai.response.tokens_streamed": estimate of the output tokens of a stream,
// its increments times the engine's stream interval.
func GenAIResponseTokensStreamed(val int) attribute.KeyValue {
	return GenAIResponseTokensStreamedKey.Int(val)
}
