package conformance

import "strings"

// TB is the part of testing.TB that [Assert] needs.
type TB interface {
	Helper()
	Errorf(format string, args ...any)
}

// maxReported bounds the lines of one failure: a rule that a span breaks is often
// broken by hundreds of its kind.
const maxReported = 25

// Assert makes the test fail if there are violations, with a line for each of the
// first 25, and reports whether there are none.
func Assert(t TB, violations []Violation) bool {
	t.Helper()
	if len(violations) == 0 {
		return true
	}
	var b strings.Builder
	for _, v := range violations[:min(len(violations), maxReported)] {
		b.WriteString("\n\t" + v.String())
	}
	if more := len(violations) - maxReported; more > 0 {
		t.Errorf("telemetry does not conform, %d violations:%s\n\t... and %d more", len(violations), b.String(), more)
	} else {
		t.Errorf("telemetry does not conform, %d violations:%s", len(violations), b.String())
	}
	return false
}
