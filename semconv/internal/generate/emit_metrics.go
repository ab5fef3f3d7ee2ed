package main

import (
	"fmt"
	"strings"
)

// emitMetrics writes the instrument descriptors and the functions that build dimension sets.
func emitMetrics(r *registry) *source {
	src := newSource()
	src.p("\n// The documented metrics.\nvar (")
	for _, m := range r.metrics {
		src.comment(m.doc()...)
		src.p("Metric%s = %s{%q, %q, %q}\n", m.goName, m.descriptor(), m.MetricName, m.Unit, m.Brief)
	}
	src.p(")")
	return src
}

func (m metric) descriptor() string {
	prefix := map[string]string{"int": "Int64", "double": "Float64"}[m.Annotations.Infertel.Value]
	return prefix + goName(m.Instrument)
}

func (m metric) doc() []string {
	x := m.Annotations.Infertel
	facts := fmt.Sprintf("Instrument: %s of %s, unit %s.", m.Instrument, x.Value, m.Unit)
	for _, rep := range x.Reporters {
		facts += fmt.Sprintf("\nSource: %s, dimensions %s", rep.Source, rep.Dimensions)
		if len(m.extra) > 0 {
			facts += " and " + strings.Join(x.ExtraDimensions, ", ")
		}
		if x.When != "" {
			facts += ", when " + x.When
		}
		facts += "."
	}
	return []string{fmt.Sprintf("Metric%s is %q: %s", m.goName, m.MetricName, sentence(m.Brief)), m.Note, facts}
}

func emitDimensions(r *registry) *source {
	src := newSource("go.opentelemetry.io/otel/attribute")
	for _, d := range r.dimensions {
		var params, values, names []string
		for _, row := range d.rows {
			names = append(names, row.def.key)
			if m, ok := row.def.fixed(); ok {
				values = append(values, row.def.goName+goName(m.ID))
				continue
			}
			typ := goTypes[row.shape.typ].param
			if row.def.choice {
				typ = row.def.goName + "Attr"
			}
			p := unexported(row.def.key)
			params = append(params, p+" "+typ)
			values = append(values, row.def.goName+"("+p+")")
		}
		name := d.Annotations.Infertel.Go + "Dimensions"
		src.p("")
		src.comment(fmt.Sprintf("%s returns the %s", name, sentence(d.Brief)), "They are "+strings.Join(names, ", ")+". Build a set once and keep it.")
		src.p("func %s(%s) attribute.Set {", name, strings.Join(params, ", "))
		src.p("return attribute.NewSet(%s)\n}", strings.Join(values, ", "))
	}
	return src
}
