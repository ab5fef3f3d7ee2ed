package sglang

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/infertel/infertel-go/internal/boundedtext"
	"github.com/infertel/infertel-go/semconv"
)

// Request is what is known of a request when it starts.
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

// CountUnknown says of a count in [Outcome] that it is not known. Its attribute
// and its metric are left out, since 0 would be a guess; after a normal end, for
// which all counts are documented, that is reported once.
const CountUnknown = -1

// Outcome is what is known of a request when it ends. The attributes are written
// to the request span after a normal end only. Source: sglang.request.
type Outcome struct {
	// FinishReasons holds the reason of each choice: gen_ai.response.finish_reasons,
	// a JSON array as text.
	FinishReasons []string
	// PromptTokens is the number of input tokens: gen_ai.usage.prompt_tokens and the
	// metric prompt_tokens_total. Each of the three counts can be [CountUnknown].
	PromptTokens int
	// CompletionTokens is the number of output tokens:
	// gen_ai.usage.completion_tokens and the metric generation_tokens_total. It is
	// left out for embedding requests.
	CompletionTokens int
	// CachedTokens is the number of input tokens served from the cache:
	// gen_ai.usage.cached_tokens and the metric gen_ai_sglang_cached_tokens_total.
	CachedTokens int
	// Temperature is gen_ai.request.temperature, TopP gen_ai.request.top_p, TopK
	// gen_ai.request.top_k (an int here), N gen_ai.request.n and MaxTokens
	// gen_ai.request.max_tokens. Nil: the caller of the engine did not set it.
	Temperature, TopP  *float64
	TopK, N, MaxTokens *int
}

// RequestSpan is a request on its way through an engine: the request span, in
// the process that started it, and the threads that work on it. Its methods are
// safe for concurrent use, on a nil *RequestSpan, and after its end, when they
// change nothing.
//
// The metrics of a request are reported whatever its trace level is and whether
// or not it is sampled, by the process that started it.
type RequestSpan struct {
	tracer    *Tracer
	ctx       context.Context // carries the request span
	span      trace.Span      // nil: no span of ours, or not recorded
	start     time.Time       // zero: it cannot be used
	level     Level           // 0: no span is recorded
	handover  Handover        // but for the stage
	rid       string
	embedding bool
	resumed   bool
	idle      bool              // nothing comes of its milestones
	from      trace.SpanContext // the stage that handed the request over
	inert     ThreadSpan        // every thread, where nothing is recorded

	mu         sync.Mutex
	dispatched time.Time
	firstToken time.Time
	lastOutput time.Time
	threads    []*ThreadSpan // not ended yet
	ended      bool
}

