package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/infertel/infertel-go/sglang"
)

// sglangEngine handles the lines of SGLang engines.
type sglangEngine struct {
	telemetry
	tracer *sglang.Tracer // of the newest engine line
	open   openRequests[*sglangRequest]
}

type sglangRequest struct {
	span    *sglang.RequestSpan
	threads map[string]*sglangThread
}

// sglangThread stays after its end: others can be handed the request by it.
type sglangThread struct {
	span  *sglang.ThreadSpan
	ended bool
}

func newSGLang(t telemetry) handler {
	return &sglangEngine{telemetry: t, open: openRequests[*sglangRequest]{}}
}

func (e *sglangEngine) close(_ context.Context, at time.Time) {
	for _, id := range slices.Sorted(maps.Keys(e.open)) {
		e.open[id].span.Abort(sglang.AbortReason{}, sglang.Outcome{}, at)
	}
	clear(e.open)
}

func (e *sglangEngine) handle(ctx context.Context, l *line) error {
	switch l.event {
	case "engine":
		return e.engine(l)
	case "stats":
		return e.stats(ctx, l)
	case "request_start":
		return e.requestStart(ctx, l)
	}
	handle := sglangRequestEvents[l.event]
	if handle == nil {
		return l.unknownEvent()
	}
	l.require("request")
	if err := l.err(); err != nil {
		return err
	}
	r, err := e.open.get(l)
	if err != nil {
		return err
	}
	if err := handle(r, l); err != nil {
		return err
	}
	if l.event == "request_end" {
		delete(e.open, l.request)
	}
	return nil
}

// sglangRequestEvents are the events of a request that is open.
var sglangRequestEvents = map[string]func(*sglangRequest, *line) error{
	"thread_start": (*sglangRequest).threadStart,
	"thread_end":   (*sglangRequest).threadEnd,
	"stage_start":  (*sglangRequest).stageStart,
	"stage_end":    (*sglangRequest).stageEnd,
	"stage":        (*sglangRequest).stage,
	"retract":      (*sglangRequest).retract,
	"schedule":     (*sglangRequest).schedule,
	"dispatched":   (*sglangRequest).dispatched,
	"first_token":  (*sglangRequest).firstToken,
	"output":       (*sglangRequest).output,
	"request_end":  (*sglangRequest).end,
}

func (e *sglangEngine) engine(l *line) error {
	c := sglang.Config{Model: l.text("model"), PDRole: sglang.PDRole(l.text("pd_role"))}
	if c.PDRole != sglang.PDRoleNone && c.PDRole != sglang.PDRolePrefill && c.PDRole != sglang.PDRoleDecode {
		l.wrong("pd_role", `"prefill", "decode" or nothing`)
	}
	if err := l.err(); err != nil {
		return err
	}
	return e.newTracer(c)
}

func (e *sglangEngine) newTracer(c sglang.Config) error {
	t, err := sglang.NewTracer(c,
		sglang.WithTracerProvider(e.TracerProvider()),
		sglang.WithMeterProvider(e.MeterProvider()))
	if err == nil {
		e.tracer = t
	}
	return err
}

// ready makes a tracer for an engine that was not declared.
func (e *sglangEngine) ready() error {
	if e.tracer != nil {
		return nil
	}
	return e.newTracer(sglang.Config{})
}

func (e *sglangEngine) stats(ctx context.Context, l *line) error {
	for _, name := range []string{"running", "queued", "used_tokens", "token_usage", "gen_throughput"} {
		l.require(name)
	}
	s := sglang.SchedulerStats{
		RunningReqs:      int64(l.count("running")),
		QueueReqs:        int64(l.count("queued")),
		UsedTokens:       int64(l.count("used_tokens")),
		CacheHitRate:     positive(l, "cache_hit_rate"),
		SpecAcceptLength: positive(l, "spec_accept_length"),
	}
	if v := positive(l, "token_usage"); v != nil {
		s.TokenUsage = *v
	}
	if v := positive(l, "gen_throughput"); v != nil {
		s.GenThroughput = *v
	}
	if err := l.err(); err != nil {
		return err
	}
	if err := e.ready(); err != nil {
		return err
	}
	return e.tracer.RecordScheduler(ctx, s)
}

// positive returns a number of 0 or more, nil if it is not set.
func positive(l *line, name string) *float64 {
	v := l.float(name)
	if v != nil && *v < 0 {
		l.wrong(name, "0 or more")
	}
	return v
}

func (e *sglangEngine) requestStart(ctx context.Context, l *line) error {
	l.require("request")
	r := sglang.Request{
		RID:           l.request,
		BootstrapRoom: optional[uint64](l, "bootstrap_room", "an integer of 0 or more"),
		Embedding:     l.flag("embedding"),
	}
	ctx = l.parent(ctx)
	if err := l.err(); err != nil {
		return err
	}
	if err := e.ready(); err != nil {
		return err
	}
	return e.open.add(l, func() *sglangRequest {
		return &sglangRequest{e.tracer.StartRequest(ctx, r, l.at), map[string]*sglangThread{}}
	})
}

