package sglang

import (
	"context"
	"strconv"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/infertel/infertel-go/internal/boundedtext"
	"github.com/infertel/infertel-go/semconv"
)

// Request is what is known of a request when it starts. Source: sglang.request.
type Request struct {
	// RID is the engine's identifier of the request: the attributes rid and, after
	// a normal end, gen_ai.request.id. Its first 8 characters stand in the span's
	// name. 256 bytes of it are kept.
	RID string
	// BootstrapRoom is the number that the Prefill and the Decode node share for the
	// request: the attribute bootstrap_room, as 0x and lower-case hexadecimal
	// digits. It is recorded on nodes with a PD role only. Nil: there is none.
	BootstrapRoom *uint64
	// Embedding says that the request generates no tokens, so none are reported.
	Embedding bool
}

// RequestSpan is a request on its way through an engine: the request span, in
// the process that started it, and the threads that work on it. Its methods are
// safe for concurrent use, on a nil *RequestSpan, and after its end, when they
// change nothing.
//
// The metrics of a request are reported whatever its trace level is and whether
// or not it is sampled, by the process that started it.
type RequestSpan struct {
	engine      *Engine
	ctx         context.Context   // carries the request span
	span        trace.Span        // nil: no span of ours, or not recorded
	start       time.Time         // zero: it cannot be used
	level       Level             // 0: no span is recorded
	handover    Handover          // but for the stage
	spanContext trace.SpanContext // what handover points to, where the request was started here
	rid         string
	embedding   bool
	resumed     bool
	idle        bool              // nothing comes of its milestones
	from        trace.SpanContext // the stage that handed the request over
	inert       ThreadSpan        // every thread, where nothing is recorded

	mu         sync.Mutex
	dispatched time.Time
	firstToken time.Time
	lastOutput time.Time
	threads    []*ThreadSpan // not ended yet
	ended      bool
}

// StartRequest starts a request at the given time, in the process that serves
// the API. The request span becomes a child of the span in ctx, which is the
// entry span where a traceparent header brought one; without it starts a trace.
// The trace level is read here and holds for the request's life, in every
// process that it reaches.
//
// The caller must end the request with [RequestSpan.End] or [RequestSpan.Abort].
// A zero time means now, and is reported once. In place of another time that
// cannot be one, before the second second of the Unix epoch or after the year
// 2242, nothing is put: the request has neither spans, here or further on, nor
// the metrics of latency, and that is reported once. Without an SDK in this
// process the request is not recorded further on either, whether or not ctx
// holds a sampled span, since the request span that all else hangs under is not
// there. Source: sglang.request.
func (e *Engine) StartRequest(ctx context.Context, r Request, at time.Time) *RequestSpan {
	if e == nil {
		return nil
	}
	if ctx == nil {
		ctx = context.Background()
	}
	level := e.TraceLevel()
	switch {
	case at.IsZero():
		e.report(misuse(misuseRequestTime, "request %q was started without a time; taking now", r.RID))
		at = time.Now()
	case !given(at):
		e.report(misuse(misuseRequestTime, "request %q was started at %v, which cannot be; its spans and latencies are left out", r.RID, at))
		at, level = time.Time{}, LevelOff
	}
	s := &RequestSpan{engine: e, ctx: ctx, start: at, rid: boundedtext.Cut(r.RID, boundedtext.MaxName), embedding: r.Embedding}
	s.inert.req = s
	if level == LevelOff {
		s.handOff(trace.SpanContextFromContext(ctx), LevelOff)
		return s
	}
	ctx, span := e.tracer.Start(ctx, e.requestName(s.rid), trace.WithTimestamp(at))
	s.ctx = ctx
	if !span.IsRecording() {
		s.handOff(span.SpanContext(), level)
		return s
	}
	s.span, s.level = span, level
	s.handOver(span.SpanContext(), level)
	attributes := append(make([]attribute.KeyValue, 0, 3), semconv.RID(s.rid), semconv.ModuleSGLangRequest)
	if r.BootstrapRoom != nil && e.role != PDRoleNone {
		attributes = append(attributes, semconv.BootstrapRoom("0x"+strconv.FormatUint(*r.BootstrapRoom, 16)))
	}
	span.SetAttributes(attributes...)
	return s
}

// handOff prepares a request of which no span is recorded.
func (r *RequestSpan) handOff(parent trace.SpanContext, level Level) {
	if !parent.IsValid() || parent.IsSampled() {
		// Either there is no trace to continue, so none may start further on; or
		// whoever recorded it would, but there is no SDK here, and the parent is not
		// the request span, under which alone threads may hang.
		level = LevelOff
	}
	r.handOver(parent, level)
	r.idle = !r.engine.metrics.wantMilestones(r.ctx)
}

