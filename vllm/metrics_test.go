package vllm_test

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/infertel/infertel-go/internal/sdktest"
	"github.com/infertel/infertel-go/semconv"
	"github.com/infertel/infertel-go/vllm"
)

const dims = "{engine_index=0,model_name=qwen3-8b}"

// near compares metric values, which are sums of seconds.
func near(t testing.TB, got, want map[string]float64) {
	t.Helper()
	for _, k := range slices.Sorted(maps.Keys(want)) {
		if v, ok := got[k]; !ok || math.Abs(v-want[k]) > 1e-9 {
			t.Errorf("%s = %v (there: %v), want %v", k, v, ok, want[k])
		}
	}
	for _, k := range slices.Sorted(maps.Keys(got)) {
		if _, ok := want[k]; !ok {
			t.Errorf("%s = %v is extra", k, got[k])
		}
	}
}

// What finished requests feed.
func TestMetricsOfRequestsV1(t *testing.T) {
	b := newBed(t)
	e := b.v1(vllm.EngineConfig{})
	if p := b.points(); len(p) != 0 {
		t.Errorf("before any request: %v", p)
	}
	for _, reason := range []vllm.FinishReason{vllm.FinishReasonLength, vllm.FinishReasonStop} {
		e.RecordRequest(context.Background(), vllm.RequestRecordV1{
			Request: vllm.Request{ID: "r", N: new(2), MaxTokens: new(6), PromptTokens: 48},
			Arrival: at(0), Queued: at(3), Scheduled: at(10), FirstToken: at(30), Preemptions: 1,
			Outcome: vllm.OutcomeV1{At: at(126), FinishReason: reason, CompletionTokens: new(6), LastToken: at(125), FrontendFirstToken: at(31)},
		})
	}
	near(t, b.points(), map[string]float64{
		"gen_ai_vllm_request_success{engine_index=0,finished_reason=length,model_name=qwen3-8b}": 1,
		"gen_ai_vllm_request_success{engine_index=0,finished_reason=stop,model_name=qwen3-8b}":   1,
		"genai_llm_first_token_seconds" + dims:                                                   0.062,
		"gen_ai_server_time_per_output_token" + dims:                                             0.19,
		"gen_ai_server_request_duration" + dims:                                                  0.252,
		"gen_ai_vllm_num_preemptions" + dims:                                                     2,
		"gen_ai_vllm_prompt_tokens" + dims:                                                       96,
		"gen_ai_vllm_generation_tokens" + dims:                                                   12,
		"gen_ai_vllm_request_params_n" + dims:                                                    4,
		"gen_ai_vllm_request_params_max_tokens" + dims:                                           12,
		"gen_ai_vllm_request_queue_time_seconds" + dims:                                          0.014,
		"gen_ai_vllm_request_prefill_time_seconds" + dims:                                        0.04,
		"gen_ai_vllm_request_decode_time_seconds" + dims:                                         0.19,
		"gen_ai_vllm_request_inference_time_seconds" + dims:                                      0.23,
	})
}

// A value of -1 is recorded on the span and never taken from a counter.
func TestCountersNeverGoDown(t *testing.T) {
	b := newBed(t)
	lived(b.v1(vllm.EngineConfig{}), vllm.Request{ID: "r", MaxTokens: new(-1), N: new(-1)})
	for _, k := range []string{"gen_ai_vllm_request_params_max_tokens", "gen_ai_vllm_request_params_n"} {
		if v, ok := b.points()[k+dims]; ok {
			t.Errorf("%s = %v", k, v)
		}
	}
}

