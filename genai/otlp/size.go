package otlp

import (
	"math/bits"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// The functions of this file count the bytes of OTLP protobuf an item becomes,
// without building the message. They never return less than the real size, and
// little more: what has a fixed size (ids, times, flags, counters) is always
// counted as present. Only slice and map values make them allocate, as the
// attribute package hands those out as copies.

const (
	fixedSpan   = 18 + 10 + 10 + 2 + 9 + 9 + 3*6 + 6 + 4 // ids, kind, times, dropped counts, flags, status
	fixedEvent  = 9 + 6                                  // time, dropped count
	fixedLink   = 18 + 10 + 6 + 5                        // ids, dropped count, flags
	fixedRecord = 9 + 9 + 2 + 6 + 5 + 18 + 10            // times, severity, dropped count, flags, ids
	nesting     = 4 * 6                                  // tags and lengths of the messages around one scope's items
)

// spanSize returns the bytes s takes in a message of its resource and scope.
func spanSize(s sdktrace.ReadOnlySpan) int {
	return field(spanWeight(s) + field(len(s.Name())) + field(len(s.Status().Description)) +
		traceStateSize(s.SpanContext().TraceState()))
}

// spanWeight is spanSize without what is hardly ever large. A queue is bounded by
// it: it is taken as spans end, and every method called copies the span.
func spanWeight(s sdktrace.ReadOnlySpan) int {
	n := fixedSpan + attributesSize(s.Attributes())
	for _, e := range s.Events() {
		n += field(fixedEvent + field(len(e.Name)) + attributesSize(e.Attributes))
	}
	for _, l := range s.Links() {
		n += field(fixedLink + traceStateSize(l.SpanContext.TraceState()) + attributesSize(l.Attributes))
	}
	return n
}

// recordSize returns the bytes r takes in a message of its resource and scope.
func recordSize(r *sdklog.Record) int {
	body := r.Body()
	n := fixedRecord + field(len(r.EventName())) + field(len(r.SeverityText())) + field(valueSize(&body))
	r.WalkAttributes(func(kv attribute.KeyValue) bool {
		n += field(keyValueSize(kv))
		return true
	})
	return field(n)
}

// originSize returns the bytes a message takes for holding items of a resource
// and scope.
func originSize(r *resource.Resource, s instrumentation.Scope) int {
	return nesting + setSize(r.Set()) + field(len(r.SchemaURL())) +
		field(len(s.Name)) + field(len(s.Version)) + field(len(s.SchemaURL)) + setSize(&s.Attributes)
}

func setSize(s *attribute.Set) int {
	n := 0
	for i := s.Iter(); i.Next(); {
		n += field(keyValueSize(i.Attribute()))
	}
	return n
}

func attributesSize(kvs []attribute.KeyValue) int {
	n := 0
	for i := range kvs { // by index, as the elements are large
		n += field(field(len(kvs[i].Key)) + field(valueSize(&kvs[i].Value)))
	}
	return n
}

func keyValueSize(kv attribute.KeyValue) int {
	return field(len(kv.Key)) + field(valueSize(&kv.Value))
}

func valueSize(v *attribute.Value) int {
	switch v.Type() {
	case attribute.STRING:
		return field(len(v.AsString()))
	case attribute.INT64:
		return 1 + varint(uint64(v.AsInt64()))
	case attribute.FLOAT64:
		return 9
	case attribute.BOOL:
		return 2
	case attribute.EMPTY:
		return 0
	}
	return compositeSize(*v)
}

func compositeSize(v attribute.Value) int {
	n := 0
	switch v.Type() {
	case attribute.BYTESLICE:
		n = len(v.AsByteSlice())
	case attribute.BOOLSLICE:
		n = 4 * len(v.AsBoolSlice())
	case attribute.FLOAT64SLICE:
		n = 11 * len(v.AsFloat64Slice())
	case attribute.INT64SLICE:
		for _, i := range v.AsInt64Slice() {
			n += field(1 + varint(uint64(i)))
		}
	case attribute.STRINGSLICE:
		for _, s := range v.AsStringSlice() {
			n += field(field(len(s)))
		}
	case attribute.SLICE:
		vs := v.AsSlice()
		for i := range vs {
			n += field(valueSize(&vs[i]))
		}
	case attribute.MAP:
		n = attributesSize(v.AsMap())
	default:
		n = len("INVALID") // what the exporters make of a type they do not know
	}
	return field(n)
}

func traceStateSize(ts trace.TraceState) int {
	n := 0
	if ts.Len() > 0 {
		n = field(len(ts.String()))
	}
	return n
}

// field returns the size of a field with a one-byte tag and a length before its
// n bytes.
func field(n int) int { return 1 + varint(uint64(n)) + n }

// varint returns the size of v as a protobuf varint.
func varint(v uint64) int { return (bits.Len64(v|1) + 6) / 7 }
