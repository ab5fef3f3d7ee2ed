package vllm

import (
	"context"
	"sync"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/infertel/infertel-go/internal/boundedtext"
)

// Request is what is known of a request when it arrives. A nil pointer means
// that the caller did not set the value; zero and -1 are values.
// Source: vllm.v0.llm_request, vllm.v1.llm_request.
type Request struct {
	// ID is the engine's internal request id (gen_ai.request.id). Of a longer one
	// 256 bytes are recorded.
	ID string
	// Temperature is gen_ai.request.temperature.
	Temperature *float64
	// TopP is gen_ai.request.top_p.
	TopP *float64
	// MaxTokens is gen_ai.request.max_tokens.
	MaxTokens *int
	// N is gen_ai.request.n: the number of candidates asked for, in the request
	// that this span stands for.
	N *int
	// PromptTokens is gen_ai.usage.prompt_tokens.
	PromptTokens int
	// PDRole overrides the role of the engine. One that there is not is reported
	// once, and that of the engine is used. V1 only.
	PDRole *PDRole
	// Granularity overrides that of the engine. As PDRole otherwise. V1 only.
	Granularity *Granularity
}

// request is what requests of both versions have.
type request struct {
	ctx       context.Context // carries llm_request
	span      trace.Span
	recording bool
	idle      bool // nothing comes of the request

	mu       sync.Mutex
	finished bool
	asked    asked
	start    time.Time // of llm_request: the arrival, if it is known
	origin   point     // the same
	arrived  bool      // the arrival is known
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
	if ctx == nil {
		ctx = context.Background()
	}
	if q.arrived = isKnown(arrival); q.arrived {
		start = arrival
	} else if start.IsZero() {
		start = time.Now()
	}
	q.start = start
	q.ctx, q.span = e.start(ctx, q.start)
	q.recording = q.span.IsRecording()
	q.idle = !q.recording && !e.enabled(ctx)
	if q.idle {
		return
	}
	q.origin = pointOf(start)
	q.asked = asked{
		ID: boundedtext.Cut(r.ID, boundedtext.MaxName), PromptTokens: r.PromptTokens,
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

// on returns when a point that is known lies, counted from the start of
// llm_request.
func (q *request) on(p point) time.Duration { return p.sub(q.origin) }

// place returns where an interval that has a length lies. It is as long as the
// interval, also where only one of its ends can be told by the monotonic clock
// from the start of llm_request.
func (q *request) place(i interval) stretch {
	from := q.on(i.start)
	return stretch{from, from + i.end.sub(i.start)}
}

// at returns the time of a point that lies so long after the start of llm_request.
func (q *request) at(d time.Duration) time.Time { return q.start.Add(d) }

// arrival returns when the request arrived, which may not be known.
func (q *request) arrival() point {
	if q.arrived {
		return q.origin
	}
	return point{}
}

// whole returns where llm_request lies and how long the request took, which may
// be unknown. last is the newest point that was told, for a finish that was not.
func (q *request) whole(e *engine, finish, last point) (s stretch, e2e time.Duration) {
	if !finish.known() {
		e.leftOut(misuseFinish, q.asked.ID, "gen_ai.latency.e2e", noEnd)
		if last.known() {
			s.to = max(q.on(last), 0)
		}
		return s, unknown
	}
	if s.to = q.on(finish); s.to < 0 {
		// The span has started, so it is there; it has no length.
		e.finishedBackwards(q.asked.ID)
		return stretch{}, unknown
	}
	return s, interval{q.arrival(), finish}.orUnknown()
}

// timeToFirstToken returns the time from the arrival to a first token, which may
// be unknown.
func (q *request) timeToFirstToken(e *engine, first point) time.Duration {
	d := interval{q.arrival(), first}.orUnknown()
	if d == unknown && q.arrived && first.known() {
		e.leftOut(misuseFirstToken, q.asked.ID, "gen_ai.latency.time_to_first_token", backwards)
	}
	return d
}
