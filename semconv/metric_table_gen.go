// Code generated from semconv/registry. DO NOT EDIT.

package semconv

// Metrics returns every documented metric.
func Metrics() []MetricType {
	return []MetricType{
		{
			Name: "genai_llm_usage_tokens", Prometheus: "genai_llm_usage_tokens_total",
			Brief:      "Tokens used by API calls, by direction.",
			Instrument: InstrumentCounter, Value: TypeInt, Unit: "{token}",
			Reporters: []Reporter{{SourceVLLMToken, "vllm.token"}, {SourceSGLangToken, "sglang.token"}},
		},
		{
			Name: "vllm_iter_count", Prometheus: "vllm_iter_count_total",
			Brief:      "Scheduling iterations of the engine.",
			Instrument: InstrumentCounter, Value: TypeInt, Unit: "{iteration}",
			Reporters: []Reporter{{SourceVLLMV0Metrics, "vllm.engine.v0"}, {SourceVLLMV1Metrics, "vllm.engine.v1"}},
		},
		{
			Name: "gen_ai_vllm_request_success", Prometheus: "gen_ai_vllm_request_success_total",
			Brief:      "Requests that finished, by the reason why.",
			Instrument: InstrumentCounter, Value: TypeInt, Unit: "{request}",
			Reporters: []Reporter{{SourceVLLMV0Metrics, "vllm.engine.v0"}, {SourceVLLMV1Metrics, "vllm.engine.v1"}},
			ExtraDimensions: []AttributeSpec{
				{Key: FinishedReasonKey, Type: TypeString},
			},
		},
		{
			Name: "genai_llm_first_token_seconds", Prometheus: "genai_llm_first_token_seconds_total",
			Brief:      "Time to first token, summed over requests.",
			Instrument: InstrumentCounter, Value: TypeDouble, Unit: "s",
			Reporters: []Reporter{{SourceVLLMV0Metrics, "vllm.engine.v0"}, {SourceVLLMV1Metrics, "vllm.engine.v1"}},
		},
		{
			Name: "gen_ai_server_time_per_output_token", Prometheus: "gen_ai_server_time_per_output_token_seconds_total",
			Brief:      "Time per output token, summed over requests.",
			Instrument: InstrumentCounter, Value: TypeDouble, Unit: "s",
			Reporters: []Reporter{{SourceVLLMV0Metrics, "vllm.engine.v0"}, {SourceVLLMV1Metrics, "vllm.engine.v1"}, {SourceSGLangMetrics, "sglang.engine"}},
		},
		{
			Name: "gen_ai_server_request_duration", Prometheus: "gen_ai_server_request_duration_seconds_total",
			Brief:      "Duration of requests from arrival to finish, summed.",
			Instrument: InstrumentCounter, Value: TypeDouble, Unit: "s",
			Reporters: []Reporter{{SourceVLLMV0Metrics, "vllm.engine.v0"}, {SourceVLLMV1Metrics, "vllm.engine.v1"}, {SourceSGLangMetrics, "sglang.engine"}},
		},
		{
			Name: "gpu_cache_usage_sys", Prometheus: "gpu_cache_usage_sys_ratio",
			Brief:      "Share of the GPU KV cache in use.",
			Instrument: InstrumentGauge, Value: TypeDouble, Unit: "1",
			Reporters: []Reporter{{SourceVLLMV0Metrics, "vllm.engine.v0"}},
		},
		{
			Name: "cpu_cache_usage_sys", Prometheus: "cpu_cache_usage_sys_ratio",
			Brief:      "Share of the CPU KV cache in use.",
			Instrument: InstrumentGauge, Value: TypeDouble, Unit: "1",
			Reporters: []Reporter{{SourceVLLMV0Metrics, "vllm.engine.v0"}},
		},
		{
			Name: "num_running_sys", Prometheus: "num_running_sys",
			Brief:      "Sequences that run.",
			Instrument: InstrumentGauge, Value: TypeInt, Unit: "{sequence}",
			Reporters: []Reporter{{SourceVLLMV0Metrics, "vllm.engine.v0"}},
		},
		{
			Name: "num_waiting_sys", Prometheus: "num_waiting_sys",
			Brief:      "Sequences that wait.",
			Instrument: InstrumentGauge, Value: TypeInt, Unit: "{sequence}",
			Reporters: []Reporter{{SourceVLLMV0Metrics, "vllm.engine.v0"}},
		},
		{
			Name: "num_swapped_sys", Prometheus: "num_swapped_sys",
			Brief:      "Sequences that are swapped out.",
			Instrument: InstrumentGauge, Value: TypeInt, Unit: "{sequence}",
			Reporters: []Reporter{{SourceVLLMV0Metrics, "vllm.engine.v0"}},
		},
		{
			Name: "num_prompt_tokens_iter", Prometheus: "num_prompt_tokens_iter_total",
			Brief:      "Input tokens processed, added iteration by iteration.",
			Instrument: InstrumentCounter, Value: TypeInt, Unit: "{token}",
			Reporters: []Reporter{{SourceVLLMV0Metrics, "vllm.engine.v0"}},
		},
		{
			Name: "num_generation_tokens_iter", Prometheus: "num_generation_tokens_iter_total",
			Brief:      "Output tokens generated, added iteration by iteration.",
			Instrument: InstrumentCounter, Value: TypeInt, Unit: "{token}",
			Reporters: []Reporter{{SourceVLLMV0Metrics, "vllm.engine.v0"}},
		},
		{
			Name: "num_tokens_iter", Prometheus: "num_tokens_iter_total",
			Brief:      "Tokens processed, input and output, added iteration by iteration.",
			Instrument: InstrumentCounter, Value: TypeInt, Unit: "{token}",
			Reporters: []Reporter{{SourceVLLMV0Metrics, "vllm.engine.v0"}},
		},
		{
			Name: "num_preemption_iter", Prometheus: "num_preemption_iter_total",
			Brief:      "Preemptions, added iteration by iteration.",
			Instrument: InstrumentCounter, Value: TypeInt, Unit: "{preemption}",
			Reporters: []Reporter{{SourceVLLMV0Metrics, "vllm.engine.v0"}},
		},
		{
			Name: "gen_ai_vllm_num_requests_running", Prometheus: "gen_ai_vllm_num_requests_running",
			Brief:      "Requests in the running batch.",
			Instrument: InstrumentGauge, Value: TypeInt, Unit: "{request}",
			Reporters: []Reporter{{SourceVLLMV1Metrics, "vllm.engine.v1"}},
		},
		{
			Name: "gen_ai_vllm_num_requests_waiting", Prometheus: "gen_ai_vllm_num_requests_waiting",
			Brief:      "Requests that wait to be processed.",
			Instrument: InstrumentGauge, Value: TypeInt, Unit: "{request}",
			Reporters: []Reporter{{SourceVLLMV1Metrics, "vllm.engine.v1"}},
		},
		{
			Name: "gen_ai_vllm_kv_cache_usage_perc", Prometheus: "gen_ai_vllm_kv_cache_usage_perc_ratio",
			Brief:      "Share of the KV cache in use, 0 to 1.",
			Instrument: InstrumentGauge, Value: TypeDouble, Unit: "1",
			Reporters: []Reporter{{SourceVLLMV1Metrics, "vllm.engine.v1"}},
			Range:     []float64{0, 1},
		},
		{
			Name: "gen_ai_vllm_prefix_cache_queries", Prometheus: "gen_ai_vllm_prefix_cache_queries_total",
			Brief:      "Tokens looked up in the prefix cache.",
			Instrument: InstrumentCounter, Value: TypeInt, Unit: "{token}",
			Reporters: []Reporter{{SourceVLLMV1Metrics, "vllm.engine.v1"}},
		},
		{
			Name: "gen_ai_vllm_prefix_cache_hits", Prometheus: "gen_ai_vllm_prefix_cache_hits_total",
			Brief:      "Tokens found in the prefix cache.",
			Instrument: InstrumentCounter, Value: TypeInt, Unit: "{token}",
			Reporters: []Reporter{{SourceVLLMV1Metrics, "vllm.engine.v1"}},
		},
		{
			Name: "gen_ai_vllm_num_preemptions", Prometheus: "gen_ai_vllm_num_preemptions_total",
			Brief:      "Preemptions by the engine.",
			Instrument: InstrumentCounter, Value: TypeInt, Unit: "{preemption}",
			Reporters: []Reporter{{SourceVLLMV1Metrics, "vllm.engine.v1"}},
		},
		{
			Name: "gen_ai_vllm_prompt_tokens", Prometheus: "gen_ai_vllm_prompt_tokens_total",
			Brief:      "Tokens that prefill processed.",
			Instrument: InstrumentCounter, Value: TypeInt, Unit: "{token}",
			Reporters: []Reporter{{SourceVLLMV1Metrics, "vllm.engine.v1"}},
		},
		{
			Name: "gen_ai_vllm_generation_tokens", Prometheus: "gen_ai_vllm_generation_tokens_total",
			Brief:      "Tokens generated.",
			Instrument: InstrumentCounter, Value: TypeInt, Unit: "{token}",
			Reporters: []Reporter{{SourceVLLMV1Metrics, "vllm.engine.v1"}},
		},
		{
			Name: "gen_ai_vllm_request_params_n", Prometheus: "gen_ai_vllm_request_params_n_total",
			Brief:      "Candidates asked for, summed over requests.",
			Instrument: InstrumentCounter, Value: TypeInt, Unit: "{choice}",
			Reporters: []Reporter{{SourceVLLMV1Metrics, "vllm.engine.v1"}},
		},
		{
			Name: "gen_ai_vllm_request_params_max_tokens", Prometheus: "gen_ai_vllm_request_params_max_tokens_total",
			Brief:      "Upper bounds on generated tokens, summed over requests.",
			Instrument: InstrumentCounter, Value: TypeInt, Unit: "{token}",
			Reporters: []Reporter{{SourceVLLMV1Metrics, "vllm.engine.v1"}},
		},
		{
			Name: "gen_ai_vllm_request_queue_time_seconds", Prometheus: "gen_ai_vllm_request_queue_time_seconds_total",
			Brief:      "Time requests waited, summed.",
			Instrument: InstrumentCounter, Value: TypeDouble, Unit: "s",
			Reporters: []Reporter{{SourceVLLMV1Metrics, "vllm.engine.v1"}},
		},
		{
			Name: "gen_ai_vllm_request_prefill_time_seconds", Prometheus: "gen_ai_vllm_request_prefill_time_seconds_total",
			Brief:      "Time requests spent in prefill, summed.",
			Instrument: InstrumentCounter, Value: TypeDouble, Unit: "s",
			Reporters: []Reporter{{SourceVLLMV1Metrics, "vllm.engine.v1"}},
		},
		{
			Name: "gen_ai_vllm_request_decode_time_seconds", Prometheus: "gen_ai_vllm_request_decode_time_seconds_total",
			Brief:      "Time requests spent in decode, summed.",
			Instrument: InstrumentCounter, Value: TypeDouble, Unit: "s",
			Reporters: []Reporter{{SourceVLLMV1Metrics, "vllm.engine.v1"}},
		},
		{
			Name: "gen_ai_vllm_request_inference_time_seconds", Prometheus: "gen_ai_vllm_request_inference_time_seconds_total",
			Brief:      "Time requests were running, prefill and decode, summed.",
			Instrument: InstrumentCounter, Value: TypeDouble, Unit: "s",
			Reporters: []Reporter{{SourceVLLMV1Metrics, "vllm.engine.v1"}},
		},
		{
			Name: "sglang_num_running_reqs", Prometheus: "sglang_num_running_reqs_total",
			Brief:      "Requests that run, one snapshot added per report.",
			Instrument: InstrumentCounter, Value: TypeInt, Unit: "{request}",
			Reporters: []Reporter{{SourceSGLangMetrics, "sglang.engine"}},
			Snapshot:  true,
		},
		{
			Name: "sglang_num_queue_reqs", Prometheus: "sglang_num_queue_reqs_total",
			Brief:      "Requests in the queue, one snapshot added per report.",
			Instrument: InstrumentCounter, Value: TypeInt, Unit: "{request}",
			Reporters: []Reporter{{SourceSGLangMetrics, "sglang.engine"}},
			Snapshot:  true,
		},
		{
			Name: "sglang_num_used_tokens", Prometheus: "sglang_num_used_tokens_total",
			Brief:      "Tokens held in the KV cache, one snapshot added per report.",
			Instrument: InstrumentCounter, Value: TypeInt, Unit: "{token}",
			Reporters: []Reporter{{SourceSGLangMetrics, "sglang.engine"}},
			Snapshot:  true,
		},
		{
			Name: "sglang_token_usage", Prometheus: "sglang_token_usage_total",
			Brief:      "Share of the KV cache in use, one snapshot added per report.",
			Instrument: InstrumentCounter, Value: TypeDouble, Unit: "1",
			Reporters: []Reporter{{SourceSGLangMetrics, "sglang.engine"}},
			Snapshot:  true,
		},
		{
			Name: "sglang_gen_throughput", Prometheus: "sglang_gen_throughput_per_second_total",
			Brief:      "Tokens generated per second, one snapshot added per report.",
			Instrument: InstrumentCounter, Value: TypeDouble, Unit: "{token}/s",
			Reporters: []Reporter{{SourceSGLangMetrics, "sglang.engine"}},
			Snapshot:  true,
		},
		{
			Name: "gen_ai_sglang_cache_hit_rate", Prometheus: "gen_ai_sglang_cache_hit_rate_total",
			Brief:      "Cache hit ratio, one snapshot added per report.",
			Instrument: InstrumentCounter, Value: TypeDouble, Unit: "1",
			Reporters: []Reporter{{SourceSGLangMetrics, "sglang.engine"}},
			Snapshot:  true,
			When:      "engine provides it",
		},
		{
			Name: "sglang_spec_accept_length", Prometheus: "sglang_spec_accept_length_total",
			Brief:      "Accept length of speculative decoding, added per report that has one.",
			Instrument: InstrumentCounter, Value: TypeDouble, Unit: "{token}",
			Reporters: []Reporter{{SourceSGLangMetrics, "sglang.engine"}},
		},
		{
			Name: "sglang_log_count", Prometheus: "sglang_log_count_total",
			Brief:      "Statistics reports, which turns a sum of snapshots into an average.",
			Instrument: InstrumentCounter, Value: TypeInt, Unit: "{report}",
			Reporters: []Reporter{{SourceSGLangMetrics, "sglang.engine"}},
		},
		{
			Name: "prompt_tokens_total", Prometheus: "prompt_tokens_total",
			Brief:      "Input tokens.",
			Instrument: InstrumentCounter, Value: TypeInt, Unit: "{token}",
			Reporters: []Reporter{{SourceSGLangMetrics, "sglang.engine"}},
		},
		{
			Name: "generation_tokens_total", Prometheus: "generation_tokens_total",
			Brief:      "Output tokens.",
			Instrument: InstrumentCounter, Value: TypeInt, Unit: "{token}",
			Reporters: []Reporter{{SourceSGLangMetrics, "sglang.engine"}},
		},
		{
			Name: "gen_ai_sglang_cached_tokens_total", Prometheus: "gen_ai_sglang_cached_tokens_total",
			Brief:      "Input tokens taken from a cache.",
			Instrument: InstrumentCounter, Value: TypeInt, Unit: "{token}",
			Reporters: []Reporter{{SourceSGLangMetrics, "sglang.engine"}},
		},
		{
			Name: "num_requests_total", Prometheus: "num_requests_total",
			Brief:      "Requests.",
			Instrument: InstrumentCounter, Value: TypeInt, Unit: "{request}",
			Reporters: []Reporter{{SourceSGLangMetrics, "sglang.engine"}},
		},
		{
			Name: "gen_ai_server_time_to_first_token", Prometheus: "gen_ai_server_time_to_first_token_seconds_total",
			Brief:      "Time to first token, summed over requests.",
			Instrument: InstrumentCounter, Value: TypeDouble, Unit: "s",
			Reporters: []Reporter{{SourceSGLangMetrics, "sglang.engine"}},
		},
		{
			Name: "sglang_inter_token_latency_seconds", Prometheus: "sglang_inter_token_latency_seconds_total",
			Brief:      "Intervals between consecutive output batches of a request, summed.",
			Instrument: InstrumentCounter, Value: TypeDouble, Unit: "s",
			Reporters: []Reporter{{SourceSGLangMetrics, "sglang.engine"}},
		},
	}
}

