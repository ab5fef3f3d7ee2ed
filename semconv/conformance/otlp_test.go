package conformance_test

import (
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	logspb "go.opentelemetry.io/proto/otlp/logs/v1"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
)

// The functions here put what tests make in the SDK's types into OTLP, as the
// exporters do.

func spansToOTLP(stubs tracetest.SpanStubs) []*tracepb.ResourceSpans {
	var out []*tracepb.ResourceSpans
	for _, s := range stubs {
		p := &tracepb.Span{
			TraceId: idBytes(s.SpanContext.TraceID()), SpanId: spanIDBytes(s.SpanContext.SpanID()), ParentSpanId: spanIDBytes(s.Parent.SpanID()),
			Name: s.Name, Kind: kindToOTLP(s.SpanKind), Attributes: toOTLP(s.Attributes),
			DroppedAttributesCount: uint32(s.DroppedAttributes), DroppedEventsCount: uint32(s.DroppedEvents),
			Status: &tracepb.Status{Message: s.Status.Description},
		}
		if !s.StartTime.IsZero() {
			p.StartTimeUnixNano = uint64(s.StartTime.UnixNano())
		}
		if !s.EndTime.IsZero() {
			p.EndTimeUnixNano = uint64(s.EndTime.UnixNano())
		}
		switch s.Status.Code {
		case codes.Error:
			p.Status.Code = tracepb.Status_STATUS_CODE_ERROR
		case codes.Ok:
			p.Status.Code = tracepb.Status_STATUS_CODE_OK
		}
		for _, e := range s.Events {
			p.Events = append(p.Events, &tracepb.Span_Event{Name: e.Name, TimeUnixNano: uint64(e.Time.UnixNano()), Attributes: toOTLP(e.Attributes)})
		}
		for _, l := range s.Links {
			p.Links = append(p.Links, &tracepb.Span_Link{TraceId: idBytes(l.SpanContext.TraceID()), SpanId: spanIDBytes(l.SpanContext.SpanID())})
		}
		out = append(out, &tracepb.ResourceSpans{ScopeSpans: []*tracepb.ScopeSpans{{
			Scope: &commonpb.InstrumentationScope{Name: s.InstrumentationScope.Name}, Spans: []*tracepb.Span{p},
		}}})
	}
	return out
}

func kindToOTLP(k trace.SpanKind) tracepb.Span_SpanKind { return tracepb.Span_SpanKind(k) }

func idBytes(id trace.TraceID) []byte { return id[:] }

func spanIDBytes(id trace.SpanID) []byte {
	if !id.IsValid() {
		return nil
	}
	return id[:]
}

func toOTLP(kvs []attribute.KeyValue) []*commonpb.KeyValue {
	var out []*commonpb.KeyValue
	for _, kv := range kvs {
		out = append(out, &commonpb.KeyValue{Key: string(kv.Key), Value: valueToOTLP(kv.Value)})
	}
	return out
}

func valueToOTLP(v attribute.Value) *commonpb.AnyValue {
	array := func(n int, at func(int) attribute.Value) *commonpb.AnyValue {
		a := &commonpb.ArrayValue{}
		for i := range n {
			a.Values = append(a.Values, valueToOTLP(at(i)))
		}
		return &commonpb.AnyValue{Value: &commonpb.AnyValue_ArrayValue{ArrayValue: a}}
	}
	switch v.Type() {
	case attribute.STRING:
		return &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: v.AsString()}}
	case attribute.INT64:
		return &commonpb.AnyValue{Value: &commonpb.AnyValue_IntValue{IntValue: v.AsInt64()}}
	case attribute.FLOAT64:
		return &commonpb.AnyValue{Value: &commonpb.AnyValue_DoubleValue{DoubleValue: v.AsFloat64()}}
	case attribute.BOOL:
		return &commonpb.AnyValue{Value: &commonpb.AnyValue_BoolValue{BoolValue: v.AsBool()}}
	case attribute.BYTESLICE:
		return &commonpb.AnyValue{Value: &commonpb.AnyValue_BytesValue{BytesValue: v.AsByteSlice()}}
	case attribute.MAP:
		return &commonpb.AnyValue{Value: &commonpb.AnyValue_KvlistValue{KvlistValue: &commonpb.KeyValueList{Values: toOTLP(v.AsMap())}}}
	case attribute.STRINGSLICE:
		list := v.AsStringSlice()
		return array(len(list), func(i int) attribute.Value { return attribute.StringValue(list[i]) })
	case attribute.INT64SLICE:
		list := v.AsInt64Slice()
		return array(len(list), func(i int) attribute.Value { return attribute.Int64Value(list[i]) })
	case attribute.FLOAT64SLICE:
		list := v.AsFloat64Slice()
		return array(len(list), func(i int) attribute.Value { return attribute.Float64Value(list[i]) })
	case attribute.BOOLSLICE:
		list := v.AsBoolSlice()
		return array(len(list), func(i int) attribute.Value { return attribute.BoolValue(list[i]) })
	case attribute.SLICE:
		list := v.AsSlice()
		return array(len(list), func(i int) attribute.Value { return list[i] })
	}
	return &commonpb.AnyValue{}
}

