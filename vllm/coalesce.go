package vllm

import (
	"fmt"
	"math"
	"slices"
	"sort"
)

// emitMerged hands over at most limit events, which is more than 0 and less than
// there are, by merging runs of DECODE events.
func (l *eventLog) emitMerged(r *RequestV1, s *scratch, limit int) {
	// Best are runs of iterations that told the same things of their tokens.
	joins := func(a, b *event) bool { return a.kind == eventDecode && b.kind == eventDecode && a.has == b.has }
	others, runs := l.runs(joins)
	if others+len(runs) > limit {
		joins = func(a, b *event) bool { return a.kind == eventDecode && b.kind == eventDecode }
		others, runs = l.runs(joins)
	}
	size := slices.Max(append(runs, 1)) // iterations in a merged event
	if others+len(runs) <= limit {
		// The smallest size that fits keeps the most of the course of time.
		size = 1 + sort.Search(size-1, func(i int) bool {
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
		} else {
			for n < size && i+n < len(l.events) && joins(&l.events[i+n-1], &l.events[i+n]) {
				n++
			}
		}
		run := l.events[i : i+n]
		l.emit(r, s, run)
		if n > 1 && slices.ContainsFunc(run, func(ev event) bool { return ev.kind != eventDecode }) {
			r.engine.misuse.Report(misuseEventsMerged, func() error {
				return fmt.Errorf("vllm: a request has %d events besides DECODE, which do not fit in %d: the last one takes the tokens of those that follow; raise %s", others, limit, envEventLimit)
			})
		}
		i += n
	}
}

// runs returns the lengths of the runs of DECODE events, and how many other events
// there are.
func (l *eventLog) runs(joins func(a, b *event) bool) (others int, runs []int) {
	for i := range l.events {
		switch {
		case l.events[i].kind != eventDecode:
			others++
		case i > 0 && joins(&l.events[i-1], &l.events[i]):
			runs[len(runs)-1]++
		default:
			runs = append(runs, 1)
		}
	}
	return others, runs
}

// told returns how many tokens an event has, and whether that was told.
func (ev *event) told() (n int, ok bool) {
	if ev.has&hasCount != 0 {
		return ev.count, true
	}
	n = int(max(ev.ids.to-ev.ids.from, ev.texts.to-ev.texts.from, ev.logProbs.to-ev.logProbs.from))
	return n, ev.has != 0
}

// common returns which of its attributes the event for a run has, so that all of
// them tell of the same tokens: those that every iteration of the run has, and the
// count where each iteration has one or has tokens to count. Where there is no such
// list the event has the ids of those that have any, else their texts, else their
// log probabilities, and no count.
func common(run []event) (has tokenFields, count int) {
	if len(run) == 1 {
		return run[0].has, run[0].count
	}
	every, some := hasIDs|hasTexts|hasLogProbs, tokenFields(0)
	known := true
	for i := range run {
		if ev := &run[i]; ev.isIteration() {
			every &= ev.has
			some |= ev.has
			n, ok := ev.told()
			known = known && ok
			count = plus(count, n, math.MaxInt)
		}
	}
	if has = every & some; has == 0 {
		for _, list := range []tokenFields{hasIDs, hasTexts, hasLogProbs} {
			if some&list != 0 {
				return list, 0
			}
		}
	}
	if known && some&hasCount != 0 {
		has |= hasCount
	}
	return has, count
}
