package main

import (
	"context"
	"time"

	"github.com/infertel/infertel-go/examples/internal/simengine"
	"github.com/infertel/infertel-go/vllm"
)

// vllmV1 tells the telemetry of a V1 engine what the engine does. It stands where
// the hooks of a user's engine would be.
type vllmV1 struct {
	engine *vllm.EngineV1
	spans  *spanBudget
	fault  func(error)
}

// v1Request is what is kept of a request while it runs.
type v1Request struct {
	*vllm.RequestV1
	firstSeen time.Time // by the client
	pullStart time.Time
	pullEnd   time.Time
	pulled    vllm.KVTransfer
}

func (t *vllmV1) Observe(e simengine.Event) {
	if e.TP > 0 || e.PP > 0 {
		return // V1 reports from its scheduler, not from its workers
	}
	if e.Kind == simengine.Iterated {
		t.scheduler(e.Stats)
		return
	}
	f := e.Request.Data.(*flight)
	if e.Kind == simengine.Arrived {
		f.telemetry = &v1Request{RequestV1: t.engine.StartRequest(f.ctx, vllm.Request{
			ID:           f.id,
			Temperature:  f.body.Temperature,
			TopP:         f.body.TopP,
			MaxTokens:    f.body.MaxTokens,
			N:            f.body.N,
			PromptTokens: len(e.Request.Prompt),
		}, e.At)}
		return
	}
	r := f.telemetry.(*v1Request)
	switch e.Kind {
	case simengine.Tokenized:
		r.Tokenized(e.At.Sub(e.Start))
	case simengine.Received:
		r.Queued(e.At)
	case simengine.PullStarted:
		r.pullStart = e.At
	case simengine.PullFinished:
		r.pullEnd = e.At
		r.pulled = vllm.KVTransfer{CachedTokens: e.Prompt, Failed: e.Failed}
	case simengine.Scheduled:
		// A transfer lies within the wait, so it is told when that is over. An abort
		// before then leaves both out.
		if !r.pullStart.IsZero() {
			r.StartKVTransfer(r.pullStart).End(r.pulled, r.pullEnd)
		}
		r.Scheduled(e.At)
	case simengine.Prefill:
		it := r.iteration(&e)
		it.NoToken = !e.Last // another chunk follows
		r.Prefill(it)
	case simengine.Decode:
		r.Decode(r.iteration(&e))
	case simengine.Evicted:
		r.Preempted(e.At)
	case simengine.Delivered:
		if e.First {
			r.firstSeen = e.At
		}
	case simengine.Finished:
		r.Finish(vllm.OutcomeV1{
			At:                 e.At,
			FinishReason:       vllm.FinishReason(e.Reason),
			CompletionTokens:   new(e.Request.Generated()),
			CachedTokens:       e.Request.Cached(),
			Detokenize:         new(e.Request.Detokenize()),
			FrontendFirstToken: r.firstSeen,
		})
		t.spans.add(5)
	}
}

// iteration hands in the tokens where they are wanted.
func (r *v1Request) iteration(e *simengine.Event) vllm.Iteration {
	it := vllm.Iteration{At: e.At, TokenCount: new(len(e.Tokens))}
	if !r.WantsTokens() {
		return it
	}
	for _, t := range e.Tokens {
		it.TokenIDs = append(it.TokenIDs, t.ID)
		it.TokenTexts = append(it.TokenTexts, t.Text)
		it.LogProbs = append(it.LogProbs, t.LogProb)
	}
	return it
}

func (t *vllmV1) scheduler(s *simengine.Stats) {
	err := t.engine.RecordScheduler(context.Background(), vllm.SchedulerStatsV1{
		Running:            &s.Running,
		Waiting:            &s.Waiting,
		KVCacheUsage:       new(float64(s.UsedBlocks) / float64(s.Blocks)),
		PrefixCacheQueries: &s.Queried,
		PrefixCacheHits:    &s.Hit,
		Iterations:         &s.Iterations,
	})
	if err != nil {
		t.fault(err)
	}
}
