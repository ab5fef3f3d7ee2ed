package view

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/infertel/infertel-go/internal/otlpreceiver"
)

// Printer writes what arrived as text. It uses colors on a terminal only, and as
// many columns as the variable COLUMNS says, else 80.
type Printer struct {
	w       io.Writer
	verbose bool
	color   bool
	columns int
}

// NewPrinter returns a printer to w. A verbose one prints the attributes of spans
// and events, and messages to their end.
func NewPrinter(w io.Writer, verbose bool) *Printer {
	return &Printer{w: w, verbose: verbose, color: IsTerminal(w) && os.Getenv("NO_COLOR") == "", columns: columns()}
}

func (p *Printer) line(parts ...string) {
	fmt.Fprintln(p.w, strings.TrimRight(strings.Join(parts, ""), " "))
}

const durationColumns = 8

func (p *Printer) barColumns() int { return p.columns * 3 / 10 }

func (p *Printer) nameColumns() int { return p.columns - p.barColumns() - durationColumns - 2 }

// Traces prints one tree for each trace, in the order in which they began.
func (p *Printer) Traces(d *Data) {
	all := d.all()
	for _, t := range all {
		p.line(p.paint(bold, "trace "+t.id), p.paint(faint, fmt.Sprintf("  %s, %s", count(len(t.byID), "span"), Duration(time.Duration(t.to-t.from)))))
		for _, r := range t.roots {
			p.node(t, r, "", "")
		}
		p.line()
	}
	if more := d.Traces - len(all); more > 0 {
		p.line(p.paint(faint, fmt.Sprintf("and %s, received and counted", count(more, "more trace"))))
		p.line()
	}
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// node prints a span. head stands before its name, below before what hangs on it.
func (p *Printer) node(t *trace, n *node, head, below string) {
	columns := p.nameColumns()
	name := cut(oneLine(n.GetName()), columns-width(head))
	st := style("")
	switch {
	case n.failed():
		st = red
	case n.parent == nil:
		st = bold
	}
	painted := name
	if st != "" {
		painted = p.paint(st, name)
	}
	marks := p.marks(t, n)
	room := columns - width(head) - width(name)
	inline := ""
	if text := " " + strings.Join(marks, " "); len(marks) > 0 && !p.verbose && width(text) <= room {
		inline, marks = text, nil
	}
	p.line(p.paint(faint, head), painted, p.paint(yellow, inline), strings.Repeat(" ", room-width(inline)),
		" ", padLeft(Duration(time.Duration(n.end()-n.start())), durationColumns), " ", p.bar(t, n))

	under := p.paint(faint, below)
	indent := "  "
	if len(n.children) > 0 {
		under, indent = p.paint(faint, below+"│"), " "
	}
	detail := func(st style, text string) {
		p.line(under, indent, p.paint(st, cutEnd(text, p.columns-width(below)-2)))
	}
	if n.failed() {
		detail(red, "ERROR "+oneLine(n.GetStatus().GetMessage()))
	}
	if p.verbose {
		p.details(t, n, p.columns-width(below)-len(indent)-1, func(st style, text string) { p.line(under, indent, p.paint(st, text)) })
	} else if len(marks) > 0 {
		for _, l := range wrap(marks, p.columns-width(below)-4) {
			detail(yellow, "  "+l)
		}
	}
	for i, c := range n.children {
		if i == len(n.children)-1 {
			p.node(t, c, below+"└ ", below+"  ")
		} else {
			p.node(t, c, below+"├ ", below+"│ ")
		}
	}
}

// marks are the events and links of a span in short.
func (p *Printer) marks(t *trace, n *node) []string {
	var out []string
	for _, l := range n.GetLinks() {
		out = append(out, strings.TrimSpace("← "+oneLine(t.linked(n, l))))
	}
	for _, e := range eventCounts(n) {
		out = append(out, "• "+oneLine(e))
	}
	return out
}

// details are attributes, events and links in full, events in lines of some
// columns.
func (p *Printer) details(t *trace, n *node, columns int, line func(style, string)) {
	for _, kv := range detailed(otlpreceiver.Attributes(n.GetAttributes())) {
		line(faint, "  "+oneLine(kv))
	}
	for _, l := range n.GetLinks() {
		to := t.linked(n, l)
		if to == "" {
			to = n.before.GetName()
		}
		line(yellow, "  ← "+oneLine(to))
	}
	for _, e := range n.GetEvents() {
		words := append([]string{"•", e.GetName(), "at", Duration(time.Duration(e.GetTimeUnixNano() - n.start()))}, pairs(otlpreceiver.Attributes(e.GetAttributes()))...)
		for i, l := range wrap(words, columns-4) {
			if i > 0 {
				l = "  " + l
			}
			line(yellow, "  "+oneLine(l))
		}
	}
	if d := n.GetDroppedEventsCount(); d > 0 {
		line(red, fmt.Sprintf("  %s dropped", count(int(d), "event")))
	}
}

// bar shows where the span lies within its trace, and the events in it. Each span
// shows at least one mark.
func (p *Printer) bar(t *trace, n *node) string {
	columns := p.barColumns()
	place := func(at uint64) int {
		if at < t.from {
			return 0
		}
		return min(int(float64(at-t.from)/float64(t.length())*float64(columns)), columns-1)
	}
	a, b := place(n.start()), place(n.end())
	if b > a && n.end() < t.to {
		b-- // the column in which it ends belongs to what comes next
	}
	cells := []rune(strings.Repeat(" ", a) + strings.Repeat("━", b-a+1))
	for _, e := range n.GetEvents() {
		if i := place(e.GetTimeUnixNano()); i < len(cells) {
			cells[i] = '•'
		}
	}
	st := cyan
	if n.failed() {
		st = red
	}
	return p.paint(st, string(cells))
}

// Metrics prints the last value of each series, and its course where there were
// several collections.
func (p *Printer) Metrics(d *Data) {
	const valueColumns, courseColumns = 10, 8
	for _, g := range d.groups() {
		p.line(p.paint(bold, "metrics of "+shortScope(g.scope)))
		if len(g.common) > 0 {
			for _, l := range wrap(append([]string{"all with"}, pairs(g.common)...), p.columns-2) {
				p.line("  ", p.paint(faint, oneLine(l)))
			}
		}
		name := ""
		for _, s := range g.series {
			if s.name != name {
				name = s.name
				p.line("  ", oneLine(s.name), p.paint(faint, strings.TrimRight("  "+s.kind+"  "+oneLine(s.unit), " ")))
			}
			dims := wrap(g.own(s), p.columns-valueColumns-courseColumns-6)
			p.line("  ", padLeft(number(s.last, s.asInt), valueColumns), "  ", p.paint(green, pad(sparkline(s.course(), courseColumns), courseColumns)), "  ", p.paint(faint, oneLine(dims[0])))
			for _, l := range dims[1:] {
				p.line(strings.Repeat(" ", valueColumns+courseColumns+6), p.paint(faint, oneLine(l)))
			}
		}
		p.line()
	}
}

// LogEvents prints log events with their attributes in JSON.
func (p *Printer) LogEvents(d *Data) {
	for _, l := range d.logs {
		p.line(p.paint(bold, "log event "), oneLine(l.GetEventName()))
		p.line("  ", p.paint(faint, fmt.Sprintf("trace %x", l.GetTraceId())))
		attributes := otlpreceiver.Attributes(l.GetAttributes())
		keys := make([]string, 0, len(attributes))
		for k := range attributes {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		for _, k := range keys {
			text := "  " + oneLine(k+"="+jsonText(attributes[k]))
			if !p.verbose {
				text = cutEnd(text, p.columns)
			}
			p.line(text)
		}
	}
	if more := d.Logs - len(d.logs); more > 0 {
		p.line(p.paint(faint, fmt.Sprintf("and %s, received and counted", count(more, "more log event"))))
	}
	if d.Logs > 0 {
		p.line()
	}
}

func jsonText(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(text)
}
