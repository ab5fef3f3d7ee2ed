// Code generated from semconv/registry. DO NOT EDIT.

package semconv

import (
	"time"

	"go.opentelemetry.io/otel/attribute"
)

// Durations. Floating-point seconds or integer nanoseconds, as the span type says.
const (
	// GenAILatencyE2EKey is the key of "gen_ai.latency.e2e": whole duration of the
	// request, arrival to finish.
	//
	// Type: double in seconds or int in nanoseconds.
	// Source: sglang.entry, double in seconds.
	// Source: sglang.request, double in seconds, when ended normally.
	// Source: vllm.v0.llm_request, double in seconds.
	// Source: vllm.v1.llm_request, int in nanoseconds.
	GenAILatencyE2EKey = attribute.Key("gen_ai.latency.e2e")

	// GenAILatencyTimeToFirstTokenKey is the key of
	// "gen_ai.latency.time_to_first_token": arrival of the request to its first
	// generated token, as the frontend saw it.
	//
	// Not the sum of queue and prefill, which the engine measures on its own side.
	//
	// Type: double in seconds or int in nanoseconds.
	// Source: sglang.request, double in seconds, when ended normally.
	// Source: vllm.v0.llm_request, double in seconds, when first token produced.
	// Source: vllm.v1.llm_request, int in nanoseconds, when first token produced.
	GenAILatencyTimeToFirstTokenKey = attribute.Key("gen_ai.latency.time_to_first_token")

	// GenAILatencyTimeInQueueKey is the key of "gen_ai.latency.time_in_queue": time
	// the request was queued before it was first scheduled.
	//
	// Type: double in seconds or int in nanoseconds.
	// Source: vllm.v0.llm_request, double in seconds.
	// Source: vllm.v1.llm_request, int in nanoseconds.
	GenAILatencyTimeInQueueKey = attribute.Key("gen_ai.latency.time_in_queue")

	// GenAILatencyTimeInSchedulerKey is the key of
	// "gen_ai.latency.time_in_scheduler": time spent in the scheduler.
	//
	// Type: double in seconds.
	// Source: vllm.v0.llm_request, when engine provides it.
	GenAILatencyTimeInSchedulerKey = attribute.Key("gen_ai.latency.time_in_scheduler")

	// GenAILatencyTimeInModelForwardKey is the key of
	// "gen_ai.latency.time_in_model_forward": time spent in the model's forward
	// pass.
	//
	// Type: double in seconds.
	// Source: vllm.v0.llm_request, when engine provides it.
	GenAILatencyTimeInModelForwardKey = attribute.Key("gen_ai.latency.time_in_model_forward")

	// GenAILatencyTimeInModelExecuteKey is the key of
	// "gen_ai.latency.time_in_model_execute": time spent executing the model,
	// forward pass, synchronization between workers and with the GPU, and sampling.
	//
	// Type: double in seconds.
	// Source: vllm.v0.llm_request, when engine provides it.
	GenAILatencyTimeInModelExecuteKey = attribute.Key("gen_ai.latency.time_in_model_execute")

	// GenAILatencyTimeInModelPrefillKey is the key of
	// "gen_ai.latency.time_in_model_prefill": prefill, up to the first token.
	//
	// On vLLM from the first scheduling, and always 0 on a Decode node. On SGLang
	// from the end of the dispatch, seen from the frontend process.
	//
	// Type: double in seconds or int in nanoseconds.
	// Source: sglang.request, double in seconds, when ended normally.
	// Source: vllm.v1.llm_request, int in nanoseconds.
	GenAILatencyTimeInModelPrefillKey = attribute.Key("gen_ai.latency.time_in_model_prefill")

	// GenAILatencyTimeInModelDecodeKey is the key of
	// "gen_ai.latency.time_in_model_decode": decode, from the first token on.
	//
	// On vLLM to the last token, and always 0 on a Prefill node. On SGLang to the
	// end of the request, seen from the frontend process.
	//
	// Type: double in seconds or int in nanoseconds.
	// Source: sglang.request, double in seconds, when ended normally.
	// Source: vllm.v1.llm_request, int in nanoseconds.
	GenAILatencyTimeInModelDecodeKey = attribute.Key("gen_ai.latency.time_in_model_decode")

	// GenAILatencyTimeInModelInferenceKey is the key of
	// "gen_ai.latency.time_in_model_inference": prefill and decode together.
	//
	// Type: double in seconds or int in nanoseconds.
	// Source: sglang.request, double in seconds, when ended normally.
	// Source: vllm.v1.llm_request, int in nanoseconds.
	GenAILatencyTimeInModelInferenceKey = attribute.Key("gen_ai.latency.time_in_model_inference")

	// GenAILatencyTimeInTokenizeKey is the key of
	// "gen_ai.latency.time_in_tokenize": tokenizing the prompt, in the frontend
	// process.
	//
	// Type: int in nanoseconds.
	// Source: vllm.v1.llm_request, when set.
	GenAILatencyTimeInTokenizeKey = attribute.Key("gen_ai.latency.time_in_tokenize")

	// GenAILatencyTimeInDetokenizeKey is the key of
	// "gen_ai.latency.time_in_detokenize": detokenizing the output, summed over its
	// increments.
	//
	// Type: int in nanoseconds.
	// Source: vllm.v1.llm_request, when set.
	GenAILatencyTimeInDetokenizeKey = attribute.Key("gen_ai.latency.time_in_detokenize")

	// GenAILatencyTimeInKVTransferKey is the key of
	// "gen_ai.latency.time_in_kv_transfer": pulling KV cache blocks from the remote
	// side, summed over all transfers.
	//
	// Type: int in nanoseconds.
	// Source: vllm.v1.llm_request, when a transfer occurred.
	GenAILatencyTimeInKVTransferKey = attribute.Key("gen_ai.latency.time_in_kv_transfer")
)

