package view

import (
	_ "embed" // for the page
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/infertel/infertel-go/internal/otlpreceiver"
)

//go:embed page.html.tmpl
var pageSource string

//go:embed page.css
var pageStyle string

//go:embed page.js
var pageScript string

// page is what the template shows.
type page struct {
	Title, Summary string
	Style          template.CSS
	Script         template.JS
	Traces         []htmlTrace
	MoreTraces     int
	Groups         []htmlGroup
	Logs           []htmlLog
	MoreLogs       int
}

type htmlTrace struct {
	ID, Name, Duration string
	Failed, Open       bool
	Spans              int
	Ticks              []htmlTick
	Rows               []htmlRow
}

// htmlTick is a mark of the time axis. Places and widths are in percent of the
// trace, here and below.
type htmlTick struct {
	Left  float64
	Label string
}

type htmlRow struct {
	ID, Name, Class, Duration, Start, Scope string
	Depth                                   int
	Failed                                  bool
	Error                                   string
	Left, Width                             float64
	Events                                  []htmlEvent
	Dropped                                 uint32
	Links                                   []htmlLink
	Attributes                              []htmlPair
}

type htmlEvent struct {
	Left       float64
	Name, At   string
	Attributes []htmlPair
}

// htmlLink is drawn from the end of the span that it leads to, to the start of
// the span that has it.
type htmlLink struct {
	Left, Width float64
	Name, To    string // To is empty where the span is not on the page
}

type htmlPair struct{ Key, Value string }

type htmlGroup struct {
	Scope   string
	Common  []htmlPair
	Metrics []htmlMetric
}

type htmlMetric struct {
	Name, Kind, Unit, Description string
	Series                        []htmlSeries
}

type htmlSeries struct {
	Value      string
	Line, Area string // of a chart that is 100 wide and 28 high
	Dimensions []htmlPair
}

type htmlLog struct {
	Name, Trace, Span string
	Attributes        []htmlPair
}

// maxOpen is how many spans are laid out at once. Traces beyond it are on the page
// too, and open with a click.
const maxOpen = 5_000

// WriteHTML writes what arrived as one page that needs nothing else: no network,
// no other file, and no script for what matters.
func WriteHTML(w io.Writer, title string, d *Data) error {
	layout, err := template.New("page").Parse(pageSource)
	if err != nil {
		return err
	}
	all := d.all()
	p := page{
		Title:      title,
		Summary:    fmt.Sprintf("%s in %s, %d series of metrics, %s", count(d.Spans, "span"), count(d.Traces, "trace"), d.Series(), count(d.Logs, "log event")),
		Style:      template.CSS(pageStyle),
		Script:     template.JS(pageScript),
		MoreTraces: max(d.Traces-len(all), 0),
		MoreLogs:   d.Logs - len(d.logs),
	}
	shown := 0
	for _, t := range all {
		h := t.html()
		shown += h.Spans
		h.Open = shown <= maxOpen
		p.Traces = append(p.Traces, h)
	}
	for _, g := range d.groups() {
		p.Groups = append(p.Groups, g.html())
	}
	for _, l := range d.logs {
		p.Logs = append(p.Logs, htmlLog{l.GetEventName(), hex.EncodeToString(l.GetTraceId()), hex.EncodeToString(l.GetSpanId()), htmlPairs(otlpreceiver.Attributes(l.GetAttributes()))})
	}
	return layout.Execute(w, &p)
}

// WriteHTMLFile writes what arrived to a file as one page.
func WriteHTMLFile(name, title string, d *Data) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	if err := WriteHTML(f, title, d); err != nil {
		_ = f.Close()
		return err
	}
	return f.Close()
}

func (t *trace) html() htmlTrace {
	root := t.roots[0]
	out := htmlTrace{ID: t.id, Name: root.GetName(), Duration: Duration(time.Duration(t.to - t.from)), Spans: len(t.byID), Ticks: t.ticks()}
	var add func(n *node, depth int)
	add = func(n *node, depth int) {
		out.Failed = out.Failed || n.failed()
		out.Rows = append(out.Rows, t.row(n, depth))
		for _, c := range n.children {
			add(c, depth+1)
		}
	}
	for _, r := range t.roots {
		add(r, 0)
	}
	return out
}

// percent is where a time lies within the trace.
func (t *trace) percent(at uint64) float64 {
	if at <= t.from {
		return 0
	}
	return round(min(float64(at-t.from)/float64(t.length())*100, 100))
}

func round(v float64) float64 { return math.Round(v*1000) / 1000 }

// ticks divides the time axis at round numbers.
func (t *trace) ticks() []htmlTick {
	length := float64(t.length())
	step := math.Pow(10, math.Floor(math.Log10(length)))
	for _, f := range []float64{0.1, 0.2, 0.25, 0.5} {
		if length/(step*f) <= 6 {
			step *= f
			break
		}
	}
	var out []htmlTick
	for at := 0.0; at < length*0.94; at += step {
		out = append(out, htmlTick{round(at / length * 100), tickLabel(time.Duration(at))})
	}
	return out
}

