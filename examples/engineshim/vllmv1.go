package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/infertel/infertel-go/vllm"
)

// vllmV1 handles the lines of vLLM V1 engines.
type vllmV1 struct {
	telemetry
	options []vllm.OptionV1
	engines map[int]*vllmV1Engine // by engine_index
}

type vllmV1Engine struct {
	*vllm.EngineV1
	config vllm.EngineConfig
	open   openRequests[*vllmV1Request]
}

type vllmV1Request struct {
	*vllm.RequestV1
	transfers []openTransfer  // under way
	ended     []endedTransfer // whose start has not been told yet
}

type openTransfer struct {
	vllm.KVTransferSpan
	start time.Time
}

type endedTransfer struct {
	end    time.Time
	result vllm.KVTransfer
}

func newVLLMV1(t telemetry, options ...vllm.OptionV1) handler {
	options = append(slices.Clip(options), vllm.WithTracerProvider(t.TracerProvider()), vllm.WithMeterProvider(t.MeterProvider()))
	return &vllmV1{telemetry: t, options: options, engines: map[int]*vllmV1Engine{}}
}

func (h *vllmV1) handle(ctx context.Context, l *line) error {
	index := l.count("engine_index")
	if err := l.err(); err != nil {
		return err
	}
	if l.event == "engine" {
		return h.declare(l, index)
	}
	e := h.engines[index]
	if e == nil {
		return fmt.Errorf("engine %d is not declared", index)
	}
	switch l.event {
	case "stats":
		return e.stats(ctx, l)
	case "arrived":
		return e.arrived(ctx, l)
	case "finished":
		return e.finished(l)
	}
	return e.progress(l)
}

// declare takes an engine. The same one may be declared by each process that
// speaks of it; another one takes the place of what had its index before.
func (h *vllmV1) declare(l *line, index int) error {
	l.require("model")
	config := vllm.EngineConfig{Model: l.text("model"), Index: index, PDRole: l.role("pd_role")}
	if err := l.err(); err != nil {
		return err
	}
	old := h.engines[index]
	if old != nil && old.config == config {
		return nil
	}
	engine, err := vllm.NewEngineV1(config, h.options...)
	if err != nil {
		return err
	}
	if old != nil {
		old.open.abortAll(newPace(h), abortV1(l.at))
		if err := old.Close(); err != nil {
			return err
		}
	}
	h.engines[index] = &vllmV1Engine{EngineV1: engine, config: config}
	return nil
}

// role reads a PD role, PDRoleNone if it is not set.
func (l *line) role(name string) vllm.PDRole {
	if !l.has(name) {
		return vllm.PDRoleNone
	}
	role, err := vllm.ParsePDRole(l.text(name))
	if err != nil {
		l.wrong(name, "producer, consumer or none")
	}
	return role
}

func (e *vllmV1Engine) arrived(ctx context.Context, l *line) error {
	l.require("request")
	r := l.vllmRequest()
	if l.has("pd_role") {
		r.PDRole = new(l.role("pd_role"))
	}
	ctx = l.parent(ctx)
	if err := l.err(); err != nil {
		return err
	}
	return e.open.add(l, func() *vllmV1Request {
		return &vllmV1Request{RequestV1: e.StartRequest(ctx, r, l.at)}
	}, abortV1(l.at))
}

func (e *vllmV1Engine) finished(l *line) error {
	l.require("request")
	o := vllm.OutcomeV1{
		At:                 l.at,
		FinishReason:       vllm.FinishReason(l.text("finish_reason")),
		CompletionTokens:   l.optionalCount("completion_tokens"),
		CachedTokens:       l.cachedTokens(),
		Detokenize:         l.duration("detokenize_ns"),
		FrontendFirstToken: l.time("first_token_ts"),
		LastToken:          l.time("last_token_ts"),
	}
	if err := l.err(); err != nil {
		return err
	}
	r, err := e.open.get(l)
	if err != nil {
		return err
	}
	r.finish(o)
	e.open.remove(l.request)
	return nil
}

