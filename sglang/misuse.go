package sglang

import (
	"fmt"

	"github.com/infertel/infertel-go/internal/boundedtext"
	"github.com/infertel/infertel-go/internal/reportonce"
)

// The kinds of misuse. Each is reported once for each Engine.
const (
	misuseUnknownStage reportonce.Kind = iota
	misuseUnknownLabel
	misuseProcess
	misuseDeployment
	misuseStageTime
	misuseEventTime
	misuseThreadTime
	misuseRequestTime
	misuseMilestoneTime
	misuseStageBackward
	misuseThreadBackward
	misuseRequestBackward
	misuseLatencyBackward
	misuseNoMilestone
	misuseNegativeCount
	misuseNotOpen
	misuseOutOfOrder
	misuseTooDeep
	misuseStageLeftOpen
	misuseThreadLeftOpen
	misuseDecodeForwardEnd
	misuseThreadEnded
	misuseRequestEnded
	misuseEventOverflow
	misuseEventLate
	misuseHandover
	misuseResumed
	misuseEventsDropped
	misuseNoCount
	misuseNoModel
	misuseTooManyThreads
	misuseForeignHandover
)

// problem is a misuse that is found while a lock is held. It is reported when
// the lock is free again, since the error handler is foreign code.
type problem struct {
	kind     reportonce.Kind
	describe func() error
}

func misuse(kind reportonce.Kind, format string, args ...any) problem {
	return problem{kind, func() error {
		for i := range args {
			if text, ok := args[i].(string); ok {
				args[i] = shown(text)
			}
		}
		return fmt.Errorf("sglang: "+format, args...)
	}}
}

// shown is text from outside, fit for a message.
func shown(text string) string { return boundedtext.Cut(text, boundedtext.MaxName) }

func (e *Engine) report(problems ...problem) {
	for _, p := range problems {
		e.reported.Report(p.kind, p.describe)
	}
}