// The counters of tokens have one source.
func TestSchedulerCounters(t *testing.T) {
	ctx := context.Background()
	b := newBed(t)
	e := b.v1(vllm.EngineConfig{}, vllm.WithSchedulerCounters())
	lived(e, vllm.Request{ID: "r", PromptTokens: 48})
	for range 2 {
		if err := e.RecordScheduler(ctx, vllm.SchedulerStatsV1{Iterations: new(1), PromptTokens: new(5), GenerationTokens: new(3), Preemptions: new(1)}); err != nil {
			t.Error(err)
		}
	}
	p := b.points()
	for k, want := range map[string]float64{"vllm_iter_count": 2, "gen_ai_vllm_prompt_tokens": 10, "gen_ai_vllm_generation_tokens": 6, "gen_ai_vllm_num_preemptions": 2} {
		if p[k+dims] != want {
			t.Errorf("%s = %v, want %v", k, p[k+dims], want)
		}
	}
	b.noReports()

	b = newBed(t)
	e = b.v1(vllm.EngineConfig{})
	lived(e, vllm.Request{ID: "r", PromptTokens: 48})
	for range 2 {
		if err := e.RecordScheduler(ctx, vllm.SchedulerStatsV1{Iterations: new(1), PromptTokens: new(5), GenerationTokens: new(3), Preemptions: new(1)}); err != nil {
			t.Error(err)
		}
	}
	p = b.points()
	for k, want := range map[string]float64{"vllm_iter_count": 2, "gen_ai_vllm_prompt_tokens": 48, "gen_ai_vllm_generation_tokens": 3, "gen_ai_vllm_num_preemptions": 0} {
		if p[k+dims] != want {
			t.Errorf("%s = %v, want %v", k, p[k+dims], want)
		}
	}
	b.oneReport("PromptTokens is ignored", "WithSchedulerCounters")
}

// No gauge before a report, a true 0 after one, none after Close.
func TestGaugesFollowTheEngine(t *testing.T) {
	ctx := context.Background()
	b := newBed(t)
	gauges := func() map[string]float64 {
		p := b.points()
		maps.DeleteFunc(p, func(k string, _ float64) bool {
			return !strings.Contains(k, "perc") && !strings.Contains(k, "num_requests")
		})
		return p
	}
	of := func(i int) string { return fmt.Sprintf("{engine_index=%d,model_name=qwen3-8b}", i) }
	e0, e1, e2 := b.v1(vllm.EngineConfig{Index: 0}), b.v1(vllm.EngineConfig{Index: 1}), b.v1(vllm.EngineConfig{Index: 2})
	lived(e2, vllm.Request{ID: "r"})
	near(t, gauges(), map[string]float64{})
	for i, e := range []*vllm.EngineV1{e0, e1} {
		if err := e.RecordScheduler(ctx, vllm.SchedulerStatsV1{KVCacheUsage: new(float64(i)), Running: new(0)}); err != nil {
			t.Error(err)
		}
	}
	usage, running := "gen_ai_vllm_kv_cache_usage_perc", "gen_ai_vllm_num_requests_running"
	near(t, gauges(), map[string]float64{usage + of(0): 0, usage + of(1): 1, running + of(0): 0, running + of(1): 0})
	if err := e1.Close(); err != nil {
		t.Error(err)
	}
	if err := e1.Close(); err != nil {
		t.Error(err)
	}
	near(t, gauges(), map[string]float64{usage + of(0): 0, running + of(0): 0})
	if err := e1.RecordScheduler(ctx, vllm.SchedulerStatsV1{Running: new(1)}); err == nil || !strings.Contains(err.Error(), "closed") {
		t.Errorf("error %v", err)
	}
	near(t, gauges(), map[string]float64{usage + of(0): 0, running + of(0): 0})
	b.noReports()
}

