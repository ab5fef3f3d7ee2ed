package vllm

import (
	"context"
	"math"
	"time"

	"go.opentelemetry.io/otel/attribute"

	"github.com/infertel/infertel-go/semconv"
)

// latencies are the durations of a finished V1 request, each of which may be
// unknown.
type latencies struct {
	queue, prefill, decode, inference, transfer time.Duration
	ttft, e2e                                   time.Duration
}

// ending is what an OutcomeV1 comes to with what was told before it.
type ending struct {
	failure     *Error
	early       bool // aborted or failed: it may lack points
	finish      point
	first, last point // tokens, as the engine saw them
	frontend    point // the first token as the frontend saw it
	tokens      int   // put out
	exact       bool  // so many, and not just at least
}

// Finish tells how the request ended, ends llm_request and makes everything that
// is known of the request: the spans of its stages, the attributes and the
// measurements. An abort is a finish too. Only the first call counts.
//
// The latencies are gen_ai.latency.e2e, time_in_queue, time_to_first_token,
// time_in_model_prefill, time_in_model_decode and their sum
// gen_ai.latency.time_in_model_inference (int, ns). As seconds they are added to
// gen_ai_server_request_duration, gen_ai_vllm_request_queue_time_seconds,
// genai_llm_first_token_seconds, gen_ai_vllm_request_prefill_time_seconds,
// gen_ai_vllm_request_decode_time_seconds and
// gen_ai_vllm_request_inference_time_seconds, and what the request asked for to
// gen_ai_vllm_request_params_n ({choice}) and
// gen_ai_vllm_request_params_max_tokens ({token}).
// Source: vllm.v1.llm_request, vllm.v1.metrics.
func (r *RequestV1) Finish(o OutcomeV1) {
	if r == nil || !r.finish() {
		return
	}
	e := r.engine
	end := r.ending(&o)
	o.CachedTokens = max(o.CachedTokens, 0) // the engine's -1 means unknown
	r.asked.PromptTokens = e.count(misusePromptTokens, r.asked.ID, "prompt tokens", r.asked.PromptTokens)

	s := stages{stageWait: {r.queued, r.scheduled}, stagePrefill: {r.scheduled, end.first}, stageDecode: {end.first, end.last}}
	r.settle(&s)
	whole, l := r.measure(&end, &s)
	if r.recording {
		r.record(&o, &end, &s, whole, &l)
	} else {
		r.span.End()
	}
	if e.enabled(r.ctx) {
		r.count(r.ctx, o.FinishReason, &end, &l)
	}
}

// ending works out when the first and the last token were there and how many there
// were.
func (r *RequestV1) ending(o *OutcomeV1) ending {
	e := ending{failure: describe(o.Err), finish: pointOf(o.At), frontend: pointOf(o.FrontendFirstToken)}
	e.early = aborted(o.FinishReason, e.failure)
	told := o.CompletionTokens != nil
	if told {
		e.tokens = r.engine.count(misuseCompletionTokens, r.asked.ID, "completion tokens", *o.CompletionTokens)
	} else {
		e.tokens = r.outputs.tokens
	}
	switch {
	case r.firstTold.known():
		e.first = r.firstTold
	case r.outputs.first.known():
		e.first = r.outputs.first
	case !told || e.tokens > 0:
		// Without a count it takes a decode to know that there was a token.
		if first, decoded := r.firstByHand(); told || decoded {
			e.first = first
		}
	}
	if !e.first.known() {
		e.first = e.frontend
	}
	e.exact = told || r.outputs.untold == 0 && (r.outputs.iterations > 0 || !e.first.known())
	switch e.last = pointOf(o.LastToken); {
	case e.last.known():
	case r.outputs.last.known() && (!told || r.outputs.cover(e.tokens)):
		e.last = r.outputs.last
	case told && e.tokens == 1:
		e.last = e.first // the only one is the last
	}
	return e
}

// cover reports whether the iterations told can be all that put out so many tokens,
// so that the last of them is the last token. One that said nothing of how many
// stands for any number, unless it is the only one: then it is just the first.
func (o *outputs) cover(tokens int) bool {
	return o.tokens >= tokens || o.untold > 0 && o.iterations > 1
}

// measure works out the latencies, and reports what cannot be worked out.
func (r *RequestV1) measure(end *ending, s *stages) (whole stretch, l latencies) {
	e := &r.engine.engine
	var last point
	if !end.finish.known() {
		last = r.lastPoint(end)
	}
	whole, l.e2e = r.whole(e, end.finish, last)
	first := end.frontend
	if !first.known() {
		first = end.first
	}
	l.ttft = r.timeToFirstToken(e, first)
	l.queue = r.sum(s, stageWait, end.early)
	l.prefill = r.sum(s, stagePrefill, end.early)
	l.decode = r.sum(s, stageDecode, end.early)
	l.transfer = r.sum(s, stageKVTransfer, end.early)
	l.inference = unknown
	if l.prefill != unknown && l.decode != unknown {
		l.inference = plus(l.prefill, l.decode, math.MaxInt64)
	}
	return whole, l
}

