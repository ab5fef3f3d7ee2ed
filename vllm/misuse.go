package vllm

import (
	"fmt"

	"github.com/infertel/infertel-go/internal/reportonce"
)

// The kinds of misuse that are reported once for each engine.
const (
	misuseCounterSource reportonce.Kind = iota
	misuseObserved
	misuseEventsDropped
	misuseEventsMerged
	misuseTokens
	misuseArrival
	misuseFinish
	misuseFinishBackwards
	misuseFirstToken
	misuseDuration
	misuseCount
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
	case i.start == never:
		return noStart
	case i.end == never:
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

// count returns n, or 0 for a negative one.
func (e *engine) count(id, what string, n int) int {
	if n >= 0 {
		return n
	}
	e.misuse.Report(misuseCount, func() error {
		return fmt.Errorf("vllm: request %q has %d %s, want 0 or more; 0 is recorded", id, n, what)
	})
	return 0
}

// finishedBackwards reports a request that finished before it arrived.
func (e *engine) finishedBackwards(id string) {
	e.misuse.Report(misuseFinishBackwards, func() error {
		return fmt.Errorf("vllm: request %q finished before it arrived; its llm_request has no length", id)
	})
}
