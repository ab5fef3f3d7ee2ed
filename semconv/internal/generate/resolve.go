package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// resolver turns groups into a registry and gathers every error on the way.
type resolver struct {
	groups map[string]group
	defs   map[string][]*definition // by attribute id; several for a template
	out    registry
	errs   []error
}

func resolve(groups []group) (*registry, error) {
	r := &resolver{groups: map[string]group{}, defs: map[string][]*definition{}}
	for _, g := range groups {
		if other, ok := r.groups[g.ID]; ok {
			r.fail(g, "duplicate group id, first at %s:%d", other.file, other.line)
			continue
		}
		r.checkGroup(g)
		r.groups[g.ID] = g
	}
	for _, g := range groups {
		if strings.HasPrefix(g.ID, "registry.") {
			r.define(g)
		}
	}
	for _, g := range groups {
		r.use(g)
	}
	if len(r.errs) == 0 {
		r.checkNames()
		r.checkReferences()
	}
	return &r.out, errors.Join(r.errs...)
}

func (r *resolver) fail(g group, format string, args ...any) {
	r.errs = append(r.errs, fmt.Errorf("%s:%d: group %s: %s", g.file, g.line, g.ID, fmt.Sprintf(format, args...)))
}

// define reads the attributes of a registry.* group.
func (r *resolver) define(g group) {
	s := section{name: strings.TrimPrefix(g.ID, "registry."), brief: g.Brief}
	for _, a := range g.Attributes {
		if !r.checkDefinition(g, a) {
			continue
		}
		x := a.Annotations.Infertel
		base := definition{
			id: a.ID, key: a.ID, brief: a.Brief, note: a.Note,
			base:    shape{typ: a.Type.Name, unit: x.Unit, format: x.Format},
			members: a.Type.Members, examples: a.Examples,
			goName: x.Go,
		}
		if base.goName == "" {
			base.goName = goName(a.ID)
		}
		var defs []*definition
		for _, f := range x.Forms {
			d := base
			d.key, d.goName, d.brief, d.examples = f.Key, f.Go, f.Brief, f.Examples
			d.base.typ = strings.TrimSuffix(strings.TrimPrefix(a.Type.Name, "template["), "]")
			defs = append(defs, &d)
		}
		if len(defs) == 0 {
			defs = append(defs, &base)
		}
		for _, d := range defs {
			d.shapes = []shape{d.base}
		}
		r.defs[a.ID] = defs
		s.attributes = append(s.attributes, defs...)
	}
	r.out.sections = append(r.out.sections, s)
	r.out.attributes = append(r.out.attributes, s.attributes...)
}

// use reads the groups that say where attributes appear.
func (r *resolver) use(g group) {
	x := g.Annotations.Infertel
	switch {
	case strings.HasPrefix(g.ID, "registry."):
	case strings.HasPrefix(g.ID, "attributes."):
		for _, a := range g.Attributes {
			r.checkRef(g, a)
		}
	case x.Stage != "":
		r.out.stages = append(r.out.stages, stage{group: g, rows: r.rows(g, "sglang.stage "+x.Stage)})
	case g.Type == "span":
		id := strings.TrimPrefix(g.ID, "span.")
		s := span{group: g, id: id, rows: r.rows(g, id)}
		if x.OnAbort != "" {
			abort, ok := r.groups[x.OnAbort]
			if !ok {
				r.fail(g, "on_abort names %q, expected the id of a group", x.OnAbort)
			}
			s.abort = r.rows(abort, id+" when aborted")
		}
		if x.TraceLevel != nil {
			r.out.level = *x.TraceLevel
		}
		r.out.labels = append(r.out.labels, x.Labels...)
		r.out.prefixes = append(r.out.prefixes, x.LabelPrefixes...)
		r.out.spans = append(r.out.spans, s)
	case g.Type == "event":
		r.out.events = append(r.out.events, event{group: g, rows: r.rows(g, "event "+g.Name)})
	case g.Type == "metric":
		r.useMetric(g)
	case x.DimensionSet != "":
		rows := r.rows(g, "dimensions "+x.DimensionSet)
		for _, row := range rows {
			if len(row.def.members) > 1 {
				row.def.choice = true
			}
		}
		r.out.dimensions = append(r.out.dimensions, dimensionSet{group: g, rows: rows})
	case len(x.Meaning) > 0:
		r.out.meanings = append(r.out.meanings, meaning{group: g, id: strings.TrimPrefix(g.ID, "mapping."), fields: x.Meaning})
	default:
		r.fail(g, "stands for nothing: expected a registry.*, attributes.* or span group, or an infertel annotation stage, dimension_set or meaning")
	}
}

func (r *resolver) useMetric(g group) {
	x := g.Annotations.Infertel
	m := metric{group: g, goName: goName(g.MetricName), rows: r.rows(g, "")}
	m.prometheus = prometheusName(g.MetricName, g.Unit, g.Instrument)
	for _, row := range m.rows {
		if slices.Contains(x.ExtraDimensions, row.def.id) {
			m.extra = append(m.extra, row)
			row.def.addUse(use{where: "metric " + g.MetricName, when: row.when, shape: row.shape})
		}
	}
	r.out.metrics = append(r.out.metrics, m)
}

// rows resolves the attributes of g, those it extends first. where is recorded as a use of each, unless it is empty.
func (r *resolver) rows(g group, where string) []row {
	var rows []row
	if g.Extends != "" {
		base, ok := r.groups[g.Extends]
		switch {
		case !ok:
			r.fail(g, "extends %q, expected the id of a group", g.Extends)
		case base.Extends != "":
			r.fail(g, "extends %q, which extends another group; expected one step only", g.Extends)
		default:
			rows = r.rows(base, where)
		}
	}
	for _, a := range g.Attributes {
		if !r.checkRef(g, a) {
			continue
		}
		x := a.Annotations.Infertel
		for _, d := range r.defs[a.Ref] {
			s := d.base
			if x.Type != "" {
				s = shape{typ: x.Type}
			}
			if x.Unit != "" {
				s.unit = x.Unit
			}
			if x.Format != "" {
				s.format = x.Format
			}
			enum := x.Enum
			if enum == nil {
				for _, m := range d.members {
					enum = append(enum, fmt.Sprint(m.Value))
				}
			}
			if slices.ContainsFunc(rows, func(o row) bool { return o.def == d }) {
				r.fail(g, "attribute %s stands twice", d.key)
			}
			rows = append(rows, row{def: d, shape: s, when: a.condition(), enum: enum})
			if where != "" {
				d.addUse(use{where: where, when: a.condition(), shape: s})
			}
		}
	}
	return rows
}

func (d *definition) addUse(u use) {
	d.uses = append(d.uses, u)
	if !slices.Contains(d.shapes, u.shape) {
		d.shapes = append(d.shapes, u.shape)
	}
}