// A reading that cannot be is refused whole, and the error says why.
func TestRefusedReports(t *testing.T) {
	ctx := context.Background()
	b := newBed(t)
	e, e0 := b.v1(vllm.EngineConfig{}), b.v0()
	for want, err := range map[string]error{
		"SchedulerStatsV1.KVCacheUsage is 1.5, want a number from 0 to 1":  e.RecordScheduler(ctx, vllm.SchedulerStatsV1{Running: new(3), KVCacheUsage: new(1.5), Iterations: new(4)}),
		"SchedulerStatsV1.KVCacheUsage is -0.1, want a number from 0 to 1": e.RecordScheduler(ctx, vllm.SchedulerStatsV1{KVCacheUsage: new(-0.1)}),
		"SchedulerStatsV1.KVCacheUsage is NaN, want a number from 0 to 1":  e.RecordScheduler(ctx, vllm.SchedulerStatsV1{KVCacheUsage: new(math.NaN())}),
		"SchedulerStatsV1.KVCacheUsage is +Inf, want a number from 0 to 1": e.RecordSchedulerFromTotals(ctx, vllm.SchedulerStatsV1{KVCacheUsage: new(math.Inf(1))}),
		"SchedulerStatsV1.Running is -1, want 0 or more":                   e.RecordScheduler(ctx, vllm.SchedulerStatsV1{Running: new(-1)}),
		"SchedulerStatsV1.Waiting is -2, want 0 or more":                   e.RecordScheduler(ctx, vllm.SchedulerStatsV1{Waiting: new(-2)}),
		"SchedulerStatsV1.PrefixCacheQueries is -3, want 0 or more":        e.RecordSchedulerFromTotals(ctx, vllm.SchedulerStatsV1{PrefixCacheQueries: new(-3)}),
		"SchedulerStatsV1.Preemptions is -4, want 0 or more":               e.RecordScheduler(ctx, vllm.SchedulerStatsV1{Preemptions: new(-4)}),
		"SchedulerStatsV0.GPUCacheUsage is 2, want a number from 0 to 1":   e0.RecordScheduler(ctx, vllm.SchedulerStatsV0{GPUCacheUsage: new(2.0)}),
		"SchedulerStatsV0.CPUCacheUsage is NaN, want a number from 0 to 1": e0.RecordScheduler(ctx, vllm.SchedulerStatsV0{CPUCacheUsage: new(math.NaN())}),
		"SchedulerStatsV0.Swapped is -1, want 0 or more":                   e0.RecordSchedulerFromTotals(ctx, vllm.SchedulerStatsV0{Swapped: new(-1)}),
	} {
		if err == nil || err.Error() != "vllm: "+want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	err := e.RecordScheduler(ctx, vllm.SchedulerStatsV1{Running: new(-1), KVCacheUsage: new(2.0), Iterations: new(-3)})
	if err == nil || !containsAll(err.Error(), "Running is -1", "KVCacheUsage is 2", "Iterations is -3") {
		t.Errorf("error %v does not name each field", err)
	}
	if p := b.points(); len(p) > 0 {
		t.Errorf("points %v", p)
	}
}

// Cumulative readings that start late, stand still, restart or go back never
// make a counter jump or go down.
func TestFromTotals(t *testing.T) {
	ctx := context.Background()
	b := newBed(t)
	e, e0 := b.v1(vllm.EngineConfig{}), b.v0()
	sum := 0.0
	for _, c := range []struct {
		reading int
		adds    float64
	}{{1_000_000, 0}, {1_000_010, 10}, {1_000_010, 0}, {1_000_030, 20}, {1_000_029, 0}, {1_000_035, 6}, {3, 0}, {8, 5}, {0, 0}, {0, 0}, {2, 2}} {
		if err := e.RecordSchedulerFromTotals(ctx, vllm.SchedulerStatsV1{Iterations: new(c.reading), PrefixCacheHits: new(c.reading), Running: new(1)}); err != nil {
			t.Error(err)
		}
		if err := e0.RecordSchedulerFromTotals(ctx, vllm.SchedulerStatsV0{PromptTokens: new(c.reading), Iterations: nil}); err != nil {
			t.Error(err)
		}
		sum += c.adds
		p := b.points()
		for _, k := range []string{"vllm_iter_count" + dims, "gen_ai_vllm_prefix_cache_hits" + dims, "num_prompt_tokens_iter{}", "num_tokens_iter{}"} {
			if p[k] != sum {
				t.Errorf("after the reading %d: %s = %v, want %v", c.reading, k, p[k], sum)
			}
		}
		if v, ok := p["gen_ai_vllm_prefix_cache_queries"+dims]; ok {
			t.Errorf("queries %v", v)
		}
	}
}

// The dimension finished_reason is bounded.
func TestFinishReasonsAreBounded(t *testing.T) {
	b := newBed(t)
	e := b.v1(vllm.EngineConfig{})
	record := func(reason string) {
		e.RecordRequest(context.Background(), vllm.RequestRecordV1{Arrival: at(0), Outcome: vllm.OutcomeV1{At: at(1), FinishReason: vllm.FinishReason(reason)}})
	}
	record("repetition")
	for i := range 5000 {
		record(strings.Repeat("x", 100) + fmt.Sprint(i))
		record(fmt.Sprint(i))
	}
	record("")
	record("repetition")
	series, total := 0, 0.0
	for k, v := range b.points() {
		if strings.HasPrefix(k, "gen_ai_vllm_request_success") {
			series++
			total += v
		}
	}
	if series > 17 || total != 10_003 {
		t.Errorf("%d series, %v requests", series, total)
	}
	p := b.points()
	if p["gen_ai_vllm_request_success{engine_index=0,finished_reason=repetition,model_name=qwen3-8b}"] != 2 || p["gen_ai_vllm_request_success{engine_index=0,finished_reason=_OTHER,model_name=qwen3-8b}"] == 0 {
		t.Errorf("%v", p)
	}
}

// On the wire: instruments, units, types, dimensions and their types are those of
// the registry. Engines of both versions share a provider.
func TestMetricsOnTheWire(t *testing.T) {
	ctx := context.Background()
	bed := sdktest.New(t)
	handled := sdktest.HandleErrors(t)
	opts := []vllm.OptionV1{vllm.WithTracerProvider(bed.Traces), vllm.WithMeterProvider(bed.Metrics)}
	v1, err := vllm.NewEngineV1(vllm.EngineConfig{Model: "m"}, opts...)
	if err != nil {
		t.Fatal(err)
	}
	second, err := vllm.NewEngineV1(vllm.EngineConfig{Model: "m", Index: 1}, opts...)
	if err != nil {
		t.Fatal(err)
	}
	v0, err := vllm.NewEngineV0("m", vllm.WithTracerProvider(bed.Traces), vllm.WithMeterProvider(bed.Metrics))
	if err != nil {
		t.Fatal(err)
	}
	call := vllm.CallRecord{Start: at(0), FirstToken: at(1), End: at(9), InputTokens: new(3), OutputTokens: new(4), FinishReason: vllm.FinishReasonStop}
	for _, e := range []*vllm.EngineV1{v1, second} {
		lived(e, vllm.Request{N: new(1), MaxTokens: new(1)})
		if err := e.RecordScheduler(ctx, vllm.SchedulerStatsV1{new(1), new(1), new(1.0), new(1), new(1), new(1), nil, nil, nil}); err != nil {
			t.Error(err)
		}
		if err := e.RecordCall(ctx, call); err != nil {
			t.Error(err)
		}
	}
	if err := v0.RecordScheduler(ctx, vllm.SchedulerStatsV0{new(1), new(1), new(1), new(1.0), new(1.0), new(1), new(1), new(1), new(1)}); err != nil {
		t.Error(err)
	}
	if err := v0.RecordCall(ctx, call); err != nil {
		t.Error(err)
	}
	bed.Flush()

	seen := map[string]map[string]bool{} // sets of dimensions by metric
	for _, p := range bed.Receiver.LastPoints() {
		if p.Scope != vllm.ScopeName {
			continue
		}
		if v := p.Attrs["rpcType"]; v != int64(2100) {
			t.Errorf("%s: rpcType %T %v", p.Name, v, v)
		}
		if v, ok := p.Attrs["engine_index"]; ok && v != int64(0) && v != int64(1) {
			t.Errorf("%s: engine_index %T %v", p.Name, v, v)
		}
		set := strings.Join(slices.Sorted(maps.Keys(p.Attrs)), " ")
		if seen[p.Name] == nil {
			seen[p.Name] = map[string]bool{}
		}
		seen[p.Name][set] = true
		i := slices.IndexFunc(semconv.Metrics(), func(m semconv.MetricType) bool { return m.Name == p.Name })
		if i < 0 {
			t.Errorf("%s is not documented", p.Name)
			continue
		}
		m := semconv.Metrics()[i]
		typ := "gauge"
		if m.Instrument == semconv.InstrumentCounter {
			typ = "sum"
		}
		if p.Unit != m.Unit || p.Type != typ || p.Number != m.Value.String() {
			t.Errorf("%s is a %s of %s in %s, want %v of %v in %s", p.Name, p.Type, p.Number, p.Unit, m.Instrument, m.Value, m.Unit)
		}
	}
	for _, m := range semconv.Metrics() {
		ours := slices.ContainsFunc(m.Reporters, func(r semconv.Reporter) bool { return strings.HasPrefix(r.Dimensions, "vllm.engine") })
		if ours && seen[m.Name] == nil {
			t.Errorf("%s did not arrive", m.Name)
		}
	}
	common := map[string]bool{"callType rpcType": true, "callType engine_index model_name rpcType": true}
	if got := seen["gen_ai_server_request_duration"]; !maps.Equal(got, common) {
		t.Errorf("dimensions %v", got)
	}
	if got := seen["gpu_cache_usage_sys"]; !maps.Equal(got, map[string]bool{"callType rpcType": true}) {
		t.Errorf("dimensions %v", got)
	}
	if got := seen["genai_llm_usage_tokens"]; got != nil {
		t.Errorf("the token metric of the API layer is fed, with the dimensions %v", got)
	}
	if err := handled.Take(); len(err) > 0 {
		t.Errorf("reported %v", err)
	}
}
