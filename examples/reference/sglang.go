package main

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/propagation"

	"github.com/infertel/infertel-go/examples/internal/simengine"
	"github.com/infertel/infertel-go/sglang"
)

// sglangEngine tells the telemetry of an SGLang engine what its processes do. The
// frontend and the schedulers are processes of their own there, each with an
// Engine; what one hands to another goes through a text map.
type sglangEngine struct {
	frontend, worker *sglang.Engine
	tokenizers       int // processes of the frontend
	host             string
	tp, pp, dp       int
	role             simengine.Role
	spans            *spanBudget
	fault            func(error)
	requests         int
}

// The process numbers of an engine.
const (
	frontendPID   = 4200
	controllerPID = 4208
	schedulerPID  = 4210
)

// sgRequest is what is kept of a request while it runs.
type sgRequest struct {
	span    *sglang.RequestSpan
	front   *sglang.ThreadSpan
	carrier propagation.MapCarrier // travels with the request from process to process
	ranks   []*sgThread            // scheduler processes, by TP and PP rank
}

// sgThread is a scheduler process's part in a request.
type sgThread struct {
	*sglang.ThreadSpan
	queued     time.Time // since when it waits
	last       time.Time // end of the iteration before
	prefilling bool
	decoding   bool
	again      bool // after a retraction
	chunked    bool
}

func (t *sglangEngine) Observe(e simengine.Event) {
	if e.Kind == simengine.Iterated {
		t.scheduler(e.Stats)
		return
	}
	f := e.Request.Data.(*flight)
	if e.Kind == simengine.Arrived {
		f.telemetry = t.arrived(f, &e)
		return
	}
	r := f.telemetry.(*sgRequest)
	switch e.Kind {
	case simengine.Tokenized:
		r.front.RecordStage(sglang.Tokenize, e.Start, e.At)
	case simengine.Dispatched:
		r.front.RecordStage(sglang.APIServerDispatch, e.Start, e.At)
		r.front.Handover().Inject(r.carrier)
		r.front.End(e.At)
		r.span.Dispatched(e.At)
	case simengine.DPDispatched:
		t.dpDispatched(r, &e)
	case simengine.Received, simengine.Prepared:
		t.received(r, &e)
	case simengine.Delivered:
		if e.First {
			r.span.FirstToken(e.At)
		} else {
			r.span.Output(e.At)
		}
	case simengine.Finished:
		t.finished(r, f, &e)
	default:
		if th := r.ranks[t.rank(&e)]; th != nil {
			t.stage(th, &e)
		}
	}
}

func (t *sglangEngine) rank(e *simengine.Event) int { return e.PP*t.tp + e.TP }

func (t *sglangEngine) arrived(f *flight, e *simengine.Event) *sgRequest {
	r := &sgRequest{carrier: propagation.MapCarrier{}, ranks: make([]*sgThread, t.tp*t.pp)}
	req := sglang.Request{RID: f.id, Embedding: e.Request.Pooling}
	if e.Request.Handover != nil {
		req.BootstrapRoom = &e.Request.Handover.Room
	}
	r.span = t.frontend.StartRequest(f.ctx, req, e.At)
	front := sglang.Thread{Label: sglang.ThreadTokenizer, HostID: t.host, PID: frontendPID}
	if t.tokenizers > 1 { // they take turns
		number := t.requests % t.tokenizers
		front.Label, front.PID = sglang.MultiTokenizer(number), frontendPID+number
	}
	t.requests++
	r.front = r.span.StartThread(front, e.At)
	return r
}

func (t *sglangEngine) dpDispatched(r *sgRequest, e *simengine.Event) {
	controller := t.worker.Resume(sglang.ExtractHandover(r.carrier)).StartThread(
		sglang.Thread{Label: sglang.ThreadDPController, HostID: t.host, PID: controllerPID}, e.Start)
	controller.RecordStage(sglang.DPCDispatch, e.Start, e.At)
	controller.Handover().Inject(r.carrier)
	controller.End(e.At)
}

// received starts the part of a scheduler process.
func (t *sglangEngine) received(r *sgRequest, e *simengine.Event) {
	rank := t.rank(e)
	config := sglang.Thread{Label: sglang.ThreadScheduler, HostID: t.host, PID: schedulerPID + e.DP*t.tp*t.pp + rank, TPRank: &e.TP}
	if t.pp > 1 {
		config.PPRank = &e.PP
	}
	if t.dp > 1 {
		config.DPRank = &e.DP
	}
	th := &sgThread{queued: e.At}
	th.ThreadSpan = t.worker.Resume(sglang.ExtractHandover(r.carrier)).StartThread(config, e.Start)
	r.ranks[rank] = th
	switch {
	case e.Kind == simengine.Received:
		th.RecordStage(sglang.RequestProcess, e.Start, e.At)
	case t.role == simengine.PrefillNode:
		th.RecordStage(sglang.PrefillPrepare, e.Start, e.At)
	default:
		th.RecordStage(sglang.DecodePrepare, e.Start, e.At)
	}
}

