package conformance

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// Signal is the kind of telemetry that a violation is about.
type Signal string

// The signals.
const (
	SignalSpan   Signal = "span"
	SignalMetric Signal = "metric"
	SignalLog    Signal = "log event"
)

// Violation is one thing that is not as documented.
type Violation struct {
	// Rule is the rule that is broken.
	Rule Rule
	// Signal says whether Name is that of a span, a metric or a log event.
	Signal Signal
	// Name is the name of the span, metric or log event.
	Name string
	// TraceID and SpanID are in hexadecimal. They are empty for metrics.
	TraceID, SpanID string
	// Field is the part that is concerned: an attribute's key, an event with its
	// position, a dimension. It is empty where it is the whole.
	Field string
	// Got is what was found, shortened to 100 bytes, and Want what is documented.
	Got, Want string
	// Source is the row of the registry that says so, such as
	// "vllm.v1.llm_request", the name of a dimension set or the source of a metric.
	// It is empty if nothing documented comes near.
	Source string

	start int64 // of the span, for the order
}

// String returns the violation as one line.
func (v Violation) String() string {
	var b strings.Builder
	b.WriteString(string(v.Signal))
	b.WriteByte(' ')
	b.WriteString(strconv.Quote(v.Name))
	if v.TraceID != "" || v.SpanID != "" {
		b.WriteString(" (trace " + cmp.Or(v.TraceID, "-") + " span " + cmp.Or(v.SpanID, "-") + ")")
	}
	if v.Field != "" {
		b.WriteString(" " + v.Field)
	}
	b.WriteString(": got " + v.Got + ", want " + v.Want + " [" + string(v.Rule))
	if v.Source != "" {
		b.WriteString("; " + v.Source)
	}
	b.WriteByte(']')
	return b.String()
}

const maxShown = 100

// shown makes text from outside fit for one line of a report.
func shown(s string) string {
	if len(s) <= maxShown {
		return s
	}
	return strings.ToValidUTF8(s[:maxShown], "") + "..."
}

func quoted(s string) string { return strconv.Quote(shown(s)) }

// inOrder sorts by trace, time and span, and metrics by name and data point, so
// that the order does not depend on that of arrival. Violations of one span stay
// in the order in which the rules were applied.
func inOrder(vs []Violation) []Violation {
	slices.SortStableFunc(vs, func(a, b Violation) int {
		order := cmp.Or(cmp.Compare(a.TraceID, b.TraceID), cmp.Compare(a.start, b.start), cmp.Compare(a.SpanID, b.SpanID))
		if order == 0 && a.Signal == SignalMetric {
			return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Field, b.Field))
		}
		return order
	})
	return vs
}