func (r *sglangRequest) threadStart(l *line) error {
	l.require("thread")
	l.require("label")
	name, from := l.text("thread"), l.text("from")
	t := sglang.Thread{
		Label:  sglang.ThreadLabel(l.text("label")),
		HostID: l.text("host_id"),
		PID:    l.count("pid"),
		TPRank: l.int("tp_rank"),
		PPRank: l.int("pp_rank"),
		DPRank: l.int("dp_rank"),
	}
	if before := r.threads[name]; before != nil && !before.ended {
		l.wrong("thread", "a thread that is not open")
	}
	if l.has("from") {
		if source := r.threads[from]; source == nil {
			l.wrong("from", "a thread of the request")
		} else {
			t.From = source.span.Handover()
		}
	}
	if err := l.err(); err != nil {
		return err
	}
	r.threads[name] = &sglangThread{span: r.span.StartThread(t, l.at)}
	return nil
}

// thread returns the open thread that the line names. If it names none, that is
// the line's error.
func (r *sglangRequest) thread(l *line) *sglangThread {
	l.require("thread")
	t := r.threads[l.text("thread")]
	if l.has("thread") && (t == nil || t.ended) {
		l.wrong("thread", "a thread of the request that was started and has not ended")
	}
	return t
}

func (r *sglangRequest) threadEnd(l *line) error {
	t := r.thread(l)
	abort := optional[map[string]json.RawMessage](l, "abort", "an object")
	if err := l.err(); err != nil {
		return err
	}
	if abort == nil {
		t.span.End(l.at)
	} else {
		why := &line{fields: *abort}
		reason := sglang.AbortReason{
			Type:       why.text("type"),
			Message:    why.text("message"),
			StatusCode: why.int("status_code"),
			ErrType:    why.text("err_type"),
			Reason:     why.text("reason"),
		}
		if err := why.err(); err != nil {
			return fmt.Errorf("field %q: %w", "abort", err)
		}
		t.span.Abort(reason, l.at)
	}
	t.ended = true
	return nil
}

// stageOf returns the stage that the line names, with its attribute.
func stageOf(l *line) sglang.Stage {
	l.require("stage")
	number := func(name string) int {
		if !l.has(name) {
			return -1
		}
		return l.count(name)
	}
	s, err := sglang.ParseStage(l.text("stage"))
	if err != nil && l.has("stage") {
		l.wrong("stage", "one of the documented stages")
	}
	switch s {
	case sglang.DecodeLoop(-1):
		return sglang.DecodeLoop(number("decode_ct"))
	case sglang.SpecVerify(-1):
		return sglang.SpecVerify(number("num_correct_drafts"))
	case sglang.RunBatchCPU(-1):
		return sglang.RunBatchCPU(number("pp_mb_id"))
	}
	return s
}

func (r *sglangRequest) stageStart(l *line) error {
	t, s := r.thread(l), stageOf(l)
	if err := l.err(); err != nil {
		return err
	}
	t.span.StartStage(s, l.at)
	return nil
}

func (r *sglangRequest) stageEnd(l *line) error {
	t, s := r.thread(l), stageOf(l)
	if err := l.err(); err != nil {
		return err
	}
	t.span.EndStage(s, l.at)
	return nil
}

func (r *sglangRequest) stage(l *line) error {
	t, s := r.thread(l), stageOf(l)
	l.require("start_ts")
	l.require("end_ts")
	start, end := l.time("start_ts"), l.time("end_ts")
	if !end.IsZero() && end.Before(start) {
		l.wrong("end_ts", "no less than start_ts")
	}
	if err := l.err(); err != nil {
		return err
	}
	t.span.RecordStage(s, start, end)
	return nil
}

func (r *sglangRequest) retract(l *line) error {
	t := r.thread(l)
	if err := l.err(); err != nil {
		return err
	}
	t.span.Retract(l.at)
	return nil
}

func (r *sglangRequest) schedule(l *line) error {
	t := r.thread(l)
	l.require("bid")
	l.require("batch_size")
	b := sglang.Batch{ID: l.text("bid"), Size: l.count("batch_size")}
	switch l.text("forward_mode") {
	case "decode":
		b.Mode = sglang.ForwardModeDecode
	case "prefill":
		b.Mode = sglang.ForwardModePrefill
	case "prebuilt":
		b.Mode = sglang.ForwardModePrebuilt
	}
	if err := l.err(); err != nil {
		return err
	}
	t.span.Schedule(b, l.at)
	return nil
}

func (r *sglangRequest) dispatched(l *line) error {
	r.span.Dispatched(l.at)
	return nil
}

func (r *sglangRequest) firstToken(l *line) error {
	r.span.FirstToken(l.at)
	return nil
}

func (r *sglangRequest) output(l *line) error {
	r.span.Output(l.at)
	return nil
}

func (r *sglangRequest) end(l *line) error {
	o := sglang.Outcome{
		FinishReasons:    l.texts("finish_reasons"),
		PromptTokens:     l.count("prompt_tokens"),
		CompletionTokens: l.count("completion_tokens"),
		CachedTokens:     l.count("cached_tokens"),
		Temperature:      l.float("temperature"),
		TopP:             l.float("top_p"),
		TopK:             l.int("top_k"),
		N:                l.int("n"),
		MaxTokens:        l.int("max_tokens"),
	}
	aborted := l.flag("aborted")
	if err := l.err(); err != nil {
		return err
	}
	if aborted {
		r.span.Abort(sglang.AbortReason{}, o, l.at)
	} else {
		r.span.End(o, l.at)
	}
	return nil
}