// stage records what a scheduler process does for a request.
func (t *sglangEngine) stage(th *sgThread, e *simengine.Event) {
	switch e.Kind {
	case simengine.Bootstrapped:
		th.queued = e.At
		if t.role == simengine.PrefillNode {
			th.RecordStage(sglang.PrefillBootstrap, e.Start, e.At)
		} else {
			th.RecordStage(sglang.DecodeBootstrap, e.Start, e.At)
		}
	case simengine.Transferred:
		th.queued = e.At
		th.RecordStage(sglang.DecodeTransferred, e.Start, e.At)
	case simengine.Prebuilt:
		th.RecordStage(sglang.DecodeWaiting, th.queued, e.Start)
		th.Schedule(t.batch(e), e.Start)
		th.RecordStage(sglang.FakeOutput, e.Start, e.At)
		th.last = e.At
		th.StartStage(sglang.DecodeForward, e.At)
		th.decoding = true
	case simengine.Prefill:
		t.prefill(th, e)
	case simengine.Decode:
		t.decode(th, e)
	case simengine.Evicted:
		if th.prefilling {
			th.EndStage(sglang.PrefillForward, e.At)
		}
		th.Retract(e.At)
		th.prefilling, th.decoding, th.chunked, th.again = false, false, false, true
	case simengine.Sent:
		th.RecordStage(sglang.PrefillTransferKVCache, e.Start, e.At)
	case simengine.Released:
		if e.Reason == simengine.ReasonAbort {
			th.Abort(sglang.AbortReason{Type: new("abort"), Message: new("Client disconnected")}, e.At)
		} else {
			th.End(e.At)
		}
	}
}

func (t *sglangEngine) batch(e *simengine.Event) sglang.Batch {
	modes := map[simengine.Mode]sglang.ForwardMode{
		simengine.ModeDecode: sglang.ForwardModeDecode, simengine.ModePrefill: sglang.ForwardModePrefill, simengine.ModePrebuilt: sglang.ForwardModePrebuilt,
	}
	return sglang.Batch{ID: e.Batch.ID, Size: e.Batch.Size, Mode: modes[e.Batch.Mode]}
}

func (t *sglangEngine) prefill(th *sgThread, e *simengine.Event) {
	if !th.prefilling {
		th.prefilling = true
		if !th.again { // what follows a retraction lies within the first decode
			th.RecordStage(sglang.PrefillWaiting, th.queued, e.Start)
		}
		th.StartStage(sglang.PrefillForward, e.Start)
	}
	th.Schedule(t.batch(e), e.Start)
	t.runBatch(th, e)
	if th.chunked = th.chunked || !e.Last; th.chunked {
		th.RecordStage(sglang.ChunkedPrefill, e.Start, e.At)
		t.spans.add(1)
	}
	if e.Last {
		th.EndStage(sglang.PrefillForward, e.At)
		th.prefilling, th.chunked, th.last = false, false, e.At
	}
}

func (t *sglangEngine) decode(th *sgThread, e *simengine.Event) {
	if !th.decoding {
		th.decoding = true
		th.RecordStage(sglang.DecodeWaiting, th.last, e.Start)
		th.StartStage(sglang.DecodeForward, e.Start)
		th.last = e.Start
	}
	th.Schedule(t.batch(e), e.Start)
	t.runBatch(th, e)
	if d := e.Draft; d != nil {
		draft, verify := e.Start.Add(d.Draft), e.Start.Add(d.Draft+d.Verify)
		th.RecordStage(sglang.SpecDraft, e.Start, draft)
		th.RecordStage(sglang.SpecVerify(d.Correct), draft, verify)
		th.RecordStage(sglang.SpecDraftExtend, verify, verify.Add(d.Extend))
		t.spans.add(3)
	}
	th.RecordStage(sglang.DecodeLoop(e.Count), th.last, e.At)
	th.last = e.At
	t.spans.add(2)
}

// runBatch records the CPU's part of an iteration, which is documented under
// pipeline parallelism.
func (t *sglangEngine) runBatch(th *sgThread, e *simengine.Event) {
	if t.pp > 1 {
		th.RecordStage(sglang.RunBatchCPU(e.Batch.Micro), e.Start, e.Start.Add(e.Batch.CPU))
	}
}

func (t *sglangEngine) finished(r *sgRequest, f *flight, e *simengine.Event) {
	o := sglang.Outcome{
		FinishReasons:    []string{string(e.Reason)},
		PromptTokens:     new(len(e.Request.Prompt)),
		CompletionTokens: new(e.Request.Generated()),
		CachedTokens:     new(e.Request.Cached()),
		Temperature:      f.body.Temperature,
		TopP:             f.body.TopP,
		TopK:             f.body.TopK,
		N:                f.body.N,
		MaxTokens:        f.body.MaxTokens,
	}
	if e.Reason == simengine.ReasonAbort {
		r.span.Abort(sglang.AbortReason{Type: new("abort"), Message: new("Client disconnected")}, o, e.At)
	} else {
		r.span.End(o, e.At)
	}
	t.spans.add(5 + 5*len(r.ranks))
}

func (t *sglangEngine) scheduler(s *simengine.Stats) {
	report := sglang.SchedulerStats{
		RunningReqs:   s.Running,
		QueueReqs:     s.Waiting,
		UsedTokens:    s.UsedBlocks * s.BlockSize,
		TokenUsage:    float64(s.UsedBlocks) / float64(s.Blocks),
		GenThroughput: s.Throughput,
	}
	if s.Queried > 0 {
		report.CacheHitRate = &s.CacheHitRate
	}
	if s.Verified > 0 {
		report.SpecAcceptLength = &s.AcceptLength
	}
	if err := t.worker.RecordScheduler(context.Background(), report); err != nil {
		t.fault(err)
	}
}
