// Package view prints received telemetry for people: a tree for each trace with
// a bar for the time of each span, then tables of metrics and log events.
package view

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/infertel/infertel-go/internal/otlpreceiver"
)

const barWidth = 24

// node is a span with those below it.
type node struct {
	otlpreceiver.Span
	children []*node
}

// Traces prints one tree for each trace, in the order in which they began.
func Traces(w io.Writer, spans []otlpreceiver.Span) {
	for _, roots := range forest(spans) {
		from, to := bounds(roots)
		fmt.Fprintf(w, "trace %s  %s\n", hex.EncodeToString(roots[0].GetTraceId()), time.Duration(to-from))
		for _, r := range roots {
			printNode(w, r, "", from, to)
		}
		fmt.Fprintln(w)
	}
}

// forest groups spans by trace and hangs each under its parent. One whose
// parent did not arrive stands at the top.
func forest(spans []otlpreceiver.Span) [][]*node {
	byID := make(map[string]*node, len(spans))
	for _, s := range spans {
		byID[string(s.GetTraceId())+string(s.GetSpanId())] = &node{Span: s}
	}
	tops := map[string][]*node{}
	for _, s := range spans {
		n := byID[string(s.GetTraceId())+string(s.GetSpanId())]
		if p := byID[string(s.GetTraceId())+string(s.GetParentSpanId())]; p != nil {
			p.children = append(p.children, n)
		} else {
			tops[string(s.GetTraceId())] = append(tops[string(s.GetTraceId())], n)
		}
	}
	byStart := func(a, b *node) int {
		return cmp.Or(cmp.Compare(a.GetStartTimeUnixNano(), b.GetStartTimeUnixNano()), cmp.Compare(b.GetEndTimeUnixNano(), a.GetEndTimeUnixNano()))
	}
	for _, n := range byID {
		slices.SortStableFunc(n.children, byStart)
	}
	out := slices.Collect(maps.Values(tops))
	for _, roots := range out {
		slices.SortStableFunc(roots, byStart)
	}
	slices.SortFunc(out, func(a, b []*node) int {
		return cmp.Or(byStart(a[0], b[0]), strings.Compare(string(a[0].GetTraceId()), string(b[0].GetTraceId())))
	})
	return out
}

func bounds(nodes []*node) (from, to uint64) {
	from = nodes[0].GetStartTimeUnixNano()
	for _, n := range nodes {
		from, to = min(from, n.GetStartTimeUnixNano()), max(to, n.GetEndTimeUnixNano())
		if len(n.children) > 0 {
			f, t := bounds(n.children)
			from, to = min(from, f), max(to, t)
		}
	}
	return from, to
}

func printNode(w io.Writer, n *node, indent string, from, to uint64) {
	start, end := n.GetStartTimeUnixNano(), n.GetEndTimeUnixNano()
	status := ""
	if n.GetStatus().GetCode() == tracepb.Status_STATUS_CODE_ERROR {
		status = "  ERROR " + n.GetStatus().GetMessage()
	}
	fmt.Fprintf(w, "|%s| %s%s  %s%s\n", bar(start, end, from, to), indent, n.GetName(), time.Duration(end-start), status)
	pad := strings.Repeat(" ", barWidth+2) + indent + "    "
	for _, kv := range sorted(otlpreceiver.Attributes(n.GetAttributes())) {
		fmt.Fprintf(w, "%s%s\n", pad, kv)
	}
	for _, e := range n.GetEvents() {
		fmt.Fprintf(w, "%s* %s +%s %s\n", pad, e.GetName(), time.Duration(e.GetTimeUnixNano()-start), strings.Join(sorted(otlpreceiver.Attributes(e.GetAttributes())), " "))
	}
	if d := n.GetDroppedEventsCount(); d > 0 {
		fmt.Fprintf(w, "%s* %d events dropped\n", pad, d)
	}
	for _, l := range n.GetLinks() {
		fmt.Fprintf(w, "%s-> linked to span %s\n", pad, hex.EncodeToString(l.GetSpanId()))
	}
	for _, c := range n.children {
		printNode(w, c, indent+"  ", from, to)
	}
}

// bar shows where the span lies within its trace. Each span shows at least one
// mark.
func bar(start, end, from, to uint64) string {
	length := max(to-from, 1)
	a := min(int((start-from)*barWidth/length), barWidth-1)
	b := max(int((end-from)*barWidth/length), a+1)
	return strings.Repeat(" ", a) + strings.Repeat("=", b-a) + strings.Repeat(" ", barWidth-b)
}

// sorted gives "key=value" in the order of the keys.
func sorted(attributes map[string]any) []string {
	out := make([]string, 0, len(attributes))
	for _, k := range slices.Sorted(maps.Keys(attributes)) {
		out = append(out, fmt.Sprintf("%s=%v", k, attributes[k]))
	}
	return out
}
