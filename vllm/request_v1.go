package vllm

import (
	"context"
	"fmt"
	"math"
	"time"
)

// RequestV1 is one request in a V1 engine. Its methods are safe for concurrent
// use, and do nothing on a nil *RequestV1 and after [RequestV1.Finish]. Points in
// time are told in any order; what comes of them is decided when the request
// finishes, and does not depend on that order.
type RequestV1 struct {
	request
	engine      *EngineV1
	granularity Granularity
	role        PDRole
	wantsTokens bool

	queued, scheduled point // the earliest that was told
	firstTold         point // the first token, where it was told by itself
	outputs           outputs
	extra             []stageFact   // stages that were started by hand, and transfers
	tokenize          time.Duration // or unknown
	preemptions       int
	events            *eventLog // nil where no events are recorded
}

// outputs is what the iterations that put out tokens come to.
type outputs struct {
	first, last point // by time
	iterations  int
	untold      int // iterations that said nothing of how many tokens
	tokens      int // at least so many: of the untold ones one each
}

// StartRequest starts the span llm_request of a request that arrived at the
// given time, as the frontend saw it. The span is a child of the one in ctx; see
// [RequestV1.Context]. The caller must end it with [RequestV1.Finish].
//
// A zero arrival is reported once: the request then has no latency that starts
// with it, and its span starts now. Source: vllm.v1.llm_request.
func (e *EngineV1) StartRequest(ctx context.Context, r Request, arrival time.Time) *RequestV1 {
	if e == nil {
		return nil
	}
	return e.startRequest(ctx, r, arrival, time.Time{})
}

func (e *EngineV1) startRequest(ctx context.Context, asked Request, arrival, start time.Time) *RequestV1 {
	r := &RequestV1{engine: e, tokenize: unknown, role: e.role, granularity: e.granularity}
	if asked.PDRole != nil {
		r.role = e.validRole(*asked.PDRole)
	}
	if asked.Granularity != nil {
		r.granularity = e.validGranularity(*asked.Granularity)
	}
	r.begin(ctx, &e.engine, asked, arrival, start)
	r.wantsTokens = r.recording && r.granularity >= GranularityEvents && e.eventLimit != 0
	if r.wantsTokens {
		r.events = e.newEventLog()
	}
	return r
}

func (e *EngineV1) validRole(role PDRole) PDRole {
	if role <= PDRoleConsumer {
		return role
	}
	e.misuse.Report(misuseRole, func() error {
		return fmt.Errorf("vllm: Request.PDRole is %d, want PDRoleNone, PDRoleProducer or PDRoleConsumer; that of the engine is used", role)
	})
	return e.role
}

func (e *EngineV1) validGranularity(g Granularity) Granularity {
	if g <= GranularityEvents {
		return g
	}
	e.misuse.Report(misuseGranularity, func() error {
		return fmt.Errorf("vllm: Request.Granularity is %d, want 0, 1 or 2; that of the engine is used", g)
	})
	return e.granularity
}

// Context returns the context that carries the span llm_request, for links and
// for children of the caller's own.
func (r *RequestV1) Context() context.Context {
	if r == nil {
		return context.Background()
	}
	return r.ctx
}

// Recording reports whether the span is recorded.
func (r *RequestV1) Recording() bool { return r != nil && r.recording }

// WantsTokens reports whether token ids, texts and log probabilities are worth
// collecting: whether the span is recorded with its events.
func (r *RequestV1) WantsTokens() bool { return r != nil && r.wantsTokens }

// Tokenized tells how long the frontend took to tokenize the prompt:
// gen_ai.latency.time_in_tokenize (int, ns). The last call counts.
func (r *RequestV1) Tokenized(d time.Duration) {
	if r == nil || !r.lock() {
		return
	}
	defer r.mu.Unlock()
	r.tokenize = r.engine.duration(misuseTokenize, r.asked.ID, "the tokenization", &d)
}

// Queued tells when the request entered the engine's queue. It starts the first
// wait, and makes the event WAIT. The earliest time counts. Source: event WAIT of
// vllm.v1.llm_request.
func (r *RequestV1) Queued(at time.Time) {
	if r == nil || !r.lock() {
		return
	}
	defer r.mu.Unlock()
	p := earlier(r.queued, pointOf(at))
	if p == r.queued {
		return
	}
	r.queued = p
	if r.events != nil {
		r.events.queued(r, r.on(p))
	}
}

// Scheduled tells when the engine scheduled the request: it ends the first wait
// and starts the first prefill. The earliest time counts, since the engine does
// not reset it when it preempts a request.
func (r *RequestV1) Scheduled(at time.Time) {
	if r == nil || !r.lock() {
		return
	}
	defer r.mu.Unlock()
	r.scheduled = earlier(r.scheduled, pointOf(at))
}

// Prefill tells of an iteration that worked on the prompt, also of one that
// computes it again after a preemption, and makes the event PREFILL. The earliest
// iteration of a request, of either kind, puts out its first token, unless it says
// NoToken: it ends the first prefill and starts the first decode. Source: event
// PREFILL of vllm.v1.llm_request.
func (r *RequestV1) Prefill(it Iteration) {
	if r == nil || !r.lock() {
		return
	}
	r.iteration(eventPrefill, &it)
	r.mu.Unlock()
}

// Decode tells of an iteration that put out tokens, and makes the event DECODE.
// The latest one ends decode. See [RequestV1.Prefill] for the first iteration.
// Source: event DECODE of vllm.v1.llm_request.
func (r *RequestV1) Decode(it Iteration) {
	if r == nil || !r.lock() {
		return
	}
	r.iteration(eventDecode, &it)
	r.mu.Unlock()
}

func (r *RequestV1) iteration(k eventKind, it *Iteration) {
	p := pointOf(it.At)
	if !it.NoToken {
		o := &r.outputs
		n, told := it.tokens()
		if !told {
			o.untold++
		}
		o.iterations++
		o.tokens = plus(o.tokens, n, math.MaxInt)
		o.first, o.last = earlier(o.first, p), later(o.last, p)
	}
	if r.events != nil && p.known() {
		r.events.add(r, k, r.on(p), it)
	}
}

// Preempted tells when the engine took the request's KV cache away. It counts for
// gen_ai.request.preemption_count and makes the events PREEMPTED and WAIT. The
// pause stays part of prefill or decode. Source: events PREEMPTED and WAIT of
// vllm.v1.llm_request.
func (r *RequestV1) Preempted(at time.Time) {
	if r == nil || !r.lock() {
		return
	}
	defer r.mu.Unlock()
	r.preemptions++
	if p := pointOf(at); p.known() {
		r.event(eventPreempted, r.on(p))
		r.event(eventRequeued, r.on(p))
	}
}

func (r *RequestV1) event(k eventKind, at time.Duration) {
	if r.events != nil {
		r.events.add(r, k, at, &Iteration{})
	}
}
