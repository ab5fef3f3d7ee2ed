package conformance

import (
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	logspb "go.opentelemetry.io/proto/otlp/logs/v1"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
)

// CheckOTLPSpans is [CheckSpans] for OTLP protobuf. A trace may be spread over
// several ResourceSpans, but must be whole.
func CheckOTLPSpans(spans []*tracepb.ResourceSpans, opts ...Option) []Violation {
	c := newChecker(opts)
	for _, rs := range spans {
		for _, ss := range rs.GetScopeSpans() {
			for _, s := range ss.GetSpans() {
				n := &span{
					scope: ss.GetScope().GetName(), name: s.GetName(), kind: kindOf(s.GetKind()),
					start: int64(s.GetStartTimeUnixNano()), end: int64(s.GetEndTimeUnixNano()),
					attributes: keyValues(s.GetAttributes()), status: statusOf(s.GetStatus()), description: s.GetStatus().GetMessage(),
					droppedAttrs: s.GetDroppedAttributesCount() > 0, droppedEvents: s.GetDroppedEventsCount() > 0,
				}
				copy(n.trace[:], s.GetTraceId())
				copy(n.id[:], s.GetSpanId())
				copy(n.parentID[:], s.GetParentSpanId())
				for _, e := range s.GetEvents() {
					n.events = append(n.events, event{e.GetName(), int64(e.GetTimeUnixNano()), keyValues(e.GetAttributes()), e.GetDroppedAttributesCount() > 0})
				}
				for _, l := range s.GetLinks() {
					var k spanKey
					copy(k.trace[:], l.GetTraceId())
					copy(k.span[:], l.GetSpanId())
					n.links = append(n.links, k)
				}
				c.add(n)
			}
		}
	}
	return c.checkSpans()
}

// CheckOTLPMetrics is [CheckMetrics] for OTLP protobuf. Each ScopeMetrics is one
// collection, so several of them may hold the same metric.
func CheckOTLPMetrics(metrics []*metricspb.ResourceMetrics, opts ...Option) []Violation {
	c := newChecker(opts)
	var all []metric
	batch := 0
	for _, rm := range metrics {
		for _, sm := range rm.GetScopeMetrics() {
			batch++
			for _, m := range sm.GetMetrics() {
				n := metric{scope: sm.GetScope().GetName(), name: m.GetName(), unit: m.GetUnit(), batch: batch}
				switch d := m.GetData().(type) {
				case *metricspb.Metric_Sum:
					n.instrument, n.points = sumName(d.Sum.GetIsMonotonic()), numberPoints(d.Sum.GetDataPoints())
				case *metricspb.Metric_Gauge:
					n.instrument, n.points = gaugeName, numberPoints(d.Gauge.GetDataPoints())
				case *metricspb.Metric_Histogram, *metricspb.Metric_ExponentialHistogram:
					n.instrument = "histogram"
				case *metricspb.Metric_Summary:
					n.instrument = "summary"
				default:
					n.instrument = "no data"
				}
				all = append(all, n)
			}
		}
	}
	return c.checkMetrics(all)
}

func numberPoints(dps []*metricspb.NumberDataPoint) []point {
	out := make([]point, len(dps))
	for i, p := range dps {
		out[i].attributes = keyValues(p.GetAttributes())
		switch v := p.GetValue().(type) {
		case *metricspb.NumberDataPoint_AsInt:
			out[i].value = attribute.Int64Value(v.AsInt)
		case *metricspb.NumberDataPoint_AsDouble:
			out[i].value = attribute.Float64Value(v.AsDouble)
		}
	}
	return out
}

