package sglang

import (
	"context"
	"sync"
	"time"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/infertel/infertel-go/semconv"
)

// Bounds on what a thread keeps: stages within each other, and stages and events
// until it is known which event belongs to which stage.
const (
	maxOpenStages = 128
	maxHeldStages = 128
	maxHeldEvents = 256
)

// stage is a stage that is open or held back. Its span is begun as late as
// possible: when it is exported, when a stage within it is, or when something
// must link to it.
type stage struct {
	what       Stage
	start, end int64  // Unix nanoseconds
	toldEnd    int64  // of a stage that ends with its thread
	depth      int    // 0: first level
	parent     *stage // nil: the thread
	prev       *stage // first level: the stage to link to, until begun

	span trace.Span
	ctx  context.Context
}

// timeline is what happens in a thread: open stages, ended stages that are held
// back, and events that wait for their stage. mu guards all of it.
type timeline struct {
	engine   *Engine
	process  semconv.Process
	ctx      context.Context // carries the thread span
	span     trace.Span
	base     time.Time // all times are taken relative to it
	baseNano int64
	start    int64
	handed   trace.SpanContext // the stage that handed the request over

	mu       sync.Mutex
	problems []problem // reported when mu is released
	ended    bool
	dropped  bool               // the SDK dropped an event, which is reported
	last     *stage             // the last first-level stage that ended
	tooDeep  [stageCount]uint32 // starts that were left out within the innermost open stage
	heldEnd  int64              // the newest end of the stages held, or held once
	sentEnd  int64              // the newest end of the stages exported before the thread's end

	*shelf // until the thread's end
}

func newTimeline(t *Engine, p semconv.Process, ctx context.Context, span trace.Span, base, start time.Time, handed trace.SpanContext) *timeline {
	tl := &timeline{engine: t, process: p, ctx: ctx, span: span, base: base, baseNano: base.UnixNano(), handed: handed}
	tl.start = tl.nanos(start)
	tl.shelf = t.shelves.Get().(*shelf)
	return tl
}

// unlock releases mu, and then reports what was found while it was held.
func (tl *timeline) unlock() {
	found := tl.problems
	tl.problems = nil
	tl.mu.Unlock()
	tl.engine.report(found...)
}

func (tl *timeline) misuse(p problem) { tl.problems = append(tl.problems, p) }

// nanos takes a time relative to the base: where both have a reading of the
// monotonic clock, a step of the wall clock between them makes no difference.
func (tl *timeline) nanos(t time.Time) int64 { return tl.baseNano + int64(t.Sub(tl.base)) }

// usable reports whether a stage can be recorded.
func (tl *timeline) usable(s Stage) bool {
	if s.number() == 0 {
		tl.misuse(misuse(misuseUnknownStage, "%v is not one of the stages; it is left out", s))
		return false
	}
	if tl.ended {
		tl.misuse(misuse(misuseThreadEnded, "stage %v was told to a thread that had ended; it is left out", s))
		return false
	}
	return true
}

func (tl *timeline) newStage(s Stage, start int64) *stage {
	if p, bad := tl.engine.misplaced(s, tl.process); bad {
		tl.misuse(p)
	}
	n := tl.takeStage()
	n.what, n.start, n.depth = s, start, len(tl.open)
	if n.depth > 0 {
		n.parent = tl.open[n.depth-1]
	} else {
		n.prev = tl.last
	}
	return n
}

func (tl *timeline) startStage(s Stage, at time.Time) {
	tl.mu.Lock()
	defer tl.unlock()
	if !tl.usable(s) {
		return
	}
	if !given(at) {
		tl.misuse(misuse(misuseStageTime, "stage %v was started without a time; it is left out", s))
		return
	}
	if tl.push(s, tl.nanos(at)) == nil {
		tl.tooDeep[s.number()]++
	}
}

