package sglang

import (
	"time"

	"go.opentelemetry.io/otel/attribute"
)

// Dispatched tells when the frontend had finished handing the request to the
// scheduler, from which gen_ai.latency.time_in_model_prefill and
// gen_ai.latency.time_in_model_inference (double, s) are counted. Only the first
// call counts. Source: sglang.request.
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
		r.engine.report(r.tooLate())
	}
}

// tooLate is the misuse of a milestone that is told after the end.
func (r *RequestSpan) tooLate() problem {
	return misuse(misuseRequestEnded, "a milestone of request %q was told after its end; it is left out", r.rid)
}

// FirstToken tells when the frontend saw the first output of the request. There
// gen_ai.latency.time_to_first_token and gen_ai.latency.time_in_model_prefill end
// and gen_ai.latency.time_in_model_decode starts (double, s). It adds to the metric
// gen_ai_server_time_to_first_token, s. Only the first call counts.
// Source: sglang.request, sglang.metrics.
func (r *RequestSpan) FirstToken(at time.Time) {
	if r.milestone(at) {
		r.output(at, true)
	}
}

// Output tells when the frontend saw a further batch of output of the request.
// The whole interval since the one before is added to the metric
// sglang_inter_token_latency_seconds, s, however many tokens the batch holds. The
// first Output of a request without FirstToken counts as that. Call the three
// milestones in the order of their times. Source: sglang.metrics.
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
		r.engine.report(misuse(misuseResumed, "a milestone was told to a resumed request; only the process that started it can use it"))
		return false
	case !given(at):
		r.engine.report(misuse(misuseMilestoneTime, "a milestone of request %q was told without a time; it is left out", r.rid))
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
		r.engine.report(r.tooLate())
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

	m := &r.engine.metrics
	switch {
	case since.IsZero(): // reported when the request started
	case interval < 0:
		r.engine.report(misuse(misuseLatencyBackward, "an output of request %q was told %v before what came before it; the interval is left out", r.rid, -interval))
	case first:
		m.firstToken.Add(r.ctx, interval.Seconds(), m.dimensions...)
	default:
		m.interTokenLatency.Add(r.ctx, interval.Seconds(), m.dimensions...)
	}
}

func (r *RequestSpan) appendLatency(a []attribute.KeyValue, what string, from, to time.Time, of func(time.Duration) attribute.KeyValue) []attribute.KeyValue {
	switch {
	case from.IsZero() || to.IsZero():
		if !r.embedding {
			r.engine.report(misuse(misuseNoMilestone, "request %q ended normally without the times that the latency from %s needs; it is left out", r.rid, what))
		}
		return a
	case to.Before(from):
		r.engine.report(misuse(misuseLatencyBackward, "the latency of request %q from %s would be %v; it is left out", r.rid, what, to.Sub(from)))
		return a
	}
	return append(a, of(to.Sub(from)))
}