// tickLabel leaves out zeros that say nothing.
func tickLabel(d time.Duration) string {
	number, unit, _ := strings.Cut(Duration(d), " ")
	if strings.Contains(number, ".") {
		number = strings.TrimRight(strings.TrimRight(number, "0"), ".")
	}
	return strings.TrimSpace(number + " " + unit)
}

func (t *trace) row(n *node, depth int) htmlRow {
	r := htmlRow{
		ID: hex.EncodeToString(n.GetSpanId()), Name: n.GetName(), Class: class(n), Depth: depth, Scope: n.Scope.GetName(),
		Duration: Duration(time.Duration(n.end() - n.start())), Start: Duration(time.Duration(n.start() - t.from)),
		Failed: n.failed(), Error: n.GetStatus().GetMessage(),
		Left: t.percent(n.start()), Dropped: n.GetDroppedEventsCount(),
		Attributes: htmlPairs(otlpreceiver.Attributes(n.GetAttributes())),
	}
	r.Width = round(t.percent(n.end()) - r.Left)
	for _, e := range n.GetEvents() {
		r.Events = append(r.Events, htmlEvent{t.percent(e.GetTimeUnixNano()), e.GetName(), Duration(time.Duration(e.GetTimeUnixNano() - n.start())), htmlPairs(otlpreceiver.Attributes(e.GetAttributes()))})
	}
	for _, l := range n.GetLinks() {
		name := t.linked(n, l)
		link := htmlLink{Left: r.Left, Name: name}
		if to := t.byID[string(l.GetSpanId())]; to != nil {
			if link.Name == "" {
				link.Name = to.GetName()
			}
			link.To = hex.EncodeToString(l.GetSpanId())
			from := t.percent(to.end())
			link.Left, link.Width = min(from, r.Left), round(math.Abs(r.Left-from))
		}
		r.Links = append(r.Links, link)
	}
	return r
}

// class is what a span is, for its color.
func class(n *node) string {
	switch name := n.GetName(); {
	case n.parent == nil:
		return "entry"
	case strings.Contains(name, "host:"):
		return "thread"
	case name == "llm_request" || strings.Contains(name, "Req "):
		return "request"
	case strings.Contains(name, "wait") || strings.Contains(name, "bootstrap") || strings.Contains(name, "prepare"):
		return "wait"
	case strings.Contains(name, "transfer"):
		return "transfer"
	case strings.Contains(name, "prefill"):
		return "prefill"
	case strings.Contains(name, "decode") || name == "fake_output":
		return "decode"
	case strings.Contains(name, "spec"):
		return "spec"
	}
	return "other"
}

func htmlPairs(attributes map[string]any) []htmlPair {
	var out []htmlPair
	for k, v := range attributes {
		pair := htmlPair{k, valueText(v)}
		if d, ok := latency(k, v); ok {
			pair.Value += " (" + Duration(d) + ")"
		}
		out = append(out, pair)
	}
	slices.SortFunc(out, func(a, b htmlPair) int { return strings.Compare(a.Key, b.Key) })
	return out
}

// valueText writes a value, indented where it is JSON.
func valueText(v any) string {
	s, ok := v.(string)
	if ok {
		if !strings.HasPrefix(s, "[{") || json.Unmarshal([]byte(s), &v) != nil {
			return s
		}
	}
	switch v.(type) {
	case []any, map[string]any:
		if out, err := json.MarshalIndent(v, "", "  "); err == nil {
			return string(out)
		}
	}
	return strings.Join(strings.Fields(fmt.Sprint(v)), " ")
}

func (g *group) html() htmlGroup {
	out := htmlGroup{Scope: g.scope, Common: htmlPairs(g.common)}
	for i := 0; i < len(g.series); {
		j := i
		low, high := 0.0, 0.0
		for ; j < len(g.series) && g.series[j].name == g.series[i].name; j++ {
			for _, v := range g.series[j].course() {
				low, high = min(low, v), max(high, v)
			}
		}
		m := htmlMetric{Name: g.series[i].name, Kind: g.series[i].kind, Unit: g.series[i].unit, Description: g.series[i].description}
		for _, s := range g.series[i:j] {
			own := map[string]any{}
			for k, v := range s.dimensions {
				if _, common := g.common[k]; !common {
					own[k] = v
				}
			}
			line, area := chart(s.course(), low, high)
			m.Series = append(m.Series, htmlSeries{number(s.last, s.asInt), line, area, htmlPairs(own)})
		}
		out.Metrics = append(out.Metrics, m)
		i = j
	}
	return out
}

// chart draws a course between the lowest and the highest value of its metric,
// so that the charts of a metric can be compared.
func chart(points []float64, low, high float64) (line, area string) {
	const width, height, edge = 100.0, 28.0, 2.0
	if len(points) == 1 {
		points = []float64{points[0], points[0]}
	}
	if high <= low {
		high = low + 1
	}
	var b strings.Builder
	for i, p := range points {
		x := width * float64(i) / float64(len(points)-1)
		y := height - edge - (p-low)/(high-low)*(height-2*edge)
		fmt.Fprintf(&b, "%.2f,%.2f ", x, y)
	}
	line = strings.TrimSpace(b.String())
	return line, fmt.Sprintf("0,%g %s %g,%g", height, line, width, height)
}
