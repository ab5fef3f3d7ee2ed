package main

import (
	"context"

	"github.com/infertel/infertel-go/examples/internal/simengine"
	"github.com/infertel/infertel-go/vllm"
)

// vllmV0 tells the telemetry of a V0 engine what the engine does.
type vllmV0 struct {
	engine *vllm.EngineV0
	spans  *spanBudget
	fault  func(error)
}

func (t *vllmV0) Observe(e simengine.Event) {
	if e.TP > 0 || e.PP > 0 {
		return
	}
	if e.Kind == simengine.Iterated {
		t.scheduler(e.Stats)
		return
	}
	f := e.Request.Data.(*flight)
	if e.Kind == simengine.Arrived {
		f.telemetry = t.engine.StartRequest(f.ctx, vllm.Request{
			ID:           f.id,
			Temperature:  f.body.Temperature,
			TopP:         f.body.TopP,
			MaxTokens:    f.body.MaxTokens,
			N:            f.body.N,
			PromptTokens: len(e.Request.Prompt),
		}, e.At)
		return
	}
	r := f.telemetry.(*vllm.RequestV0)
	switch e.Kind {
	case simengine.Scheduled:
		r.Scheduled(e.At)
	case simengine.Prefill:
		if e.Last {
			r.FirstToken(e.At)
		}
	case simengine.Finished:
		times := e.Request.Times()
		r.Finish(vllm.OutcomeV0{
			At:               e.At,
			FinishReason:     vllm.FinishReason(e.Reason),
			NumSequences:     1,
			CompletionTokens: e.Request.Generated(),
			TimeInScheduler:  &times.Scheduler,
			ModelForward:     &times.Forward,
			ModelExecute:     &times.Execute,
		})
		t.spans.add(1)
	}
}

func (t *vllmV0) scheduler(s *simengine.Stats) {
	err := t.engine.RecordScheduler(context.Background(), vllm.SchedulerStatsV0{
		Running:          &s.Running,
		Waiting:          &s.Waiting,
		Swapped:          &s.Swapped,
		GPUCacheUsage:    new(float64(s.UsedBlocks) / float64(s.Blocks)),
		CPUCacheUsage:    new(float64(s.CPUUsed) / float64(max(s.CPUBlocks, 1))),
		PromptTokens:     &s.Prompt,
		GenerationTokens: &s.Generated,
		Preemptions:      &s.Preempted,
		Iterations:       &s.Iterations,
	})
	if err != nil {
		t.fault(err)
	}
}
