// Code generated from semconv/registry. DO NOT EDIT.

package semconv

// The meanings that have different names in different places.
const (
	// MeaningInputTokens: number of input tokens of one request.
	MeaningInputTokens Meaning = "input_tokens"

	// MeaningOutputTokens: number of output tokens of one request.
	MeaningOutputTokens Meaning = "output_tokens"

	// MeaningCandidates: number of candidates asked for.
	MeaningCandidates Meaning = "candidates"

	// MeaningModel: name of the model that the request is about.
	//
	// The V0 engine span and the SGLang request span name the model that the server
	// runs, having no other name for it.
	MeaningModel Meaning = "model"

	// MeaningCachedTokens: number of input tokens of one request that came from a
	// cache.
	MeaningCachedTokens Meaning = "cached_tokens"

	// MeaningTimeToFirstToken: time to first token as a metric. A cumulative
	// counter here, a histogram in OpenTelemetry.
	MeaningTimeToFirstToken Meaning = "time_to_first_token"

	// MeaningTimePerOutputToken: time per output token as a metric. A cumulative
	// counter here, a histogram in OpenTelemetry.
	MeaningTimePerOutputToken Meaning = "time_per_output_token"

	// MeaningRequestDuration: duration of requests as a metric. A cumulative
	// counter here, a histogram in OpenTelemetry.
	MeaningRequestDuration Meaning = "request_duration"

	// MeaningTokenUsage: tokens used, by direction, as a metric. A counter here, a
	// histogram in OpenTelemetry.
	MeaningTokenUsage Meaning = "token_usage"
)

// The places that report fields.
const (
	// SourceVLLMEntry: one call to the OpenAI-compatible API in front of vLLM.
	SourceVLLMEntry Source = "vllm.entry"
	// SourceSGLangEntry: one call to the OpenAI-compatible API in front of SGLang.
	SourceSGLangEntry Source = "sglang.entry"
	// SourceVLLMV0LLMRequest: one request in a vLLM V0 engine, from arrival to
	// finish.
	SourceVLLMV0LLMRequest Source = "vllm.v0.llm_request"
	// SourceVLLMV1LLMRequest: one request in a vLLM V1 engine, from arrival to
	// finish.
	SourceVLLMV1LLMRequest Source = "vllm.v1.llm_request"
	// SourceSGLangRequest: one request in SGLang, from the frontend process.
	SourceSGLangRequest Source = "sglang.request"
	// SourceOpenTelemetry: OpenTelemetry's conventions for generative AI.
	SourceOpenTelemetry Source = "opentelemetry"
	// SourceVLLMV1Metrics: the metrics of a vLLM V1 engine.
	SourceVLLMV1Metrics Source = "vllm.v1.metrics"
	// SourceVLLMToken: the token metric of the API layer in front of vLLM.
	SourceVLLMToken Source = "vllm.token"
	// SourceSGLangToken: the token metric in front of SGLang.
	SourceSGLangToken Source = "sglang.token"
	// SourceVLLMV0Metrics: the metrics of a vLLM V0 engine.
	SourceVLLMV0Metrics Source = "vllm.v0.metrics"
	// SourceSGLangMetrics: the metrics of SGLang's scheduler and frontend.
	SourceSGLangMetrics Source = "sglang.metrics"
)

