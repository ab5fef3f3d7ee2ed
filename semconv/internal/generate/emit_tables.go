package main

import (
	"fmt"
	"slices"
	"strings"
)

// valueTypes are the names of the ValueType constants.
var valueTypes = map[string]string{
	"string": "TypeString", "int": "TypeInt", "double": "TypeDouble", "boolean": "TypeBoolean",
	"string[]": "TypeStringSlice", "int[]": "TypeIntSlice", "double[]": "TypeDoubleSlice", "any": "TypeAny",
}

func (src *source) rows(field string, rows []row) {
	if len(rows) == 0 {
		return
	}
	src.p("%s: []AttributeSpec{", field)
	for _, r := range rows {
		key := r.def.goName + "Key"
		if r.def.indexed() {
			key = fmt.Sprintf("%q", r.def.key)
		}
		line := "{Key: " + key + ", Type: " + valueTypes[r.shape.typ]
		for _, f := range []struct{ name, value string }{{"Unit", r.shape.unit}, {"Format", r.shape.format}, {"When", r.when}} {
			if f.value != "" {
				line += fmt.Sprintf(", %s: %q", f.name, f.value)
			}
		}
		if len(r.enum) > 0 {
			line += ", Enum: []string{" + quoteAll(r.enum) + "}"
		}
		src.p("%s},", line)
	}
	src.p("},")
}

func (src *source) strings(field string, list []string) {
	if len(list) > 0 {
		src.p("%s: []string{%s},", field, quoteAll(list))
	}
}

func (src *source) number(field string, n int) {
	if n != 0 {
		src.p("%s: %d,", field, n)
	}
}

func (src *source) text(field, s string) {
	if s != "" {
		src.p("%s: %q,", field, s)
	}
}

// emitSpans writes the tables of spans and log events.
func emitSpans(r *registry) *source {
	src := newSource()
	src.p("\n// Spans returns every documented type of span. The stages of SGLang are one type here; [Stages] tells them apart.")
	src.p("func Spans() []SpanType {\nreturn []SpanType{")
	for _, s := range r.spans {
		x := s.Annotations.Infertel
		src.p("{")
		src.p("ID: %q,\nBrief: %q,", s.id, s.Brief)
		src.strings("Names", x.Names)
		if len(x.Endpoints) > 0 {
			src.p("Endpoints: []Endpoint{")
			for _, e := range x.Endpoints {
				src.p("{Operation: %q, Request: %q},", e.Operation, e.Request)
			}
			src.p("},")
		}
		src.text("DurationUnit", x.DurationUnit)
		src.number("Granularity", x.Granularity)
		src.rows("Attributes", s.rows)
		src.rows("OnAbort", s.abort)
		emitEvents(src, r.eventsOf(s))
		src.strings("Children", x.Children)
		var labels []string
		for _, l := range x.Labels {
			labels = append(labels, fmt.Sprint(l.Value))
		}
		src.strings("Labels", labels)
		src.p("},")
	}
	src.p("}\n}\n\n// LogEvents returns every documented type of log event.\nfunc LogEvents() []LogEventType {\nreturn []LogEventType{")
	for _, e := range r.events {
		if e.Annotations.Infertel.Log {
			src.p("{\nName: %s,\nBrief: %q,", e.goName(), e.Brief)
			src.text("When", e.Annotations.Infertel.When)
			src.rows("Attributes", e.rows)
			src.p("},")
		}
	}
	src.p("}\n}")
	return src
}

func (r *registry) eventsOf(s span) []event {
	var events []event
	for _, e := range r.events {
		if slices.Contains(e.Annotations.Infertel.Spans, s.id) {
			events = append(events, e)
		}
	}
	return events
}

func emitEvents(src *source, events []event) {
	if len(events) == 0 {
		return
	}
	src.p("Events: []EventType{")
	for _, e := range events {
		src.p("{\nName: %s,\nBrief: %q,", e.goName(), e.Brief)
		src.number("Granularity", e.Annotations.Infertel.Granularity)
		src.number("Level", e.Annotations.Infertel.Level)
		src.rows("Attributes", e.rows)
		src.p("},")
	}
	src.p("},")
}

