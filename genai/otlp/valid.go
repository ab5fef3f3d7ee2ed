package otlp

import (
	"slices"
	"strings"
	"unicode/utf8"

	"go.opentelemetry.io/otel/attribute"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// Protobuf strings are UTF-8. One string that is not makes the exporter fail for
// the whole message and, as metrics are cumulative, for every later one. Such
// strings come in with requests (a model name) or token by token (half a
// character). This file replaces the invalid bytes and copies only what it
// changes.

func validString(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// validSpans returns spans with every string valid.
func validSpans(spans []sdktrace.ReadOnlySpan) []sdktrace.ReadOnlySpan {
	copied := false
	for i, s := range spans {
		v, changed := validateSpan(s)
		if !changed {
			continue
		}
		if !copied { // the caller's slice is not ours to change
			spans, copied = slices.Clone(spans), true
		}
		spans[i] = v
	}
	return spans
}

// validSpan is a span with some of its parts replaced.
type validSpan struct {
	sdktrace.ReadOnlySpan
	name       string
	status     sdktrace.Status
	attributes []attribute.KeyValue
	events     []sdktrace.Event
	links      []sdktrace.Link
}

func (s *validSpan) Name() string                     { return s.name }
func (s *validSpan) Status() sdktrace.Status          { return s.status }
func (s *validSpan) Attributes() []attribute.KeyValue { return s.attributes }
func (s *validSpan) Events() []sdktrace.Event         { return s.events }
func (s *validSpan) Links() []sdktrace.Link           { return s.links }

func validateSpan(s sdktrace.ReadOnlySpan) (sdktrace.ReadOnlySpan, bool) {
	v := validSpan{s, s.Name(), s.Status(), nil, s.Events(), s.Links()}
	changed := !utf8.ValidString(v.name) || !utf8.ValidString(v.status.Description)
	var c bool
	if v.attributes, c = validAttributes(s.Attributes()); c {
		changed = true
	}
	eventsCopied, linksCopied := false, false
	for i, e := range v.events {
		attrs, c := validAttributes(e.Attributes)
		if !c && utf8.ValidString(e.Name) {
			continue
		}
		if !eventsCopied {
			v.events, eventsCopied, changed = slices.Clone(v.events), true, true
		}
		v.events[i].Name, v.events[i].Attributes = validString(e.Name), attrs
	}
	for i, l := range v.links {
		attrs, c := validAttributes(l.Attributes)
		if !c {
			continue
		}
		if !linksCopied {
			v.links, linksCopied, changed = slices.Clone(v.links), true, true
		}
		v.links[i].Attributes = attrs
	}
	if !changed {
		return s, false
	}
	v.name, v.status.Description = validString(v.name), validString(v.status.Description)
	return &v, true
}

// validRecords returns records with every string valid.
func validRecords(records []sdklog.Record) []sdklog.Record {
	copied := false
	for i := range records {
		r := &records[i]
		body, c := validValue(r.Body())
		var attrs []attribute.KeyValue
		ac := false
		r.WalkAttributes(func(kv attribute.KeyValue) bool {
			kv, changed := validKeyValue(kv)
			ac = ac || changed
			attrs = append(attrs, kv)
			return true
		})
		if !c && !ac && utf8.ValidString(r.EventName()) && utf8.ValidString(r.SeverityText()) {
			continue
		}
		if !copied {
			records, copied = slices.Clone(records), true
		}
		n := records[i].Clone()
		n.SetEventName(validString(n.EventName()))
		n.SetSeverityText(validString(n.SeverityText()))
		n.SetBody(body)
		n.SetAttributes(attrs...)
		records[i] = n
	}
	return records
}

// validateMetrics makes every attribute of rm valid, in place: rm belongs to the
// exporter until it returns.
func validateMetrics(rm *metricdata.ResourceMetrics) {
	for _, sm := range rm.ScopeMetrics {
		for _, m := range sm.Metrics {
			switch d := m.Data.(type) {
			case metricdata.Gauge[int64]:
				validatePoints(d.DataPoints)
			case metricdata.Gauge[float64]:
				validatePoints(d.DataPoints)
			case metricdata.Sum[int64]:
				validatePoints(d.DataPoints)
			case metricdata.Sum[float64]:
				validatePoints(d.DataPoints)
			case metricdata.Histogram[int64]:
				validateHistogram(d.DataPoints)
			case metricdata.Histogram[float64]:
				validateHistogram(d.DataPoints)
			case metricdata.ExponentialHistogram[int64]:
				validateExponential(d.DataPoints)
			case metricdata.ExponentialHistogram[float64]:
				validateExponential(d.DataPoints)
			case metricdata.Summary:
				for i := range d.DataPoints {
					validateSet(&d.DataPoints[i].Attributes)
				}
			}
		}
	}
}

func validatePoints[N int64 | float64](points []metricdata.DataPoint[N]) {
	for i := range points {
		validateSet(&points[i].Attributes)
		validateExemplars(points[i].Exemplars)
	}
}

func validateHistogram[N int64 | float64](points []metricdata.HistogramDataPoint[N]) {
	for i := range points {
		validateSet(&points[i].Attributes)
		validateExemplars(points[i].Exemplars)
	}
}

func validateExponential[N int64 | float64](points []metricdata.ExponentialHistogramDataPoint[N]) {
	for i := range points {
		validateSet(&points[i].Attributes)
		validateExemplars(points[i].Exemplars)
	}
}

func validateExemplars[N int64 | float64](exemplars []metricdata.Exemplar[N]) {
	for i := range exemplars {
		exemplars[i].FilteredAttributes, _ = validAttributes(exemplars[i].FilteredAttributes)
	}
}

func validateSet(s *attribute.Set) {
	for i := s.Iter(); i.Next(); {
		if _, changed := validKeyValue(i.Attribute()); changed {
			attrs, _ := validAttributes(s.ToSlice())
			*s = attribute.NewSet(attrs...)
			return
		}
	}
}

// validAttributes returns kvs with every string valid and whether that is
// another slice.
func validAttributes(kvs []attribute.KeyValue) ([]attribute.KeyValue, bool) {
	changed := false
	for i, kv := range kvs {
		v, c := validKeyValue(kv)
		if !c {
			continue
		}
		if !changed {
			kvs, changed = slices.Clone(kvs), true
		}
		kvs[i] = v
	}
	return kvs, changed
}

func validKeyValue(kv attribute.KeyValue) (attribute.KeyValue, bool) {
	v, changed := validValue(kv.Value)
	if changed || !utf8.ValidString(string(kv.Key)) {
		return attribute.KeyValue{Key: attribute.Key(validString(string(kv.Key))), Value: v}, true
	}
	return kv, false
}

func validValue(v attribute.Value) (attribute.Value, bool) {
	switch v.Type() {
	case attribute.STRING:
		if s := v.AsString(); !utf8.ValidString(s) {
			return attribute.StringValue(validString(s)), true
		}
	case attribute.STRINGSLICE:
		ss := v.AsStringSlice()
		if !slices.ContainsFunc(ss, func(s string) bool { return !utf8.ValidString(s) }) {
			break
		}
		for i, s := range ss {
			ss[i] = validString(s)
		}
		return attribute.StringSliceValue(ss), true
	case attribute.SLICE:
		vs, changed := v.AsSlice(), false
		for i, e := range vs {
			var c bool
			vs[i], c = validValue(e)
			changed = changed || c
		}
		if changed {
			return attribute.SliceValue(vs...), true
		}
	case attribute.MAP:
		if kvs, changed := validAttributes(v.AsMap()); changed {
			return attribute.MapValue(kvs...), true
		}
	}
	return v, false
}
