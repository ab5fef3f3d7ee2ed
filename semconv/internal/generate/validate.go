package main

import (
	"fmt"
	"go/token"
	"maps"
	"slices"
	"strings"
)

var (
	scalarTypes = []string{"string", "int", "double", "boolean", "string[]", "int[]", "double[]"}
	// A structured value has no place on a span.
	logTypes    = append(slices.Clone(scalarTypes), "any")
	groupTypes  = []string{"attribute_group", "span", "event", "metric"}
	instruments = []string{"counter", "gauge"}
	metricTypes = []string{"int", "double"}
	// Plain units are UCUM; a unit in braces counts things, which UCUM calls an annotation.
	units       = []string{"s", "ns", "1"}
	countables  = []string{"token", "request", "sequence", "choice", "iteration", "preemption", "report"}
	processes   = []string{"frontend", "dp_controller", "scheduler"}
	deployments = []string{"", "dp", "pp", "non_pd", "pd_prefill", "pd_decode"}
	fieldKinds  = []string{"attribute", "dimension", "metric"}
	levels      = []string{"required", "conditionally_required", "opt_in"}
)

func (r *resolver) oneOf(g group, what, got string, allowed []string) bool {
	if slices.Contains(allowed, got) {
		return true
	}
	if got == "" {
		r.fail(g, "no %s, expected one of %s", what, strings.Join(allowed, ", "))
	} else {
		r.fail(g, "%s %q, expected one of %s", what, got, strings.Join(allowed, ", "))
	}
	return false
}

func (r *resolver) unit(g group, unit string) {
	base := strings.TrimSuffix(unit, "/s")
	if slices.Contains(units, unit) || strings.HasPrefix(base, "{") && strings.HasSuffix(base, "}") && slices.Contains(countables, base[1:len(base)-1]) {
		return
	}
	r.fail(g, "unit %q, expected one of %s, or {x} or {x}/s with x of %s", unit, strings.Join(units, ", "), strings.Join(countables, ", "))
}

// checkGroup checks what can be seen without the other groups.
func (r *resolver) checkGroup(g group) {
	if g.ID == "" {
		r.fail(g, "no id")
	}
	if g.Brief == "" {
		r.fail(g, "no brief")
	}
	if g.Stability != "development" {
		r.fail(g, "stability %q, expected development", g.Stability)
	}
	if g.Attributes == nil && g.Extends == "" {
		r.fail(g, "no attributes, expected a list, be it empty")
	}
	x := g.Annotations.Infertel
	r.oneOf(g, "type", g.Type, groupTypes)
	switch g.Type {
	case "span":
		if g.SpanKind != "internal" {
			r.fail(g, "span_kind %q, expected internal", g.SpanKind)
		}
		if (len(x.Names) == 0) == (x.Stage == "") {
			r.fail(g, "expected the infertel annotation names or stage")
		}
		if x.DurationUnit != "" {
			r.unit(g, x.DurationUnit)
		}
	case "event":
		if g.Name == "" {
			r.fail(g, "no name")
		}
		if x.Log == (len(x.Spans) > 0) {
			r.fail(g, "expected the infertel annotation spans or log")
		}
	case "metric":
		if g.MetricName == "" {
			r.fail(g, "no metric_name")
		}
		r.oneOf(g, "instrument", g.Instrument, instruments)
		r.oneOf(g, "annotation value", x.Value, metricTypes)
		r.unit(g, g.Unit)
		if n := len(x.Range); n != 0 && n != 2 {
			r.fail(g, "range of %d values, expected 2", n)
		}
		if len(x.Reporters) == 0 {
			r.fail(g, "no reporters")
		}
	}
	if x.Stage != "" {
		r.oneOf(g, "process", x.Process, processes)
		r.oneOf(g, "deployment", x.Deployment, deployments)
		if x.Level < 1 || x.Level > 4 {
			r.fail(g, "level %d, expected 1 to 4", x.Level)
		}
	}
	for _, f := range x.Meaning {
		r.oneOf(g, "kind", f.Kind, fieldKinds)
	}
}

