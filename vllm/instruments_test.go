package vllm_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/infertel/infertel-go/vllm"
)

// A View may drop any instrument; requests feed the others.
func TestDroppedInstruments(t *testing.T) {
	common := []string{"gen_ai_vllm_request_success", "gen_ai_server_request_duration", "genai_llm_first_token_seconds", "gen_ai_server_time_per_output_token"}
	onlyV1 := []string{"gen_ai_vllm_prompt_tokens", "gen_ai_vllm_generation_tokens", "gen_ai_vllm_num_preemptions", "gen_ai_vllm_request_params_n",
		"gen_ai_vllm_request_params_max_tokens", "gen_ai_vllm_request_queue_time_seconds", "gen_ai_vllm_request_prefill_time_seconds",
		"gen_ai_vllm_request_decode_time_seconds", "gen_ai_vllm_request_inference_time_seconds"}
	for _, kept := range slices.Concat(common, onlyV1) {
		b := newBed(t, sdktrace.WithSampler(sdktrace.NeverSample()))
		b.reader = sdkmetric.NewManualReader()
		b.metrics = sdkmetric.NewMeterProvider(sdkmetric.WithReader(b.reader), sdkmetric.WithView(func(i sdkmetric.Instrument) (sdkmetric.Stream, bool) {
			s := sdkmetric.Stream{Name: i.Name, Aggregation: sdkmetric.AggregationDrop{}}
			return s, i.Name != kept
		}))
		lived(b.v1(vllm.EngineConfig{}), vllm.Request{ID: "r", N: new(1), MaxTokens: new(1)})
		b.v0().RecordRequest(context.Background(), vllm.RequestRecordV0{Arrival: at(0), Scheduled: at(1), FirstToken: at(2),
			Outcome: vllm.OutcomeV0{At: at(3), FinishReason: vllm.FinishReasonStop, CompletionTokens: 2}})
		want := 1
		if slices.Contains(common, kept) {
			want = 2
		}
		if p := b.points(); len(p) != want {
			t.Errorf("only %s is kept: %v", kept, p)
		}
	}
}

// Gauges show whole numbers as they are.
func TestGaugesKeepIntegers(t *testing.T) {
	const large = math.MaxInt64 - 1 // which a float64 does not hold
	b := newBed(t)
	if err := b.v1(vllm.EngineConfig{}).RecordScheduler(context.Background(), vllm.SchedulerStatsV1{Running: new(large)}); err != nil {
		t.Error(err)
	}
	var rm metricdata.ResourceMetrics
	if err := b.reader.Collect(context.Background(), &rm); err != nil {
		t.Fatal(err)
	}
	if g := rm.ScopeMetrics[0].Metrics[0].Data.(metricdata.Gauge[int64]); g.DataPoints[0].Value != large {
		t.Errorf("running %d", g.DataPoints[0].Value)
	}
}

