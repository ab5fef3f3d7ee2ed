package view

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/infertel/infertel-go/internal/otlpreceiver"
)

// node is a span with those below it.
type node struct {
	otlpreceiver.Span
	children []*node
	parent   *node
	before   *node // the sibling above
}

// trace is the spans of one trace.
type trace struct {
	id       string
	roots    []*node // one, unless a parent did not arrive
	byID     map[string]*node
	from, to uint64
}

func (t *trace) length() uint64 { return max(t.to-t.from, 1) }

// all returns the traces that are kept, in the order in which they began.
func (d *Data) all() []*trace {
	var out []*trace
	for _, spans := range d.traces {
		out = append(out, newTrace(spans))
	}
	slices.SortFunc(out, func(a, b *trace) int {
		return cmp.Or(byStart(a.roots[0], b.roots[0]), strings.Compare(a.roots[0].GetName(), b.roots[0].GetName()), strings.Compare(a.id, b.id))
	})
	return out
}

// newTrace hangs each span under its parent. One whose parent did not arrive
// stands at the top.
func newTrace(spans []otlpreceiver.Span) *trace {
	t := &trace{id: hex.EncodeToString(spans[0].GetTraceId()), byID: map[string]*node{}, from: spans[0].GetStartTimeUnixNano()}
	for _, s := range spans {
		t.byID[string(s.GetSpanId())] = &node{Span: s}
		t.from, t.to = min(t.from, s.GetStartTimeUnixNano()), max(t.to, s.GetEndTimeUnixNano())
	}
	for _, s := range spans {
		n := t.byID[string(s.GetSpanId())]
		if p := t.byID[string(s.GetParentSpanId())]; p != nil && p != n {
			n.parent = p
			p.children = append(p.children, n)
		} else {
			t.roots = append(t.roots, n)
		}
	}
	order(t.roots)
	for _, n := range t.byID {
		order(n.children)
	}
	return t
}

func order(siblings []*node) {
	slices.SortStableFunc(siblings, byStart)
	for i := 1; i < len(siblings); i++ {
		siblings[i].before = siblings[i-1]
	}
}

// byStart puts the earlier span first, of two the longer one, so that what lasts
// stands above what happens meanwhile. One without length was over before. Names
// decide where times do not.
func byStart(a, b *node) int {
	if a.start() == b.start() && (a.start() == a.end()) != (b.start() == b.end()) {
		if a.start() == a.end() {
			return -1
		}
		return 1
	}
	return cmp.Or(cmp.Compare(a.GetStartTimeUnixNano(), b.GetStartTimeUnixNano()),
		cmp.Compare(b.GetEndTimeUnixNano(), a.GetEndTimeUnixNano()), strings.Compare(a.GetName(), b.GetName()))
}

func (n *node) start() uint64 { return n.GetStartTimeUnixNano() }

func (n *node) end() uint64 { return max(n.GetEndTimeUnixNano(), n.GetStartTimeUnixNano()) }

func (n *node) failed() bool { return n.GetStatus().GetCode() == tracepb.Status_STATUS_CODE_ERROR }

// linked names the span that a link leads to. It is empty for the sibling above,
// where a mark says enough.
func (t *trace) linked(n *node, l *tracepb.Span_Link) string {
	to := t.byID[string(l.GetSpanId())]
	switch {
	case to == nil:
		return "span " + hex.EncodeToString(l.GetSpanId()) + " of another trace"
	case to == n.before:
		return ""
	case to.parent != nil && to.parent != n.parent:
		return to.GetName() + " of " + firstWords(to.parent.GetName())
	}
	return to.GetName()
}

// firstWords leaves out what a thread span's name says in brackets.
func firstWords(name string) string {
	short, _, _ := strings.Cut(name, " (")
	return short
}

// eventCounts names the events of a span, each with how often it comes.
func eventCounts(n *node) []string {
	var names []string
	counts := map[string]int{}
	for _, e := range n.GetEvents() {
		if counts[e.GetName()]++; counts[e.GetName()] == 1 {
			names = append(names, e.GetName())
		}
	}
	for i, name := range names {
		if counts[name] > 1 {
			names[i] = fmt.Sprintf("%s ×%d", name, counts[name])
		}
	}
	if d := n.GetDroppedEventsCount(); d > 0 {
		names = append(names, fmt.Sprintf("%d dropped", d))
	}
	return names
}

// detailed gives the attributes of a span, latencies also in the unit that suits
// them: the documentation has nanoseconds where a number is whole, else seconds.
func detailed(attributes map[string]any) []string {
	out := pairs(attributes)
	for i, k := range slices.Sorted(maps.Keys(attributes)) {
		if d, ok := latency(k, attributes[k]); ok {
			out[i] += " (" + Duration(d) + ")"
		}
	}
	return out
}

func latency(key string, v any) (time.Duration, bool) {
	if !strings.HasPrefix(key, "gen_ai.latency.") {
		return 0, false
	}
	switch v := v.(type) {
	case int64:
		return time.Duration(v), true
	case float64:
		return time.Duration(v * float64(time.Second)), true
	}
	return 0, false
}

// pairs gives "key=value" in the order of the keys.
func pairs(attributes map[string]any) []string {
	out := make([]string, 0, len(attributes))
	for _, k := range slices.Sorted(maps.Keys(attributes)) {
		out = append(out, fmt.Sprintf("%s=%v", k, attributes[k]))
	}
	return out
}
