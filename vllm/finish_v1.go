package vllm

import (
	"context"
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

// Finish tells how the request ended, ends llm_request and makes everything that
// is known of the request: the spans of its stages, the attributes and the
// measurements. An abort is a finish too. Only the first call counts.
func (r *RequestV1) Finish(o Outcome) {
	if r == nil || !r.finish() {
		return
	}
	e := r.engine
	early := aborted(o.FinishReason, o.Err)
	r.firstToken(r.on(o.FrontendFirstToken))
	if o.CompletionTokens == 0 {
		o.CompletionTokens = r.tokens
	}
	if last := r.on(o.LastToken); last != never {
		r.stages[stageDecode].end = last
	} else if o.CompletionTokens == 1 {
		r.stages[stageDecode].endAt(r.first) // the only one is the last
	}
	o.CompletionTokens = e.count(r.asked.ID, "completion tokens", o.CompletionTokens)
	o.CachedTokens = max(o.CachedTokens, 0) // the engine's -1 means unknown
	r.asked.PromptTokens = e.count(r.asked.ID, "prompt tokens", r.asked.PromptTokens)

	whole, l := r.measure(&o, early)
	if r.recording {
		r.record(&o, whole, &l)
	} else {
		r.span.End()
	}
	if e.common.enabled(r.ctx) {
		r.count(r.ctx, &o, &l)
	}
}

// measure works out the latencies, and reports what cannot be worked out.
func (r *RequestV1) measure(o *Outcome, early bool) (whole interval, l latencies) {
	e := &r.engine.engine
	finish, last := r.on(o.At), never
	if finish == never {
		last = r.lastPoint()
	}
	whole, l.e2e = r.whole(e, finish, last)
	first := r.on(o.FrontendFirstToken)
	if first == never {
		first = r.first
	}
	l.ttft = r.timeToFirstToken(e, first)
	l.queue = r.sum(stageWait, early)
	l.prefill = r.sum(stagePrefill, early)
	l.decode = r.sum(stageDecode, early)
	l.transfer = r.sum(stageKVTransfer, early)
	l.inference = unknown
	if l.prefill != unknown && l.decode != unknown {
		l.inference = l.prefill + l.decode
	}
	return whole, l
}

// sum returns the length of all stages of a kind together. Those that have none
// are reported, unless the request ended early and just lacks an end.
func (r *RequestV1) sum(k stageKind, early bool) time.Duration {
	if !k.onRole(r.role) {
		return 0
	}
	total := unknown
	add := func(i interval) {
		if d, ok := i.length(); ok {
			total = max(total, 0) + d
		} else if p := i.problem(); p == backwards || !early {
			r.engine.leftOut(misuseOf(k, p), r.asked.ID, k.String(), p)
		}
	}
	if k < stageKVTransfer {
		add(r.stages[k])
	}
	for i := range r.extra {
		if r.extra[i].kind == k {
			add(r.extra[i].interval)
		}
	}
	return total
}

// lastPoint returns the newest point in time that was told.
func (r *RequestV1) lastPoint() time.Duration {
	var last time.Duration
	for _, i := range r.stages {
		last = max(last, i.start, i.end)
	}
	for i := range r.extra {
		last = max(last, r.extra[i].start, r.extra[i].end)
	}
	return last
}

// record makes the spans.
func (r *RequestV1) record(o *Outcome, whole interval, l *latencies) {
	e := r.engine
	s := e.scratch.Get().(*scratch)
	defer e.scratch.Put(s)
	if r.granularity >= GranularityStages {
		if !r.spans(s, whole) {
			e.outside(r.asked.ID)
		}
		r.transfersWithoutWait()
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
		semconv.GenAIUsageCompletionTokens(o.CompletionTokens),
		semconv.GenAIUsageCacheReadInputTokens(o.CachedTokens))
	a = appendKnown(a, l.e2e, semconv.GenAILatencyE2ENanoseconds)
	a = appendKnown(a, l.queue, semconv.GenAILatencyTimeInQueueNanoseconds)
	a = appendKnown(a, l.ttft, semconv.GenAILatencyTimeToFirstTokenNanoseconds)
	a = appendKnown(a, l.prefill, semconv.GenAILatencyTimeInModelPrefillNanoseconds)
	a = appendKnown(a, l.decode, semconv.GenAILatencyTimeInModelDecodeNanoseconds)
	a = appendKnown(a, l.inference, semconv.GenAILatencyTimeInModelInferenceNanoseconds)
	a = appendKnown(a, r.tokenize, semconv.GenAILatencyTimeInTokenizeNanoseconds)
	a = appendKnown(a, e.duration(r.asked.ID, "the detokenization", o.Detokenize), semconv.GenAILatencyTimeInDetokenizeNanoseconds)
	a = appendKnown(a, l.transfer, semconv.GenAILatencyTimeInKVTransferNanoseconds)
	if r.preemptions > 0 {
		a = append(a, semconv.GenAIRequestPreemptionCount(r.preemptions))
	}
	r.span.SetAttributes(a...)
	s.attrs = a
	e.end(s, r.span, r.start.Add(whole.end), o.Err)
}

func appendKnown(a []attribute.KeyValue, d time.Duration, attr func(time.Duration) attribute.KeyValue) []attribute.KeyValue {
	if d < 0 {
		return a
	}
	return append(a, attr(d))
}

// transfersWithoutWait reports transfers that had no wait to lie in.
func (r *RequestV1) transfersWithoutWait() {
	for i := range r.extra {
		x := &r.extra[i]
		if _, ok := x.length(); ok && x.kind == stageKVTransfer && !x.emitted {
			r.engine.noWait(r.asked.ID)
			return
		}
	}
}

// count makes the measurements.
func (r *RequestV1) count(ctx context.Context, o *Outcome, l *latencies) {
	c, v := &r.engine.common, &r.engine.v1
	perToken := l.decode
	if r.role == PDRoleProducer {
		perToken = unknown // its 0 is no measurement
	}
	c.finished(ctx, o.FinishReason, l.ttft, perToken, l.e2e)
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
	if v.fromIterations {
		return
	}
	// Prefill has processed the prompt once there is a token.
	if r.first != never {
		c.count(ctx, v.promptTokens, r.asked.PromptTokens)
	}
	c.count(ctx, v.generationTokens, o.CompletionTokens)
	c.count(ctx, v.preemptions, r.preemptions)
}
