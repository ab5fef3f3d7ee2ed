package sglang

import (
	"sort"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/infertel/infertel-go/semconv"
)

// event is an event that waits for its stage.
type event struct {
	at      int64 // Unix nanoseconds
	batch   Batch
	retract bool
	owner   *stage // the best of the stages that have ended so far
}

// recordEvent lets an event wait for its stage. If there are too many, the one
// with the oldest time is written where it belongs as far as is known.
func (tl *timeline) recordEvent(e event, at time.Time) {
	tl.mu.Lock()
	defer tl.unlock()
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
	tl.write(e, span)
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
			tl.write(&tl.events[i], n.span)
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

// envEventLimit is where the SDK's limit comes from, unless the code that made
// the provider sets one.
const envEventLimit = "OTEL_SPAN_EVENT_COUNT_LIMIT"

// dropper is a span of the SDK, which knows its limits better than anything else.
type dropper interface{ DroppedEvents() int }

// write adds an event to a span. The SDK says nothing when it drops the oldest
// event of a span that is full.
func (tl *timeline) write(e *event, span trace.Span) {
	o := &tl.options
	o.event[0] = tl.timestamp(e.at)
	if e.retract {
		span.AddEvent(semconv.EventRetract, o.event[:1]...)
	} else {
		n := e.batch.put(&o.batch)
		o.event[1] = o.batchOption[n-2]
		span.AddEvent(semconv.EventSchedule, o.event[:]...)
	}
	if tl.dropped {
		return
	}
	if d, ok := span.(dropper); ok && d.DroppedEvents() > 0 {
		tl.dropped = true
		tl.misuse(misuse(misuseEventsDropped, "a span has more events than it keeps, the oldest are dropped: raise %s", envEventLimit))
	}
}
