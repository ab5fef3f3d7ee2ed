package otlpreceiver

import (
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
)

// Attributes returns the attributes as Go values, see Value. Of a key that
// stands twice the last one wins.
func Attributes(kvs []*commonpb.KeyValue) map[string]any {
	m := make(map[string]any, len(kvs))
	for _, kv := range kvs {
		m[kv.GetKey()] = Value(kv.GetValue())
	}
	return m
}

// Value returns v as a Go value: string, bool, int64, float64, []byte, a
// map[string]any, or an array. An array whose elements are all of one simple
// type is a []string, []bool, []int64 or []float64, any other (also an empty
// one, which has no element type on the wire) a []any. An unset value is nil.
func Value(v *commonpb.AnyValue) any {
	switch v := v.GetValue().(type) {
	case *commonpb.AnyValue_StringValue:
		return v.StringValue
	case *commonpb.AnyValue_BoolValue:
		return v.BoolValue
	case *commonpb.AnyValue_IntValue:
		return v.IntValue
	case *commonpb.AnyValue_DoubleValue:
		return v.DoubleValue
	case *commonpb.AnyValue_BytesValue:
		return v.BytesValue
	case *commonpb.AnyValue_KvlistValue:
		return Attributes(v.KvlistValue.GetValues())
	case *commonpb.AnyValue_ArrayValue:
		return array(v.ArrayValue.GetValues())
	}
	return nil
}

func array(vs []*commonpb.AnyValue) any {
	all := make([]any, len(vs))
	for i, v := range vs {
		all[i] = Value(v)
	}
	if len(all) == 0 {
		return all
	}
	switch all[0].(type) {
	case string:
		return typed[string](all)
	case bool:
		return typed[bool](all)
	case int64:
		return typed[int64](all)
	case float64:
		return typed[float64](all)
	}
	return all
}

// typed returns all as a []T, or unchanged when an element is no T.
func typed[T any](all []any) any {
	ts := make([]T, len(all))
	for i, v := range all {
		t, ok := v.(T)
		if !ok {
			return all
		}
		ts[i] = t
	}
	return ts
}
