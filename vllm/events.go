package vllm

import (
	"fmt"
	"slices"
	"sort"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/infertel/infertel-go/internal/boundedtext"
	"github.com/infertel/infertel-go/semconv"
)

// eventKind is a kind of event on llm_request.
type eventKind uint8

const (
	eventWait eventKind = iota
	eventPrefill
	eventDecode
	eventPreempted
)

func (k eventKind) String() string {
	switch k {
	case eventWait:
		return semconv.EventWait
	case eventPrefill:
		return semconv.EventPrefill
	case eventDecode:
		return semconv.EventDecode
	}
	return semconv.EventPreempted
}

// reorderWindow is the number of events that are held back, so that they can be
// put in the order of their times, where they are not coalesced. Half of them go
// to the span when there are that many, which bounds the memory of a request.
const reorderWindow = 256

// event is one event of a log. Its tokens lie in the slices of the log.
type event struct {
	at       time.Time
	kind     eventKind
	has      tokenFields
	count    int
	ids      extent
	texts    extent
	logProbs extent
}

// extent is a part of a slice.
type extent struct{ from, to int32 }

// tokenFields says which of the token attributes were given.
type tokenFields uint8

const (
	hasIDs tokenFields = 1 << iota
	hasTexts
	hasCount
	hasLogProbs
)

// eventLog gathers the events of one request.
type eventLog struct {
	events   []event
	ids      []int
	texts    []string
	logProbs []float64
	total    int  // events so far, with those that the span has
	shuffled bool // the events are not in the order of their times
}

func (e *engine) newEventLog() *eventLog {
	return e.logs.Get().(*eventLog)
}

// free gives the log back. Its texts are cleared, since they hold on to memory of
// the caller's.
func (l *eventLog) free(e *engine) {
	clear(l.texts)
	if cap(l.events) > reorderWindow || cap(l.ids) > 16*reorderWindow || cap(l.texts) > 16*reorderWindow || cap(l.logProbs) > 16*reorderWindow {
		return // one long request must not keep its memory for ever
	}
	l.reset()
	l.total = 0
	e.logs.Put(l)
}

func (l *eventLog) reset() {
	l.events, l.ids, l.texts, l.logProbs, l.shuffled = l.events[:0], l.ids[:0], l.texts[:0], l.logProbs[:0], false
}

// add takes an event. Where the span keeps the newest ones anyway, the oldest of
// many are handed over already.
func (l *eventLog) add(e *EngineV1, span trace.Span, k eventKind, at time.Time, it *Iteration) {
	if n := len(l.events); n > 0 && at.Before(l.events[n-1].at) {
		l.shuffled = true
	}
	ev := event{at: at, kind: k}
	if it.TokenIDs != nil {
		ev.has |= hasIDs
		ev.ids = put(&l.ids, it.TokenIDs)
	}
	if it.TokenTexts != nil {
		ev.has |= hasTexts
		ev.texts = put(&l.texts, it.TokenTexts)
		for i, text := range l.texts[ev.texts.from:] {
			l.texts[int(ev.texts.from)+i] = boundedtext.Valid(text)
		}
	}
	if it.TokenCount != nil {
		ev.has |= hasCount
		ev.count = *it.TokenCount
	}
	if it.LogProbs != nil {
		ev.has |= hasLogProbs
		ev.logProbs = put(&l.logProbs, it.LogProbs)
	}
	l.events = append(l.events, ev)
	l.total++
	if !e.coalesce && len(l.events) == reorderWindow {
		s := e.scratch.Get().(*scratch)
		l.sort()
		l.emitEach(e, span, s, reorderWindow/2)
		e.scratch.Put(s)
		l.drop(reorderWindow / 2)
	}
}

func put[T any](to *[]T, from []T) extent {
	start := len(*to)
	*to = append(*to, from...)
	return extent{int32(start), int32(len(*to))}
}

func (l *eventLog) sort() {
	if l.shuffled {
		slices.SortStableFunc(l.events, func(a, b event) int { return a.at.Compare(b.at) })
	}
}

// drop forgets the first n events.
func (l *eventLog) drop(n int) {
	kept := eventLog{events: l.events[:0], total: l.total}
	for _, ev := range l.events[n:] {
		ev.ids = put(&kept.ids, l.ids[ev.ids.from:ev.ids.to])
		ev.texts = put(&kept.texts, l.texts[ev.texts.from:ev.texts.to])
		ev.logProbs = put(&kept.logProbs, l.logProbs[ev.logProbs.from:ev.logProbs.to])
		kept.events = append(kept.events, ev)
	}
	*l = kept
}

