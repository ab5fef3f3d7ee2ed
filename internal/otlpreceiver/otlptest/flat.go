package otlptest

import (
	"encoding/hex"
	"strings"

	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"

	"github.com/infertel/infertel-go/internal/otlpreceiver"
)

// Span is a received span. Ids are lower-case hex, "" if absent; times are Unix
// nanoseconds; attribute values are those of otlpreceiver.Value.
type Span struct {
	Scope         string
	Name          string
	Kind          string // INTERNAL, SERVER, CLIENT, PRODUCER, CONSUMER, UNSPECIFIED
	TraceID       string
	SpanID        string
	ParentID      string
	TraceState    string
	Start, End    uint64
	Status        string // UNSET, OK, ERROR
	StatusMessage string
	Attrs         map[string]any
	Events        []Event
	Links         []Link

	DroppedAttrs, DroppedEvents, DroppedLinks uint32
}

// Event is an event of a Span.
type Event struct {
	Name  string
	Time  uint64
	Attrs map[string]any
}

// Link is a link of a Span.
type Link struct {
	TraceID string
	SpanID  string
	Attrs   map[string]any
}

// Point is a data point of a received metric.
type Point struct {
	Scope     string
	Name      string
	Unit      string
	Type      string // sum, gauge, histogram
	Monotonic bool   // of a sum
	Number    string // int, double; a histogram's is double
	// Value is an int64 or a float64. A histogram's is its sum.
	Value any
	Attrs map[string]any

	// Of a histogram only.
	Count   uint64
	Bounds  []float64
	Buckets []uint64
}

// Log is a received log record. Ids are as in Span, Body and attributes as in
// otlpreceiver.Value.
type Log struct {
	Scope     string
	EventName string
	Time      uint64
	Severity  string // INFO, ..., UNSPECIFIED
	Body      any
	Attrs     map[string]any
	TraceID   string
	SpanID    string
}

func flatSpan(s otlpreceiver.Span) Span {
	out := Span{
		Scope:         s.Scope.GetName(),
		Name:          s.GetName(),
		Kind:          strings.TrimPrefix(s.GetKind().String(), "SPAN_KIND_"),
		TraceID:       hex.EncodeToString(s.GetTraceId()),
		SpanID:        hex.EncodeToString(s.GetSpanId()),
		ParentID:      hex.EncodeToString(s.GetParentSpanId()),
		TraceState:    s.GetTraceState(),
		Start:         s.GetStartTimeUnixNano(),
		End:           s.GetEndTimeUnixNano(),
		Status:        strings.TrimPrefix(s.GetStatus().GetCode().String(), "STATUS_CODE_"),
		StatusMessage: s.GetStatus().GetMessage(),
		Attrs:         otlpreceiver.Attributes(s.GetAttributes()),
		DroppedAttrs:  s.GetDroppedAttributesCount(),
		DroppedEvents: s.GetDroppedEventsCount(),
		DroppedLinks:  s.GetDroppedLinksCount(),
	}
	for _, e := range s.GetEvents() {
		out.Events = append(out.Events, Event{e.GetName(), e.GetTimeUnixNano(), otlpreceiver.Attributes(e.GetAttributes())})
	}
	for _, l := range s.GetLinks() {
		out.Links = append(out.Links, Link{hex.EncodeToString(l.GetTraceId()), hex.EncodeToString(l.GetSpanId()), otlpreceiver.Attributes(l.GetAttributes())})
	}
	return out
}

func flatLog(l otlpreceiver.Log) Log {
	return Log{
		Scope:     l.Scope.GetName(),
		EventName: l.GetEventName(),
		Time:      l.GetTimeUnixNano(),
		Severity:  strings.TrimPrefix(l.GetSeverityNumber().String(), "SEVERITY_NUMBER_"),
		Body:      otlpreceiver.Value(l.GetBody()),
		Attrs:     otlpreceiver.Attributes(l.GetAttributes()),
		TraceID:   hex.EncodeToString(l.GetTraceId()),
		SpanID:    hex.EncodeToString(l.GetSpanId()),
	}
}

func points(m otlpreceiver.Metric) []Point {
	base := Point{Scope: m.Scope.GetName(), Name: m.GetName(), Unit: m.GetUnit()}
	var numbers []*metricspb.NumberDataPoint
	var out []Point
	switch d := m.GetData().(type) {
	case *metricspb.Metric_Sum:
		base.Type, base.Monotonic = "sum", d.Sum.GetIsMonotonic()
		numbers = d.Sum.GetDataPoints()
	case *metricspb.Metric_Gauge:
		base.Type = "gauge"
		numbers = d.Gauge.GetDataPoints()
	case *metricspb.Metric_Histogram:
		base.Type, base.Number = "histogram", "double"
		for _, p := range d.Histogram.GetDataPoints() {
			pt := base
			pt.Value, pt.Attrs = p.GetSum(), otlpreceiver.Attributes(p.GetAttributes())
			pt.Count, pt.Bounds, pt.Buckets = p.GetCount(), p.GetExplicitBounds(), p.GetBucketCounts()
			out = append(out, pt)
		}
	}
	for _, p := range numbers {
		pt := base
		pt.Attrs = otlpreceiver.Attributes(p.GetAttributes())
		switch v := p.GetValue().(type) {
		case *metricspb.NumberDataPoint_AsInt:
			pt.Number, pt.Value = "int", v.AsInt
		case *metricspb.NumberDataPoint_AsDouble:
			pt.Number, pt.Value = "double", v.AsDouble
		}
		out = append(out, pt)
	}
	return out
}