// GenAILatencyE2ESeconds returns the attribute "gen_ai.latency.e2e": whole
// duration of the request, arrival to finish.
//
// The value is in seconds, a floating-point number.
func GenAILatencyE2ESeconds(d time.Duration) attribute.KeyValue {
	return GenAILatencyE2EKey.Float64(d.Seconds())
}

// GenAILatencyE2ENanoseconds returns the attribute "gen_ai.latency.e2e": whole
// duration of the request, arrival to finish.
//
// The value is in nanoseconds, an integer.
func GenAILatencyE2ENanoseconds(d time.Duration) attribute.KeyValue {
	return GenAILatencyE2EKey.Int64(d.Nanoseconds())
}

// GenAILatencyTimeToFirstTokenSeconds returns the attribute
// "gen_ai.latency.time_to_first_token": arrival of the request to its first
// generated token, as the frontend saw it.
//
// The value is in seconds, a floating-point number.
func GenAILatencyTimeToFirstTokenSeconds(d time.Duration) attribute.KeyValue {
	return GenAILatencyTimeToFirstTokenKey.Float64(d.Seconds())
}

// GenAILatencyTimeToFirstTokenNanoseconds returns the attribute
// "gen_ai.latency.time_to_first_token": arrival of the request to its first
// generated token, as the frontend saw it.
//
// The value is in nanoseconds, an integer.
func GenAILatencyTimeToFirstTokenNanoseconds(d time.Duration) attribute.KeyValue {
	return GenAILatencyTimeToFirstTokenKey.Int64(d.Nanoseconds())
}

// GenAILatencyTimeInQueueSeconds returns the attribute
// "gen_ai.latency.time_in_queue": time the request was queued before it was
// first scheduled.
//
// The value is in seconds, a floating-point number.
func GenAILatencyTimeInQueueSeconds(d time.Duration) attribute.KeyValue {
	return GenAILatencyTimeInQueueKey.Float64(d.Seconds())
}

// GenAILatencyTimeInQueueNanoseconds returns the attribute
// "gen_ai.latency.time_in_queue": time the request was queued before it was
// first scheduled.
//
// The value is in nanoseconds, an integer.
func GenAILatencyTimeInQueueNanoseconds(d time.Duration) attribute.KeyValue {
	return GenAILatencyTimeInQueueKey.Int64(d.Nanoseconds())
}

// GenAILatencyTimeInSchedulerSeconds returns the attribute
// "gen_ai.latency.time_in_scheduler": time spent in the scheduler.
//
// The value is in seconds, a floating-point number.
func GenAILatencyTimeInSchedulerSeconds(d time.Duration) attribute.KeyValue {
	return GenAILatencyTimeInSchedulerKey.Float64(d.Seconds())
}

