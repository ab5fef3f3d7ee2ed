// Code generated from semconv/registry. DO NOT EDIT.

package semconv

import (
	"go.opentelemetry.io/otel/attribute"
)

// The engine instance, its role, its transfers and its tokens.
const (
	// GenAIEngineIndexKey is the key of "gen_ai.engine.index": index of the
	// EngineCore instance, which tells engines of one deployment apart.
	//
	// Type: int.
	// Examples: 0, 3.
	// Source: vllm.v1.llm_request.
	// Source: vllm.v1.wait.
	// Source: vllm.v1.kv_transfer.
	// Source: vllm.v1.prefill.
	// Source: vllm.v1.decode.
	// Source: event WAIT.
	// Source: event PREFILL.
	// Source: event DECODE.
	// Source: event PREEMPTED.
	GenAIEngineIndexKey = attribute.Key("gen_ai.engine.index")

	// GenAIPDRoleKey is the key of "gen_ai.pd_role": part that the node plays under
	// prefill-decode disaggregation.
	//
	// Type: string.
	// Values: producer, consumer, none.
	// Source: vllm.v1.llm_request.
	// Source: vllm.v1.wait.
	// Source: vllm.v1.kv_transfer.
	// Source: vllm.v1.prefill.
	// Source: vllm.v1.decode.
	GenAIPDRoleKey = attribute.Key("gen_ai.pd_role")

	// GenAIKVTransferDirectionKey is the key of "gen_ai.kv_transfer.direction":
	// direction of the KV cache transfer.
	//
	// Type: string.
	// Values: recv.
	// Source: vllm.v1.kv_transfer.
	GenAIKVTransferDirectionKey = attribute.Key("gen_ai.kv_transfer.direction")

	// GenAIKVTransferCachedTokensKey is the key of
	// "gen_ai.kv_transfer.cached_tokens": tokens that the transfer covers, as the
	// connector found them on the remote side.
	//
	// Type: int.
	// Examples: 512.
	// Source: vllm.v1.kv_transfer.
	GenAIKVTransferCachedTokensKey = attribute.Key("gen_ai.kv_transfer.cached_tokens")

	// GenAIKVTransferFailedKey is the key of "gen_ai.kv_transfer.failed": whether
	// the connector reported that loading failed.
	//
	// Type: boolean.
	// Source: vllm.v1.kv_transfer.
	GenAIKVTransferFailedKey = attribute.Key("gen_ai.kv_transfer.failed")

	// GenAITokenIDsKey is the key of "gen_ai.token.ids": ids of the tokens of the
	// iteration.
	//
	// Type: int[].
	// Examples: [151644, 872].
	// Source: event WAIT, when set.
	// Source: event PREFILL, when set.
	// Source: event DECODE, when set.
	// Source: event PREEMPTED, when set.
	GenAITokenIDsKey = attribute.Key("gen_ai.token.ids")

	// GenAITokenTextsKey is the key of "gen_ai.token.texts": texts of the tokens of
	// the iteration.
	//
	// Type: string[].
	// Examples: ["Hel", "lo"].
	// Source: event WAIT, when set.
	// Source: event PREFILL, when set.
	// Source: event DECODE, when set.
	// Source: event PREEMPTED, when set.
	GenAITokenTextsKey = attribute.Key("gen_ai.token.texts")

	// GenAITokenCountKey is the key of "gen_ai.token.count": number of tokens of
	// the iteration.
	//
	// Type: int.
	// Examples: 1, 512.
	// Source: event WAIT, when set.
	// Source: event PREFILL, when set.
	// Source: event DECODE, when set.
	// Source: event PREEMPTED, when set.
	GenAITokenCountKey = attribute.Key("gen_ai.token.count")

	// GenAITokenLogProbsKey is the key of "gen_ai.token.logprobs": log
	// probabilities of the tokens of the iteration.
	//
	// Type: double[].
	// Examples: [-0.25, -1.5].
	// Source: event WAIT, when set.
	// Source: event PREFILL, when set.
	// Source: event DECODE, when set.
	// Source: event PREEMPTED, when set.
	GenAITokenLogProbsKey = attribute.Key("gen_ai.token.logprobs")
)

// GenAIEngineIndex returns the attribute "gen_ai.engine.index": index of the
// EngineCore instance, which tells engines of one deployment apart.
func GenAIEngineIndex(val int) attribute.KeyValue {
	return GenAIEngineIndexKey.Int(val)
}

// The values of gen_ai.pd_role.
var (
	// GenAIPDRoleProducer is the attribute gen_ai.pd_role with the value producer:
	// a Prefill node.
	GenAIPDRoleProducer = GenAIPDRoleKey.String("producer")
	// GenAIPDRoleConsumer is the attribute gen_ai.pd_role with the value consumer:
	// a Decode node.
	GenAIPDRoleConsumer = GenAIPDRoleKey.String("consumer")
	// GenAIPDRoleNone is the attribute gen_ai.pd_role with the value none: prefill
	// and decode share one node.
	GenAIPDRoleNone = GenAIPDRoleKey.String("none")
)

// The values of gen_ai.kv_transfer.direction.
var (
	// GenAIKVTransferDirectionRecv is the attribute gen_ai.kv_transfer.direction
	// with the value recv: the Decode node pulls the KV cache.
	GenAIKVTransferDirectionRecv = GenAIKVTransferDirectionKey.String("recv")
)

// GenAIKVTransferCachedTokens returns the attribute
// "gen_ai.kv_transfer.cached_tokens": tokens that the transfer covers, as the
// connector found them on the remote side.
func GenAIKVTransferCachedTokens(val int) attribute.KeyValue {
	return GenAIKVTransferCachedTokensKey.Int(val)
}

// GenAIKVTransferFailed returns the attribute "gen_ai.kv_transfer.failed":
// whether the connector reported that loading failed.
func GenAIKVTransferFailed(val bool) attribute.KeyValue {
	return GenAIKVTransferFailedKey.Bool(val)
}

// GenAITokenIDs returns the attribute "gen_ai.token.ids": ids of the tokens of
// the iteration.
func GenAITokenIDs(val ...int) attribute.KeyValue {
	return GenAITokenIDsKey.IntSlice(val)
}

// GenAITokenTexts returns the attribute "gen_ai.token.texts": texts of the
// tokens of the iteration.
func GenAITokenTexts(val ...string) attribute.KeyValue {
	return GenAITokenTextsKey.StringSlice(val)
}

// GenAITokenCount returns the attribute "gen_ai.token.count": number of tokens
// of the iteration.
func GenAITokenCount(val int) attribute.KeyValue {
	return GenAITokenCountKey.Int(val)
}

// GenAITokenLogProbs returns the attribute "gen_ai.token.logprobs": log
// probabilities of the tokens of the iteration.
func GenAITokenLogProbs(val ...float64) attribute.KeyValue {
	return GenAITokenLogProbsKey.Float64Slice(val)
}
