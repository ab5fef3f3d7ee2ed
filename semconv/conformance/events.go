package conformance

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/infertel/infertel-go/semconv"
)

func compare(a, b int64) int { return cmp.Compare(a, b) }

// eventField is the start of Field for the event at a position.
func eventField(i int, e event) string { return fmt.Sprintf("event %d %s ", i, e.name) }

func (c *checker) checkEvents(s *span) {
	c.checkFirstWait(s)
	for i, e := range s.events {
		field := strings.TrimSpace(eventField(i, e))
		n := slices.IndexFunc(s.typ.Events, func(t semconv.EventType) bool { return t.Name == e.name })
		if n < 0 {
			c.report(s, RuleEventUndocumented, field, quoted(e.name), eventNames(s.typ.Events))
			continue
		}
		t := s.typ.Events[n]
		c.check(holder{
			attributes: e.attributes, specs: t.Attributes, prefix: field + " ", dropped: e.dropped,
			condition: func(a semconv.AttributeSpec) verdict { return c.condition(s, a) },
			report:    func(rule Rule, field, got, want string) { c.report(s, rule, field, got, want) },
		}, nil)
		if c.traceLevel != nil && t.Level > *c.traceLevel {
			c.report(s, RuleEventLevel, field, fmt.Sprintf("trace level %d", *c.traceLevel), fmt.Sprintf("%d or more for this event", t.Level))
		}
		if c.granularity != nil && t.Granularity > *c.granularity {
			c.report(s, RuleEventLevel, field, fmt.Sprintf("granularity %d", *c.granularity), fmt.Sprintf("%d or more for this event", t.Granularity))
		}
		if i > 0 && e.at < s.events[i-1].at {
			c.report(s, RuleEventOrder, field, nsDuration(s.events[i-1].at-e.at).String()+" before the event before it", "events in the order of their times")
		}
		c.checkPlacement(s, e, field)
		if e.name == semconv.EventPreempted && (i+1 == len(s.events) || s.events[i+1].name != semconv.EventWait) {
			c.report(s, RuleEventSequence, field, "no WAIT after it", "a WAIT after it")
		}
	}
}

// checkFirstWait judges the first event of a V1 request, as far as a limit has
// not dropped it.
func (c *checker) checkFirstWait(s *span) {
	waits := s.stages(idWait) // in the order of their starts
	if !s.is(idV1) || s.droppedEvents || len(s.events) == 0 || len(waits) == 0 {
		return
	}
	if e := s.events[0]; e.name != semconv.EventWait || e.at != waits[0].start {
		c.report(s, RuleEventSequence, strings.TrimSpace(eventField(0, e)), quoted(e.name)+" "+nsDuration(e.at-s.start).String()+" after the start",
			"a WAIT when the wait starts, "+nsDuration(waits[0].start-s.start).String()+" after the start")
	}
}

func eventNames(types []semconv.EventType) string {
	if len(types) == 0 {
		return "no events on this span"
	}
	var names []string
	for _, t := range types {
		names = append(names, t.Name)
	}
	return "one of " + strings.Join(names, ", ")
}

// checkPlacement judges whether an event is where its time puts it.
func (c *checker) checkPlacement(s *span, e event, field string) {
	if s.start <= 0 || s.end < s.start {
		return
	}
	at := nsDuration(e.at-s.start).String() + " after the start"
	if s.is(idV1) {
		if e.at < s.start || e.at > s.end {
			c.report(s, RuleEventPlacement, field, at, "a time within the span")
		}
		return
	}
	depth := -1 // of the thread itself, which holds what no stage covers
	if s.stage != nil {
		if e.at < s.start || e.at >= s.end {
			c.report(s, RuleEventPlacement, field, at, "a time from the start up to the end of the stage, which lasts "+nsDuration(s.end-s.start).String())
			return
		}
		depth = 0
		for p := s.parent; p != nil && p.stage != nil && depth < maxDepth; p = p.parent {
			depth++
		}
	}
	thread := s.thread()
	if thread == nil {
		return
	}
	if deepest := c.coverage(thread).deepest(e.at); deepest > depth {
		c.report(s, RuleEventPlacement, field, at, "a place on the deeper stage that covers that time")
	}
}

// coverage holds, for each depth, the intervals of the stages of a thread, in the
// order of their starts, and the latest end up to each.
type coverage [][]reach

type reach struct{ start, end int64 }

func (c *checker) coverage(thread *span) coverage {
	if cov, ok := c.covered[thread]; ok {
		return cov
	}
	var cov coverage
	thread.eachStage(func(s *span, depth int) {
		for len(cov) <= depth {
			cov = append(cov, nil)
		}
		if s.end > s.start {
			cov[depth] = append(cov[depth], reach{s.start, s.end})
		}
	})
	for _, level := range cov {
		slices.SortFunc(level, func(a, b reach) int { return compare(a.start, b.start) })
		for i := 1; i < len(level); i++ {
			level[i].end = max(level[i].end, level[i-1].end)
		}
	}
	c.covered[thread] = cov
	return cov
}

// deepest returns the depth of the deepest stage that covers a time, or -1.
func (cov coverage) deepest(at int64) int {
	for depth := len(cov) - 1; depth >= 0; depth-- {
		n, _ := slices.BinarySearchFunc(cov[depth], at, func(r reach, at int64) int {
			if r.start <= at {
				return -1
			}
			return 1
		})
		if n > 0 && cov[depth][n-1].end > at {
			return depth
		}
	}
	return -1
}