var fields = [...]Field{
	{MeaningInputTokens, SourceVLLMEntry, FieldAttribute, "gen_ai.usage.input_tokens"},
	{MeaningInputTokens, SourceSGLangEntry, FieldAttribute, "gen_ai.usage.input_tokens"},
	{MeaningInputTokens, SourceVLLMV0LLMRequest, FieldAttribute, "gen_ai.usage.prompt_tokens"},
	{MeaningInputTokens, SourceVLLMV1LLMRequest, FieldAttribute, "gen_ai.usage.prompt_tokens"},
	{MeaningInputTokens, SourceSGLangRequest, FieldAttribute, "gen_ai.usage.prompt_tokens"},
	{MeaningInputTokens, SourceOpenTelemetry, FieldAttribute, "gen_ai.usage.input_tokens"},
	{MeaningOutputTokens, SourceVLLMEntry, FieldAttribute, "gen_ai.usage.output_tokens"},
	{MeaningOutputTokens, SourceSGLangEntry, FieldAttribute, "gen_ai.usage.output_tokens"},
	{MeaningOutputTokens, SourceVLLMV0LLMRequest, FieldAttribute, "gen_ai.usage.completion_tokens"},
	{MeaningOutputTokens, SourceVLLMV1LLMRequest, FieldAttribute, "gen_ai.usage.completion_tokens"},
	{MeaningOutputTokens, SourceSGLangRequest, FieldAttribute, "gen_ai.usage.completion_tokens"},
	{MeaningOutputTokens, SourceOpenTelemetry, FieldAttribute, "gen_ai.usage.output_tokens"},
	{MeaningCandidates, SourceVLLMEntry, FieldAttribute, "gen_ai.request.choice.count"},
	{MeaningCandidates, SourceSGLangEntry, FieldAttribute, "gen_ai.request.choice.count"},
	{MeaningCandidates, SourceVLLMV0LLMRequest, FieldAttribute, "gen_ai.request.n"},
	{MeaningCandidates, SourceVLLMV1LLMRequest, FieldAttribute, "gen_ai.request.n"},
	{MeaningCandidates, SourceSGLangRequest, FieldAttribute, "gen_ai.request.n"},
	{MeaningCandidates, SourceOpenTelemetry, FieldAttribute, "gen_ai.request.choice.count"},
	{MeaningModel, SourceVLLMEntry, FieldAttribute, "gen_ai.request.model"},
	{MeaningModel, SourceSGLangEntry, FieldAttribute, "gen_ai.request.model"},
	{MeaningModel, SourceVLLMV0LLMRequest, FieldAttribute, "gen_ai.response.model"},
	{MeaningModel, SourceVLLMV1LLMRequest, FieldAttribute, "gen_ai.request.model_name"},
	{MeaningModel, SourceSGLangRequest, FieldAttribute, "gen_ai.response.model"},
	{MeaningModel, SourceVLLMV1Metrics, FieldDimension, "model_name"},
	{MeaningModel, SourceVLLMToken, FieldDimension, "modelName"},
	{MeaningModel, SourceSGLangToken, FieldDimension, "modelName"},
	{MeaningModel, SourceOpenTelemetry, FieldAttribute, "gen_ai.request.model"},
	{MeaningCachedTokens, SourceVLLMV1LLMRequest, FieldAttribute, "gen_ai.usage.cache_read.input_tokens"},
	{MeaningCachedTokens, SourceSGLangEntry, FieldAttribute, "gen_ai.usage.cache_read.input_tokens"},
	{MeaningCachedTokens, SourceSGLangRequest, FieldAttribute, "gen_ai.usage.cached_tokens"},
	{MeaningCachedTokens, SourceOpenTelemetry, FieldAttribute, "gen_ai.usage.cache_read.input_tokens"},
	{MeaningTimeToFirstToken, SourceVLLMV0Metrics, FieldMetric, "genai_llm_first_token_seconds"},
	{MeaningTimeToFirstToken, SourceVLLMV1Metrics, FieldMetric, "genai_llm_first_token_seconds"},
	{MeaningTimeToFirstToken, SourceSGLangMetrics, FieldMetric, "gen_ai_server_time_to_first_token"},
	{MeaningTimeToFirstToken, SourceOpenTelemetry, FieldMetric, "gen_ai.server.time_to_first_token"},
	{MeaningTimePerOutputToken, SourceVLLMV0Metrics, FieldMetric, "gen_ai_server_time_per_output_token"},
	{MeaningTimePerOutputToken, SourceVLLMV1Metrics, FieldMetric, "gen_ai_server_time_per_output_token"},
	{MeaningTimePerOutputToken, SourceSGLangMetrics, FieldMetric, "gen_ai_server_time_per_output_token"},
	{MeaningTimePerOutputToken, SourceOpenTelemetry, FieldMetric, "gen_ai.server.time_per_output_token"},
	{MeaningRequestDuration, SourceVLLMV0Metrics, FieldMetric, "gen_ai_server_request_duration"},
	{MeaningRequestDuration, SourceVLLMV1Metrics, FieldMetric, "gen_ai_server_request_duration"},
	{MeaningRequestDuration, SourceSGLangMetrics, FieldMetric, "gen_ai_server_request_duration"},
	{MeaningRequestDuration, SourceOpenTelemetry, FieldMetric, "gen_ai.server.request.duration"},
	{MeaningTokenUsage, SourceVLLMToken, FieldMetric, "genai_llm_usage_tokens"},
	{MeaningTokenUsage, SourceSGLangToken, FieldMetric, "genai_llm_usage_tokens"},
	{MeaningTokenUsage, SourceOpenTelemetry, FieldMetric, "gen_ai.client.token.usage"},
}