var internalKind = trace.WithSpanKind(trace.SpanKindInternal)

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
func (t *Tracer) StartRequest(ctx context.Context, r Request, at time.Time) *RequestSpan {
	if t == nil {
		return nil
	}
	if ctx == nil {
		ctx = context.Background()
	}
	level := t.TraceLevel()
	switch {
	case at.IsZero():
		t.report(misuse(misuseRequestTime, "request %q was started without a time; taking now", r.RID))
		at = time.Now()
	case !given(at):
		t.report(misuse(misuseRequestTime, "request %q was started at %v, which cannot be; its spans and latencies are left out", r.RID, at))
		at, level = time.Time{}, LevelOff
	}
	s := &RequestSpan{tracer: t, ctx: ctx, start: at, rid: boundedtext.Cut(r.RID, maxID), embedding: r.Embedding}
	s.inert.req = s
	if level == LevelOff {
		s.handOff(trace.SpanContextFromContext(ctx), LevelOff)
		return s
	}
	ctx, span := t.tracer.Start(ctx, t.requestName(s.rid), internalKind, trace.WithTimestamp(at))
	s.ctx = ctx
	if !span.IsRecording() {
		s.handOff(span.SpanContext(), level)
		return s
	}
	s.span, s.level = span, level
	s.handover = handOver(span.SpanContext(), level)
	attributes := append(make([]attribute.KeyValue, 0, 3), semconv.RID(s.rid), semconv.ModuleSGLangRequest)
	if r.BootstrapRoom != nil && t.role != PDRoleNone {
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
	r.handover = handOver(parent, level)
	r.idle = !r.tracer.metrics.wantMilestones(r.ctx)
}

// Recording reports whether spans of the request are recorded, so that stages
// are worth collecting. Metrics are reported either way.
func (r *RequestSpan) Recording() bool { return r != nil && r.level > LevelOff }

// Dispatched tells when the frontend had finished handing the request to the
// scheduler, from which time_in_model_prefill and time_in_model_inference are
// counted. Only the first call counts.
func (r *RequestSpan) Dispatched(at time.Time) {
	if !r.milestone(at) {
		return
	}
	r.mu.Lock()
	ended := r.ended
	if !ended && r.dispatched.IsZero() {
		r.dispatched = at
	}
	r.mu.Unlock()
	if ended {
		r.tracer.report(r.tooLate())
	}
}

// tooLate is the misuse of a milestone that is told after the end.
func (r *RequestSpan) tooLate() problem {
	return misuse(misuseRequestEnded, "a milestone of request %q was told after its end; it is left out", r.rid)
}

// FirstToken tells when the frontend saw the first output of the request. It
// adds to the metric gen_ai_server_time_to_first_token. Only the first call
// counts.
func (r *RequestSpan) FirstToken(at time.Time) {
	if r.milestone(at) {
		r.output(at, true)
	}
}

// Output tells when the frontend saw a further batch of output of the request.
// The whole interval since the one before is added to the metric
// sglang_inter_token_latency_seconds, however many tokens the batch holds. The
// first Output of a request without FirstToken counts as that. Call the three
// milestones in the order of their times.
func (r *RequestSpan) Output(at time.Time) {
	if r.milestone(at) {
		r.output(at, false)
	}
}

func (r *RequestSpan) milestone(at time.Time) bool {
	switch {
	case r == nil, r.idle:
		return false
	case r.resumed:
		r.tracer.report(misuse(misuseResumed, "a milestone was told to a resumed request; only the process that started it can use it"))
		return false
	case !given(at):
		r.tracer.report(misuse(misuseMilestoneTime, "a milestone of request %q was told without a time; it is left out", r.rid))
		return false
	}
	return true
}

func (r *RequestSpan) output(at time.Time, first bool) {
	r.mu.Lock()
	since := r.lastOutput
	switch {
	case r.ended:
		r.mu.Unlock()
		r.tracer.report(r.tooLate())
		return
	case first && !r.firstToken.IsZero():
		r.mu.Unlock()
		return
	case r.firstToken.IsZero():
		first = true
		since = r.start
		r.firstToken = at
	}
	interval := at.Sub(since)
	if first || interval >= 0 {
		r.lastOutput = at
	}
	r.mu.Unlock()

	m := &r.tracer.metrics
	switch {
	case since.IsZero(): // reported when the request started
	case interval < 0:
		r.tracer.report(misuse(misuseLatencyBackward, "an output of request %q was told %v before what came before it; the interval is left out", r.rid, -interval))
	case first:
		m.firstToken.Add(r.ctx, interval.Seconds(), m.dimensions...)
	default:
		m.interTokenLatency.Add(r.ctx, interval.Seconds(), m.dimensions...)
	}
}

// End ends the request normally at the given time, which is when the frontend
// had all of the answer. The attributes of o and the latencies are written to
// the request span, and the metrics num_requests_total, prompt_tokens_total,
// generation_tokens_total, gen_ai_sglang_cached_tokens_total,
// gen_ai_server_request_duration and gen_ai_server_time_per_output_token are
// added to. The last one grows by the request's duration divided by its output
// tokens, an average; [RequestSpan.Output] feeds the real intervals.
//
// A latency whose start or end was not told, or is in the wrong order, is left
// out and reported once. Threads of this process that are still open end with
// the request, which is reported once. A resumed request has no span and no
// metrics here; its End only ends those threads.
func (r *RequestSpan) End(o Outcome, at time.Time) {
	if r != nil {
		r.finish(&o, nil, at)
	}
}

// Abort ends the request as aborted. The request span keeps the status UNSET and
// gets none of the attributes of a normal end; threads of this process that are
// still open are ended with [ThreadSpan.Abort]. The metrics count the request
// with what o tells.
func (r *RequestSpan) Abort(why AbortReason, o Outcome, at time.Time) {
	if r != nil {
		r.finish(&o, &why, at)
	}
}

func (r *RequestSpan) finish(o *Outcome, why *AbortReason, at time.Time) {
	r.mu.Lock()
	if r.ended {
		r.mu.Unlock()
		r.tracer.report(misuse(misuseRequestEnded, "request %q was ended again; the first end holds", r.rid))
		return
	}
	r.ended = true
	threads := r.threads
	r.threads = nil
	// Nothing changes the other fields from here on, so no lock is held while
	// foreign code runs below.
	r.mu.Unlock()

	if len(threads) > 0 && why == nil {
		r.tracer.report(misuse(misuseThreadLeftOpen, "request %q ended with %d open threads; they end with it", r.rid, len(threads)))
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
		r.tracer.report(misuse(misuseRequestTime, "request %q was ended without a time; its span has no length", r.rid))
		at = time.Time{}
	case r.start.IsZero(): // reported when it started
	case at.Before(r.start):
		r.tracer.report(misuse(misuseRequestBackward, "request %q ended %v before it started; its span has no length", r.rid, r.start.Sub(at)))
	default:
		e2e = at.Sub(r.start)
	}
	r.tracer.metrics.addRequest(r.ctx, o, r.embedding, e2e)
	switch least := min(o.PromptTokens, o.CompletionTokens, o.CachedTokens); {
	case least < CountUnknown:
		r.tracer.report(misuse(misuseNegativeCount, "request %q ended with %d prompt, %d completion and %d cached tokens, want 0 or more; what is less is left out",
			r.rid, o.PromptTokens, o.CompletionTokens, o.CachedTokens))
	case why != nil:
	case o.PromptTokens < 0 || o.CachedTokens < 0 || o.CompletionTokens < 0 && !r.embedding:
		r.tracer.report(misuse(misuseNoCount, "request %q ended normally without all of its token counts, which are documented for it; what is unknown is left out", r.rid))
	}
	if r.span == nil {
		return
	}
	if why == nil {
		r.span.SetAttributes(r.attributes(o, e2e, at)...)
	}
	r.span.End(trace.WithTimestamp(r.start.Add(max(e2e, 0))))
}

// attributes are those of a request that ended normally at end, the zero time if
// that is not known, after e2e, which is less than 0 if that cannot be told.
func (r *RequestSpan) attributes(o *Outcome, e2e time.Duration, end time.Time) []attribute.KeyValue {
	a := append(make([]attribute.KeyValue, 0, 16),
		semconv.GenAIRequestID(r.rid),
		semconv.GenAIResponseFinishReasonsJSON(reasonsJSON(o.FinishReasons)))
	if r.tracer.model != "" {
		a = append(a, semconv.GenAIResponseModel(r.tracer.model))
	}
	if o.PromptTokens >= 0 {
		a = append(a, semconv.GenAIUsagePromptTokens(o.PromptTokens))
	}
	if o.CompletionTokens >= 0 && !r.embedding {
		a = append(a, semconv.GenAIUsageCompletionTokens(o.CompletionTokens))
	}
	if o.CachedTokens >= 0 {
		a = append(a, semconv.GenAIUsageCachedTokens(o.CachedTokens))
	}
	if o.Temperature != nil {
		a = append(a, semconv.GenAIRequestTemperature(*o.Temperature))
	}
	if o.TopP != nil {
		a = append(a, semconv.GenAIRequestTopP(*o.TopP))
	}
	if o.TopK != nil {
		a = append(a, semconv.GenAIRequestTopKInt(*o.TopK))
	}
	if o.N != nil {
		a = append(a, semconv.GenAIRequestN(*o.N))
	}
	if o.MaxTokens != nil {
		a = append(a, semconv.GenAIRequestMaxTokens(*o.MaxTokens))
	}
	if e2e >= 0 {
		a = append(a, semconv.GenAILatencyE2ESeconds(e2e))
	}
	a = r.appendLatency(a, "the start to the first token", r.start, r.firstToken, semconv.GenAILatencyTimeToFirstTokenSeconds)
	a = r.appendLatency(a, "the end of dispatch to the first token", r.dispatched, r.firstToken, semconv.GenAILatencyTimeInModelPrefillSeconds)
	a = r.appendLatency(a, "the first token to the end", r.firstToken, end, semconv.GenAILatencyTimeInModelDecodeSeconds)
	a = r.appendLatency(a, "the end of dispatch to the end", r.dispatched, end, semconv.GenAILatencyTimeInModelInferenceSeconds)
	return a
}

func (r *RequestSpan) appendLatency(a []attribute.KeyValue, what string, from, to time.Time, of func(time.Duration) attribute.KeyValue) []attribute.KeyValue {
	switch {
	case from.IsZero() || to.IsZero():
		if !r.embedding {
			r.tracer.report(misuse(misuseNoMilestone, "request %q ended normally without the times that the latency from %s needs; it is left out", r.rid, what))
		}
		return a
	case to.Before(from):
		r.tracer.report(misuse(misuseLatencyBackward, "the latency of request %q from %s would be %v; it is left out", r.rid, what, to.Sub(from)))
		return a
	}
	return append(a, of(to.Sub(from)))
}

// reasonsJSON is the form that finish reasons have on a request span.
func reasonsJSON(reasons []string) string {
	const most = 128
	if len(reasons) == 0 {
		return "[]"
	}
	kept := make([]string, min(len(reasons), most))
	for i := range kept {
		kept[i] = boundedtext.Cut(reasons[i], maxName)
	}
	var text strings.Builder
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if err := e.Encode(kept); err != nil { // strings always have a JSON form
		return "[]"
	}
	return strings.TrimSuffix(text.String(), "\n")
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
