package sglang

import (
	"strconv"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/infertel/infertel-go/internal/boundedtext"
	"github.com/infertel/infertel-go/semconv"
)

// Thread describes a process or thread that takes part in a request. Source:
// sglang.thread.
type Thread struct {
	// Label is the attribute thread_label, in the span name too. The prefix of the
	// node's own PD role may be there already, as in the engine's labels. A label
	// that is not documented is recorded and reported once.
	Label ThreadLabel
	// HostID is the attribute host_id; its first 8 characters stand in the span
	// name. Default: that of the engine, see [WithHostID].
	HostID string
	// PID is the attribute pid, in the span name too. Default, for 0: the number of
	// the operating system's thread that calls StartThread on Linux, elsewhere the
	// number of the process.
	PID int
	// TPRank, PPRank and DPRank are the ranks in tensor, pipeline and data
	// parallelism: the attributes tp_rank, pp_rank and dp_rank, in the span name
	// too. Nil: there is none.
	TPRank, PPRank, DPRank *int
	// From is what the thread that handed the request over gave, where both are
	// threads of the same RequestSpan: the first stage of this thread links to the
	// stage it names. A request from [Engine.Resume] knows it already. What a
	// thread of another request gave is left out, and reported once.
	From Handover
}

// ThreadSpan is the part of one thread in a request: the thread span and the
// stages in it. Make it with [RequestSpan.StartThread].
//
// A stage belongs to the stage that is open when it is recorded, else to the
// thread. A stage that the trace level leaves out is not there at all: what
// would be nested in it belongs to the stage around it. The stages that belong
// to the thread, its first level, are linked: each to the one that ended before
// it, the first one to the stage that handed the request over.
//
// Stages and events reach the exporter late, because an event belongs to the
// stage whose interval covers it, and either of them may be told first. A thread
// holds back the last 128 stages that have ended; when there are more, and when
// the thread ends, the oldest is exported together with its events. An event that
// is told later still goes to the deepest stage around it that is left, which is
// reported once. At most 256 events wait; beyond that the oldest go where they
// belong as far as is known. At most 128 stages can be open within each other;
// one that starts within them is left out, and so is its end. A span that gets
// more events than the SDK keeps loses the oldest, which is reported once.
//
// The methods are safe for concurrent use, on a nil *ThreadSpan, and after the
// end, when they change nothing. They neither block nor panic; what is out of
// order is put right as documented and reported once for each kind and Engine
// through [otel.Handle]. For a stage or event above the
// request's trace level, and for a request that is not recorded, they return at
// once without an allocation.
type ThreadSpan struct {
	req   *RequestSpan
	tl    *timeline // nil: nothing is recorded
	level Level
}

// StartThread starts the thread that c describes at the given time. The caller
// must end it with [ThreadSpan.End] or [ThreadSpan.Abort]; the trace level makes
// no difference to that. A time that is missing, or cannot be one, means the
// request's start and is reported once. On a resumed request, whose start is not
// known here, a zero time means now, and with another that cannot be one the
// thread is not recorded. At most 1024 threads of a request are open at a time;
// more are not recorded, reported once. Source: sglang.thread.
func (r *RequestSpan) StartThread(c Thread, at time.Time) *ThreadSpan {
	if r == nil {
		return nil
	}
	if r.level <= LevelOff {
		return &r.inert
	}
	if c.Label = r.engine.bareLabel(c.Label); c.Label.process() == "" {
		r.engine.report(misuse(misuseUnknownLabel, "thread label is %q, want Tokenizer, MultiTokenizer-n, DP Controller or Scheduler", string(c.Label)))
	}
	if !given(at) {
		switch {
		case !r.resumed:
			r.engine.report(misuse(misuseThreadTime, "a thread was started without a time; taking the request's start"))
			at = r.start
		case at.IsZero():
			r.engine.report(misuse(misuseThreadTime, "a thread was started without a time; taking now"))
			at = time.Now()
		default:
			r.engine.report(misuse(misuseThreadTime, "a thread was started at %v, which cannot be; it is not recorded", at))
			return &r.inert
		}
	}
	if c.From.request != nil && c.From.stage.IsValid() && !r.handover.sameRequest(&c.From) {
		r.engine.report(misuse(misuseForeignHandover, "a thread was handed over by one of another request; the link is left out"))
		c.From = Handover{}
	}
	t, why := r.add(func() *ThreadSpan { return r.startThread(&c, at) })
	if t == nil {
		r.engine.report(why)
		return &r.inert
	}
	return t
}

