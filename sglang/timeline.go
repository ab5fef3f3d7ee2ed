package sglang

import (
	"cmp"
	"context"
	"sort"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/infertel/infertel-go/internal/boundedtext"
	"github.com/infertel/infertel-go/semconv"
)

// Bounds on what a thread holds back until it is known which event belongs to
// which stage.
const (
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
	tracer   *Tracer
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
	open     []*stage // innermost last
	last     *stage   // the last first-level stage that ended

	held    []*stage // ended, a ring once it is full
	oldest  int      // index of the oldest in the ring
	heldEnd int64    // the newest end of the stages held, or held once
	sentEnd int64    // the newest end of the stages exported before the thread's end
	free    *stage   // for the next nested stage
	events  []event  // in time order from index waiting on
	waiting int

	// Handed to the SDK, which copies it, so allocated once and not for each span.
	// A stage often ends where the next one starts, so each time is used twice.
	options [3]trace.SpanStartOption
	ending  [1]trace.SpanEndOption
	attrs   [2]attribute.KeyValue
	stamp   trace.SpanEventOption
	stampAt int64
}

func newTimeline(t *Tracer, p semconv.Process, ctx context.Context, span trace.Span, base, start time.Time, handed trace.SpanContext) *timeline {
	tl := &timeline{tracer: t, process: p, ctx: ctx, span: span, base: base, baseNano: base.UnixNano(), handed: handed}
	tl.start = tl.nanos(start)
	tl.options[0] = internalKind
	return tl
}

// unlock releases mu, and then reports what was found while it was held.
func (tl *timeline) unlock() {
	found := tl.problems
	tl.problems = nil
	tl.mu.Unlock()
	tl.tracer.report(found...)
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
	if p, bad := tl.tracer.misplaced(s, tl.process); bad {
		tl.misuse(p)
	}
	n := tl.free
	if n != nil && len(tl.open) > 0 {
		tl.free = nil
		*n = stage{}
	} else {
		n = &stage{}
	}
	n.what, n.start, n.depth = s, start, len(tl.open)
	if n.depth > 0 {
		n.parent = tl.open[n.depth-1]
	} else {
		n.prev = tl.last
	}
	return n
}

func (tl *timeline) startStage(s Stage, at time.Time) {
	if !tl.usable(s) {
		return
	}
	if !given(at) {
		tl.misuse(misuse(misuseStageTime, "stage %v was started without a time; it is left out", s))
		return
	}
	tl.open = append(tl.open, tl.newStage(s, tl.nanos(at)))
}

func (tl *timeline) endStage(s Stage, at time.Time) {
	if !tl.usable(s) {
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
	tl.open[len(tl.open)-1] = nil
	tl.open = tl.open[:len(tl.open)-1]
	top.end = end
	tl.hold(top)
}

func (tl *timeline) recordStage(s Stage, start, end time.Time) {
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
	n := tl.newStage(s, from)
	if s.number() == DecodeForward {
		n.toldEnd = to
		tl.open = append(tl.open, n)
		return
	}
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
		tl.free = out
	}
}

// export writes a stage that has ended, with its events.
func (tl *timeline) export(n *stage) {
	tl.begin(n)
	tl.release(n)
	tl.ending[0] = tl.timestamp(n.end)
	n.span.End(tl.ending[:]...)
}

func (tl *timeline) timestamp(at int64) trace.SpanEventOption {
	if tl.stamp == nil || tl.stampAt != at {
		tl.stamp, tl.stampAt = trace.WithTimestamp(time.Unix(0, at)), at
	}
	return tl.stamp
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
	options := append(tl.options[:1], tl.timestamp(n.start))
	if link.IsValid() {
		options = append(options, trace.WithLinks(trace.Link{SpanContext: link}))
	}
	n.ctx, n.span = tl.tracer.tracer.Start(ctx, stageTable[n.what.number()].name, options...)
	if a := n.what.appendAttributes(tl.attrs[:0]); len(a) > 0 {
		n.span.SetAttributes(a...)
	}
}

// handingOver returns the stage that a hand-over names.
func (tl *timeline) handingOver() trace.SpanContext {
	n := tl.last
	if len(tl.open) > 0 {
		n = tl.open[0]
	}
	if n == nil {
		return tl.handed
	}
	tl.begin(n)
	return n.span.SpanContext()
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
		tl.events[i].addTo(tl.span)
	}
	if tl.last != nil {
		// Kept for the hand-over, but not what it would keep alive.
		tl.handed, tl.last = tl.last.span.SpanContext(), nil
	}
	tl.held, tl.events, tl.free, tl.open = nil, nil, nil, nil
	if why != nil {
		a := why.attributes()
		tl.span.SetAttributes(a...)
		tl.span.SetStatus(codes.Error, boundedtext.Cut(cmp.Or(why.Message, why.Reason, why.Type, "the request was aborted"), maxName))
	}
	tl.span.End(tl.timestamp(end))
}