// GenAILatencyTimeInModelForwardSeconds returns the attribute
// "gen_ai.latency.time_in_model_forward": time spent in the model's forward
// pass.
//
// The value is in seconds, a floating-point number.
func GenAILatencyTimeInModelForwardSeconds(d time.Duration) attribute.KeyValue {
	return GenAILatencyTimeInModelForwardKey.Float64(d.Seconds())
}

// GenAILatencyTimeInModelExecuteSeconds returns the attribute
// "gen_ai.latency.time_in_model_execute": time spent executing the model,
// forward pass, synchronization between workers and with the GPU, and sampling.
//
// The value is in seconds, a floating-point number.
func GenAILatencyTimeInModelExecuteSeconds(d time.Duration) attribute.KeyValue {
	return GenAILatencyTimeInModelExecuteKey.Float64(d.Seconds())
}

// GenAILatencyTimeInModelPrefillSeconds returns the attribute
// "gen_ai.latency.time_in_model_prefill": prefill, up to the first token.
//
// The value is in seconds, a floating-point number.
func GenAILatencyTimeInModelPrefillSeconds(d time.Duration) attribute.KeyValue {
	return GenAILatencyTimeInModelPrefillKey.Float64(d.Seconds())
}

// GenAILatencyTimeInModelPrefillNanoseconds returns the attribute
// "gen_ai.latency.time_in_model_prefill": prefill, up to the first token.
//
// The value is in nanoseconds, an integer.
func GenAILatencyTimeInModelPrefillNanoseconds(d time.Duration) attribute.KeyValue {
	return GenAILatencyTimeInModelPrefillKey.Int64(d.Nanoseconds())
}

// GenAILatencyTimeInModelDecodeSeconds returns the attribute
// "gen_ai.latency.time_in_model_decode": decode, from the first token on.
//
// The value is in seconds, a floating-point number.
func GenAILatencyTimeInModelDecodeSeconds(d time.Duration) attribute.KeyValue {
	return GenAILatencyTimeInModelDecodeKey.Float64(d.Seconds())
}

// GenAILatencyTimeInModelDecodeNanoseconds returns the attribute
// "gen_ai.latency.time_in_model_decode": decode, from the first token on.
//
// The value is in nanoseconds, an integer.
func GenAILatencyTimeInModelDecodeNanoseconds(d time.Duration) attribute.KeyValue {
	return GenAILatencyTimeInModelDecodeKey.Int64(d.Nanoseconds())
}

// GenAILatencyTimeInModelInferenceSeconds returns the attribute
// "gen_ai.latency.time_in_model_inference": prefill and decode together.
//
// The value is in seconds, a floating-point number.
func GenAILatencyTimeInModelInferenceSeconds(d time.Duration) attribute.KeyValue {
	return GenAILatencyTimeInModelInferenceKey.Float64(d.Seconds())
}

// GenAILatencyTimeInModelInferenceNanoseconds returns the attribute
// "gen_ai.latency.time_in_model_inference": prefill and decode together.
//
// The value is in nanoseconds, an integer.
func GenAILatencyTimeInModelInferenceNanoseconds(d time.Duration) attribute.KeyValue {
	return GenAILatencyTimeInModelInferenceKey.Int64(d.Nanoseconds())
}

// GenAILatencyTimeInTokenizeNanoseconds returns the attribute
// "gen_ai.latency.time_in_tokenize": tokenizing the prompt, in the frontend
// process.
//
// The value is in nanoseconds, an integer.
func GenAILatencyTimeInTokenizeNanoseconds(d time.Duration) attribute.KeyValue {
	return GenAILatencyTimeInTokenizeKey.Int64(d.Nanoseconds())
}

// GenAILatencyTimeInDetokenizeNanoseconds returns the attribute
// "gen_ai.latency.time_in_detokenize": detokenizing the output, summed over its
// increments.
//
// The value is in nanoseconds, an integer.
func GenAILatencyTimeInDetokenizeNanoseconds(d time.Duration) attribute.KeyValue {
	return GenAILatencyTimeInDetokenizeKey.Int64(d.Nanoseconds())
}

// GenAILatencyTimeInKVTransferNanoseconds returns the attribute
// "gen_ai.latency.time_in_kv_transfer": pulling KV cache blocks from the remote
// side, summed over all transfers.
//
// The value is in nanoseconds, an integer.
func GenAILatencyTimeInKVTransferNanoseconds(d time.Duration) attribute.KeyValue {
	return GenAILatencyTimeInKVTransferKey.Int64(d.Nanoseconds())
}
