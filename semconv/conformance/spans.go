package conformance

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/infertel/infertel-go/semconv"
)

// checker judges one batch of telemetry.
type checker struct {
	config
	types      map[string]*semconv.SpanType
	stages     map[string]*semconv.StageType
	threadName *regexp.Regexp
	spans      []*span
	byID       map[spanKey]*span
	covered    map[*span]coverage // by thread
	found      []Violation
}

func newChecker(opts []Option) *checker {
	c := &checker{
		config: newConfig(opts), threadName: regexp.MustCompile(threadNamePattern),
		types: map[string]*semconv.SpanType{}, stages: map[string]*semconv.StageType{}, byID: map[spanKey]*span{}, covered: map[*span]coverage{},
	}
	types := semconv.Spans()
	for i := range types {
		c.types[types[i].ID] = &types[i]
	}
	stages := semconv.Stages()
	for i := range stages {
		c.stages[stages[i].Name] = &stages[i]
	}
	return c
}

// add takes a span in. A span that was delivered twice, as exporters that retry
// may do, is one span.
func (c *checker) add(s *span) {
	k := spanKey{s.trace, s.id}
	if c.byID[k] != nil {
		return
	}
	c.byID[k] = s
	c.spans = append(c.spans, s)
}

func (c *checker) checkSpans() []Violation {
	slices.SortStableFunc(c.spans, func(a, b *span) int {
		return cmp.Or(slices.Compare(a.trace[:], b.trace[:]), cmp.Compare(a.start, b.start), slices.Compare(a.id[:], b.id[:]))
	})
	for _, s := range c.spans {
		if s.parentID.IsValid() && s.parentID != s.id {
			if s.parent = c.byID[spanKey{s.trace, s.parentID}]; s.parent != nil {
				s.parent.children = append(s.parent.children, s)
			}
		}
	}
	for _, s := range c.spans {
		c.settle(s)
	}
	c.tally.Spans += len(c.spans)
	for _, s := range c.spans {
		if s.judged {
			c.tally.SpansJudged++
		}
		switch {
		case !s.judged:
		case s.typ == nil:
			c.report(s, RuleSpanUndocumented, "", quoted(s.name), "the name of a documented span")
		default:
			c.checkSpan(s)
		}
	}
	return inOrder(c.found)
}

func (c *checker) report(s *span, rule Rule, field, got, want string) {
	c.found = append(c.found, Violation{
		Rule: rule, Signal: SignalSpan, Name: s.name, TraceID: hexID(s.trace[:]), SpanID: hexID(s.id[:]),
		Field: field, Got: got, Want: want, Source: s.source(), start: s.start,
	})
}

func (c *checker) checkSpan(s *span) {
	if s.kind != trace.SpanKindInternal {
		c.report(s, RuleSpanKind, "", strings.ToUpper(s.kind.String()), "INTERNAL")
	}
	c.checkName(s)
	c.checkTimes(s)
	c.checkStatus(s)
	c.checkAttributes(s)
	c.checkConsistency(s)
	c.checkLatencies(s)
	c.checkParent(s)
	c.checkContainment(s)
	c.checkEvents(s)
	switch s.typ.ID {
	case idThread:
		c.checkThread(s)
	case idV0, idV1, idWait, idKVTransfer, idPrefill, idDecode:
		c.checkGranularity(s)
		c.checkPDRole(s)
	}
	c.checkLevel(s)
	c.checkStage(s)
	c.checkNoLinks(s)
}

func (c *checker) checkTimes(s *span) {
	switch {
	case s.start <= 0:
		c.report(s, RuleSpanTime, "", "no start", "a start")
	case s.end <= 0:
		c.report(s, RuleSpanTime, "", "no end", "a span that has ended")
	case s.end < s.start:
		c.report(s, RuleSpanTime, "", "a length of "+s.length().String(), "an end that is not before the start")
	}
}

func (c *checker) checkStatus(s *span) {
	got := strings.ToUpper(s.status.String())
	switch {
	case s.status == codes.Ok:
		c.report(s, RuleSpanStatus, "", got, "UNSET or ERROR")
	case s.is(idVLLMEntry) || s.is(idSGLangEntry):
		if s.status == codes.Error {
			if s.description == "" {
				c.report(s, RuleSpanStatus, "", "ERROR without a description", "ERROR with a description")
			}
		} else if v, ok := get(s.attributes, semconv.GenAIResponseFinishReasonsKey); ok && slices.Contains(v.AsStringSlice(), "abort") {
			c.report(s, RuleSpanStatus, "", got, "ERROR, since a finish reason is abort")
		}
	case s.status == codes.Error && !s.is(idThread) && !s.is(idV0) && !s.is(idV1):
		c.report(s, RuleSpanStatus, "", got, "UNSET")
	}
}

// aborted reports whether the request of an SGLang request span was aborted, as
// far as the threads that are given show.
func (s *span) aborted() bool {
	return slices.ContainsFunc(s.children, func(t *span) bool { return t.is(idThread) && t.status == codes.Error })
}

// endedNormally reports whether a request span has attributes that only a normal
// end gives it.
func (s *span) endedNormally() bool {
	return slices.ContainsFunc(s.typ.Attributes, func(a semconv.AttributeSpec) bool {
		return strings.HasPrefix(a.When, "ended normally") && s.has(a.Key)
	})
}

// firstLevel reports whether a stage belongs to its thread and not to another
// stage.
func (s *span) firstLevel() bool { return s.stage != nil && s.parent.is(idThread) }

// thread returns the thread span that a stage is in, or nil.
func (s *span) thread() *span {
	for n := 0; s != nil && n < maxDepth; n++ {
		if s.is(idThread) {
			return s
		}
		s = s.parent
	}
	return nil
}

// maxDepth bounds walks towards the root: ids from outside may go in a circle.
const maxDepth = 64
