package vllm_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/infertel/infertel-go/vllm"
)

// Requests, reports, collections and the end of an engine may meet in any order;
// one request may be told by several goroutines.
func TestConcurrentUse(t *testing.T) {
	ctx := context.Background()
	b := newBed(t)
	e, e0 := b.v1(vllm.EngineConfig{}, vllm.WithGranularity(vllm.GranularityEvents)), b.v0()
	shared := e.StartRequest(ctx, vllm.Request{ID: "shared"}, at(0))
	shared0 := e0.StartRequest(ctx, vllm.Request{ID: "shared"}, at(0))
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 100 {
				lived(e, vllm.Request{ID: fmt.Sprint(i, j)})
				e0.RecordRequest(ctx, vllm.RequestRecordV0{Arrival: at(0), Scheduled: at(1), Outcome: vllm.OutcomeV0{At: at(2), FinishReason: vllm.FinishReason(fmt.Sprint(j))}})
				shared.Queued(at(1))
				shared.StartKVTransfer(at(2)).End(vllm.KVTransfer{}, at(3))
				shared.Scheduled(at(4))
				shared.Decode(vllm.Iteration{At: at(float64(5 + j)), TokenIDs: []int{j}, TokenTexts: []string{"x"}})
				shared.Preempted(at(200))
				shared0.Scheduled(at(1))
				shared0.FirstToken(at(2))
				_ = e.RecordScheduler(ctx, vllm.SchedulerStatsV1{Running: new(j)})
				_ = e.RecordSchedulerFromTotals(ctx, vllm.SchedulerStatsV1{Iterations: new(j)})
				_ = e0.RecordScheduler(ctx, vllm.SchedulerStatsV0{PromptTokens: new(j)})
			}
			shared.Finish(vllm.OutcomeV1{At: at(500), FinishReason: vllm.FinishReasonStop})
			shared0.Finish(vllm.OutcomeV0{At: at(500), FinishReason: vllm.FinishReasonStop})
			if i == 0 {
				_ = e.Close()
			}
		})
		wg.Go(func() {
			for range 20 {
				b.points()
			}
		})
	}
	wg.Wait()
	finished := map[string]int{}
	for _, s := range b.spans() {
		if s.name == "llm_request" {
			finished[fmt.Sprint(s.attrs["gen_ai.request.id"])]++
		}
	}
	if finished["shared"] != 2 || len(finished) != 802 { // one is the id "" of the recorded ones
		t.Errorf("%d ids, %d shared", len(finished), finished["shared"])
	}
}
