package conformance

import (
	"time"

	"go.opentelemetry.io/otel/attribute"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// CheckSpans judges spans as the SDK hands them to a processor or exporter, such
// as those of tracetest.SpanRecorder.Ended or tracetest.SpanStubs.Snapshots. A
// trace must be whole; see the package documentation.
func CheckSpans(spans []sdktrace.ReadOnlySpan, opts ...Option) []Violation {
	c := newChecker(opts)
	for _, s := range spans {
		if s == nil {
			continue
		}
		sc := s.SpanContext()
		n := &span{
			scope: s.InstrumentationScope().Name, name: s.Name(), trace: sc.TraceID(), id: sc.SpanID(), parentID: s.Parent().SpanID(),
			kind: s.SpanKind(), start: nanos(s.StartTime()), end: nanos(s.EndTime()), attributes: s.Attributes(),
			status: s.Status().Code, description: s.Status().Description,
			droppedAttrs: s.DroppedAttributes() > 0, droppedEvents: s.DroppedEvents() > 0,
		}
		for _, e := range s.Events() {
			n.events = append(n.events, event{e.Name, nanos(e.Time), e.Attributes, e.DroppedAttributeCount > 0})
		}
		for _, l := range s.Links() {
			n.links = append(n.links, spanKey{l.SpanContext.TraceID(), l.SpanContext.SpanID()})
		}
		c.add(n)
	}
	return c.checkSpans()
}

// CheckMetrics judges what a reader collected. Nil holds nothing.
func CheckMetrics(rm *metricdata.ResourceMetrics, opts ...Option) []Violation {
	c := newChecker(opts)
	if rm == nil {
		return nil
	}
	var all []metric
	for batch, sm := range rm.ScopeMetrics {
		for _, m := range sm.Metrics {
			n := metric{scope: sm.Scope.Name, name: m.Name, unit: m.Unit, batch: batch}
			switch d := m.Data.(type) {
			case metricdata.Sum[int64]:
				n.instrument, n.points = sumName(d.IsMonotonic), points(d.DataPoints, attribute.Int64Value)
			case metricdata.Sum[float64]:
				n.instrument, n.points = sumName(d.IsMonotonic), points(d.DataPoints, attribute.Float64Value)
			case metricdata.Gauge[int64]:
				n.instrument, n.points = gaugeName, points(d.DataPoints, attribute.Int64Value)
			case metricdata.Gauge[float64]:
				n.instrument, n.points = gaugeName, points(d.DataPoints, attribute.Float64Value)
			case metricdata.Histogram[int64], metricdata.Histogram[float64],
				metricdata.ExponentialHistogram[int64], metricdata.ExponentialHistogram[float64]:
				n.instrument = "histogram"
			case metricdata.Summary:
				n.instrument = "summary"
			default:
				n.instrument = "no data"
			}
			all = append(all, n)
		}
	}
	return c.checkMetrics(all)
}

func points[N int64 | float64](dps []metricdata.DataPoint[N], value func(N) attribute.Value) []point {
	out := make([]point, len(dps))
	for i, p := range dps {
		out[i] = point{p.Attributes.ToSlice(), value(p.Value)}
	}
	return out
}

// CheckLogs judges log records as the SDK hands them to a processor or exporter.
func CheckLogs(records []sdklog.Record, opts ...Option) []Violation {
	c := newChecker(opts)
	var all []record
	for i := range records {
		r := &records[i]
		n := record{
			scope: r.InstrumentationScope().Name, name: r.EventName(), at: nanos(r.Timestamp()),
			trace: r.TraceID(), span: r.SpanID(), dropped: r.DroppedAttributes() > 0,
		}
		r.WalkAttributes(func(kv attribute.KeyValue) bool {
			n.attributes = append(n.attributes, kv)
			return true
		})
		all = append(all, n)
	}
	return c.checkLogs(all)
}

// nanos is the time as OTLP has it: 0 for none.
func nanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}
