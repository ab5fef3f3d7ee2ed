package vllm

import (
	"context"
	"time"

	"github.com/infertel/infertel-go/semconv"
)

// OutcomeV0 is what is known of a V0 request when it finishes. The durations are
// nil where the engine does not provide them; V0 measures the model's in
// milliseconds, which the caller converts. Source: vllm.v0.llm_request.
type OutcomeV0 struct {
	// At is when the request finished.
	At time.Time
	// FinishReason is why it finished.
	FinishReason FinishReason
	// NumSequences is gen_ai.usage.num_sequences. Zero: as many as candidates
	// were asked for, else 1.
	NumSequences int
	// CompletionTokens is gen_ai.usage.completion_tokens.
	CompletionTokens int
	// TimeInScheduler is gen_ai.latency.time_in_scheduler (double, s).
	TimeInScheduler *time.Duration
	// ModelForward is gen_ai.latency.time_in_model_forward (double, s).
	ModelForward *time.Duration
	// ModelExecute is gen_ai.latency.time_in_model_execute (double, s).
	ModelExecute *time.Duration
	// Err makes the status of llm_request ERROR, as [OutcomeV1.Err] does.
	Err error
}

// RequestV0 is one request in a V0 engine. Its methods are safe for concurrent
// use, and do nothing on a nil *RequestV0 and after [RequestV0.Finish].
type RequestV0 struct {
	request
	engine           *EngineV0
	scheduled, first point // the earliest that was told
}

// StartRequest starts the span llm_request of a request that arrived at the
// given time. The span is a child of the one in ctx; see [RequestV0.Context]. The
// caller must end it with [RequestV0.Finish]. A zero arrival is reported once:
// the request then has no latency that starts with it, and its span starts now.
// Source: vllm.v0.llm_request.
func (e *EngineV0) StartRequest(ctx context.Context, r Request, arrival time.Time) *RequestV0 {
	if e == nil {
		return nil
	}
	return e.startRequest(ctx, r, arrival, time.Time{})
}

func (e *EngineV0) startRequest(ctx context.Context, asked Request, arrival, start time.Time) *RequestV0 {
	r := &RequestV0{engine: e}
	r.begin(ctx, &e.engine, asked, arrival, start)
	return r
}

// Context returns the context that carries the span llm_request.
func (r *RequestV0) Context() context.Context {
	if r == nil {
		return context.Background()
	}
	return r.ctx
}

// Scheduled tells when the engine scheduled the request. The earliest time counts.
func (r *RequestV0) Scheduled(at time.Time) {
	if r == nil || !r.lock() {
		return
	}
	defer r.mu.Unlock()
	r.scheduled = earlier(r.scheduled, pointOf(at))
}

// FirstToken tells when the first token was there. The earliest time counts.
func (r *RequestV0) FirstToken(at time.Time) {
	if r == nil || !r.lock() {
		return
	}
	defer r.mu.Unlock()
	r.first = earlier(r.first, pointOf(at))
}

