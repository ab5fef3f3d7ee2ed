package vllm

import (
	"context"
	"slices"
	"time"
)

// RequestRecordV1 is everything that is known of a V1 request after the fact. A
// point in time that was not taken is the zero time. Source: vllm.v1.llm_request.
type RequestRecordV1 struct {
	// Request is the request as it arrived.
	Request Request
	// Arrival is when it arrived, as the frontend saw it. Zero is reported once:
	// the span then starts at the earliest point that is known.
	Arrival time.Time
	// Tokenize is how long the frontend took to tokenize the prompt:
	// gen_ai.latency.time_in_tokenize (int, ns). Nil: unknown.
	Tokenize *time.Duration
	// Queued is when the request entered the engine's queue.
	Queued time.Time
	// Scheduled is when the engine first scheduled it.
	Scheduled time.Time
	// FirstToken is when the engine put out the first token. Zero: the earliest of
	// Iterations, else Outcome.FrontendFirstToken.
	FirstToken time.Time
	// KVTransfers are the transfers of KV cache from remote engines.
	KVTransfers []KVTransferRecord
	// Preemptions is how often the request was preempted. Zero: as many times as
	// PreemptedAt has.
	Preemptions int
	// PreemptedAt are the times of preemptions, for the events PREEMPTED and WAIT.
	PreemptedAt []time.Time
	// Iterations are the iterations in any order, for the events PREFILL and DECODE.
	Iterations []IterationRecord
	// Outcome is how the request ended.
	Outcome OutcomeV1
}

// KVTransferRecord is a transfer of KV cache after the fact.
// Source: vllm.v1.kv_transfer.
type KVTransferRecord struct {
	// Start is when the transfer started and End when it was over.
	Start, End time.Time
	// KVTransfer is how it ended.
	KVTransfer
}

// IterationRecord is an iteration after the fact.
type IterationRecord struct {
	// Iteration is what is known of it.
	Iteration
	// Prefill is whether the iteration worked on the prompt.
	Prefill bool
}

// RecordRequest makes everything that is documented of a request in one call,
// for callers that only have the engine's final statistics. The same facts told
// to [EngineV1.StartRequest] as they happen make the same telemetry. llm_request
// is a child of the span in ctx. Source: vllm.v1.llm_request.
func (e *EngineV1) RecordRequest(ctx context.Context, rec RequestRecordV1) {
	if e == nil {
		return
	}
	r := e.startRequest(ctx, rec.Request, rec.Arrival, rec.earliest())
	if rec.Tokenize != nil {
		r.Tokenized(*rec.Tokenize)
	}
	r.Queued(rec.Queued)
	for _, t := range rec.KVTransfers {
		r.StartKVTransfer(t.Start).End(t.KVTransfer, t.End)
	}
	r.Scheduled(rec.Scheduled)
	r.firstTold = pointOf(rec.FirstToken)
	// A log of events that is handed over bit by bit wants them about in order.
	iterations := inOrder(rec.Iterations, func(a, b IterationRecord) int { return a.At.Compare(b.At) })
	preempted := inOrder(rec.PreemptedAt, time.Time.Compare)
	for i := range iterations {
		it := &iterations[i]
		for len(preempted) > 0 && preempted[0].Before(it.At) {
			r.Preempted(preempted[0])
			preempted = preempted[1:]
		}
		if it.Prefill {
			r.Prefill(it.Iteration)
		} else {
			r.Decode(it.Iteration)
		}
	}
	for _, at := range preempted {
		r.Preempted(at)
	}
	r.preemptions = max(r.preemptions, rec.Preemptions)
	r.Finish(rec.Outcome)
}

// inOrder returns s sorted, and leaves that of the caller as it is.
func inOrder[T any](s []T, compare func(a, b T) int) []T {
	if !slices.IsSortedFunc(s, compare) {
		s = slices.Clone(s)
		slices.SortStableFunc(s, compare)
	}
	return s
}

// earliest returns the earliest point of a request whose arrival is not known, or
// the zero time.
func (rec *RequestRecordV1) earliest() time.Time {
	if isKnown(rec.Arrival) {
		return time.Time{} // not needed
	}
	points := []time.Time{rec.Queued, rec.Scheduled, rec.FirstToken, rec.Outcome.FrontendFirstToken, rec.Outcome.LastToken, rec.Outcome.At}
	for i := range rec.Iterations {
		points = append(points, rec.Iterations[i].At)
	}
	for i := range rec.KVTransfers {
		points = append(points, rec.KVTransfers[i].Start, rec.KVTransfers[i].End)
	}
	points = append(points, rec.PreemptedAt...)
	return earliest(points...)
}
