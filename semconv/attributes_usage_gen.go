// Code generated from semconv/registry. DO NOT EDIT.

package semconv

import (
	"go.opentelemetry.io/otel/attribute"
)

// Token counts.
const (
	// GenAIUsageInputTokensKey is the key of "gen_ai.usage.input_tokens": tokens in
	// the prompt, as the API reports them.
	//
	// Type: int.
	// Examples: 14.
	// Source: vllm.entry, when set.
	// Source: sglang.entry, when set.
	GenAIUsageInputTokensKey = attribute.Key("gen_ai.usage.input_tokens")

	// GenAIUsageOutputTokensKey is the key of "gen_ai.usage.output_tokens": tokens
	// generated, as the API reports them.
	//
	// Type: int.
	// Examples: 48.
	// Source: vllm.entry, when set.
	// Source: sglang.entry, when set.
	GenAIUsageOutputTokensKey = attribute.Key("gen_ai.usage.output_tokens")

	// GenAIUsageTotalTokensKey is the key of "gen_ai.usage.total_tokens": input and
	// output tokens together.
	//
	// Type: int.
	// Examples: 62.
	// Source: vllm.entry, when set.
	// Source: sglang.entry, when set.
	GenAIUsageTotalTokensKey = attribute.Key("gen_ai.usage.total_tokens")

	// GenAIUsagePromptTokensKey is the key of "gen_ai.usage.prompt_tokens": tokens
	// in the prompt, as the engine counts them.
	//
	// Type: int.
	// Examples: 14.
	// Source: sglang.request, when ended normally.
	// Source: vllm.v0.llm_request.
	// Source: vllm.v1.llm_request.
	GenAIUsagePromptTokensKey = attribute.Key("gen_ai.usage.prompt_tokens")

	// GenAIUsageCompletionTokensKey is the key of "gen_ai.usage.completion_tokens":
	// tokens generated, as the engine counts them.
	//
	// Type: int.
	// Examples: 48.
	// Source: sglang.request, when ended normally and not embedding.
	// Source: vllm.v0.llm_request.
	// Source: vllm.v1.llm_request.
	GenAIUsageCompletionTokensKey = attribute.Key("gen_ai.usage.completion_tokens")

	// GenAIUsageNumSequencesKey is the key of "gen_ai.usage.num_sequences":
	// sequences that the request was run as.
	//
	// Type: int.
	// Examples: 1.
	// Source: vllm.v0.llm_request.
	GenAIUsageNumSequencesKey = attribute.Key("gen_ai.usage.num_sequences")

	// GenAIUsageCacheReadInputTokensKey is the key of
	// "gen_ai.usage.cache_read.input_tokens": prompt tokens taken from a cache,
	// local prefix cache and remote KV cache alike, and so not prefilled again.
	//
	// On the vLLM V1 span it is there even when 0, so that a hit ratio can be
	// worked out.
	//
	// Type: int.
	// Examples: 0, 16.
	// Source: sglang.entry, when set.
	// Source: vllm.v1.llm_request.
	GenAIUsageCacheReadInputTokensKey = attribute.Key("gen_ai.usage.cache_read.input_tokens")

	// GenAIUsageCachedTokensKey is the key of "gen_ai.usage.cached_tokens": prompt
	// tokens that SGLang took from its cache.
	//
	// Type: int.
	// Examples: 0, 16.
	// Source: sglang.request, when ended normally.
	GenAIUsageCachedTokensKey = attribute.Key("gen_ai.usage.cached_tokens")
)

// GenAIUsageInputTokens returns the attribute "gen_ai.usage.input_tokens":
// tokens in the prompt, as the API reports them.
func GenAIUsageInputTokens(val int) attribute.KeyValue {
	return GenAIUsageInputTokensKey.Int(val)
}

// GenAIUsageOutputTokens returns the attribute "gen_ai.usage.output_tokens":
// tokens generated, as the API reports them.
func GenAIUsageOutputTokens(val int) attribute.KeyValue {
	return GenAIUsageOutputTokensKey.Int(val)
}

// GenAIUsageTotalTokens returns the attribute "gen_ai.usage.total_tokens":
// input and output tokens together.
func GenAIUsageTotalTokens(val int) attribute.KeyValue {
	return GenAIUsageTotalTokensKey.Int(val)
}

// GenAIUsagePromptTokens returns the attribute "gen_ai.usage.prompt_tokens":
// tokens in the prompt, as the engine counts them.
func GenAIUsagePromptTokens(val int) attribute.KeyValue {
	return GenAIUsagePromptTokensKey.Int(val)
}

// GenAIUsageCompletionTokens returns the attribute
// "gen_ai.usage.completion_tokens": tokens generated, as the engine counts
// them.
func GenAIUsageCompletionTokens(val int) attribute.KeyValue {
	return GenAIUsageCompletionTokensKey.Int(val)
}

// GenAIUsageNumSequences returns the attribute "gen_ai.usage.num_sequences":
// sequences that the request was run as.
func GenAIUsageNumSequences(val int) attribute.KeyValue {
	return GenAIUsageNumSequencesKey.Int(val)
}

// GenAIUsageCacheReadInputTokens returns the attribute
// "gen_ai.usage.cache_read.input_tokens": prompt tokens taken from a cache,
// local prefix cache and remote KV cache alike, and so not prefilled again.
func GenAIUsageCacheReadInputTokens(val int) attribute.KeyValue {
	return GenAIUsageCacheReadInputTokensKey.Int(val)
}

// GenAIUsageCachedTokens returns the attribute "gen_ai.usage.cached_tokens":
// prompt tokens that SGLang took from its cache.
func GenAIUsageCachedTokens(val int) attribute.KeyValue {
	return GenAIUsageCachedTokensKey.Int(val)
}
