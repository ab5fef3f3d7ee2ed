package vllm_test

import (
	"context"
	"testing"

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