// emitStages writes the table of SGLang stages.
func emitStages(r *registry) *source {
	src := newSource()
	src.p("\nvar stages = [...]StageType{")
	for _, s := range r.stages {
		x := s.Annotations.Infertel
		src.p("{\nName: Stage%s,\nBrief: %q,", goName(x.Stage), s.Brief)
		src.p("Level: %d,\nProcess: Process%s,", x.Level, goName(x.Process))
		if x.Deployment != "" {
			src.p("Deployment: Deployment%s,", goName(x.Deployment))
		}
		if len(x.NestedUnder) > 0 {
			var names []string
			for _, n := range x.NestedUnder {
				names = append(names, "Stage"+goName(n))
			}
			src.p("NestedUnder: []string{%s},", strings.Join(names, ", "))
		}
		if x.EndsWithThread {
			src.p("EndsWithThread: true,")
		}
		src.rows("Attributes", s.rows)
		src.p("},")
	}
	src.p("}")
	return src
}

// emitMetricTable writes the tables of metrics and dimension sets.
func emitMetricTable(r *registry) *source {
	src := newSource()
	src.p("\n// Metrics returns every documented metric.\nfunc Metrics() []MetricType {\nreturn []MetricType{")
	for _, m := range r.metrics {
		x := m.Annotations.Infertel
		src.p("{\nName: %q, Prometheus: %q,\nBrief: %q,", m.MetricName, m.prometheus, m.Brief)
		src.p("Instrument: Instrument%s, Value: %s, Unit: %q,", goName(m.Instrument), valueTypes[x.Value], m.Unit)
		var reps []string
		for _, rep := range x.Reporters {
			reps = append(reps, fmt.Sprintf("{Source%s, %q}", goName(rep.Source), rep.Dimensions))
		}
		src.p("Reporters: []Reporter{%s},", strings.Join(reps, ", "))
		src.rows("ExtraDimensions", m.extra)
		if x.Snapshot {
			src.p("Snapshot: true,")
		}
		if len(x.Range) > 0 {
			src.p("Range: []float64{%v, %v},", x.Range[0], x.Range[1])
		}
		src.text("When", x.When)
		src.p("},")
	}
	src.p("}\n}\n\n// DimensionSets returns every documented set of dimensions.\nfunc DimensionSets() []DimensionSet {\nreturn []DimensionSet{")
	for _, d := range r.dimensions {
		src.p("{\nID: %q,", d.Annotations.Infertel.DimensionSet)
		src.rows("Attributes", d.rows)
		src.p("},")
	}
	src.p("}\n}")
	return src
}

// emitMapping writes the meanings, the sources and the table of fields.
func emitMapping(r *registry) *source {
	src := newSource()
	src.p("\n// The meanings that have different names in different places.\nconst (")
	for _, m := range r.meanings {
		name := "Meaning" + goName(m.id)
		src.comment(fmt.Sprintf("%s: %s", name, sentence(m.Brief)), m.Note)
		src.p("%s Meaning = %q\n", name, m.id)
	}
	src.p(")\n\n// The places that report fields.\nconst (")
	for _, s := range r.sources() {
		src.comment(fmt.Sprintf("Source%s: %s", goName(s), r.describe(s)))
		src.p("Source%s Source = %q", goName(s), s)
	}
	src.p(")\n\nvar fields = [...]Field{")
	for _, m := range r.meanings {
		for _, f := range m.fields {
			src.p("{Meaning%s, Source%s, Field%s, %q},", goName(m.id), goName(f.Source), goName(f.Kind), f.Name)
		}
	}
	src.p("}")
	return src
}

// describe says what a source is.
func (r *registry) describe(source string) string {
	for _, s := range r.spans {
		if s.id == source {
			return sentence(s.Brief)
		}
	}
	for _, m := range r.metrics {
		for _, rep := range m.Annotations.Infertel.Reporters {
			if rep.Source != source {
				continue
			}
			for _, d := range r.dimensions {
				if d.Annotations.Infertel.DimensionSet == rep.Dimensions {
					return strings.TrimPrefix(sentence(d.Brief), "dimensions of ")
				}
			}
		}
	}
	return "OpenTelemetry's conventions for generative AI."
}

// sources lists those named by metrics and by the mapping, in order of first mention.
func (r *registry) sources() []string {
	var list []string
	add := func(s string) {
		if !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	for _, m := range r.meanings {
		for _, f := range m.fields {
			add(f.Source)
		}
	}
	for _, m := range r.metrics {
		for _, rep := range m.Annotations.Infertel.Reporters {
			add(rep.Source)
		}
	}
	return list
}
