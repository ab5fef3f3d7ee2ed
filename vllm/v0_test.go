package vllm_test

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/infertel/infertel-go/vllm"
)

// llm_request alone, with durations as seconds in floating point.
func TestRequestV0(t *testing.T) {
	t.Setenv(vllm.EnvGranularity, "2")
	b := newBed(t)
	e := b.v0()
	req := e.StartRequest(context.Background(), vllm.Request{ID: "r", Temperature: new(0.0), TopP: new(1.0), MaxTokens: new(8), N: new(2), PromptTokens: 32}, at(0))
	req.Scheduled(at(4))
	req.Scheduled(at(5)) // changes nothing
	req.FirstToken(at(24))
	req.FirstToken(at(25)) // changes nothing
	req.Finish(vllm.OutcomeV0{At: at(88), FinishReason: vllm.FinishReasonStop, CompletionTokens: 8,
		TimeInScheduler: new(1500 * time.Microsecond), ModelForward: new(41700 * time.Microsecond), ModelExecute: new(52 * time.Millisecond)})
	req.Finish(vllm.OutcomeV0{At: at(99)})
	want := []span{{name: "llm_request", end: 88 * time.Millisecond, status: "Unset", attrs: map[string]any{
		"gen_ai.request.id": "r", "gen_ai.response.model": "llama-3", "gen_ai.request.temperature": 0.0, "gen_ai.request.top_p": 1.0,
		"gen_ai.request.max_tokens": int64(8), "gen_ai.request.n": int64(2), "gen_ai.usage.num_sequences": int64(2),
		"gen_ai.usage.prompt_tokens": int64(32), "gen_ai.usage.completion_tokens": int64(8),
		"gen_ai.latency.e2e": 0.088, "gen_ai.latency.time_in_queue": 0.004, "gen_ai.latency.time_to_first_token": 0.024,
		"gen_ai.latency.time_in_scheduler": 0.0015, "gen_ai.latency.time_in_model_forward": 0.0417, "gen_ai.latency.time_in_model_execute": 0.052,
	}}}
	if got := b.spans(); !reflect.DeepEqual(got, want) {
		t.Errorf("\n got %+v\nwant %+v", got, want)
	}
	near(t, b.points(), map[string]float64{
		"gen_ai_vllm_request_success{finished_reason=stop}": 1,
		"genai_llm_first_token_seconds{}":                   0.024,
		"gen_ai_server_time_per_output_token{}":             0.064,
		"gen_ai_server_request_duration{}":                  0.088,
	})
	b.noReports()
}

