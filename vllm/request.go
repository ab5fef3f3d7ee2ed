package vllm

import (
	"context"
	"sync"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/infertel/infertel-go/internal/boundedtext"
)

// request is what requests of both versions have.
type request struct {
	ctx       context.Context // carries llm_request
	span      trace.Span
	recording bool
	idle      bool // nothing comes of the request

	mu       sync.Mutex
	finished bool
	asked    asked
	start    time.Time     // of llm_request: the arrival, if it is known
	arrived  bool          // the arrival is known
	first    time.Duration // first token, as the engine saw it, or never
}

// asked is a Request without its pointers: what they point to stays the caller's.
type asked struct {
	ID                string
	PromptTokens      int
	temperature, topP optional[float64]
	maxTokens, n      optional[int]
}

type optional[T any] struct {
	value T
	set   bool
}

func given[T any](p *T) optional[T] {
	if p == nil {
		return optional[T]{}
	}
	return optional[T]{*p, true}
}

// begin starts llm_request. start stands in for an arrival that is not known; a
// zero one means now, because the span has to start and its context is wanted.
func (q *request) begin(ctx context.Context, e *engine, r Request, arrival, start time.Time) {
	q.first = never
	if q.arrived = isKnown(arrival); q.arrived {
		start = arrival
	} else if start.IsZero() {
		start = time.Now()
	}
	q.start = start
	q.ctx, q.span = e.start(ctx, q.start)
	q.recording = q.span.IsRecording()
	q.idle = !q.recording && !e.common.enabled(ctx)
	if q.idle {
		return
	}
	q.asked = asked{
		ID: boundedtext.Cut(r.ID, maxName), PromptTokens: r.PromptTokens,
		temperature: given(r.Temperature), topP: given(r.TopP), maxTokens: given(r.MaxTokens), n: given(r.N),
	}
	if !q.arrived {
		e.leftOut(misuseArrival, q.asked.ID, "what is counted from the arrival", noStart)
	}
}

// lock reports whether the request takes facts, and then holds its lock.
func (q *request) lock() bool {
	if q.idle {
		return false
	}
	q.mu.Lock()
	if q.finished {
		q.mu.Unlock()
		return false
	}
	return true
}

// finish reports whether this call finishes the request. Nothing changes the
// facts from then on, so no lock is needed while the SDK runs.
func (q *request) finish() bool {
	if !q.lock() {
		if q.idle {
			q.span.End()
		}
		return false
	}
	q.finished = true
	q.mu.Unlock()
	return true
}

// on returns when a point in time was, counted from the start of llm_request.
// Where both have monotonic readings those decide, also when the wall clock was
// set in between.
//
// Nothing of the Time itself is kept: it holds a pointer, for the sake of which
// all that the caller handed in with it would be moved to the heap.
func (q *request) on(t time.Time) time.Duration {
	if !isKnown(t) {
		return never
	}
	return t.Sub(q.start)
}

// arrival returns when the request arrived, which may be never.
func (q *request) arrival() time.Duration {
	if q.arrived {
		return 0
	}
	return never
}

// whole returns where llm_request lies and how long the request took, which may
// be unknown. last is the newest point that is known, for a finish that is not.
func (q *request) whole(e *engine, finish, last time.Duration) (i interval, e2e time.Duration) {
	switch {
	case finish == never:
		e.leftOut(misuseFinish, q.asked.ID, "gen_ai.latency.e2e", noEnd)
		return interval{0, last}, unknown
	case finish < 0:
		// The span has started, so it is there; it has no length.
		e.finishedBackwards(q.asked.ID)
		finish = 0
	}
	i = interval{0, finish}
	if q.arrived {
		return i, finish
	}
	return i, unknown
}

// timeToFirstToken returns the time from the arrival to a first token, which may
// be unknown.
func (q *request) timeToFirstToken(e *engine, first time.Duration) time.Duration {
	i := interval{q.arrival(), first}
	d := i.orUnknown()
	if d == unknown && q.arrived && first != never {
		e.leftOut(misuseFirstToken, q.asked.ID, "gen_ai.latency.time_to_first_token", backwards)
	}
	return d
}
