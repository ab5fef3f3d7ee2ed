package vllm

import (
	"fmt"
	"time"

	"github.com/infertel/infertel-go/internal/reportonce"
)

// The kinds of misuse that are reported once for each engine.
const (
	misuseCounterSource reportonce.Kind = iota
	misuseCounterFull
	misuseGranularity
	misuseRole
	misuseEventsDropped
	misuseEventsMerged
	misuseTokens
	misuseArrival
	misuseFinish
	misuseFinishBackwards
	misuseFirstToken
	misuseTokenize
	misuseDetokenize
	misuseTimeInScheduler
	misuseModelForward
	misuseModelExecute
	misusePromptTokens
	misuseCompletionTokens
	misuseIterationTokens
	misuseSequences
	misuseOutside
	misuseTransferNoWait
	misuseStage // and the next three of each stage
)

// misuseOf returns the kind of a problem of a stage.
func misuseOf(s stageKind, p problem) reportonce.Kind {
	return misuseStage + reportonce.Kind(s)*reportonce.Kind(problems) + reportonce.Kind(p)
}

// problem is why an interval has no length.
type problem uint8

const (
	noStart problem = iota
	noEnd
	backwards
	problems
)

func (i interval) problem() problem {
	switch {
	case !i.start.known():
		return noStart
	case !i.end.known():
		return noEnd
	}
	return backwards
}

func (p problem) String() string {
	switch p {
	case noStart:
		return "its start was not told"
	case noEnd:
		return "its end was not told"
	}
	return "it ends before it starts"
}

// leftOut reports an interval of a request that could not be used.
func (e *engine) leftOut(k reportonce.Kind, id, what string, p problem) {
	e.misuse.Report(k, func() error {
		return fmt.Errorf("vllm: %s of request %q is left out: %v", what, id, p)
	})
}

// outside reports a stage that is not within its parent. Its times are kept: to
// shift them would hide that two clocks differ.
func (e *engine) outside(id string) {
	e.misuse.Report(misuseOutside, func() error {
		return fmt.Errorf("vllm: a stage of request %q is not within its parent span; do all its times come from one clock?", id)
	})
}

func (e *engine) noWait(id string) {
	e.misuse.Report(misuseTransferNoWait, func() error {
		return fmt.Errorf("vllm: kv_transfer of request %q has no span: it lies within wait, which has not both ends", id)
	})
}

// count returns n, or 0 for a negative one, which is misuse of kind k.
func (e *engine) count(k reportonce.Kind, id, what string, n int) int {
	if n >= 0 {
		return n
	}
	e.misuse.Report(k, func() error {
		return fmt.Errorf("vllm: request %q has %d %s, want 0 or more; 0 is recorded", id, n, what)
	})
	return 0
}

// duration returns a duration that a caller gave, or unknown. A negative one is
// misuse of kind k.
func (e *engine) duration(k reportonce.Kind, id, what string, d *time.Duration) time.Duration {
	if d == nil {
		return unknown
	}
	if *d < 0 {
		e.leftOut(k, id, what, backwards)
		return unknown
	}
	return *d
}

// finishedBackwards reports a request that finished before it arrived.
func (e *engine) finishedBackwards(id string) {
	e.misuse.Report(misuseFinishBackwards, func() error {
		return fmt.Errorf("vllm: request %q finished before it arrived; its llm_request has no length, and gen_ai.latency.e2e is left out", id)
	})
}

// counterFull reports a number that a counter could not take.
func (e *engine) counterFull(name string, n int64) {
	e.misuse.Report(misuseCounterFull, func() error {
		return fmt.Errorf("vllm: %d is not added to the counter %s, which holds at most %d", n, name, int64(maxCount))
	})
}