// push opens a stage.
func (tl *timeline) push(s Stage, start int64) *stage {
	if len(tl.open) == maxOpenStages {
		tl.misuse(misuse(misuseTooDeep, "stage %v was started within %d open stages; it is left out", s, maxOpenStages))
		return nil
	}
	n := tl.newStage(s, start)
	tl.open = append(tl.open, n)
	return n
}

func (tl *timeline) endStage(s Stage, at time.Time) {
	tl.mu.Lock()
	defer tl.unlock()
	if !tl.usable(s) {
		return
	}
	if n := &tl.tooDeep[s.number()]; *n > 0 {
		*n-- // the end of a stage that was left out
		return
	}
	i := len(tl.open) - 1
	for i >= 0 && tl.open[i].what.number() != s.number() {
		i--
	}
	if i < 0 {
		tl.misuse(misuse(misuseNotOpen, "stage %v was ended but is not open", s))
		return
	}
	if !given(at) {
		tl.misuse(misuse(misuseStageTime, "stage %v was ended without a time; it has no length", s))
		at = time.Time{}
	}
	if inner := len(tl.open) - 1 - i; inner > 0 {
		tl.misuse(misuse(misuseOutOfOrder, "stage %v was ended with %d open stages within it; they end with it", s, inner))
	}
	for len(tl.open)-1 > i {
		tl.closeTop(at)
	}
	top := tl.open[i]
	if s.value() >= 0 {
		top.what = s
		if top.span != nil {
			tl.describe(top)
		}
	}
	if s.number() == DecodeForward {
		if !at.IsZero() {
			top.toldEnd = tl.nanos(at)
		}
		return
	}
	tl.closeTop(at)
}

// closeTop ends the innermost open stage. Without a time it has no length.
func (tl *timeline) closeTop(at time.Time) {
	top := tl.open[len(tl.open)-1]
	end := top.start
	if !at.IsZero() {
		end = tl.nanos(at)
	}
	if end < top.start {
		tl.misuse(misuse(misuseStageBackward, "stage %v ended %v before it started; it has no length", top.what, time.Duration(top.start-end)))
		end = top.start
	}
	if len(tl.open) == maxOpenStages {
		clear(tl.tooDeep[:]) // they were within it, and so have ended too
	}
	tl.open[len(tl.open)-1] = nil
	tl.open = tl.open[:len(tl.open)-1]
	top.end = end
	tl.hold(top)
}

func (tl *timeline) recordStage(s Stage, start, end time.Time) {
	tl.mu.Lock()
	defer tl.unlock()
	if !tl.usable(s) {
		return
	}
	if !given(start) || !given(end) {
		tl.misuse(misuse(misuseStageTime, "stage %v was recorded without its start or its end; it is left out", s))
		return
	}
	from, to := tl.nanos(start), tl.nanos(end)
	if to < from {
		tl.misuse(misuse(misuseStageBackward, "stage %v would end %v before it starts; it is left out", s, time.Duration(from-to)))
		return
	}
	if s.number() == DecodeForward {
		if n := tl.push(s, from); n != nil {
			n.toldEnd = to
		}
		return
	}
	n := tl.newStage(s, from)
	n.end = to
	tl.hold(n)
}

// hold keeps back a stage that has ended, and exports the oldest one held if
// there are too many.
func (tl *timeline) hold(n *stage) {
	if n.depth == 0 {
		tl.last = n
	}
	tl.claim(n)
	tl.heldEnd = max(tl.heldEnd, n.end)
	if len(tl.held) < maxHeldStages {
		tl.held = append(tl.held, n)
		return
	}
	out := tl.held[tl.oldest]
	tl.held[tl.oldest] = n
	tl.oldest = (tl.oldest + 1) % maxHeldStages
	tl.sentEnd = max(tl.sentEnd, out.end)
	tl.export(out)
	if out.depth > 0 {
		// Nothing refers to it any more: what was nested in it ended, and so was
		// exported, before it.
		tl.putStage(out)
	}
}

