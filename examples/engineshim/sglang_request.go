package main

import (
	"container/list"
	"encoding/json"
	"fmt"
	"time"

	"github.com/infertel/infertel-go/sglang"
)

// sglangRequest is a request that has started. It stays for a while after its
// end, for the lines that come late: what is made of them, and what is said, is
// the library's affair, as with every call that is out of order.
type sglangRequest struct {
	id      string
	origin  string // the connection that started it
	engine  *sglangEngine
	span    *sglang.RequestSpan
	threads map[string]*sglangThread
	place   *list.Element // among the open ones
	ended   bool
}

// sglangThread stays after its end: others can be handed the request by it.
type sglangThread struct {
	span  *sglang.ThreadSpan
	ended bool
}

// sglangRequestEvents are the events of a request that has started.
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

// threadStart starts a thread, as far as its fields can be used.
func (r *sglangRequest) threadStart(l *line) error {
	l.require("thread")
	l.require("label")
	name, label := l.text("thread"), l.text("label")
	before := r.threads[name]
	if before != nil && !before.ended {
		l.wrong("thread", "a thread that is not open")
	}
	if err := l.err(); err != nil {
		return err
	}
	if before == nil && len(r.threads) >= maxThreadNames {
		return fmt.Errorf("thread %s is one too many: the request has named %d", shortened(l.fields["thread"]), len(r.threads))
	}
	t := sglang.Thread{
		Label:  sglang.ThreadLabel(label),
		HostID: l.text("host_id"),
		PID:    l.count("pid"),
		TPRank: l.int("tp_rank"),
		PPRank: l.int("pp_rank"),
		DPRank: l.int("dp_rank"),
	}
	if from := l.text("from"); l.has("from") {
		if source := r.threads[from]; source != nil {
			t.From = source.span.Handover()
		} else {
			l.wrong("from", "a thread of the request")
		}
	}
	r.threads[name] = &sglangThread{span: r.span.StartThread(t, l.at)}
	return l.err()
}

// thread returns the thread that the line names. If it names none that was ever
// started, that is the line's error.
func (r *sglangRequest) thread(l *line) *sglangThread {
	l.require("thread")
	t := r.threads[l.text("thread")]
	if l.has("thread") && t == nil {
		l.wrong("thread", "a thread of the request that was started")
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
		reason, err := abortReason(&line{fields: *abort})
		if err != nil {
			return fmt.Errorf("field %q: %w", "abort", err)
		}
		t.span.Abort(reason, l.at)
	}
	t.ended = true
	return nil
}

// abortReason reads why a request was aborted. A text that is there and empty is
// not one that is absent.
func abortReason(l *line) (sglang.AbortReason, error) {
	text := func(name string) *string { return optional[string](l, name, "a string") }
	why := sglang.AbortReason{
		Type:       text("type"),
		Message:    text("message"),
		StatusCode: l.int("status_code"),
		ErrType:    text("err_type"),
		Reason:     text("reason"),
	}
	return why, l.err()
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
	start, end := l.stageTime("start_ts"), l.stageTime("end_ts")
	if err := l.err(); err != nil {
		return err
	}
	t.span.RecordStage(s, start, end)
	return nil
}

// stageTime returns a time of a stage. Whether a stage can do without it is for
// the library to say.
func (l *line) stageTime(name string) time.Time {
	at := l.time(name)
	if !usableTime(at) {
		l.wrong(name, wantTime)
	}
	return at
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
		PromptTokens:     l.optionalCount("prompt_tokens"),
		CompletionTokens: l.optionalCount("completion_tokens"),
		CachedTokens:     l.optionalCount("cached_tokens"),
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
