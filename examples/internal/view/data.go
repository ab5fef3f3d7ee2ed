// Package view shows received telemetry to people: a tree for each trace with a
// bar for the time of each span, then the metrics, then the log events; as text
// for a terminal or as one HTML page.
package view

import (
	"maps"
	"slices"
	"strings"

	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"

	"github.com/infertel/infertel-go/internal/otlpreceiver"
)

// What is kept for showing. Beyond it things are only counted, so that a long run
// does not fill the memory.
const (
	maxTraces = 200
	maxSpans  = 20_000
	maxLogs   = 100
	maxSeries = 5_000
	maxPoints = 64 // of a series
)

// Data is what arrived, or as much of it as is worth showing. The zero value is
// empty.
type Data struct {
	// Spans, Traces and Logs count all that arrived; Traces are counted by their
	// first span.
	Spans, Traces, Logs int

	traces map[string][]otlpreceiver.Span
	kept   int // spans in traces
	full   bool

	series map[string]*series
	order  []*series
	logs   []otlpreceiver.Log
}

// Series returns how many metrics arrived, each with each set of dimensions.
func (d *Data) Series() int { return len(d.order) }

// series is one metric with one set of dimensions, over the collections.
type series struct {
	name, kind, unit, description, scope string
	dimensions                           map[string]any
	points                               []float64
	asInt                                bool
	stride, skipped                      int // only every stride-th point is kept
	last                                 float64
}

// Add takes over what arrived.
func (d *Data) Add(spans []otlpreceiver.Span, metrics []otlpreceiver.Metric, logs []otlpreceiver.Log) {
	if d.traces == nil {
		d.traces, d.series = map[string][]otlpreceiver.Span{}, map[string]*series{}
	}
	for _, s := range spans {
		d.addSpan(s)
	}
	for _, m := range metrics {
		d.addMetric(m)
	}
	d.Logs += len(logs)
	d.logs = append(d.logs, logs[:min(len(logs), maxLogs-len(d.logs))]...)
}

func (d *Data) addSpan(s otlpreceiver.Span) {
	d.Spans++
	if len(s.GetParentSpanId()) == 0 {
		d.Traces++
	}
	id := string(s.GetTraceId())
	if d.traces[id] == nil {
		if d.full = d.full || len(d.traces) == maxTraces || d.kept >= maxSpans; d.full {
			return
		}
	}
	d.traces[id] = append(d.traces[id], s)
	d.kept++
}

func (d *Data) addMetric(m otlpreceiver.Metric) {
	kind, points := numbers(m)
	for _, p := range points {
		dimensions := otlpreceiver.Attributes(p.GetAttributes())
		key := m.Scope.GetName() + "\x00" + m.GetName() + "\x00" + strings.Join(pairs(dimensions), "\x00")
		s := d.series[key]
		if s == nil {
			if len(d.order) == maxSeries {
				continue
			}
			s = &series{name: m.GetName(), kind: kind, unit: m.GetUnit(), description: m.GetDescription(), scope: m.Scope.GetName(), dimensions: dimensions, stride: 1}
			d.series[key] = s
			d.order = append(d.order, s)
		}
		v, isInt := p.GetValue().(*metricspb.NumberDataPoint_AsInt)
		if s.asInt = isInt; isInt {
			s.add(float64(v.AsInt))
		} else {
			s.add(p.GetAsDouble())
		}
	}
}

// add keeps a value, and of many every second, every fourth and so on.
func (s *series) add(v float64) {
	s.last = v
	if s.skipped++; s.skipped < s.stride {
		return
	}
	s.skipped = 0
	if len(s.points) == maxPoints {
		for i := range maxPoints / 2 {
			s.points[i] = s.points[2*i+1]
		}
		s.points = s.points[:maxPoints/2]
		s.stride *= 2
	}
	s.points = append(s.points, v)
}

// course is how the series went, its last value included.
func (s *series) course() []float64 {
	if s.skipped > 0 {
		return append(s.points[:len(s.points):len(s.points)], s.last)
	}
	return s.points
}

func numbers(m otlpreceiver.Metric) (kind string, points []*metricspb.NumberDataPoint) {
	switch d := m.GetData().(type) {
	case *metricspb.Metric_Sum:
		if d.Sum.GetIsMonotonic() {
			return "counter", d.Sum.GetDataPoints()
		}
		return "up-down counter", d.Sum.GetDataPoints()
	case *metricspb.Metric_Gauge:
		return "gauge", d.Gauge.GetDataPoints()
	}
	return "", nil
}

// group is the metrics of one instrumentation scope.
type group struct {
	scope  string
	common map[string]any // dimensions that all points have
	series []*series
}

// groups puts the series of a scope together, by name.
func (d *Data) groups() []*group {
	byScope := map[string]*group{}
	for _, s := range d.order {
		g := byScope[s.scope]
		if g == nil {
			g = &group{scope: s.scope, common: maps.Clone(s.dimensions)}
			byScope[s.scope] = g
		}
		g.series = append(g.series, s)
		for k, v := range g.common {
			if s.dimensions[k] != v {
				delete(g.common, k)
			}
		}
	}
	var out []*group
	for _, scope := range slices.Sorted(maps.Keys(byScope)) {
		g := byScope[scope]
		if len(g.series) < 2 {
			g.common = nil
		}
		slices.SortStableFunc(g.series, func(a, b *series) int { return strings.Compare(a.name, b.name) })
		out = append(out, g)
	}
	return out
}

// own returns the dimensions of a series that not all of its group have.
func (g *group) own(s *series) []string {
	own := map[string]any{}
	for k, v := range s.dimensions {
		if _, common := g.common[k]; !common {
			own[k] = v
		}
	}
	return pairs(own)
}

// shortScope is the last part of the name of an instrumentation scope.
func shortScope(scope string) string { return scope[strings.LastIndex(scope, "/")+1:] }
