package main

import (
	"context"
	"errors"
	"time"

	"github.com/infertel/infertel-go/vllm"
)

// vllmV0 handles the lines of a vLLM V0 engine.
type vllmV0 struct {
	telemetry
	engine *vllm.EngineV0 // nil until it is declared
	model  string
	open   openRequests[*vllm.RequestV0]
}

func newVLLMV0(t telemetry) handler {
	return &vllmV0{telemetry: t}
}

func (h *vllmV0) handle(ctx context.Context, l *line) error {
	if l.event == "engine" {
		return h.declare(l)
	}
	if h.engine == nil {
		return errors.New("the engine is not declared")
	}
	switch l.event {
	case "stats":
		return h.stats(ctx, l)
	case "arrived":
		return h.arrived(ctx, l)
	case "scheduled", "first_token", "finished":
		return h.progress(l)
	}
	return l.unknownEvent()
}

// declare takes the engine. The same one may be declared by each process that
// speaks of it; another one takes its place.
func (h *vllmV0) declare(l *line) error {
	l.require("model")
	model := l.text("model")
	if err := l.err(); err != nil {
		return err
	}
	if h.engine != nil && h.model == model {
		return nil
	}
	engine, err := vllm.NewEngineV0(model, vllm.WithTracerProvider(h.TracerProvider()), vllm.WithMeterProvider(h.MeterProvider()))
	if err != nil {
		return err
	}
	h.close(newPace(h), l.at)
	if err := h.engine.Close(); err != nil {
		return err
	}
	h.engine, h.model = engine, model
	return nil
}

func (h *vllmV0) arrived(ctx context.Context, l *line) error {
	l.require("request")
	r := l.vllmRequest()
	ctx = l.parent(ctx)
	if err := l.err(); err != nil {
		return err
	}
	return h.open.add(l, func() *vllm.RequestV0 { return h.engine.StartRequest(ctx, r, l.at) }, abortV0(l.at))
}

func (h *vllmV0) progress(l *line) error {
	l.require("request")
	o := vllm.OutcomeV0{At: l.at}
	if l.event == "finished" {
		o.FinishReason = vllm.FinishReason(l.text("finish_reason"))
		o.NumSequences = l.count("num_sequences")
		o.CompletionTokens = l.count("completion_tokens")
		o.TimeInScheduler = l.duration("time_in_scheduler_ns")
		o.ModelForward = l.duration("model_forward_ns")
		o.ModelExecute = l.duration("model_execute_ns")
	}
	if err := l.err(); err != nil {
		return err
	}
	r, err := h.open.get(l)
	if err != nil {
		return err
	}
	switch l.event {
	case "scheduled":
		r.Scheduled(l.at)
	case "first_token":
		r.FirstToken(l.at)
	case "finished":
		r.Finish(o)
		h.open.remove(l.request)
	}
	return nil
}

func (h *vllmV0) stats(ctx context.Context, l *line) error {
	s := vllm.SchedulerStatsV0{
		Running:          l.optionalCount("running"),
		Waiting:          l.optionalCount("waiting"),
		Swapped:          l.optionalCount("swapped"),
		GPUCacheUsage:    l.ratio("gpu_cache_usage"),
		CPUCacheUsage:    l.ratio("cpu_cache_usage"),
		PromptTokens:     l.optionalCount("prompt_tokens"),
		GenerationTokens: l.optionalCount("generation_tokens"),
		Preemptions:      l.optionalCount("preemptions"),
		Iterations:       l.optionalCount("iterations"),
	}
	if err := l.err(); err != nil {
		return err
	}
	return h.engine.RecordScheduler(ctx, s)
}

func abortV0(at time.Time) func(*vllm.RequestV0) {
	return func(r *vllm.RequestV0) {
		r.Finish(vllm.OutcomeV0{At: at, FinishReason: vllm.FinishReasonAbort})
	}
}

func (h *vllmV0) close(p *pace, at time.Time) { h.open.abortAll(p, abortV0(at)) }