func metricsToOTLP(rm metricdata.ResourceMetrics) []*metricspb.ResourceMetrics {
	out := &metricspb.ResourceMetrics{}
	for _, sm := range rm.ScopeMetrics {
		p := &metricspb.ScopeMetrics{Scope: &commonpb.InstrumentationScope{Name: sm.Scope.Name}}
		for _, m := range sm.Metrics {
			q := &metricspb.Metric{Name: m.Name, Unit: m.Unit}
			switch d := m.Data.(type) {
			case metricdata.Sum[int64]:
				q.Data = &metricspb.Metric_Sum{Sum: &metricspb.Sum{IsMonotonic: d.IsMonotonic, DataPoints: pointsToOTLP(d.DataPoints)}}
			case metricdata.Sum[float64]:
				q.Data = &metricspb.Metric_Sum{Sum: &metricspb.Sum{IsMonotonic: d.IsMonotonic, DataPoints: pointsToOTLP(d.DataPoints)}}
			case metricdata.Gauge[int64]:
				q.Data = &metricspb.Metric_Gauge{Gauge: &metricspb.Gauge{DataPoints: pointsToOTLP(d.DataPoints)}}
			case metricdata.Gauge[float64]:
				q.Data = &metricspb.Metric_Gauge{Gauge: &metricspb.Gauge{DataPoints: pointsToOTLP(d.DataPoints)}}
			case metricdata.Histogram[float64]:
				q.Data = &metricspb.Metric_Histogram{Histogram: &metricspb.Histogram{}}
			case metricdata.ExponentialHistogram[float64]:
				q.Data = &metricspb.Metric_ExponentialHistogram{ExponentialHistogram: &metricspb.ExponentialHistogram{}}
			case metricdata.Summary:
				q.Data = &metricspb.Metric_Summary{Summary: &metricspb.Summary{}}
			}
			p.Metrics = append(p.Metrics, q)
		}
		out.ScopeMetrics = append(out.ScopeMetrics, p)
	}
	return []*metricspb.ResourceMetrics{out}
}

func pointsToOTLP[N int64 | float64](dps []metricdata.DataPoint[N]) []*metricspb.NumberDataPoint {
	var out []*metricspb.NumberDataPoint
	for _, d := range dps {
		p := &metricspb.NumberDataPoint{Attributes: toOTLP(d.Attributes.ToSlice())}
		switch v := any(d.Value).(type) {
		case int64:
			p.Value = &metricspb.NumberDataPoint_AsInt{AsInt: v}
		case float64:
			p.Value = &metricspb.NumberDataPoint_AsDouble{AsDouble: v}
		}
		out = append(out, p)
	}
	return out
}

func logsToOTLP(records []sdklog.Record) []*logspb.ResourceLogs {
	var out []*logspb.ResourceLogs
	for i := range records {
		r := &records[i]
		trace, span := r.TraceID(), r.SpanID()
		p := &logspb.LogRecord{EventName: r.EventName(), TimeUnixNano: uint64(r.Timestamp().UnixNano()), TraceId: idBytes(trace), SpanId: spanIDBytes(span)}
		r.WalkAttributes(func(kv attribute.KeyValue) bool {
			p.Attributes = append(p.Attributes, toOTLP([]attribute.KeyValue{kv})...)
			return true
		})
		out = append(out, &logspb.ResourceLogs{ScopeLogs: []*logspb.ScopeLogs{{
			Scope: &commonpb.InstrumentationScope{Name: r.InstrumentationScope().Name}, LogRecords: []*logspb.LogRecord{p},
		}}})
	}
	return out
}