// Finish tells how the request ended, ends llm_request and makes everything that
// is known of the request. An abort is a finish too. Only the first call counts.
//
// The latencies are gen_ai.latency.e2e, time_in_queue and time_to_first_token
// (double, s). The first and the last are added to gen_ai_server_request_duration
// and genai_llm_first_token_seconds. Source: vllm.v0.llm_request, vllm.v0.metrics.
func (r *RequestV0) Finish(o OutcomeV0) {
	if r == nil || !r.finish() {
		return
	}
	e := r.engine
	failure := describe(o.Err)
	finish := pointOf(o.At)
	whole, e2e := r.whole(&e.engine, finish, later(r.scheduled, r.first))
	ttft := r.timeToFirstToken(&e.engine, r.first)
	queue := interval{r.arrival(), r.scheduled}
	inQueue := queue.orUnknown()
	if p := queue.problem(); inQueue == unknown && r.arrived && (p == backwards || !aborted(o.FinishReason, failure)) {
		e.leftOut(misuseOf(stageWait, p), r.asked.ID, "gen_ai.latency.time_in_queue", p)
	}
	o.CompletionTokens = e.count(misuseCompletionTokens, r.asked.ID, "completion tokens", o.CompletionTokens)

	if r.recording {
		s := e.scratch.Get().(*scratch)
		r.attributes(s, &o, e2e, inQueue, ttft)
		e.end(s, r.span, r.at(whole.to), failure)
		e.scratch.Put(s)
	} else {
		r.span.End()
	}
	perToken := unknown
	if e2e != unknown && ttft != unknown && o.CompletionTokens > 1 {
		perToken = interval{r.first, finish}.orUnknown()
	}
	if e.enabled(r.ctx) {
		e.common.finished(r.ctx, o.FinishReason, ttft, perToken, e2e)
	}
}

func (r *RequestV0) attributes(s *scratch, o *OutcomeV0, e2e, queue, ttft time.Duration) {
	e := r.engine
	if o.NumSequences == 0 {
		o.NumSequences = 1
		if r.asked.n.set {
			o.NumSequences = r.asked.n.value
		}
	}
	a := append(s.attrs[:0], semconv.GenAIRequestID(r.asked.ID), semconv.GenAIResponseModel(e.model))
	a = appendSampling(a, &r.asked)
	a = append(a,
		semconv.GenAIUsageNumSequences(e.count(misuseSequences, r.asked.ID, "sequences", o.NumSequences)),
		semconv.GenAIUsagePromptTokens(e.count(misusePromptTokens, r.asked.ID, "prompt tokens", r.asked.PromptTokens)),
		semconv.GenAIUsageCompletionTokens(o.CompletionTokens))
	a = appendKnown(a, e2e, semconv.GenAILatencyE2ESeconds)
	a = appendKnown(a, queue, semconv.GenAILatencyTimeInQueueSeconds)
	a = appendKnown(a, ttft, semconv.GenAILatencyTimeToFirstTokenSeconds)
	a = appendKnown(a, e.duration(misuseTimeInScheduler, r.asked.ID, "the time in the scheduler", o.TimeInScheduler), semconv.GenAILatencyTimeInSchedulerSeconds)
	a = appendKnown(a, e.duration(misuseModelForward, r.asked.ID, "the time of the forward pass", o.ModelForward), semconv.GenAILatencyTimeInModelForwardSeconds)
	a = appendKnown(a, e.duration(misuseModelExecute, r.asked.ID, "the time of execution", o.ModelExecute), semconv.GenAILatencyTimeInModelExecuteSeconds)
	r.span.SetAttributes(a...)
	s.attrs = a
}

// RequestRecordV0 is everything that is known of a V0 request after the fact. A
// point in time that was not taken is the zero time. Source: vllm.v0.llm_request.
type RequestRecordV0 struct {
	// Request is the request as it arrived.
	Request Request
	// Arrival is when it arrived. Zero is reported once: the span then starts at
	// the earliest point that is known.
	Arrival time.Time
	// Scheduled is when the engine first scheduled it.
	Scheduled time.Time
	// FirstToken is when the first token was there.
	FirstToken time.Time
	// Outcome is how the request ended.
	Outcome OutcomeV0
}

// RecordRequest makes everything that is documented of a request in one call; see
// [EngineV1.RecordRequest]. Source: vllm.v0.llm_request.
func (e *EngineV0) RecordRequest(ctx context.Context, rec RequestRecordV0) {
	if e == nil {
		return
	}
	r := e.startRequest(ctx, rec.Request, rec.Arrival, earliest(rec.Scheduled, rec.FirstToken, rec.Outcome.At))
	r.Scheduled(rec.Scheduled)
	r.FirstToken(rec.FirstToken)
	r.Finish(rec.Outcome)
}