// No counter overflows: a number that is too large is refused, or left out and said
// once, and what follows counts.
func TestHugeCounts(t *testing.T) {
	ctx := context.Background()
	b := newBed(t)
	e, e0 := b.v1(vllm.EngineConfig{}, vllm.WithSchedulerCounters()), b.v0()
	for want, err := range map[string]error{
		"SchedulerStatsV1.Iterations is 9223372036854775807, want at most 9007199254740992":      e.RecordScheduler(ctx, vllm.SchedulerStatsV1{Iterations: new(math.MaxInt)}),
		"SchedulerStatsV1.PrefixCacheHits is 9223372036854775807, want at most 9007199254740992": e.RecordSchedulerFromTotals(ctx, vllm.SchedulerStatsV1{PrefixCacheHits: new(math.MaxInt)}),
		"SchedulerStatsV0.Preemptions is 9007199254740993, want at most 9007199254740992":        e0.RecordScheduler(ctx, vllm.SchedulerStatsV0{Preemptions: new(1<<53 + 1)}),
		"CallRecord.InputTokens is 9223372036854775807, want at most 9007199254740992":           e.RecordCall(ctx, vllm.CallRecord{Start: at(0), End: at(1), InputTokens: new(math.MaxInt)}),
		"CallRecord.OutputTokens is 9007199254740993, want at most 9007199254740992":             e0.RecordCall(ctx, vllm.CallRecord{Start: at(0), End: at(1), OutputTokens: new(1<<53 + 1)}),
	} {
		if err == nil || err.Error() != "vllm: "+want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	if p := b.points(); len(p) > 0 {
		t.Errorf("points %v", p)
	}
	b.noReports()
	for range 3 {
		if err := e.RecordScheduler(ctx, vllm.SchedulerStatsV1{Iterations: new(1 << 52)}); err != nil {
			t.Error(err)
		}
	}
	if n := b.points()["vllm_iter_count"+dims]; n != 1<<53 {
		t.Errorf("%v iterations", n)
	}
	b.oneReport("4503599627370496 is not added to the counter vllm_iter_count")

	// A request without a limit says so with the largest number.
	b = newBed(t)
	e = b.v1(vllm.EngineConfig{})
	for _, most := range []int{5, math.MaxInt, math.MaxInt, 6} {
		lived(e, vllm.Request{ID: "r", MaxTokens: &most})
		if b.request().attrs["gen_ai.request.max_tokens"] != int64(most) {
			t.Errorf("%d is not recorded", most)
		}
	}
	if n := b.points()["gen_ai_vllm_request_params_max_tokens"+dims]; n != 11 {
		t.Errorf("sum of max_tokens %v", n)
	}
	b.oneReport("9223372036854775807 is not added to the counter gen_ai_vllm_request_params_max_tokens")
}

// Intervals of centuries add up to no negative one.
func TestHugeDurations(t *testing.T) {
	b := newBed(t)
	from, to := time.Unix(1, 0), time.Unix(math.MaxInt64/int64(time.Second)-1, 0)
	r := b.v1(vllm.EngineConfig{}).StartRequest(context.Background(), vllm.Request{ID: "r"}, from)
	for range 3 {
		r.StartWait(from).End(to)
		r.StartPrefill(from).End(to)
		r.StartDecode(from).End(to)
	}
	r.Finish(vllm.OutcomeV1{At: to, FinishReason: vllm.FinishReasonStop})
	has(t, b.request().attrs, map[string]any{"gen_ai.latency.time_in_queue": int64(math.MaxInt64), "gen_ai.latency.time_in_model_inference": int64(math.MaxInt64)})
}

// Readings of 0 are no use of a counter that has another source.
func TestCounterSourceOfZero(t *testing.T) {
	b := newBed(t)
	e := b.v1(vllm.EngineConfig{})
	for _, n := range []int{0, 1, 2} {
		if err := e.RecordScheduler(context.Background(), vllm.SchedulerStatsV1{GenerationTokens: &n, Preemptions: &n}); err != nil {
			t.Error(err)
		}
		if n == 0 {
			b.noReports()
		}
	}
	b.oneReport("SchedulerStatsV1.GenerationTokens is ignored")
}

// A reason of any length is one value of the dimension, of 64 bytes.
func TestLengthOfFinishReasons(t *testing.T) {
	b := newBed(t)
	e := b.v1(vllm.EngineConfig{})
	for _, reason := range []string{strings.Repeat("x", 64), strings.Repeat("x", 64) + "y", strings.Repeat("x", 65) + "z", strings.Repeat("x", 63)} {
		e.RecordRequest(context.Background(), vllm.RequestRecordV1{Arrival: at(0), Outcome: vllm.OutcomeV1{At: at(1), FinishReason: vllm.FinishReason(reason)}})
	}
	p := b.points()
	for length, want := range map[int]float64{64: 3, 63: 1} {
		if n := p["gen_ai_vllm_request_success{engine_index=0,finished_reason="+strings.Repeat("x", length)+",model_name=qwen3-8b}"]; n != want {
			t.Errorf("%v requests with a reason of %d bytes, want %v", n, length, want)
		}
	}
}