// handOver sets what threads are handed with the request.
func (r *RequestSpan) handOver(request trace.SpanContext, level Level) {
	r.handover = Handover{level: level, leveled: true}
	if request.IsValid() {
		r.spanContext = request
		r.handover.request = &r.spanContext
	}
}

// Context returns the context that carries the request span, for links and for
// children of the caller's own. Where none is recorded here it carries what there
// was instead: the span that [Engine.StartRequest] found, or that of the hand-over.
func (r *RequestSpan) Context() context.Context {
	if r == nil {
		return context.Background()
	}
	return r.ctx
}

// Recording reports whether spans of the request are recorded, so that stages
// are worth collecting. Metrics are reported either way.
func (r *RequestSpan) Recording() bool { return r != nil && r.level > LevelOff }

// End ends the request normally at the given time, which is when the frontend
// had all of the answer. The attributes of o and the latencies are written to
// the request span: gen_ai.latency.e2e, gen_ai.latency.time_to_first_token,
// gen_ai.latency.time_in_model_prefill, gen_ai.latency.time_in_model_decode and
// gen_ai.latency.time_in_model_inference (double, s).
//
// The metrics num_requests_total ({request}), prompt_tokens_total,
// generation_tokens_total, gen_ai_sglang_cached_tokens_total,
// gen_ai_server_request_duration (s) and gen_ai_server_time_per_output_token (s)
// are added to. The last one grows by the request's duration divided by its output
// tokens, an average; [RequestSpan.Output] feeds the real intervals.
//
// A latency whose start or end was not told, or is in the wrong order, is left
// out and reported once. Threads of this process that are still open end with
// the request, which is reported once. A resumed request has no span and no
// metrics here; its End only ends those threads. Source: sglang.request,
// sglang.metrics.
func (r *RequestSpan) End(o Outcome, at time.Time) {
	if r != nil {
		r.finish(&o, nil, at)
	}
}

// Abort ends the request as aborted. The request span keeps the status UNSET and
// gets none of the attributes of a normal end; threads of this process that are
// still open are ended with [ThreadSpan.Abort]. The metrics count the request
// with what o tells. Source: sglang.thread, sglang.metrics.
func (r *RequestSpan) Abort(why AbortReason, o Outcome, at time.Time) {
	if r != nil {
		r.finish(&o, &why, at)
	}
}

func (r *RequestSpan) finish(o *Outcome, why *AbortReason, at time.Time) {
	r.mu.Lock()
	if r.ended {
		r.mu.Unlock()
		r.engine.report(misuse(misuseRequestEnded, "request %q was ended again; the first end holds", r.rid))
		return
	}
	r.ended = true
	threads := r.threads
	r.threads = nil
	// Nothing changes the other fields from here on, so no lock is held while
	// foreign code runs below.
	r.mu.Unlock()

	if len(threads) > 0 && why == nil {
		r.engine.report(misuse(misuseThreadLeftOpen, "request %q ended with %d open threads; they end with it", r.rid, len(threads)))
	}
	for _, t := range threads {
		t.tl.end(at, why, false)
	}
	if r.resumed {
		return
	}
	e2e := time.Duration(-1)
	switch {
	case !given(at):
		r.engine.report(misuse(misuseRequestTime, "request %q was ended without a time; its span has no length", r.rid))
		at = time.Time{}
	case r.start.IsZero(): // reported when it started
	case at.Before(r.start):
		r.engine.report(misuse(misuseRequestBackward, "request %q ended %v before it started; its span has no length", r.rid, r.start.Sub(at)))
	default:
		e2e = at.Sub(r.start)
	}
	n := r.counts(o, why == nil)
	r.engine.metrics.addRequest(r.ctx, n, r.embedding, e2e)
	if r.span == nil {
		return
	}
	if why == nil {
		r.span.SetAttributes(r.attributes(o, n, e2e, at)...)
	}
	r.span.End(trace.WithTimestamp(r.start.Add(max(e2e, 0))))
}

// maxThreads bounds the threads of a request that are open, each of which holds
// stages back.
const maxThreads = 1024

// add makes the request end with it the thread that start returns. It returns
// nil, and why, if there can be no further one.
func (r *RequestSpan) add(start func() *ThreadSpan) (*ThreadSpan, problem) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.ended:
		return nil, misuse(misuseRequestEnded, "a thread was started on a request that had ended; it is not recorded")
	case len(r.threads) == maxThreads:
		return nil, misuse(misuseTooManyThreads, "request %q has %d open threads; a further one is not recorded", r.rid, maxThreads)
	}
	t := start()
	if t.tl != nil {
		r.threads = append(r.threads, t)
	}
	return t, problem{}
}

func (r *RequestSpan) remove(t *ThreadSpan) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.threads {
		if r.threads[i] == t {
			last := len(r.threads) - 1
			r.threads[i], r.threads[last] = r.threads[last], nil
			r.threads = r.threads[:last]
			return
		}
	}
}