// checkDefinition checks an attribute of a registry.* group.
func (r *resolver) checkDefinition(g group, a attribute) bool {
	before := len(r.errs)
	x := a.Annotations.Infertel
	switch {
	case a.ID == "":
		r.fail(g, "attribute %q without an id: expected a definition, not a ref", a.Ref)
		return false
	case a.Ref != "":
		r.fail(g, "attribute %s has both id and ref", a.ID)
	case r.defs[a.ID] != nil:
		r.fail(g, "duplicate attribute id %s", a.ID)
	}
	if a.Brief == "" {
		r.fail(g, "attribute %s: no brief", a.ID)
	}
	if a.Stability != "development" {
		r.fail(g, "attribute %s: stability %q, expected development", a.ID, a.Stability)
	}
	if strings.HasPrefix(a.Type.Name, "template[") {
		if a.Type.Name != "template[string]" || len(x.Forms) == 0 {
			r.fail(g, "attribute %s: type %s, expected template[string] with the infertel annotation forms", a.ID, a.Type.Name)
		}
		for _, f := range x.Forms {
			if !strings.HasPrefix(f.Key, a.ID+".{i}.") || strings.Count(f.Key, "{j}") != 1 {
				r.fail(g, "attribute %s: form %q, expected %s.{i}, then one {j}", a.ID, f.Key, a.ID)
			}
			if !token.IsExported(f.Go) {
				r.fail(g, "attribute %s: form %q: go name %q, expected an exported name", a.ID, f.Key, f.Go)
			}
		}
	} else {
		r.oneOf(g, "attribute "+a.ID+": type", a.Type.Name, scalarTypes)
		if len(x.Forms) > 0 {
			r.fail(g, "attribute %s: forms on type %s, expected template[string]", a.ID, a.Type.Name)
		}
	}
	if a.Type.Name == "string" && len(a.Type.Members) == 0 && len(a.Examples) == 0 {
		r.fail(g, "attribute %s: no examples, expected some for a string", a.ID)
	}
	ids, vals := map[string]bool{}, map[string]bool{}
	for _, m := range a.Type.Members {
		v := fmt.Sprint(m.Value)
		if m.ID == "" || m.Brief == "" || m.Value == nil {
			r.fail(g, "attribute %s: member %q, expected id, value and brief", a.ID, m.ID)
		}
		if ids[m.ID] || vals[v] {
			r.fail(g, "attribute %s: member %s stands twice", a.ID, m.ID)
		}
		ids[m.ID], vals[v] = true, true
		if _, isInt := m.Value.(int); isInt != (a.Type.Name == "int") {
			r.fail(g, "attribute %s: member %s has value %v, expected %s like the first", a.ID, m.ID, m.Value, a.Type.Name)
		}
	}
	if x.Unit != "" {
		r.unit(g, x.Unit)
	}
	return len(r.errs) == before
}

// checkRef checks an attribute of any other group.
func (r *resolver) checkRef(g group, a attribute) bool {
	before := len(r.errs)
	x := a.Annotations.Infertel
	if a.Ref == "" {
		r.fail(g, "attribute %q without a ref: expected definitions in registry.* groups only", a.ID)
		return false
	}
	defs := r.defs[a.Ref]
	if defs == nil {
		r.fail(g, "ref to unknown attribute %q, expected the id of one in a registry.* group", a.Ref)
		return false
	}
	r.oneOf(g, "attribute "+a.Ref+": requirement_level", a.Requirement.Level, levels)
	if a.Requirement.Level != "required" && a.condition() == "" {
		r.fail(g, "attribute %s: requirement_level %s without a condition, expected a text after conditionally_required, or the infertel annotation when with opt_in", a.Ref, a.Requirement.Level)
	}
	if x.When != "" && a.Requirement.Level != "opt_in" {
		r.fail(g, "attribute %s: annotation when with requirement_level %s, expected opt_in", a.Ref, a.Requirement.Level)
	}
	if x.Type != "" {
		allowed := scalarTypes
		if g.Annotations.Infertel.Log {
			allowed = logTypes
		}
		r.oneOf(g, "attribute "+a.Ref+": type", x.Type, allowed)
	}
	if x.Unit != "" {
		r.unit(g, x.Unit)
	}
	for _, v := range x.Enum {
		if !slices.ContainsFunc(defs[0].members, func(m member) bool { return fmt.Sprint(m.Value) == v }) {
			r.fail(g, "attribute %s: enum value %q, expected a member of the definition", a.Ref, v)
		}
	}
	return len(r.errs) == before
}

