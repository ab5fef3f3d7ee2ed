package conformance

import (
	"fmt"
	"slices"
)

// checkNoLinks judges spans that are no first-level stage. An API layer that does
// not trust its callers starts a trace and links to the caller's span.
func (c *checker) checkNoLinks(s *span) {
	switch {
	case len(s.links) == 0, s.firstLevel():
		return
	case s.stage != nil && s.parent == nil && s.parentID.IsValid():
		return // of which level it is, only the parent tells
	case (s.is(idVLLMEntry) || s.is(idSGLangEntry)) && !s.parentID.IsValid() && len(s.links) == 1:
		return
	}
	c.report(s, RuleLinkForbidden, "", linkCount(len(s.links)), "no link on this span")
}

func linkCount(n int) string {
	if n == 1 {
		return "1 link"
	}
	return fmt.Sprintf("%d links", n)
}

// checkFirstLevel judges the links of the first-level stages of a thread, which
// make a chain.
func (c *checker) checkFirstLevel(thread *span) {
	var stages []*span // in the order of their starts
	for _, s := range thread.children {
		if s.stage != nil {
			stages = append(stages, s)
		}
	}
	if len(stages) == 0 {
		return
	}
	// The head is the first stage. Of several with one start it is the one that
	// does not continue the thread.
	head := stages[0]
	for _, s := range stages {
		if s.start == stages[0].start && !c.continues(s, thread) {
			head = s
			break
		}
	}
	ends := make([]*span, len(stages))
	copy(ends, stages)
	slices.SortStableFunc(ends, func(a, b *span) int { return compare(a.end, b.end) })
	for _, s := range stages {
		c.checkLink(s, thread, s == head, ends)
	}
}

// continues reports whether a stage links to one of its own thread.
func (c *checker) continues(s, thread *span) bool {
	return len(s.links) > 0 && thread == c.parentOf(s.links[0])
}

func (c *checker) parentOf(l spanKey) *span {
	if target := c.byID[l]; target != nil {
		return target.parent
	}
	return nil
}

func (c *checker) checkLink(s, thread *span, head bool, ends []*span) {
	want := "the first-level stage that ended last in the thread"
	if head {
		want = "a first-level stage of the thread that handed the request over"
	}
	wrong := func(got string) { c.report(s, RuleLinkTarget, "", got, want) }
	switch {
	case len(s.links) > 1:
		wrong(linkCount(len(s.links)))
		return
	case len(s.links) == 0:
		// The first thread of a request has nobody to link to, and what a
		// hand-over carried cannot be told.
		if !head {
			c.report(s, RuleLinkMissing, "", "no link", want)
		}
		return
	case s.links[0].trace != s.trace:
		wrong("a link to another trace")
		return
	}
	target := c.byID[s.links[0]]
	if target == nil {
		return // not given
	}
	switch {
	case target == s:
		wrong("a link to itself")
	case !target.firstLevel() && !(target.stage != nil && target.parent == nil):
		wrong("a link to " + quoted(target.name) + ", which is no first-level stage")
	case head && target.parent == thread:
		wrong("a link to " + quoted(target.name) + " of the same thread, whose first stage this is")
	case !head && target.parent != nil && target.parent != thread:
		wrong("a link to " + quoted(target.name) + " of another thread")
	case !head && target.parent == thread:
		if later := lastEnded(ends, s); later != nil && later != target && later.end > target.end {
			wrong("a link to " + quoted(target.name) + ", after which " + quoted(later.name) + " ended")
		} else if target.start >= s.end && s.end > s.start {
			wrong("a link to " + quoted(target.name) + ", which starts later")
		}
	}
}

// lastEnded returns the stage, other than s, that ended last before s started.
func lastEnded(ends []*span, s *span) *span {
	n, _ := slices.BinarySearchFunc(ends, s.start, func(e *span, start int64) int {
		if e.end <= start {
			return -1
		}
		return 1
	})
	for n--; n >= 0; n-- {
		if ends[n] != s {
			return ends[n]
		}
	}
	return nil
}
