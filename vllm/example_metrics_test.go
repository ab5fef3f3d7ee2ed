package vllm_test

import (
	"context"
	"fmt"
	"slices"
	"time"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/infertel/infertel-go/genai"
	"github.com/infertel/infertel-go/vllm"
)

// A stat logger of the engine reports each scheduling step.
func ExampleEngineV1_RecordScheduler() {
	reader := sdkmetric.NewManualReader()
	engine, err := vllm.NewEngineV1(vllm.EngineConfig{Model: "qwen3-8b"},
		vllm.WithMeterProvider(sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer engine.Close()

	ctx := context.Background()
	for step := range 3 {
		err := engine.RecordScheduler(ctx, vllm.SchedulerStatsV1{
			Running: new(4 + step), Waiting: new(0), KVCacheUsage: new(0.25), Iterations: new(1),
			PrefixCacheQueries: new(48), PrefixCacheHits: new(16),
		})
		if err != nil {
			fmt.Println(err)
		}
	}
	printMetrics(reader)
	fmt.Println(engine.RecordScheduler(ctx, vllm.SchedulerStatsV1{KVCacheUsage: new(42.0)}))
	// Output:
	// gen_ai_vllm_kv_cache_usage_perc 0.25
	// gen_ai_vllm_num_requests_running 6
	// gen_ai_vllm_num_requests_waiting 0
	// gen_ai_vllm_prefix_cache_hits 48
	// gen_ai_vllm_prefix_cache_queries 144
	// vllm_iter_count 3
	// vllm: SchedulerStatsV1.KVCacheUsage is 42, want a number from 0 to 1
}

// Readings of an engine's cumulative counters, which start over when the engine
// does: 48 were counted before it restarted.
func ExampleEngineV1_RecordSchedulerFromTotals() {
	reader := sdkmetric.NewManualReader()
	engine, err := vllm.NewEngineV1(vllm.EngineConfig{Model: "qwen3-8b"},
		vllm.WithMeterProvider(sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer engine.Close()

	for _, queries := range []int{1000, 1048, 12} {
		err := engine.RecordSchedulerFromTotals(context.Background(), vllm.SchedulerStatsV1{PrefixCacheQueries: &queries})
		if err != nil {
			fmt.Println(err)
		}
	}
	printMetrics(reader)
	// Output:
	// gen_ai_vllm_prefix_cache_queries 48
}

// A gateway in front of an engine beside which no shim runs feeds the engine's
// counters from the calls that package genai has observed.
func ExampleEngineV1_RecordCall() {
	reader := sdkmetric.NewManualReader()
	engine, err := vllm.NewEngineV1(vllm.EngineConfig{Model: "qwen3-8b"},
		vllm.WithMeterProvider(sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer engine.Close()

	inst, err := genai.New(genai.WithOnEnd(func(ctx context.Context, f genai.Finished) {
		call := vllm.CallRecord{
			Start: f.StartTime, FirstToken: f.FirstTokenTime, End: f.EndTime,
			InputTokens: f.Usage.InputTokens, OutputTokens: f.Usage.OutputTokens,
		}
		switch {
		case f.Outcome == genai.OutcomeDisconnected, f.Outcome == genai.OutcomeAborted:
			call.FinishReason = vllm.FinishReasonAbort
		case f.Err != nil:
			call.FinishReason = vllm.FinishReasonError
		case len(f.FinishReasons) > 0:
			call.FinishReason = vllm.FinishReason(f.FinishReasons[0])
		}
		if err := engine.RecordCall(ctx, call); err != nil {
			fmt.Println(err)
		}
	}))
	if err != nil {
		fmt.Println(err)
		return
	}

	// One call, as genaihttp.NewHandler would observe it.
	start := time.Unix(1_700_000_000, 0)
	_, call := inst.Start(context.Background(), genai.Request{Model: "qwen3-8b", StartTime: start})
	call.End(genai.Response{
		FinishReasons: []string{"stop"}, EndTime: start.Add(125 * time.Millisecond),
		Usage: genai.Usage{InputTokens: new(14), OutputTokens: new(9)},
	}, nil)

	printMetrics(reader)
	// Output:
	// gen_ai_server_request_duration 0.125
	// gen_ai_vllm_generation_tokens 9
	// gen_ai_vllm_prompt_tokens 14
	// gen_ai_vllm_request_success 1
}

// printMetrics prints the metrics that have one series.
func printMetrics(reader sdkmetric.Reader) {
	var rm metricdata.ResourceMetrics
	if err := reader.Collect(context.Background(), &rm); err != nil {
		fmt.Println(err)
	}
	var lines []string
	for _, sm := range rm.ScopeMetrics {
		for _, m := range sm.Metrics {
			var value any
			switch d := m.Data.(type) {
			case metricdata.Sum[int64]:
				value = d.DataPoints[0].Value
			case metricdata.Sum[float64]:
				value = d.DataPoints[0].Value
			case metricdata.Gauge[int64]:
				value = d.DataPoints[0].Value
			case metricdata.Gauge[float64]:
				value = d.DataPoints[0].Value
			}
			lines = append(lines, fmt.Sprint(m.Name, " ", value))
		}
	}
	slices.Sort(lines)
	for _, line := range lines {
		fmt.Println(line)
	}
}