// CheckOTLPLogs is [CheckLogs] for OTLP protobuf.
func CheckOTLPLogs(logs []*logspb.ResourceLogs, opts ...Option) []Violation {
	c := newChecker(opts)
	var all []record
	for _, rl := range logs {
		for _, sl := range rl.GetScopeLogs() {
			for _, l := range sl.GetLogRecords() {
				n := record{
					scope: sl.GetScope().GetName(), name: l.GetEventName(), at: int64(l.GetTimeUnixNano()),
					attributes: keyValues(l.GetAttributes()), dropped: l.GetDroppedAttributesCount() > 0,
				}
				copy(n.trace[:], l.GetTraceId())
				copy(n.span[:], l.GetSpanId())
				all = append(all, n)
			}
		}
	}
	return c.checkLogs(all)
}

func kindOf(k tracepb.Span_SpanKind) trace.SpanKind {
	switch k {
	case tracepb.Span_SPAN_KIND_INTERNAL:
		return trace.SpanKindInternal
	case tracepb.Span_SPAN_KIND_SERVER:
		return trace.SpanKindServer
	case tracepb.Span_SPAN_KIND_CLIENT:
		return trace.SpanKindClient
	case tracepb.Span_SPAN_KIND_PRODUCER:
		return trace.SpanKindProducer
	case tracepb.Span_SPAN_KIND_CONSUMER:
		return trace.SpanKindConsumer
	}
	return trace.SpanKindUnspecified
}

func statusOf(s *tracepb.Status) codes.Code {
	switch s.GetCode() {
	case tracepb.Status_STATUS_CODE_ERROR:
		return codes.Error
	case tracepb.Status_STATUS_CODE_OK:
		return codes.Ok
	}
	return codes.Unset
}

func keyValues(kvs []*commonpb.KeyValue) []attribute.KeyValue {
	out := make([]attribute.KeyValue, len(kvs))
	for i, kv := range kvs {
		out[i] = attribute.KeyValue{Key: attribute.Key(kv.GetKey()), Value: valueOf(kv.GetValue())}
	}
	return out
}

func valueOf(v *commonpb.AnyValue) attribute.Value {
	switch v := v.GetValue().(type) {
	case *commonpb.AnyValue_StringValue:
		return attribute.StringValue(v.StringValue)
	case *commonpb.AnyValue_BoolValue:
		return attribute.BoolValue(v.BoolValue)
	case *commonpb.AnyValue_IntValue:
		return attribute.Int64Value(v.IntValue)
	case *commonpb.AnyValue_DoubleValue:
		return attribute.Float64Value(v.DoubleValue)
	case *commonpb.AnyValue_BytesValue:
		return attribute.ByteSliceValue(v.BytesValue)
	case *commonpb.AnyValue_KvlistValue:
		return attribute.MapValue(keyValues(v.KvlistValue.GetValues())...)
	case *commonpb.AnyValue_ArrayValue:
		return arrayOf(v.ArrayValue.GetValues())
	}
	return attribute.Value{}
}

// arrayOf gives an array the type of its elements. An empty one has none on the
// wire and fits wherever an array does.
func arrayOf(vs []*commonpb.AnyValue) attribute.Value {
	all := make([]attribute.Value, len(vs))
	same := attribute.EMPTY
	for i, v := range vs {
		all[i] = valueOf(v)
		if i == 0 {
			same = all[i].Type()
		} else if all[i].Type() != same {
			same = attribute.EMPTY
		}
	}
	switch same {
	case attribute.STRING:
		return attribute.StringSliceValue(each(all, attribute.Value.AsString))
	case attribute.INT64:
		return attribute.Int64SliceValue(each(all, attribute.Value.AsInt64))
	case attribute.FLOAT64:
		return attribute.Float64SliceValue(each(all, attribute.Value.AsFloat64))
	case attribute.BOOL:
		return attribute.BoolSliceValue(each(all, attribute.Value.AsBool))
	}
	return attribute.SliceValue(all...)
}

func each[T any](vs []attribute.Value, f func(attribute.Value) T) []T {
	out := make([]T, len(vs))
	for i, v := range vs {
		out[i] = f(v)
	}
	return out
}