// finish hands the events that are left to the span.
func (l *eventLog) finish(e *EngineV1, span trace.Span, s *scratch) {
	l.sort()
	limit := e.eventLimit
	switch {
	case limit < 0 || l.total <= limit:
		l.emitEach(e, span, s, len(l.events))
	case e.coalesce:
		l.emitMerged(e, span, s, limit)
	default:
		l.emitEach(e, span, s, len(l.events))
		e.misuse.Report(misuseEventsDropped, func() error {
			return fmt.Errorf("vllm: a request has %d events, of which the span keeps the newest %d: raise %s, or use WithEventCoalescing", l.total, limit, envEventLimit)
		})
	}
	l.free(&e.engine)
}

// emitEach hands over the first n events, each by itself.
func (l *eventLog) emitEach(e *EngineV1, span trace.Span, s *scratch, n int) {
	for i := range n {
		l.emit(e, span, s, l.events[i:i+1])
	}
}

// emit hands over one event that stands for a run of them. It has the name and
// the time of the first that carries tokens, else of the first.
func (l *eventLog) emit(e *EngineV1, span trace.Span, s *scratch, run []event) {
	first := 0
	if len(run) > 1 {
		first = max(slices.IndexFunc(run, func(ev event) bool { return ev.kind == eventPrefill || ev.kind == eventDecode }), 0)
	}
	var has tokenFields
	count := 0
	for i := range run {
		has |= run[i].has
		count += run[i].count
	}
	a := append(s.attrs[:0], semconv.GenAIEngineIndex(e.index))
	if has&hasIDs != 0 {
		a = append(a, semconv.GenAITokenIDs(gather(l, l.ids, run, func(ev *event) extent { return ev.ids })...))
	}
	if has&hasTexts != 0 {
		a = append(a, semconv.GenAITokenTexts(gather(l, l.texts, run, func(ev *event) extent { return ev.texts })...))
	}
	if has&hasCount != 0 {
		a = append(a, semconv.GenAITokenCount(count))
	}
	if has&hasLogProbs != 0 {
		a = append(a, semconv.GenAITokenLogProbs(gather(l, l.logProbs, run, func(ev *event) extent { return ev.logProbs })...))
	}
	s.attrs = a
	s.events = [2]trace.EventOption{s.timestamp(run[first].at), trace.WithAttributes(a...)}
	span.AddEvent(run[first].kind.String(), s.events[:]...)
}

// gather returns the tokens of a run of events. They lie side by side unless the
// events were put in order.
func gather[T any](l *eventLog, all []T, run []event, of func(*event) extent) []T {
	if !l.shuffled || len(run) == 1 {
		first, last := -1, 0
		for i := range run {
			if x := of(&run[i]); x.to > x.from {
				if first < 0 {
					first = int(x.from)
				}
				last = int(x.to)
			}
		}
		if first < 0 {
			return all[:0]
		}
		return all[first:last]
	}
	var out []T
	for i := range run {
		x := of(&run[i])
		out = append(out, all[x.from:x.to]...)
	}
	return out
}

// emitMerged hands over at most limit events, which is more than 0 and less than
// there are, by merging runs of DECODE events.
func (l *eventLog) emitMerged(e *EngineV1, span trace.Span, s *scratch, limit int) {
	others, longest := 0, 0
	var runs []int // lengths of the runs of DECODE events
	for i := range l.events {
		switch {
		case l.events[i].kind != eventDecode:
			others++
		case i > 0 && l.events[i-1].kind == eventDecode:
			runs[len(runs)-1]++
		default:
			runs = append(runs, 1)
		}
		if len(runs) > 0 {
			longest = max(longest, runs[len(runs)-1])
		}
	}
	size := max(longest, 1) // iterations in a merged event
	if others+len(runs) <= limit {
		// The smallest size that fits keeps the most of the course of time.
		size = 1 + sort.Search(longest-1, func(i int) bool {
			need := others
			for _, n := range runs {
				need += (n + i) / (i + 1)
			}
			return need <= limit
		})
	}
	emitted := 0
	for i := 0; i < len(l.events); emitted++ {
		n := 1
		if emitted == limit-1 {
			n = len(l.events) - i // the last one takes what is left
		} else if l.events[i].kind == eventDecode {
			for n < size && i+n < len(l.events) && l.events[i+n].kind == eventDecode {
				n++
			}
		}
		run := l.events[i : i+n]
		l.emit(e, span, s, run)
		if n > 1 && slices.ContainsFunc(run, func(ev event) bool { return ev.kind != eventDecode }) {
			e.misuse.Report(misuseEventsMerged, func() error {
				return fmt.Errorf("vllm: a request has %d events besides DECODE, which do not fit in %d: the last one takes the tokens of those that follow; raise %s", others, limit, envEventLimit)
			})
		}
		i += n
	}
}
