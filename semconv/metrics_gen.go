// Code generated from semconv/registry. DO NOT EDIT.

package semconv

// The documented metrics.
var (
	// MetricGenAILLMUsageTokens is "genai_llm_usage_tokens": tokens used by API
	// calls, by direction.
	//
	// Instrument: counter of int, unit {token}.
	// Source: vllm.token, dimensions vllm.token.
	// Source: sglang.token, dimensions sglang.token.
	MetricGenAILLMUsageTokens = Int64Counter{"genai_llm_usage_tokens", "{token}", "Tokens used by API calls, by direction."}

	// MetricVLLMIterCount is "vllm_iter_count": scheduling iterations of the
	// engine.
	//
	// Instrument: counter of int, unit {iteration}.
	// Source: vllm.v0.metrics, dimensions vllm.engine.v0.
	// Source: vllm.v1.metrics, dimensions vllm.engine.v1.
	MetricVLLMIterCount = Int64Counter{"vllm_iter_count", "{iteration}", "Scheduling iterations of the engine."}

	// MetricGenAIVLLMRequestSuccess is "gen_ai_vllm_request_success": requests that
	// finished, by the reason why.
	//
	// Instrument: counter of int, unit {request}.
	// Source: vllm.v0.metrics, dimensions vllm.engine.v0 and finished_reason.
	// Source: vllm.v1.metrics, dimensions vllm.engine.v1 and finished_reason.
	MetricGenAIVLLMRequestSuccess = Int64Counter{"gen_ai_vllm_request_success", "{request}", "Requests that finished, by the reason why."}

	// MetricGenAILLMFirstTokenSeconds is "genai_llm_first_token_seconds": time to
	// first token, summed over requests.
	//
	// Instrument: counter of double, unit s.
	// Source: vllm.v0.metrics, dimensions vllm.engine.v0.
	// Source: vllm.v1.metrics, dimensions vllm.engine.v1.
	MetricGenAILLMFirstTokenSeconds = Float64Counter{"genai_llm_first_token_seconds", "s", "Time to first token, summed over requests."}

	// MetricGenAIServerTimePerOutputToken is "gen_ai_server_time_per_output_token":
	// time per output token, summed over requests.
	//
	// A vLLM request adds the time between its first and its last token, so that
	// the sum divided by the generated tokens is an average. An SGLang request adds
	// its duration divided by its output tokens; sglang_inter_token_latency_seconds
	// has the intervals themselves.
	//
	// Instrument: counter of double, unit s.
	// Source: vllm.v0.metrics, dimensions vllm.engine.v0.
	// Source: vllm.v1.metrics, dimensions vllm.engine.v1.
	// Source: sglang.metrics, dimensions sglang.engine.
	MetricGenAIServerTimePerOutputToken = Float64Counter{"gen_ai_server_time_per_output_token", "s", "Time per output token, summed over requests."}

	// MetricGenAIServerRequestDuration is "gen_ai_server_request_duration":
	// duration of requests from arrival to finish, summed.
	//
	// Instrument: counter of double, unit s.
	// Source: vllm.v0.metrics, dimensions vllm.engine.v0.
	// Source: vllm.v1.metrics, dimensions vllm.engine.v1.
	// Source: sglang.metrics, dimensions sglang.engine.
	MetricGenAIServerRequestDuration = Float64Counter{"gen_ai_server_request_duration", "s", "Duration of requests from arrival to finish, summed."}

	// MetricGPUCacheUsageSys is "gpu_cache_usage_sys": share of the GPU KV cache in
	// use.
	//
	// Reported only by a process that is handed scheduler statistics; until then
	// there is no data point, not a 0.
	//
	// Instrument: gauge of double, unit 1.
	// Source: vllm.v0.metrics, dimensions vllm.engine.v0.
	MetricGPUCacheUsageSys = Float64Gauge{"gpu_cache_usage_sys", "1", "Share of the GPU KV cache in use."}

	// MetricCPUCacheUsageSys is "cpu_cache_usage_sys": share of the CPU KV cache in
	// use.
	//
	// Reported only by a process that is handed scheduler statistics; until then
	// there is no data point, not a 0.
	//
	// Instrument: gauge of double, unit 1.
	// Source: vllm.v0.metrics, dimensions vllm.engine.v0.
	MetricCPUCacheUsageSys = Float64Gauge{"cpu_cache_usage_sys", "1", "Share of the CPU KV cache in use."}

	// MetricNumRunningSys is "num_running_sys": sequences that run.
	//
	// Reported only by a process that is handed scheduler statistics; until then
	// there is no data point, not a 0.
	//
	// Instrument: gauge of int, unit {sequence}.
	// Source: vllm.v0.metrics, dimensions vllm.engine.v0.
	MetricNumRunningSys = Int64Gauge{"num_running_sys", "{sequence}", "Sequences that run."}

	// MetricNumWaitingSys is "num_waiting_sys": sequences that wait.
	//
	// Reported only by a process that is handed scheduler statistics; until then
	// there is no data point, not a 0.
	//
	// Instrument: gauge of int, unit {sequence}.
	// Source: vllm.v0.metrics, dimensions vllm.engine.v0.
	MetricNumWaitingSys = Int64Gauge{"num_waiting_sys", "{sequence}", "Sequences that wait."}

	// MetricNumSwappedSys is "num_swapped_sys": sequences that are swapped out.
	//
	// Reported only by a process that is handed scheduler statistics; until then
	// there is no data point, not a 0.
	//
	// Instrument: gauge of int, unit {sequence}.
	// Source: vllm.v0.metrics, dimensions vllm.engine.v0.
	MetricNumSwappedSys = Int64Gauge{"num_swapped_sys", "{sequence}", "Sequences that are swapped out."}

	// MetricNumPromptTokensIter is "num_prompt_tokens_iter": input tokens
	// processed, added iteration by iteration.
	//
	// Instrument: counter of int, unit {token}.
	// Source: vllm.v0.metrics, dimensions vllm.engine.v0.
	MetricNumPromptTokensIter = Int64Counter{"num_prompt_tokens_iter", "{token}", "Input tokens processed, added iteration by iteration."}

	// MetricNumGenerationTokensIter is "num_generation_tokens_iter": output tokens
	// generated, added iteration by iteration.
	//
	// Instrument: counter of int, unit {token}.
	// Source: vllm.v0.metrics, dimensions vllm.engine.v0.
	MetricNumGenerationTokensIter = Int64Counter{"num_generation_tokens_iter", "{token}", "Output tokens generated, added iteration by iteration."}

	// MetricNumTokensIter is "num_tokens_iter": tokens processed, input and output,
	// added iteration by iteration.
	//
	// Instrument: counter of int, unit {token}.
	// Source: vllm.v0.metrics, dimensions vllm.engine.v0.
	MetricNumTokensIter = Int64Counter{"num_tokens_iter", "{token}", "Tokens processed, input and output, added iteration by iteration."}

	// MetricNumPreemptionIter is "num_preemption_iter": preemptions, added
	// iteration by iteration.
	//
	// Instrument: counter of int, unit {preemption}.
	// Source: vllm.v0.metrics, dimensions vllm.engine.v0.
	MetricNumPreemptionIter = Int64Counter{"num_preemption_iter", "{preemption}", "Preemptions, added iteration by iteration."}

	// MetricGenAIVLLMNumRequestsRunning is "gen_ai_vllm_num_requests_running":
	// requests in the running batch.
	//
	// Reported only by a process that is handed scheduler statistics; until then
	// there is no data point, not a 0.
	//
	// Instrument: gauge of int, unit {request}.
	// Source: vllm.v1.metrics, dimensions vllm.engine.v1.
	MetricGenAIVLLMNumRequestsRunning = Int64Gauge{"gen_ai_vllm_num_requests_running", "{request}", "Requests in the running batch."}

	// MetricGenAIVLLMNumRequestsWaiting is "gen_ai_vllm_num_requests_waiting":
	// requests that wait to be processed.
	//
	// Reported only by a process that is handed scheduler statistics; until then
	// there is no data point, not a 0.
	//
	// Instrument: gauge of int, unit {request}.
	// Source: vllm.v1.metrics, dimensions vllm.engine.v1.
	MetricGenAIVLLMNumRequestsWaiting = Int64Gauge{"gen_ai_vllm_num_requests_waiting", "{request}", "Requests that wait to be processed."}

	// MetricGenAIVLLMKVCacheUsagePerc is "gen_ai_vllm_kv_cache_usage_perc": share
	// of the KV cache in use, 0 to 1.
	//
	// Reported only by a process that is handed scheduler statistics; until then
	// there is no data point, not a 0.
	//
	// Instrument: gauge of double, unit 1.
	// Source: vllm.v1.metrics, dimensions vllm.engine.v1.
	MetricGenAIVLLMKVCacheUsagePerc = Float64Gauge{"gen_ai_vllm_kv_cache_usage_perc", "1", "Share of the KV cache in use, 0 to 1."}

	// MetricGenAIVLLMPrefixCacheQueries is "gen_ai_vllm_prefix_cache_queries":
	// tokens looked up in the prefix cache.
	//
	// Instrument: counter of int, unit {token}.
	// Source: vllm.v1.metrics, dimensions vllm.engine.v1.
	MetricGenAIVLLMPrefixCacheQueries = Int64Counter{"gen_ai_vllm_prefix_cache_queries", "{token}", "Tokens looked up in the prefix cache."}

	// MetricGenAIVLLMPrefixCacheHits is "gen_ai_vllm_prefix_cache_hits": tokens
	// found in the prefix cache.
	//
	// Divided by gen_ai_vllm_prefix_cache_queries it gives the hit ratio.
	//
	// Instrument: counter of int, unit {token}.
	// Source: vllm.v1.metrics, dimensions vllm.engine.v1.
	MetricGenAIVLLMPrefixCacheHits = Int64Counter{"gen_ai_vllm_prefix_cache_hits", "{token}", "Tokens found in the prefix cache."}

	// MetricGenAIVLLMNumPreemptions is "gen_ai_vllm_num_preemptions": preemptions
	// by the engine.
	//
	// Instrument: counter of int, unit {preemption}.
	// Source: vllm.v1.metrics, dimensions vllm.engine.v1.
	MetricGenAIVLLMNumPreemptions = Int64Counter{"gen_ai_vllm_num_preemptions", "{preemption}", "Preemptions by the engine."}

	// MetricGenAIVLLMPromptTokens is "gen_ai_vllm_prompt_tokens": tokens that
	// prefill processed.
	//
	// Instrument: counter of int, unit {token}.
	// Source: vllm.v1.metrics, dimensions vllm.engine.v1.
	MetricGenAIVLLMPromptTokens = Int64Counter{"gen_ai_vllm_prompt_tokens", "{token}", "Tokens that prefill processed."}

	// MetricGenAIVLLMGenerationTokens is "gen_ai_vllm_generation_tokens": tokens
	// generated.
	//
	// Instrument: counter of int, unit {token}.
	// Source: vllm.v1.metrics, dimensions vllm.engine.v1.
	MetricGenAIVLLMGenerationTokens = Int64Counter{"gen_ai_vllm_generation_tokens", "{token}", "Tokens generated."}

	// MetricGenAIVLLMRequestParamsN is "gen_ai_vllm_request_params_n": candidates
	// asked for, summed over requests.
	//
	// Instrument: counter of int, unit {choice}.
	// Source: vllm.v1.metrics, dimensions vllm.engine.v1.
	MetricGenAIVLLMRequestParamsN = Int64Counter{"gen_ai_vllm_request_params_n", "{choice}", "Candidates asked for, summed over requests."}

	// MetricGenAIVLLMRequestParamsMaxTokens is
	// "gen_ai_vllm_request_params_max_tokens": upper bounds on generated tokens,
	// summed over requests.
	//
	// Instrument: counter of int, unit {token}.
	// Source: vllm.v1.metrics, dimensions vllm.engine.v1.
	MetricGenAIVLLMRequestParamsMaxTokens = Int64Counter{"gen_ai_vllm_request_params_max_tokens", "{token}", "Upper bounds on generated tokens, summed over requests."}

	// MetricGenAIVLLMRequestQueueTimeSeconds is
	// "gen_ai_vllm_request_queue_time_seconds": time requests waited, summed.
	//
	// Instrument: counter of double, unit s.
	// Source: vllm.v1.metrics, dimensions vllm.engine.v1.
	MetricGenAIVLLMRequestQueueTimeSeconds = Float64Counter{"gen_ai_vllm_request_queue_time_seconds", "s", "Time requests waited, summed."}

	// MetricGenAIVLLMRequestPrefillTimeSeconds is
	// "gen_ai_vllm_request_prefill_time_seconds": time requests spent in prefill,
	// summed.
	//
	// Instrument: counter of double, unit s.
	// Source: vllm.v1.metrics, dimensions vllm.engine.v1.
	MetricGenAIVLLMRequestPrefillTimeSeconds = Float64Counter{"gen_ai_vllm_request_prefill_time_seconds", "s", "Time requests spent in prefill, summed."}

	// MetricGenAIVLLMRequestDecodeTimeSeconds is
	// "gen_ai_vllm_request_decode_time_seconds": time requests spent in decode,
	// summed.
	//
	// Instrument: counter of double, unit s.
	// Source: vllm.v1.metrics, dimensions vllm.engine.v1.
	MetricGenAIVLLMRequestDecodeTimeSeconds = Float64Counter{"gen_ai_vllm_request_decode_time_seconds", "s", "Time requests spent in decode, summed."}

	// MetricGenAIVLLMRequestInferenceTimeSeconds is
	// "gen_ai_vllm_request_inference_time_seconds": time requests were running,
	// prefill and decode, summed.
	//
	// Instrument: counter of double, unit s.
	// Source: vllm.v1.metrics, dimensions vllm.engine.v1.
	MetricGenAIVLLMRequestInferenceTimeSeconds = Float64Counter{"gen_ai_vllm_request_inference_time_seconds", "s", "Time requests were running, prefill and decode, summed."}

	// MetricSGLangNumRunningReqs is "sglang_num_running_reqs": requests that run,
	// one snapshot added per report.
	//
	// A counter by type but a snapshot by meaning: divide its increase by that of
	// sglang_log_count.
	//
	// Instrument: counter of int, unit {request}.
	// Source: sglang.metrics, dimensions sglang.engine.
	MetricSGLangNumRunningReqs = Int64Counter{"sglang_num_running_reqs", "{request}", "Requests that run, one snapshot added per report."}

	// MetricSGLangNumQueueReqs is "sglang_num_queue_reqs": requests in the queue,
	// one snapshot added per report.
	//
	// A counter by type but a snapshot by meaning: divide its increase by that of
	// sglang_log_count.
	//
	// Instrument: counter of int, unit {request}.
	// Source: sglang.metrics, dimensions sglang.engine.
	MetricSGLangNumQueueReqs = Int64Counter{"sglang_num_queue_reqs", "{request}", "Requests in the queue, one snapshot added per report."}

	// MetricSGLangNumUsedTokens is "sglang_num_used_tokens": tokens held in the KV
	// cache, one snapshot added per report.
	//
	// A counter by type but a snapshot by meaning: divide its increase by that of
	// sglang_log_count.
	//
	// Instrument: counter of int, unit {token}.
	// Source: sglang.metrics, dimensions sglang.engine.
	MetricSGLangNumUsedTokens = Int64Counter{"sglang_num_used_tokens", "{token}", "Tokens held in the KV cache, one snapshot added per report."}

	// MetricSGLangTokenUsage is "sglang_token_usage": share of the KV cache in use,
	// one snapshot added per report.
	//
	// A counter by type but a snapshot by meaning: divide its increase by that of
	// sglang_log_count.
	//
	// Instrument: counter of double, unit 1.
	// Source: sglang.metrics, dimensions sglang.engine.
	MetricSGLangTokenUsage = Float64Counter{"sglang_token_usage", "1", "Share of the KV cache in use, one snapshot added per report."}

	// MetricSGLangGenThroughput is "sglang_gen_throughput": tokens generated per
	// second, one snapshot added per report.
	//
	// A counter by type but a snapshot by meaning: divide its increase by that of
	// sglang_log_count.
	//
	// Instrument: counter of double, unit {token}/s.
	// Source: sglang.metrics, dimensions sglang.engine.
	MetricSGLangGenThroughput = Float64Counter{"sglang_gen_throughput", "{token}/s", "Tokens generated per second, one snapshot added per report."}

	// MetricGenAISGLangCacheHitRate is "gen_ai_sglang_cache_hit_rate": cache hit
	// ratio, one snapshot added per report.
	//
	// A counter by type but a snapshot by meaning: divide its increase by that of
	// sglang_log_count.
	//
	// Instrument: counter of double, unit 1.
	// Source: sglang.metrics, dimensions sglang.engine, when engine provides it.
	MetricGenAISGLangCacheHitRate = Float64Counter{"gen_ai_sglang_cache_hit_rate", "1", "Cache hit ratio, one snapshot added per report."}

	// MetricSGLangSpecAcceptLength is "sglang_spec_accept_length": accept length of
	// speculative decoding, added per report that has one.
	//
	// Instrument: counter of double, unit {token}.
	// Source: sglang.metrics, dimensions sglang.engine.
	MetricSGLangSpecAcceptLength = Float64Counter{"sglang_spec_accept_length", "{token}", "Accept length of speculative decoding, added per report that has one."}

	// MetricSGLangLogCount is "sglang_log_count": statistics reports, which turns a
	// sum of snapshots into an average.
	//
	// Instrument: counter of int, unit {report}.
	// Source: sglang.metrics, dimensions sglang.engine.
	MetricSGLangLogCount = Int64Counter{"sglang_log_count", "{report}", "Statistics reports, which turns a sum of snapshots into an average."}

	// MetricPromptTokensTotal is "prompt_tokens_total": input tokens.
	//
	// Instrument: counter of int, unit {token}.
	// Source: sglang.metrics, dimensions sglang.engine.
	MetricPromptTokensTotal = Int64Counter{"prompt_tokens_total", "{token}", "Input tokens."}

	// MetricGenerationTokensTotal is "generation_tokens_total": output tokens.
	//
	// Instrument: counter of int, unit {token}.
	// Source: sglang.metrics, dimensions sglang.engine.
	MetricGenerationTokensTotal = Int64Counter{"generation_tokens_total", "{token}", "Output tokens."}

	// MetricGenAISGLangCachedTokensTotal is "gen_ai_sglang_cached_tokens_total":
	// input tokens taken from a cache.
	//
	// Instrument: counter of int, unit {token}.
	// Source: sglang.metrics, dimensions sglang.engine.
	MetricGenAISGLangCachedTokensTotal = Int64Counter{"gen_ai_sglang_cached_tokens_total", "{token}", "Input tokens taken from a cache."}

	// MetricNumRequestsTotal is "num_requests_total": requests.
	//
	// Instrument: counter of int, unit {request}.
	// Source: sglang.metrics, dimensions sglang.engine.
	MetricNumRequestsTotal = Int64Counter{"num_requests_total", "{request}", "Requests."}

	// MetricGenAIServerTimeToFirstToken is "gen_ai_server_time_to_first_token":
	// time to first token, summed over requests.
	//
	// Instrument: counter of double, unit s.
	// Source: sglang.metrics, dimensions sglang.engine.
	MetricGenAIServerTimeToFirstToken = Float64Counter{"gen_ai_server_time_to_first_token", "s", "Time to first token, summed over requests."}

	// MetricSGLangInterTokenLatencySeconds is "sglang_inter_token_latency_seconds":
	// intervals between consecutive output batches of a request, summed.
	//
	// Instrument: counter of double, unit s.
	// Source: sglang.metrics, dimensions sglang.engine.
	MetricSGLangInterTokenLatencySeconds = Float64Counter{"sglang_inter_token_latency_seconds", "s", "Intervals between consecutive output batches of a request, summed."}
)
