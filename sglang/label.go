package sglang

import (
	"strconv"
	"strings"

	"github.com/infertel/infertel-go/semconv"
)

// ThreadLabel says what a thread does. Under prefill-decode disaggregation
// "Prefill " or "Decode " is put before it.
type ThreadLabel string

// The documented labels, together with [MultiTokenizer]. The detokenizer has no
// thread span.
const (
	// ThreadTokenizer is the frontend process.
	ThreadTokenizer ThreadLabel = semconv.ThreadLabelTokenizer
	// ThreadDPController is the controller that spreads requests over data parallel
	// ranks.
	ThreadDPController ThreadLabel = semconv.ThreadLabelDPController
	// ThreadScheduler is a scheduler process.
	ThreadScheduler ThreadLabel = semconv.ThreadLabelScheduler
)

// MultiTokenizer is the label of one of several frontend processes, by number:
// "MultiTokenizer-7".
func MultiTokenizer(number int) ThreadLabel {
	return ThreadLabel(semconv.ThreadLabelMultiTokenizerPrefix + strconv.Itoa(number))
}

// process returns the process that has the label, "" if none has.
func (l ThreadLabel) process() semconv.Process {
	switch l {
	case ThreadTokenizer:
		return semconv.ProcessFrontend
	case ThreadDPController:
		return semconv.ProcessDPController
	case ThreadScheduler:
		return semconv.ProcessScheduler
	}
	if number, ok := strings.CutPrefix(string(l), semconv.ThreadLabelMultiTokenizerPrefix); ok {
		if _, err := strconv.ParseUint(number, 10, 64); err == nil {
			return semconv.ProcessFrontend
		}
	}
	return ""
}

// labelPrefix is what stands before the labels of the node's threads.
func (e *Engine) labelPrefix() string {
	switch e.role {
	case PDRolePrefill:
		return semconv.ThreadLabelPrefixPrefill
	case PDRoleDecode:
		return semconv.ThreadLabelPrefixDecode
	}
	return ""
}

// bareLabel takes the node's role off a label that has it already, as the
// engine's own labels do.
func (e *Engine) bareLabel(l ThreadLabel) ThreadLabel {
	role := strings.TrimSpace(e.labelPrefix())
	if role == "" {
		return l
	}
	if rest, ok := strings.CutPrefix(string(l), role); ok {
		if bare := ThreadLabel(strings.TrimPrefix(rest, " ")); bare.process() != "" {
			return bare
		}
	}
	return l
}

// fullLabel puts the node's role before a thread's label.
func (e *Engine) fullLabel(label string) string {
	prefix := e.labelPrefix()
	if e.nativeNames {
		prefix = strings.TrimSpace(prefix)
	}
	return prefix + label
}
