package vllm_test

import (
	"context"
	"errors"
	"testing"

	"go.opentelemetry.io/otel/trace/noop"

	"github.com/infertel/infertel-go/vllm"
)

// A host that has no context at hand loses nothing.
func TestNilContext(t *testing.T) {
	b := newBed(t)
	e, e0 := b.v1(vllm.EngineConfig{}), b.v0()
	var none context.Context
	e.StartRequest(none, vllm.Request{ID: "a"}, at(0)).Finish(vllm.OutcomeV1{At: at(1), FinishReason: vllm.FinishReasonAbort})
	e0.StartRequest(none, vllm.Request{ID: "b"}, at(0)).Finish(vllm.OutcomeV0{At: at(1), FinishReason: vllm.FinishReasonAbort})
	e.RecordRequest(none, vllm.RequestRecordV1{Arrival: at(0), Outcome: vllm.OutcomeV1{At: at(1), FinishReason: vllm.FinishReasonAbort}})
	e0.RecordRequest(none, vllm.RequestRecordV0{Arrival: at(0), Outcome: vllm.OutcomeV0{At: at(1), FinishReason: vllm.FinishReasonAbort}})
	// Without an SDK nothing else takes care of it.
	bare, err := vllm.NewEngineV1(vllm.EngineConfig{Model: "m"}, vllm.WithTracerProvider(noop.NewTracerProvider()))
	if err != nil {
		t.Fatal(err)
	}
	if bare.StartRequest(none, vllm.Request{}, at(0)).Context() == nil {
		t.Error("no context")
	}
	if n := len(b.spans()); n != 4 {
		t.Errorf("%d spans, want 4", n)
	}
	for _, err := range []error{
		e.RecordScheduler(none, vllm.SchedulerStatsV1{Iterations: new(1)}),
		e.RecordSchedulerFromTotals(none, vllm.SchedulerStatsV1{Iterations: new(1)}),
		e0.RecordScheduler(none, vllm.SchedulerStatsV0{Iterations: new(1)}),
		e.RecordCall(none, vllm.CallRecord{Start: at(0), End: at(1)}),
		e0.RecordCall(none, vllm.CallRecord{Start: at(0), End: at(1)}),
	} {
		if err != nil {
			t.Error(err)
		}
	}
	b.noReports()
}

// A finished request takes no more facts, and nil ones none at all.
func TestNilAndFinished(t *testing.T) {
	b := newBed(t)
	e := b.v1(vllm.EngineConfig{}, vllm.WithGranularity(vllm.GranularityEvents))
	done := e.StartRequest(context.Background(), vllm.Request{ID: "r"}, at(0))
	wait, kv := done.StartWait(at(1)), done.StartKVTransfer(at(1))
	done.Finish(vllm.OutcomeV1{At: at(2), FinishReason: vllm.FinishReasonAbort})
	before := len(b.recorder.Ended())
	for _, r := range []*vllm.RequestV1{nil, done, (*vllm.EngineV1)(nil).StartRequest(context.Background(), vllm.Request{}, at(0))} {
		r.Tokenized(1)
		r.Queued(at(1))
		r.Scheduled(at(2))
		r.StartWait(at(1)).End(at(2))
		r.StartPrefill(at(1)).End(at(2))
		r.StartDecode(at(1)).End(at(2))
		r.StartKVTransfer(at(1)).End(vllm.KVTransfer{}, at(2))
		r.Prefill(vllm.Iteration{At: at(3)})
		r.Decode(vllm.Iteration{At: at(3)})
		r.Preempted(at(3))
		r.Finish(vllm.OutcomeV1{At: at(4)})
		if r.Context() == nil {
			t.Error("no context")
		}
	}
	wait.End(at(3))
	kv.End(vllm.KVTransfer{}, at(3))
	vllm.StageSpan{}.End(at(1))
	vllm.KVTransferSpan{}.End(vllm.KVTransfer{}, at(1))
	if n := len(b.recorder.Ended()); n != before {
		t.Errorf("%d spans ended after the finish", n-before)
	}
	var none *vllm.EngineV1
	none.RecordRequest(context.Background(), vllm.RequestRecordV1{})
	err := errors.Join(none.RecordScheduler(context.Background(), vllm.SchedulerStatsV1{}), none.RecordSchedulerFromTotals(context.Background(), vllm.SchedulerStatsV1{}),
		none.RecordCall(context.Background(), vllm.CallRecord{}), none.Close())
	if err != nil {
		t.Error(err)
	}
}

func TestNilV0(t *testing.T) {
	ctx := context.Background()
	var e *vllm.EngineV0
	r := e.StartRequest(ctx, vllm.Request{}, at(0))
	r.Scheduled(at(1))
	r.FirstToken(at(1))
	r.Finish(vllm.OutcomeV0{})
	if r.Context() == nil {
		t.Error("no context")
	}
	e.RecordRequest(ctx, vllm.RequestRecordV0{})
	err := errors.Join(e.RecordScheduler(ctx, vllm.SchedulerStatsV0{}), e.RecordSchedulerFromTotals(ctx, vllm.SchedulerStatsV0{}),
		e.RecordCall(ctx, vllm.CallRecord{}), e.Close())
	if err != nil {
		t.Error(err)
	}
}