// sum returns the length of all stages of a kind together. Those that have none
// are reported, unless the request ended early and just lacks an end.
func (r *RequestV1) sum(s *stages, k stageKind, early bool) time.Duration {
	if !k.onRole(r.role) {
		return 0
	}
	total := unknown
	add := func(i interval) {
		if d, ok := i.length(); ok {
			total = plus(max(total, 0), d, math.MaxInt64)
		} else if p := i.problem(); p == backwards || !early {
			r.engine.leftOut(misuseOf(k, p), r.asked.ID, k.String(), p)
		}
	}
	if k < stageKVTransfer && (s[k] != interval{} || !r.byHand(k)) {
		add(s[k])
	}
	for i := range r.extra {
		if r.extra[i].kind == k {
			add(r.extra[i].interval)
		}
	}
	return total
}

// lastPoint returns the newest point in time that was told.
func (r *RequestV1) lastPoint(e *ending) point {
	last := r.queued
	for _, p := range []point{r.scheduled, r.outputs.last, e.first, e.last, e.frontend} {
		last = later(last, p)
	}
	for i := range r.extra {
		last = later(later(last, r.extra[i].start), r.extra[i].end)
	}
	return last
}

// record makes the spans.
func (r *RequestV1) record(o *OutcomeV1, end *ending, of *stages, whole stretch, l *latencies) {
	e := r.engine
	s := e.scratch.Get().(*scratch)
	defer e.scratch.Put(s)
	if r.granularity >= GranularityStages {
		inside, homeless := r.spans(s, of, whole)
		if !inside {
			e.outside(r.asked.ID)
		}
		if homeless && !end.early {
			e.noWait(r.asked.ID)
		}
	}
	if r.events != nil {
		r.events.finish(r, s)
		r.events = nil
	}
	a := append(s.attrs[:0],
		semconv.GenAIRequestID(r.asked.ID), semconv.GenAIRequestModelName(e.model),
		semconv.GenAIEngineIndex(e.index), r.role.attribute())
	a = appendSampling(a, &r.asked)
	a = append(a,
		semconv.GenAIUsagePromptTokens(r.asked.PromptTokens),
		semconv.GenAIUsageCompletionTokens(end.tokens),
		semconv.GenAIUsageCacheReadInputTokens(o.CachedTokens))
	a = appendKnown(a, l.e2e, semconv.GenAILatencyE2ENanoseconds)
	a = appendKnown(a, l.queue, semconv.GenAILatencyTimeInQueueNanoseconds)
	a = appendKnown(a, l.ttft, semconv.GenAILatencyTimeToFirstTokenNanoseconds)
	a = appendKnown(a, l.prefill, semconv.GenAILatencyTimeInModelPrefillNanoseconds)
	a = appendKnown(a, l.decode, semconv.GenAILatencyTimeInModelDecodeNanoseconds)
	a = appendKnown(a, l.inference, semconv.GenAILatencyTimeInModelInferenceNanoseconds)
	a = appendKnown(a, r.tokenize, semconv.GenAILatencyTimeInTokenizeNanoseconds)
	a = appendKnown(a, e.duration(misuseDetokenize, r.asked.ID, "the detokenization", o.Detokenize), semconv.GenAILatencyTimeInDetokenizeNanoseconds)
	a = appendKnown(a, l.transfer, semconv.GenAILatencyTimeInKVTransferNanoseconds)
	if r.preemptions > 0 {
		a = append(a, semconv.GenAIRequestPreemptionCount(r.preemptions))
	}
	r.span.SetAttributes(a...)
	s.attrs = a
	e.end(s, r.span, r.at(whole.to), end.failure)
}

func appendKnown(a []attribute.KeyValue, d time.Duration, attr func(time.Duration) attribute.KeyValue) []attribute.KeyValue {
	if d < 0 {
		return a
	}
	return append(a, attr(d))
}

// count makes the measurements.
func (r *RequestV1) count(ctx context.Context, reason FinishReason, end *ending, l *latencies) {
	c, v := &r.engine.common, &r.engine.v1
	perToken := l.decode
	if r.role == PDRoleProducer {
		perToken = unknown // its 0 is no measurement
	}
	c.finished(ctx, reason, l.ttft, perToken, l.e2e)
	c.seconds(ctx, v.queue, l.queue)
	c.seconds(ctx, v.prefill, l.prefill)
	c.seconds(ctx, v.decode, l.decode)
	c.seconds(ctx, v.inference, l.inference)
	if r.asked.n.set {
		c.count(ctx, v.paramsN, r.asked.n.value)
	}
	if r.asked.maxTokens.set {
		c.count(ctx, v.paramsMaxTokens, r.asked.maxTokens.value)
	}
	if v.fromScheduler {
		return
	}
	// Prefill has processed the prompt once there is a token.
	if end.first.known() {
		c.count(ctx, v.promptTokens, r.asked.PromptTokens)
	}
	if end.exact { // a guess is good enough for a required attribute, not for a sum
		c.count(ctx, v.generationTokens, end.tokens)
	}
	c.count(ctx, v.preemptions, r.preemptions)
}
