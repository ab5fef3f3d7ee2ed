package conformance

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"

	"github.com/infertel/infertel-go/semconv"
)

type rank struct {
	name string
	key  attribute.Key
}

// ranks are those of a thread, in the order of its name.
func ranks() [3]rank {
	return [3]rank{{"TP", semconv.TPRankKey}, {"PP", semconv.PPRankKey}, {"DP", semconv.DPRankKey}}
}

func nsDuration(ns int64) time.Duration { return time.Duration(ns) }

// splitLabel takes the prefix of a node's role off a thread label.
func splitLabel(label string, native bool) (prefix, rest string) {
	for _, p := range []string{semconv.ThreadLabelPrefixPrefill, semconv.ThreadLabelPrefixDecode} {
		if native {
			p = strings.TrimSpace(p)
		}
		if rest, ok := strings.CutPrefix(label, p); ok {
			return strings.TrimSpace(p), rest
		}
	}
	return "", label
}

// bare returns the label of a thread without the prefix, in either spelling.
func bare(s *span) string {
	label, _ := s.text(semconv.ThreadLabelKey)
	_, rest := splitLabel(label, true)
	return strings.TrimPrefix(rest, " ")
}

// processOf returns the process that has a thread label, "" if none has.
func processOf(label string) semconv.Process {
	switch label {
	case semconv.ThreadLabelTokenizer:
		return semconv.ProcessFrontend
	case semconv.ThreadLabelDPController:
		return semconv.ProcessDPController
	case semconv.ThreadLabelScheduler:
		return semconv.ProcessScheduler
	}
	if number, ok := strings.CutPrefix(label, semconv.ThreadLabelMultiTokenizerPrefix); ok && number != "" && strings.Trim(number, "0123456789") == "" {
		return semconv.ProcessFrontend
	}
	return ""
}

func (c *checker) checkThread(s *span) {
	c.checkLabel(s)
	c.checkFirstLevel(s)
	c.checkCounts(s)
}

func (c *checker) checkLabel(s *span) {
	label, ok := s.text(semconv.ThreadLabelKey)
	if !ok {
		return
	}
	prefix, rest := splitLabel(label, c.nativeNames)
	if processOf(rest) == "" {
		c.report(s, RuleThreadLabel, string(semconv.ThreadLabelKey), quoted(label), "one of "+strings.Join(s.typ.Labels, ", "))
		return
	}
	if s.parent.is(idRequest) {
		if role, ok := requestRole(s.parent.name); ok && !strings.EqualFold(role, prefix) {
			c.report(s, RuleThreadLabel, string(semconv.ThreadLabelKey), quoted(label), fmt.Sprintf("the prefix of the request's role, %q", role))
		}
	}
}

// checkLevel judges whether SGLang was to report the span.
func (c *checker) checkLevel(s *span) {
	if c.traceLevel == nil || !s.is(idRequest) && !s.is(idThread) && !s.is(idStage) {
		return
	}
	least := semconv.SGLangTraceLevelOff + 1
	if s.stage != nil {
		least = s.stage.Level
	}
	if *c.traceLevel < least {
		c.report(s, RuleStageLevel, "", fmt.Sprintf("trace level %d", *c.traceLevel), fmt.Sprintf("%d or more for this span", least))
	}
}

func (c *checker) checkStage(s *span) {
	thread := s.thread()
	if s.stage == nil || thread == nil {
		return
	}
	if label, ok := thread.text(semconv.ThreadLabelKey); ok {
		prefix, rest := splitLabel(label, c.nativeNames)
		process := processOf(rest)
		if process != "" && process != s.stage.Process {
			c.report(s, RuleStageProcess, "", "a thread "+quoted(label), "a thread of the process "+string(s.stage.Process))
		}
		if process != "" && !deployed(s.stage.Deployment, prefix, thread) {
			c.report(s, RuleStageDeployment, "", "a thread "+quoted(thread.name), "a thread in the deployment "+string(s.stage.Deployment))
		}
	}
	if s.stage.EndsWithThread && s.endsApart() {
		c.report(s, RuleStageEnd, "", fmt.Sprintf("an end %v after that of the thread", nsDuration(s.end-thread.end)), "the same end")
	}
}

// endsApart reports whether a stage and its thread have different ends.
func (s *span) endsApart() bool {
	thread := s.thread()
	return thread != nil && s.end > 0 && thread.end > 0 && s.end != thread.end
}

// deployed reports whether a thread can be in the deployment. Data parallelism
// shows in the process of its one stage, so it is not judged here.
func deployed(d semconv.Deployment, prefix string, thread *span) bool {
	switch d {
	case semconv.DeploymentNonPD:
		return prefix == ""
	case semconv.DeploymentPDPrefill:
		return prefix == strings.TrimSpace(semconv.ThreadLabelPrefixPrefill)
	case semconv.DeploymentPDDecode:
		return prefix == strings.TrimSpace(semconv.ThreadLabelPrefixDecode)
	case semconv.DeploymentPP:
		return thread.has(semconv.PPRankKey)
	}
	return true
}

// checkCounts judges that decode_ct goes up in a thread, also after a retraction.
func (c *checker) checkCounts(thread *span) {
	var loops []*span
	thread.eachStage(func(s *span, _ int) {
		if s.stage.Name == semconv.StageDecodeLoop {
			loops = append(loops, s)
		}
	})
	slices.SortStableFunc(loops, func(a, b *span) int { return cmp.Compare(a.start, b.start) })
	last := int64(-1)
	for _, s := range loops {
		n, ok := s.integer(semconv.DecodeCTKey)
		if !ok || n < 0 {
			continue
		}
		if n <= last {
			c.report(s, RuleStageCount, string(semconv.DecodeCTKey), strconv.FormatInt(n, 10), fmt.Sprintf("more than the %d of the iteration before", last))
		}
		last = max(last, n)
	}
}

// eachStage calls f for the stages of a thread with their depth below it.
func (s *span) eachStage(f func(stage *span, depth int)) {
	var walk func(s *span, depth int)
	walk = func(s *span, depth int) {
		for _, child := range s.children {
			if child.stage != nil && depth < maxDepth {
				f(child, depth)
				walk(child, depth+1)
			}
		}
	}
	walk(s, 0)
}