// DimensionSets returns every documented set of dimensions.
func DimensionSets() []DimensionSet {
	return []DimensionSet{
		{
			ID: "vllm.engine.v0",
			Attributes: []AttributeSpec{
				{Key: CallTypeKey, Type: TypeString, Enum: []string{"gen_ai"}},
				{Key: RPCTypeKey, Type: TypeInt, Enum: []string{"2100"}},
			},
		},
		{
			ID: "vllm.engine.v1",
			Attributes: []AttributeSpec{
				{Key: CallTypeKey, Type: TypeString, Enum: []string{"gen_ai"}},
				{Key: RPCTypeKey, Type: TypeInt, Enum: []string{"2100"}},
				{Key: EngineIndexKey, Type: TypeInt},
				{Key: EngineModelNameKey, Type: TypeString},
			},
		},
		{
			ID: "vllm.token",
			Attributes: []AttributeSpec{
				{Key: CallTypeKey, Type: TypeString, Enum: []string{"gen_ai"}},
				{Key: CallKindKey, Type: TypeString, Enum: []string{"custom_entry"}},
				{Key: RPCTypeKey, Type: TypeInt, Enum: []string{"2100"}},
				{Key: TokenModelNameKey, Type: TypeString},
				{Key: SpanKindKey, Type: TypeString, Enum: []string{"LLM", "EMBEDDING"}},
				{Key: UsageTypeKey, Type: TypeString, Enum: []string{"input", "output"}},
			},
		},
		{
			ID: "sglang.engine",
			Attributes: []AttributeSpec{
				{Key: CallTypeKey, Type: TypeString, Enum: []string{"gen_ai"}},
				{Key: CallKindKey, Type: TypeString, Enum: []string{"custom_entry"}},
				{Key: RPCTypeKey, Type: TypeInt, Enum: []string{"2100"}},
			},
		},
		{
			ID: "sglang.token",
			Attributes: []AttributeSpec{
				{Key: CallTypeKey, Type: TypeString, Enum: []string{"gen_ai"}},
				{Key: CallKindKey, Type: TypeString, Enum: []string{"custom_entry"}},
				{Key: RPCTypeKey, Type: TypeInt, Enum: []string{"2100"}},
				{Key: TokenModelNameKey, Type: TypeString},
				{Key: SpanKindKey, Type: TypeString, Enum: []string{"LLM", "EMBEDDING"}},
				{Key: UsageTypeKey, Type: TypeString, Enum: []string{"input", "output"}},
			},
		},
	}
}