// The same facts told afterwards, and with points missing or backwards.
func TestRecordRequestV0(t *testing.T) {
	ctx := context.Background()
	b := newBed(t)
	e := b.v0()
	r := vllm.Request{ID: "r", PromptTokens: 1}
	out := vllm.OutcomeV0{At: at(88), FinishReason: vllm.FinishReasonLength, NumSequences: 3, CompletionTokens: 8}
	live := e.StartRequest(ctx, r, at(0))
	if inner := trace.SpanContextFromContext(live.Context()); !inner.IsValid() {
		t.Error("the context carries no span")
	}
	live.Scheduled(at(4))
	live.FirstToken(at(24))
	live.Finish(out)
	one := b.spans()
	e.RecordRequest(ctx, vllm.RequestRecordV0{Request: r, Arrival: at(0), Scheduled: at(4), FirstToken: at(24), Outcome: out})
	if two := b.spans(); !reflect.DeepEqual(one, two) {
		t.Errorf("live %+v\nrecorded %+v", one, two)
	}
	b.noReports()

	none := map[string]any{"gen_ai.latency.time_in_scheduler": absent, "gen_ai.latency.time_in_model_forward": absent, "gen_ai.latency.time_in_model_execute": absent, "gen_ai.usage.num_sequences": int64(1)}
	for name, c := range map[string]struct {
		record vllm.RequestRecordV0
		report []string
		attrs  map[string]any
	}{
		"never scheduled": {vllm.RequestRecordV0{Arrival: at(0), Outcome: vllm.OutcomeV0{At: at(8)}}, []string{"time_in_queue", "end"}, map[string]any{"gen_ai.latency.time_in_queue": absent, "gen_ai.latency.time_to_first_token": absent}},
		"scheduled early": {vllm.RequestRecordV0{Arrival: at(0), Scheduled: at(-1), Outcome: vllm.OutcomeV0{At: at(8)}}, []string{"time_in_queue", "before"}, map[string]any{"gen_ai.latency.time_in_queue": absent}},
		"no arrival":      {vllm.RequestRecordV0{Scheduled: at(3), Outcome: vllm.OutcomeV0{At: at(8)}}, []string{"arrival"}, map[string]any{"gen_ai.latency.e2e": absent, "gen_ai.latency.time_in_queue": absent}},
		"no finish":       {vllm.RequestRecordV0{Arrival: at(0), Scheduled: at(3), FirstToken: at(6)}, []string{"e2e"}, map[string]any{"gen_ai.latency.e2e": absent}},
		"negative time":   {vllm.RequestRecordV0{Arrival: at(0), Scheduled: at(3), Outcome: vllm.OutcomeV0{At: at(8), ModelForward: new(-time.Second)}}, []string{"forward"}, nil},
	} {
		b := newBed(t)
		e := b.v0()
		for range 2 {
			e.RecordRequest(ctx, c.record)
		}
		s := b.request()
		has(t, s.attrs, none)
		has(t, s.attrs, c.attrs)
		if s.end < s.start || s.end-s.start > 8*time.Millisecond {
			t.Errorf("%s: [%v, %v]", name, s.start, s.end)
		}
		if name == "no finish" && s.end != 6*time.Millisecond {
			t.Errorf("%s: ends at %v, not at the newest point", name, s.end)
		}
		b.oneReport(c.report...)
	}

	// An abort may lack points; an error of the caller's is the status.
	b = newBed(t)
	e = b.v0()
	e.RecordRequest(ctx, vllm.RequestRecordV0{Arrival: at(0), Outcome: vllm.OutcomeV0{At: at(8), FinishReason: vllm.FinishReasonAbort}})
	e.RecordRequest(ctx, vllm.RequestRecordV0{Arrival: at(0), Outcome: vllm.OutcomeV0{At: at(8), Err: errors.New("out of memory")}})
	spans := b.spans()
	if spans[0].status != "Unset" || spans[1].status != "Error" {
		t.Errorf("%+v", spans)
	}
	b.noReports()
}

// Reports of the scheduler, and gauges that leave with the engine.
func TestSchedulerV0(t *testing.T) {
	ctx := context.Background()
	b := newBed(t)
	e := b.v0()
	stats := vllm.SchedulerStatsV0{Running: new(1), Waiting: new(2), Swapped: new(0), GPUCacheUsage: new(0.5), CPUCacheUsage: new(0.0),
		PromptTokens: new(32), GenerationTokens: new(8), Preemptions: new(1), Iterations: new(9)}
	if err := e.RecordScheduler(ctx, stats); err != nil {
		t.Error(err)
	}
	if err := e.RecordScheduler(ctx, vllm.SchedulerStatsV0{PromptTokens: new(1), GenerationTokens: new(2), Preemptions: new(3), Iterations: new(1)}); err != nil {
		t.Error(err)
	}
	counters := map[string]float64{"num_prompt_tokens_iter{}": 33, "num_generation_tokens_iter{}": 10, "num_tokens_iter{}": 43, "num_preemption_iter{}": 4, "vllm_iter_count{}": 10}
	all := map[string]float64{"gpu_cache_usage_sys{}": 0.5, "cpu_cache_usage_sys{}": 0, "num_running_sys{}": 1, "num_waiting_sys{}": 2, "num_swapped_sys{}": 0}
	for k, v := range counters {
		all[k] = v
	}
	near(t, b.points(), all)
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	near(t, b.points(), counters)
	if err := e.RecordSchedulerFromTotals(ctx, stats); err == nil {
		t.Error("a closed engine took a report")
	}
	b.noReports()
}
