package vllm

import (
	"context"
	"time"
)

// RequestV1 is one request in a V1 engine. Its methods are safe for concurrent
// use, and do nothing on a nil *RequestV1 and after [RequestV1.Finish]. Points in
// time are told in any order; what comes of them is decided when the request
// finishes.
type RequestV1 struct {
	request
	engine      *EngineV1
	granularity Granularity
	role        PDRole
	stages      [stageKVTransfer]interval // the first wait, prefill and decode
	extra       []stageFact
	tokenize    time.Duration // or unknown
	tokens      int           // put out by the iterations told
	preemptions int
	events      *eventLog // nil where no events are recorded
}

// StartRequest starts the span llm_request of a request that arrived at the
// given time, as the frontend saw it. The span is a child of the one in ctx; see
// [RequestV1.Context]. The caller must end it with [RequestV1.Finish].
//
// A zero arrival is reported once: the request then has no latency that starts
// with it, and its span starts now.
func (e *EngineV1) StartRequest(ctx context.Context, r Request, arrival time.Time) *RequestV1 {
	if e == nil {
		return nil
	}
	return e.startRequest(ctx, r, arrival, time.Time{})
}

func (e *EngineV1) startRequest(ctx context.Context, asked Request, arrival, start time.Time) *RequestV1 {
	r := &RequestV1{engine: e, tokenize: unknown, role: e.role, granularity: e.granularity}
	for i := range r.stages {
		r.stages[i] = interval{never, never}
	}
	if asked.PDRole != nil {
		r.role = *asked.PDRole
	}
	if asked.Granularity != nil {
		r.granularity = *asked.Granularity
	}
	r.begin(ctx, &e.engine, asked, arrival, start)
	if r.recording && r.granularity >= GranularityEvents && e.eventLimit != 0 {
		r.events = e.newEventLog()
	}
	return r
}

// Context returns the context that carries the span llm_request, for links and
// for children of the caller's own.
func (r *RequestV1) Context() context.Context {
	if r == nil {
		return context.Background()
	}
	return r.ctx
}

// Recording reports whether the span is recorded, so that token ids, texts and
// log probabilities are worth collecting at [GranularityEvents].
func (r *RequestV1) Recording() bool { return r != nil && r.recording }

// Tokenized tells how long the frontend took to tokenize the prompt:
// gen_ai.latency.time_in_tokenize. The last call counts.
func (r *RequestV1) Tokenized(d time.Duration) {
	if r == nil || !r.lock() {
		return
	}
	defer r.mu.Unlock()
	r.tokenize = r.engine.duration(r.asked.ID, "the tokenization", &d)
}

// duration returns a duration that a caller gave, or unknown.
func (e *engine) duration(id, what string, d *time.Duration) time.Duration {
	if d == nil {
		return unknown
	}
	if *d < 0 {
		e.leftOut(misuseDuration, id, what, backwards)
		return unknown
	}
	return *d
}

// Queued tells when the request entered the engine's queue. It starts the first
// wait, and makes the event WAIT. Only the first call counts.
func (r *RequestV1) Queued(at time.Time) {
	if r == nil || !r.lock() {
		return
	}
	defer r.mu.Unlock()
	if t := r.on(at); t != never && r.stages[stageWait].startAt(t) {
		r.event(eventWait, t)
	}
}

// Scheduled tells when the engine scheduled the request: it ends the first wait
// and starts the first prefill. Only the first call counts, since the engine does
// not reset that time when it preempts a request.
func (r *RequestV1) Scheduled(at time.Time) {
	if r == nil || !r.lock() {
		return
	}
	defer r.mu.Unlock()
	t := r.on(at)
	r.stages[stageWait].endAt(t)
	r.stages[stagePrefill].startAt(t)
}

// Prefill tells of an iteration that worked on the prompt, also of one that
// computes it again after a preemption, and makes the event PREFILL. The first
// iteration of a request puts out its first token, unless it says NoToken: it
// ends the first prefill and starts the first decode.
func (r *RequestV1) Prefill(it Iteration) {
	if r == nil || !r.lock() {
		return
	}
	r.iteration(eventPrefill, &it)
	r.mu.Unlock()
}

// Decode tells of an iteration that put out tokens, and makes the event DECODE.
// The last one ends decode. See [RequestV1.Prefill] for the first iteration.
func (r *RequestV1) Decode(it Iteration) {
	if r == nil || !r.lock() {
		return
	}
	r.iteration(eventDecode, &it)
	r.mu.Unlock()
}

func (r *RequestV1) iteration(k eventKind, it *Iteration) {
	at := r.on(it.At)
	if n := it.tokens(); n > 0 || !it.NoToken {
		r.tokens += n
		r.token(at)
	}
	if r.events != nil && at != never {
		r.events.add(r, k, at, it)
	}
}

// token takes the time of a token.
func (r *RequestV1) token(at time.Duration) {
	if at == never {
		return
	}
	r.firstToken(at)
	r.stages[stageDecode].end = at
}

// firstToken takes the time of the first token, unless there was one.
func (r *RequestV1) firstToken(at time.Duration) {
	if r.first == never && at != never {
		r.first = at
		r.stages[stagePrefill].endAt(at)
		r.stages[stageDecode].startAt(at)
	}
}

// Preempted tells when the engine took the request's KV cache away. It counts for
// gen_ai.request.preemption_count and makes the events PREEMPTED and WAIT. The
// pause stays part of prefill or decode.
func (r *RequestV1) Preempted(at time.Time) {
	if r == nil || !r.lock() {
		return
	}
	defer r.mu.Unlock()
	r.preemptions++
	if t := r.on(at); t != never {
		r.event(eventPreempted, t)
		r.event(eventWait, t)
	}
}

func (r *RequestV1) event(k eventKind, at time.Duration) {
	if r.events != nil {
		r.events.add(r, k, at, &Iteration{})
	}
}

// startAt and endAt set an end that is not set yet, and report whether they did.

func (i *interval) startAt(t time.Duration) bool {
	if i.start != never {
		return false
	}
	i.start = t
	return true
}

func (i *interval) endAt(t time.Duration) bool {
	if i.end != never {
		return false
	}
	i.end = t
	return true
}
