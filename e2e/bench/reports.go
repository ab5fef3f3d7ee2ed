package main

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/infertel/infertel-go/sglang"
	"github.com/infertel/infertel-go/vllm"
)

// The baselines of a scheduler's report hand the dimensions in with each
// measurement.

func vllmReportOurs(mp metric.MeterProvider) func() {
	e := must(vllm.NewEngineV1(vllm.EngineConfig{Model: "qwen3-8b"}, vllm.WithTracerProvider(noop.NewTracerProvider()), vllm.WithMeterProvider(mp)))
	stats := vllm.SchedulerStatsV1{Running: new(3), Waiting: new(1), KVCacheUsage: new(0.25), PrefixCacheQueries: new(48), PrefixCacheHits: new(16), Iterations: new(6)}
	return func() { _ = e.RecordScheduler(context.Background(), stats) }
}

func vllmReportRaw(mp metric.MeterProvider) func() {
	m := mp.Meter("raw")
	running := must(m.Int64Gauge("gen_ai_vllm_num_requests_running"))
	waiting := must(m.Int64Gauge("gen_ai_vllm_num_requests_waiting"))
	usage := must(m.Float64Gauge("gen_ai_vllm_kv_cache_usage_perc"))
	queries := must(m.Int64Counter("gen_ai_vllm_prefix_cache_queries"))
	hits := must(m.Int64Counter("gen_ai_vllm_prefix_cache_hits"))
	iterations := must(m.Int64Counter("vllm_iter_count"))
	dimensions := func() metric.MeasurementOption {
		return metric.WithAttributes(attribute.String("callType", "gen_ai"), attribute.Int("rpcType", 2100),
			attribute.Int("engine_index", 0), attribute.String("model_name", "qwen3-8b"))
	}
	return func() {
		ctx := context.Background()
		running.Record(ctx, 3, dimensions())
		waiting.Record(ctx, 1, dimensions())
		usage.Record(ctx, 0.25, dimensions())
		queries.Add(ctx, 48, dimensions())
		hits.Add(ctx, 16, dimensions())
		iterations.Add(ctx, 6, dimensions())
	}
}

func sglangReportOurs(mp metric.MeterProvider) func() {
	e := sglangEngine(noop.NewTracerProvider(), mp)
	stats := sglang.SchedulerStats{RunningReqs: 3, QueueReqs: 1, UsedTokens: 512, TokenUsage: 0.5, GenThroughput: 40, CacheHitRate: new(0.25), SpecAcceptLength: new(2.5)}
	return func() { _ = e.RecordScheduler(context.Background(), stats) }
}

func sglangReportRaw(mp metric.MeterProvider) func() {
	m := mp.Meter("raw")
	running := must(m.Int64Counter("sglang_num_running_reqs"))
	queue := must(m.Int64Counter("sglang_num_queue_reqs"))
	tokens := must(m.Int64Counter("sglang_num_used_tokens"))
	usage := must(m.Float64Counter("sglang_token_usage"))
	throughput := must(m.Float64Counter("sglang_gen_throughput"))
	hitRate := must(m.Float64Counter("gen_ai_sglang_cache_hit_rate"))
	acceptLength := must(m.Float64Counter("sglang_spec_accept_length"))
	reports := must(m.Int64Counter("sglang_log_count"))
	dimensions := func() metric.MeasurementOption {
		return metric.WithAttributes(attribute.String("callType", "gen_ai"), attribute.String("callKind", "custom_entry"), attribute.Int("rpcType", 2100))
	}
	return func() {
		ctx := context.Background()
		running.Add(ctx, 3, dimensions())
		queue.Add(ctx, 1, dimensions())
		tokens.Add(ctx, 512, dimensions())
		usage.Add(ctx, 0.5, dimensions())
		throughput.Add(ctx, 40, dimensions())
		hitRate.Add(ctx, 0.25, dimensions())
		acceptLength.Add(ctx, 2.5, dimensions())
		reports.Add(ctx, 1, dimensions())
	}
}

func reportGroups() []group {
	return []group{
		{"vllm report", []subject{
			loop("raw", func() func() { return vllmReportRaw(metrics()) }),
			loop("ours", func() func() { return vllmReportOurs(metrics()) }),
		}},
		{"sglang report", []subject{
			loop("raw", func() func() { return sglangReportRaw(metrics()) }),
			loop("ours", func() func() { return sglangReportOurs(metrics()) }),
		}},
	}
}

func reportRows() []row {
	return []row{
		reportRow("vLLM scheduler report, 6 instruments", "vllm report"),
		reportRow("SGLang scheduler report, 8 instruments", "sglang report"),
	}
}
