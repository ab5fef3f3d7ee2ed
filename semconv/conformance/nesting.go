package conformance

import (
	"fmt"
	"slices"
	"strings"

	"github.com/infertel/infertel-go/semconv"
)

// checkParent judges what kind of span the parent is. Whether there is one that
// was not given cannot be told from one that is foreign, so neither is judged.
func (c *checker) checkParent(s *span) {
	var want []string
	switch s.typ.ID {
	case idWait, idPrefill, idDecode:
		want = []string{idV1}
	case idKVTransfer:
		want = []string{idWait}
	case idThread:
		want = []string{idRequest}
	case idStage:
		c.checkStageParent(s)
		return
	default: // entries and requests begin their part of the trace
		if s.parent != nil && s.parent.typ != nil && !s.parent.is(idVLLMEntry) && !s.parent.is(idSGLangEntry) {
			c.report(s, RuleSpanParent, "", s.parent.source(), "no span within an engine above it")
		}
		return
	}
	got := c.parentSource(s)
	if got != "" && !slices.Contains(want, got) {
		c.report(s, RuleSpanParent, "", got, strings.Join(want, " or "))
	}
}

// parentSource names the parent: its registry row, "a root" where there is no
// parent, "another span" where it is foreign, and nothing where it is not given.
func (c *checker) parentSource(s *span) string {
	switch {
	case !s.parentID.IsValid():
		return "no parent"
	case s.parent == nil:
		return ""
	case s.parent.typ == nil:
		return "another span, " + quoted(s.parent.name)
	}
	return s.parent.typ.ID
}

func (c *checker) checkStageParent(s *span) {
	got := c.parentSource(s)
	if got == "" {
		return
	}
	var want []string
	for _, name := range s.stage.NestedUnder {
		want = append(want, idStage+"."+name)
	}
	if len(want) == 0 {
		want = append(want, idThread)
		// A stage that closes with its thread is open for all that comes after it,
		// such as the second round of a request that was retracted.
		for _, st := range semconv.Stages() {
			if st.EndsWithThread {
				want = append(want, idStage+"."+st.Name)
			}
		}
		if s.stage.Name == semconv.StageRunBatchCPU {
			want = append(want, idStage+"."+semconv.StagePrefillForward) // the batch may be a prefill
		}
	}
	if s.parent.is(idStage) {
		got = s.parent.source()
	}
	if !slices.Contains(want, got) {
		c.report(s, RuleSpanParent, "", got, strings.Join(want, " or "))
	}
}

// checkContainment holds a span against the interval of a parent in its own
// process. Others have clocks of their own: an engine and the API layer, a
// scheduler and the frontend that holds the request span.
func (c *checker) checkContainment(s *span) {
	p := s.parent
	if p == nil || p.typ == nil || s.start <= 0 || s.end < s.start || p.start <= 0 || p.end < p.start {
		return
	}
	switch s.typ.ID {
	case idWait, idPrefill, idDecode, idKVTransfer, idStage:
		if c.misplacedParent(s) || s.stage != nil && s.stage.EndsWithThread && s.endsApart() {
			return
		}
	case idThread:
		if !p.is(idRequest) || processOf(bare(s)) != semconv.ProcessFrontend {
			return
		}
	default:
		return
	}
	if s.start < p.start || s.end > p.end {
		c.report(s, RuleSpanContainment, "", fmt.Sprintf("%v to %v of the parent", nsDuration(s.start-p.start), nsDuration(s.end-p.start)),
			fmt.Sprintf("an interval within 0s and %v of %s", p.length(), quoted(p.name)))
	}
}

// misplacedParent reports whether the parent is of a wrong type, so that its
// interval says nothing.
func (c *checker) misplacedParent(s *span) bool {
	if s.stage != nil {
		return !s.parent.is(idThread) && !s.parent.is(idStage)
	}
	return s.request() == nil
}

// checkGranularity judges whether vLLM was to report the span.
func (c *checker) checkGranularity(s *span) {
	if c.granularity != nil && s.typ.Granularity > *c.granularity {
		c.report(s, RuleSpanGranularity, "", fmt.Sprintf("granularity %d", *c.granularity), fmt.Sprintf("%d or more for this span", s.typ.Granularity))
	}
}

// misplaced reports whether a node of the request's PD role has no such stage.
func (c *checker) misplaced(s *span, id string) bool {
	role, _ := s.text(semconv.GenAIPDRoleKey)
	return id == idDecode && role == semconv.GenAIPDRoleProducer.Value.AsString() ||
		id == idPrefill && role == semconv.GenAIPDRoleConsumer.Value.AsString()
}

// checkPDRole judges what a Prefill and what a Decode node of vLLM report. Waits
// and transfers follow what happened, on either.
func (c *checker) checkPDRole(s *span) {
	role, ok := s.text(semconv.GenAIPDRoleKey)
	if !ok {
		return
	}
	if c.misplaced(s, s.typ.ID) {
		c.report(s, RulePDRole, "", fmt.Sprintf("%s on a %s", s.name, role), "no such span")
	}
	if !s.is(idV1) {
		return
	}
	for _, stage := range []string{idPrefill, idDecode} {
		key := semconv.GenAILatencyTimeInModelPrefillKey
		if stage == idDecode {
			key = semconv.GenAILatencyTimeInModelDecodeKey
		}
		if d, ok := c.latency(s, key); ok && d != 0 && c.misplaced(s, stage) {
			c.report(s, RulePDRole, string(key), d.String(), "0s on a "+role)
		}
	}
}