func (r *RequestSpan) startThread(c *Thread, at time.Time) *ThreadSpan {
	tr := r.engine
	base := r.start
	if r.resumed {
		base = at
	}
	label := string(c.Label)
	if label == "" {
		label = "unknown"
	}
	label = tr.fullLabel(boundedtext.Cut(label, maxLabel))
	host := boundedtext.Cut(c.HostID, boundedtext.MaxName)
	if host == "" {
		host = tr.hostID()
	}
	pid := c.PID
	if pid <= 0 {
		pid = threadID()
	}
	ctx, span := tr.tracer.Start(r.ctx, threadName(label, host, pid, c, tr.nativeNames),
		trace.WithTimestamp(base.Add(at.Sub(base))))
	if !span.IsRecording() {
		return &r.inert
	}
	a := append(make([]attribute.KeyValue, 0, 6), semconv.HostID(host), semconv.PID(pid), semconv.ThreadLabel(label))
	if c.TPRank != nil {
		a = append(a, semconv.TPRank(*c.TPRank))
	}
	if c.PPRank != nil {
		a = append(a, semconv.PPRank(*c.PPRank))
	}
	if c.DPRank != nil {
		a = append(a, semconv.DPRank(*c.DPRank))
	}
	span.SetAttributes(a...)

	handed := c.From.link()
	if !handed.IsValid() {
		handed = r.from
	}
	t := &ThreadSpan{req: r, level: r.level}
	t.tl = newTimeline(tr, c.Label.process(), ctx, span, base, at, handed)
	return t
}

// threadName builds {label} [TP n] [PP n] [DP n] (host:{host} | pid:{pid}). The
// engine puts a space before and after each rank and none between label and
// bracket.
func threadName(label, host string, pid int, c *Thread, native bool) string {
	var buf [128]byte
	b := append(buf[:0], label...)
	for _, r := range [...]struct {
		name string
		rank *int
	}{{" [TP ", c.TPRank}, {" [PP ", c.PPRank}, {" [DP ", c.DPRank}} {
		if r.rank == nil {
			continue
		}
		b = append(b, r.name...)
		b = strconv.AppendInt(b, int64(*r.rank), 10)
		b = append(b, ']')
		if native {
			b = append(b, ' ')
		}
	}
	if !native {
		b = append(b, ' ')
	}
	b = append(b, "(host:"...)
	b = append(b, firstCharacters(host, 8)...)
	b = append(b, " | pid:"...)
	b = strconv.AppendInt(b, int64(pid), 10)
	b = append(b, ')')
	return string(b)
}

// off reports whether nothing is recorded. The methods below that ask it first are
// so small that they become part of their callers, where such a call then costs
// next to nothing.
func (t *ThreadSpan) off() bool { return t == nil || t.tl == nil }

// StartStage opens a stage at the given time. Until it ends, the stages recorded
// in this thread are nested in it. Without a time the stage is left out, and
// reported once. Source: sglang.stage.
func (t *ThreadSpan) StartStage(s Stage, at time.Time) {
	if !t.off() {
		t.startStage(s, at)
	}
}

func (t *ThreadSpan) startStage(s Stage, at time.Time) {
	if s.Level() <= t.level {
		t.tl.startStage(s, at)
	}
}

// EndStage closes, at the given time, the innermost open stage that is s but for
// its value; a value that s has replaces the one that the stage was started
// with. Open stages within it are ended first, at the same time, and reported
// once. An end that is missing, or lies before the start, leaves a stage
// without length, reported once. If no such stage is open nothing changes, and
// that is reported once. [DecodeForward] stays open until its thread ends.
func (t *ThreadSpan) EndStage(s Stage, at time.Time) {
	if !t.off() {
		t.endStage(s, at)
	}
}

func (t *ThreadSpan) endStage(s Stage, at time.Time) {
	if s.Level() <= t.level {
		t.tl.endStage(s, at)
	}
}

// RecordStage records a stage after the fact, when both its ends are known. It is
// nested in the stage that is open now, whatever the times are. A stage whose
// start or end is missing, or whose end lies before its start, is left out and
// reported once. [DecodeForward] is opened and stays open until its thread ends.
func (t *ThreadSpan) RecordStage(s Stage, start, end time.Time) {
	if !t.off() {
		t.recordStage(s, start, end)
	}
}

func (t *ThreadSpan) recordStage(s Stage, start, end time.Time) {
	if s.Level() <= t.level {
		t.tl.recordStage(s, start, end)
	}
}

// Handover returns what the next thread needs to continue the request: send it
// with [Handover.Inject] and read it with [ExtractHandover] in another process,
// or pass it as [Thread.From] in this one. It names the first-level stage that is
// open, such as [APIServerDispatch], else the one that ended last, also after
// the thread's end, else the stage that handed the request to this thread.
func (t *ThreadSpan) Handover() Handover {
	if t == nil || t.req == nil {
		// Telemetry is off here, so it is off for the whole request.
		return Handover{level: LevelOff, leveled: true}
	}
	if t.tl == nil {
		return t.req.handover
	}
	h := t.req.handover
	h.stage = t.tl.handingOver()
	return h
}

// End ends the thread at the given time, and with it the stages that are open:
// [DecodeForward] as documented, others reported once.
func (t *ThreadSpan) End(at time.Time) { t.end(at, nil) }

// Abort ends the thread at the given time because its request was aborted: the
// thread span gets the status ERROR and the attributes of why. The stages that
// are open end too. Source: sglang.thread.
func (t *ThreadSpan) Abort(why AbortReason, at time.Time) { t.end(at, &why) }

func (t *ThreadSpan) end(at time.Time, why *AbortReason) {
	if t == nil || t.tl == nil {
		return
	}
	t.tl.end(at, why, true)
	t.req.remove(t)
}