// export writes a stage that has ended, with its events.
func (tl *timeline) export(n *stage) {
	tl.begin(n)
	tl.release(n)
	tl.options.end[0] = tl.timestamp(n.end)
	n.span.End(tl.options.end[:]...)
}

// begin starts the stage's span, and those that it hangs under or links to.
func (tl *timeline) begin(n *stage) {
	if n.span != nil {
		return
	}
	ctx := tl.ctx
	var link trace.SpanContext
	if n.parent != nil {
		tl.begin(n.parent)
		ctx = n.parent.ctx
	} else if link = tl.handed; n.prev != nil {
		tl.begin(n.prev)
		link = n.prev.span.SpanContext()
		n.prev = nil
	}
	options := append(tl.options.start[:0], tl.timestamp(n.start))
	if link.IsValid() {
		options = append(options, trace.WithLinks(trace.Link{SpanContext: link}))
	}
	n.ctx, n.span = tl.engine.tracer.Start(ctx, stageTable[n.what.number()].name, options...)
	tl.describe(n)
}

// describe writes the stage's value to its span: when that begins, and again when
// the value comes later, with the stage's end.
func (tl *timeline) describe(n *stage) {
	if a := n.what.appendAttributes(tl.options.stage[:0]); len(a) > 0 {
		n.span.SetAttributes(a...)
	}
}

// handingOver returns the stage that a hand-over names.
func (tl *timeline) handingOver() trace.SpanID {
	tl.mu.Lock()
	defer tl.unlock()
	if tl.ended {
		return tl.handed.SpanID()
	}
	n := tl.last
	if len(tl.open) > 0 {
		n = tl.open[0]
	}
	if n == nil {
		return tl.handed.SpanID()
	}
	tl.begin(n)
	return n.span.SpanContext().SpanID()
}

// end ends the thread. Only by the caller is it an error to end it twice.
func (tl *timeline) end(at time.Time, why *AbortReason, byCaller bool) {
	tl.mu.Lock()
	defer tl.unlock()
	if tl.ended {
		if byCaller {
			tl.misuse(misuse(misuseThreadEnded, "a thread was ended again; the first end holds"))
		}
		return
	}
	tl.ended = true
	end := tl.start
	switch {
	case !given(at):
		tl.misuse(misuse(misuseThreadTime, "a thread was ended without a time; its span has no length"))
		at = time.Time{}
	case tl.nanos(at) < tl.start:
		tl.misuse(misuse(misuseThreadBackward, "a thread ended %v before it started; its span has no length", time.Duration(tl.start-tl.nanos(at))))
	default:
		end = tl.nanos(at)
	}
	for len(tl.open) > 0 {
		top := tl.open[len(tl.open)-1]
		switch {
		case top.what.number() != DecodeForward:
			if why == nil {
				tl.misuse(misuse(misuseStageLeftOpen, "a thread ended with the stage %v open; it ends with the thread", top.what))
			}
		case top.toldEnd != 0 && !at.IsZero() && top.toldEnd != tl.nanos(at):
			tl.misuse(misuse(misuseDecodeForwardEnd, "stage %v was given an end %v before that of its thread, with which it ends", top.what, time.Duration(tl.nanos(at)-top.toldEnd)))
		}
		tl.closeTop(at)
	}
	for i := range tl.held {
		tl.export(tl.held[(tl.oldest+i)%len(tl.held)])
	}
	for i := tl.waiting; i < len(tl.events); i++ {
		tl.write(&tl.events[i], tl.span)
	}
	if tl.last != nil {
		tl.handed = tl.last.span.SpanContext()
	}
	if why != nil {
		a := why.attributes()
		tl.span.SetAttributes(a...)
		tl.span.SetStatus(codes.Error, why.status())
	}
	tl.span.End(tl.timestamp(end))
	tl.reset()
	tl.engine.shelves.Put(tl.shelf)
	tl.shelf, tl.last = nil, nil
}