// progress takes what happens to a request between its arrival and its finish.
func (e *vllmV1Engine) progress(l *line) error {
	var act func(*vllmV1Request)
	switch l.event {
	case "tokenized":
		l.require("duration_ns")
		if d := l.duration("duration_ns"); d != nil {
			act = func(r *vllmV1Request) { r.Tokenized(*d) }
		}
	case "queued":
		act = func(r *vllmV1Request) { r.Queued(l.at) }
	case "scheduled":
		act = func(r *vllmV1Request) { r.Scheduled(l.at) }
	case "kv_transfer_started":
		act = func(r *vllmV1Request) { r.transferStarted(l.at) }
	case "kv_transfer_finished":
		t := vllm.KVTransfer{CachedTokens: l.cachedTokens(), Failed: l.flag("failed")}
		act = func(r *vllmV1Request) { r.transferFinished(l.at, t) }
	case "prefill":
		it := l.iteration()
		act = func(r *vllmV1Request) { r.Prefill(it) }
	case "decode":
		it := l.iteration()
		act = func(r *vllmV1Request) { r.Decode(it) }
	case "preempted":
		act = func(r *vllmV1Request) { r.Preempted(l.at) }
	default:
		return l.unknownEvent()
	}
	l.require("request")
	if err := l.err(); err != nil {
		return err
	}
	r, err := e.open.get(l)
	if err != nil {
		return err
	}
	act(r)
	return nil
}

// Lines may come out of order, so a transfer is put together from the oldest start
// and the oldest end that can belong together, whichever came first.

func (r *vllmV1Request) transferStarted(at time.Time) {
	span := r.StartKVTransfer(at)
	for i, e := range r.ended {
		if !e.end.Before(at) {
			span.End(e.result, e.end)
			r.ended = slices.Delete(r.ended, i, i+1)
			return
		}
	}
	r.transfers = append(r.transfers, openTransfer{span, at})
}

func (r *vllmV1Request) transferFinished(at time.Time, result vllm.KVTransfer) {
	for i, t := range r.transfers {
		if !at.Before(t.start) {
			t.End(result, at)
			r.transfers = slices.Delete(r.transfers, i, i+1)
			return
		}
	}
	r.ended = append(r.ended, endedTransfer{at, result})
}

// finish ends the request, and tells of transfers whose start was missed.
func (r *vllmV1Request) finish(o vllm.OutcomeV1) {
	for _, e := range r.ended {
		r.StartKVTransfer(time.Time{}).End(e.result, e.end)
	}
	r.Finish(o)
}

// cachedTokens reads a count for which engines write -1 if they do not know it.
func (l *line) cachedTokens() int {
	if n := l.int("cached_tokens"); n != nil {
		return *n
	}
	return 0
}

func (l *line) iteration() vllm.Iteration {
	it := vllm.Iteration{
		At:         l.at,
		TokenIDs:   l.ints("token_ids"),
		TokenTexts: l.texts("token_texts"),
		LogProbs:   l.floats("logprobs"),
	}
	if l.has("token_count") {
		it.TokenCount = new(l.count("token_count"))
	}
	return it
}

func (e *vllmV1Engine) stats(ctx context.Context, l *line) error {
	s := vllm.SchedulerStatsV1{
		Running:            l.optionalCount("running"),
		Waiting:            l.optionalCount("waiting"),
		KVCacheUsage:       l.ratio("kv_cache_usage"),
		PrefixCacheQueries: l.optionalCount("prefix_queries"),
		PrefixCacheHits:    l.optionalCount("prefix_hits"),
		Iterations:         l.optionalCount("iterations"),
	}
	if err := l.err(); err != nil {
		return err
	}
	return e.RecordScheduler(ctx, s)
}

func abortV1(at time.Time) func(*vllmV1Request) {
	return func(r *vllmV1Request) { r.finish(vllm.OutcomeV1{At: at, FinishReason: vllm.FinishReasonAbort}) }
}

func (h *vllmV1) close(p *pace, at time.Time) {
	for _, e := range h.engines {
		e.open.abortAll(p, abortV1(at))
	}
}