// checkReferences checks names that point from one group to another.
func (r *resolver) checkReferences() {
	spans, stages, sets := map[string]bool{}, map[string]bool{}, map[string][]row{}
	for _, s := range r.out.spans {
		spans[s.id] = true
	}
	for _, s := range r.out.stages {
		stages[s.Annotations.Infertel.Stage] = true
	}
	for _, d := range r.out.dimensions {
		sets[d.Annotations.Infertel.DimensionSet] = d.rows
	}
	for _, s := range r.out.spans {
		for _, c := range s.Annotations.Infertel.Children {
			r.oneOf(s.group, "child", c, keys(spans))
		}
	}
	for _, e := range r.out.events {
		for _, s := range e.Annotations.Infertel.Spans {
			r.oneOf(e.group, "span", s, keys(spans))
		}
	}
	for _, s := range r.out.stages {
		for _, p := range s.Annotations.Infertel.NestedUnder {
			r.oneOf(s.group, "nested_under", p, keys(stages))
		}
	}
	sources := map[string]bool{"opentelemetry": true}
	for s := range spans {
		sources[s] = true
	}
	for _, m := range r.out.metrics {
		r.checkDimensions(m, sets)
		for _, rep := range m.Annotations.Infertel.Reporters {
			sources[rep.Source] = true
		}
	}
	for _, m := range r.out.meanings {
		seen := map[string]bool{}
		for _, f := range m.fields {
			r.oneOf(m.group, "source", f.Source, keys(sources))
			if seen[f.Source] {
				r.fail(m.group, "source %s stands twice, expected one name per source", f.Source)
			}
			seen[f.Source] = true
			if f.Source != "opentelemetry" && !r.reports(f) {
				r.fail(m.group, "%s %s is not reported by %s", f.Kind, f.Name, f.Source)
			}
		}
	}
}

// checkDimensions holds the attributes of a metric against the sets of its reporters: both say the same thing, the one
// for readers of the registry format, the other for the generated code.
func (r *resolver) checkDimensions(m metric, sets map[string][]row) {
	want := map[string]bool{}
	for _, rep := range m.Annotations.Infertel.Reporters {
		rows, ok := sets[rep.Dimensions]
		if !ok {
			r.fail(m.group, "unknown dimension set %q, expected one of %s", rep.Dimensions, strings.Join(keys(sets), ", "))
		}
		for _, row := range rows {
			want[row.def.id] = true
		}
	}
	for _, x := range m.Annotations.Infertel.ExtraDimensions {
		want[x] = true
	}
	got := map[string]bool{}
	for _, row := range m.rows {
		got[row.def.id] = true
	}
	if !maps.Equal(want, got) {
		r.fail(m.group, "attributes %s, expected those of the dimension sets: %s", strings.Join(keys(got), ", "), strings.Join(keys(want), ", "))
	}
}

// reports says whether a source of ours has the field.
func (r *resolver) reports(f field) bool {
	for _, s := range r.out.spans {
		if s.id == f.Source {
			return f.Kind == "attribute" && slices.ContainsFunc(s.rows, func(x row) bool { return x.def.key == f.Name })
		}
	}
	for _, m := range r.out.metrics {
		for _, rep := range m.Annotations.Infertel.Reporters {
			if rep.Source != f.Source {
				continue
			}
			if f.Kind == "metric" && m.MetricName == f.Name {
				return true
			}
			if f.Kind == "dimension" && slices.ContainsFunc(m.rows, func(x row) bool { return x.def.key == f.Name }) {
				return true
			}
		}
	}
	return false
}

// checkNames makes sure that no two things get one Go name.
func (r *resolver) checkNames() {
	seen := map[string]string{}
	for _, d := range r.out.attributes {
		if other, ok := seen[d.goName]; ok {
			r.errs = append(r.errs, fmt.Errorf("attributes %s and %s would both be %s in Go: expected the infertel annotation go on one of them", other, d.key, d.goName))
		}
		seen[d.goName] = d.key
	}
}

func keys[V any](m map[string]V) []string {
	return slices.Sorted(maps.Keys(m))
}
