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
	asked    Request
	arrival  time.Time
	start    time.Time // of llm_request: the arrival, if it is known
	first    time.Time // first token, as the engine saw it
}

// begin starts llm_request. start stands in for an arrival that is not known; a
// zero one means now, because the span has to start and its context is wanted.
func (q *request) begin(ctx context.Context, e *engine, asked Request, arrival, start time.Time) {
	q.asked, q.arrival, q.start = asked, known(arrival), start
	if !q.arrival.IsZero() {
		q.start = q.arrival
	} else if q.start.IsZero() {
		q.start = time.Now()
	}
	q.ctx, q.span = e.start(ctx, q.start)
	q.recording = q.span.IsRecording()
	q.idle = !q.recording && !e.common.enabled(ctx)
	if q.idle {
		return
	}
	q.asked.ID = boundedtext.Cut(asked.ID, maxName)
	if q.arrival.IsZero() {
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

// on puts a point in time on the request's clock: where it and the arrival have
// monotonic readings, those say how far apart they are, also when the wall clock
// was set in between.
//
// It builds a new Time also where the same one would do. A Time holds a pointer:
// to keep the caller's would move all that came with it to the heap.
func (q *request) on(t time.Time) time.Time {
	if !isKnown(t) {
		return time.Time{}
	}
	return q.start.Add(t.Sub(q.start))
}

// whole returns where llm_request lies and how long the request took, which may
// be unknown. last is the newest point that is known, for a finish that is not.
func (q *request) whole(e *engine, finish, last time.Time) (i interval, e2e time.Duration) {
	i = interval{q.start, finish}
	if finish.IsZero() {
		e.leftOut(misuseFinish, q.asked.ID, "gen_ai.latency.e2e", noEnd)
		i.end = last
		return i, unknown
	}
	e2e = i.orUnknown()
	if e2e == unknown {
		// The span has started, so it is there; it has no length.
		e.finishedBackwards(q.asked.ID)
		i.end, e2e = i.start, 0
	}
	if q.arrival.IsZero() {
		e2e = unknown
	}
	return i, e2e
}

// timeToFirstToken returns the time from the arrival to a first token, which may
// be unknown.
func (q *request) timeToFirstToken(e *engine, first time.Time) time.Duration {
	i := interval{q.arrival, first}
	d := i.orUnknown()
	if d == unknown && !i.start.IsZero() && !i.end.IsZero() {
		e.leftOut(misuseFirstToken, q.asked.ID, "gen_ai.latency.time_to_first_token", backwards)
	}
	return d
}