// recordEvent lets an event wait for its stage. If there are too many, the one
// with the oldest time is written where it belongs as far as is known.
func (tl *timeline) recordEvent(e event, at time.Time) {
	if tl.ended {
		tl.misuse(misuse(misuseThreadEnded, "an event was told to a thread that had ended; it is left out"))
		return
	}
	if !given(at) {
		tl.misuse(misuse(misuseEventTime, "an event was told without a time; it is left out"))
		return
	}
	e.at = tl.nanos(at)
	if e.at < tl.sentEnd {
		tl.misuse(misuse(misuseEventLate, "an event was told after %d later stages had ended; its stage may have been exported without it", maxHeldStages))
	}
	if e.at < tl.heldEnd {
		for i := range tl.held {
			if n := tl.held[(tl.oldest+i)%len(tl.held)]; n.covers(e.at) && n.before(e.owner) {
				e.owner = n
			}
		}
	}
	if len(tl.events)-tl.waiting == maxHeldEvents {
		tl.settleOldest()
	}
	if len(tl.events) == cap(tl.events) && tl.waiting > 0 {
		n := copy(tl.events, tl.events[tl.waiting:])
		clear(tl.events[n:])
		tl.events, tl.waiting = tl.events[:n], 0
	}
	tl.events = append(tl.events, e)
	for i := len(tl.events) - 1; i > tl.waiting && tl.events[i-1].at > e.at; i-- {
		tl.events[i-1], tl.events[i] = tl.events[i], tl.events[i-1]
	}
}

func (tl *timeline) settleOldest() {
	e := &tl.events[tl.waiting]
	span := tl.span
	if e.owner == nil {
		tl.misuse(misuse(misuseEventOverflow, "more than %d events wait for stages of a thread; the oldest are written to the stages that are open", maxHeldEvents))
		for i := len(tl.open) - 1; i >= 0; i-- {
			if tl.open[i].start <= e.at {
				tl.begin(tl.open[i])
				span = tl.open[i].span
				break
			}
		}
	} else {
		tl.begin(e.owner)
		span = e.owner.span
	}
	e.addTo(span)
	*e = event{}
	tl.waiting++
}

func (n *stage) covers(at int64) bool { return n.start <= at && at < n.end }

// before reports whether n is the better home than o for an event that both
// cover: the deeper, then the one that started later, then the one that ended
// earlier, then the one that is there already.
func (n *stage) before(o *stage) bool {
	switch {
	case o == nil || n.depth != o.depth:
		return o == nil || n.depth > o.depth
	case n.start != o.start:
		return n.start > o.start
	}
	return n.end < o.end
}

// covered returns the range of the events in the interval of n.
func (tl *timeline) covered(n *stage) (from, to int) {
	w := tl.events[tl.waiting:]
	if len(w) == 0 || w[len(w)-1].at < n.start {
		return len(tl.events), len(tl.events) // nothing newer: the usual case
	}
	from = tl.waiting + sort.Search(len(w), func(i int) bool { return w[i].at >= n.start })
	for to = from; to < len(tl.events) && tl.events[to].at < n.end; to++ {
	}
	return from, to
}

// claim gives to a stage that has ended the events that belong to it as far as
// is known.
func (tl *timeline) claim(n *stage) {
	from, to := tl.covered(n)
	for i := from; i < to; i++ {
		if n.before(tl.events[i].owner) {
			tl.events[i].owner = n
		}
	}
}

// release writes the events of a stage to its span and forgets them.
func (tl *timeline) release(n *stage) {
	from, to := tl.covered(n)
	for i := from; i < to; i++ {
		if tl.events[i].owner == n {
			tl.events[i].addTo(n.span)
		}
	}
	// What stays is moved towards the newer end, since what is older is little.
	keep := to
	for i := to - 1; i >= from; i-- {
		if tl.events[i].owner != n {
			keep--
			tl.events[keep] = tl.events[i]
		}
	}
	gone := keep - from
	if gone == 0 {
		return
	}
	copy(tl.events[tl.waiting+gone:keep], tl.events[tl.waiting:from])
	clear(tl.events[tl.waiting : tl.waiting+gone])
	tl.waiting += gone
}
