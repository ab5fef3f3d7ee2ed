package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// reference collects the text of docs/telemetry.md.
type reference struct {
	bytes.Buffer
}

func (d *reference) p(format string, args ...any) {
	fmt.Fprintf(&d.Buffer, format+"\n", args...)
}

// markdown writes the reference of everything in the registry.
func markdown(r *registry) []byte {
	d := &reference{}
	d.p("<!-- Code generated from semconv/registry. DO NOT EDIT. -->\n")
	d.p("# Telemetry reference\n")
	d.p("Everything that infertel emits: the spans, span events, log events and metrics that Alibaba Cloud ARMS documents for")
	d.p("vLLM and SGLang. Nothing else is emitted unless you ask for it, except the metric `infertel.otlp.lost` of package")
	d.p("`genai/otlp`, from the first loss on. Package `semconv` has the same in Go.\n")
	d.p("- [Reading the tables](#reading-the-tables)")
	d.p("- [Spans](#spans)")
	for _, s := range r.spans {
		d.p("  - [%s](#%s)", s.id, anchor(s.id))
	}
	d.p("- [SGLang stages](#sglang-stages)\n- [Span events](#span-events)\n- [Log events](#log-events)\n- [Metrics](#metrics)")
	d.p("- [Dimensions](#dimensions)\n- [Names that mean the same](#names-that-mean-the-same)\n- [Attributes from A to Z](#attributes-from-a-to-z)\n")
	d.p("## Reading the tables\n")
	d.p("Types are those on the wire; `s` and `ns` are units. \"always\" means that every span of the type has the attribute, save that")
	d.p("a request that was cut short has no duration of a part it never reached. \"set\" means that the attribute is there when the")
	d.p("caller, or the observed request or response, supplies the value, zero included.\n")
	d.p("The collection granularity of vLLM V1 is 0 for `llm_request` alone, 1 (the default) for its child spans too, and 2 for span")
	d.p("events too. The trace level of SGLang is 0 for no native span, else it admits the stages and events of that level or a")
	d.p("lower one. PD stands for prefill-decode disaggregation.\n")
	d.spans(r)
	d.stages(r)
	d.events(r)
	d.metrics(r)
	d.mapping(r)
	d.index(r)
	return d.Bytes()
}

func (d *reference) spans(r *registry) {
	d.p("## Spans\n")
	d.p("Every span is of kind INTERNAL.\n")
	for _, s := range r.spans {
		x := s.Annotations.Infertel
		d.p("### %s\n", s.id)
		d.p("%s\n", s.Brief)
		if s.Note != "" {
			d.p("%s\n", escape(s.Note))
		}
		if s.id == "sglang.stage" {
			d.p("- Name: that of the [stage](#sglang-stages).")
		} else {
			d.p("- Name: %s.", codes(x.Names, " or "))
		}
		if x.Granularity > 0 {
			d.p("- Produced at collection granularity %d or higher.", x.Granularity)
		}
		for _, e := range x.Endpoints {
			request := e.Request
			if strings.HasPrefix(request, "/") {
				request = code(request)
			}
			d.p("- Operation %s: %s.", code(e.Operation), request)
		}
		if len(x.Labels) > 0 {
			d.p("- Thread labels: %s, after %s under prefill-decode disaggregation.", codes(memberValues(x.Labels), ", "), codes(memberValues(x.LabelPrefixes), " or "))
		}
		if l := x.TraceLevel; l != nil {
			d.p("- Trace level: `%s`, %d unless set, %d for no native span; at run time `%s?%s=N`.", l.Env, l.Default, l.Off, l.Path, l.Parameter)
		}
		if len(x.Children) > 0 {
			d.p("- Child spans: %s.", links(x.Children))
		}
		if events := r.eventsOf(s); len(events) > 0 {
			var names []string
			for _, e := range events {
				names = append(names, e.Name)
			}
			d.p("- [Span events](#span-events): %s.", codes(names, ", "))
		}
		d.p("")
		d.attributes(s.rows)
		if len(s.abort) > 0 {
			d.p("When the request is aborted:\n")
			d.attributes(s.abort)
		}
	}
}

func (d *reference) attributes(rows []row) {
	if len(rows) == 0 {
		return
	}
	d.p("| Attribute | Type | When | Meaning |\n|---|---|---|---|")
	for _, r := range rows {
		d.p("| %s | %s | %s | %s |", code(r.def.key), r.shape.markdown(), when(r.when), r.meaning())
	}
	d.p("")
}

// meaning is the definition's brief and, if limited, the values.
func (r row) meaning() string {
	text := escape(strings.TrimSpace(r.def.brief + " " + r.def.note))
	switch {
	case len(r.enum) == 1:
		text += " Always " + code(r.enum[0]) + "."
	case len(r.enum) > 1:
		text += " One of " + codes(r.enum, ", ") + "."
	}
	return text
}

func (s shape) markdown() string {
	t := s.typ
	if s.unit != "" {
		t += ", " + s.unit
	}
	if s.format != "" {
		t += ", " + s.format
	}
	return t
}

func (d *reference) stages(r *registry) {
	d.p("## SGLang stages\n")
	d.p("A stage is produced when the trace level is at least its own. A stage that is nested under none is a child of the thread span.\n")
	d.p("| Stage | Level | Process | Deployment | Nested under | Attributes | Meaning |\n|---|---|---|---|---|---|---|")
	for _, s := range r.stages {
		x := s.Annotations.Infertel
		var attrs []string
		for _, row := range s.rows {
			attrs = append(attrs, fmt.Sprintf("%s (%s)", code(row.def.key), row.shape.markdown()))
		}
		d.p("| %s | %d | %s | %s | %s | %s | %s |", code(x.Stage), x.Level, processNames[x.Process], deploymentNames[x.Deployment],
			codes(x.NestedUnder, " or "), strings.Join(attrs, ", "), strings.TrimSpace(s.Brief+" "+s.Note))
	}
	d.p("")
}

var processNames = map[string]string{"frontend": "frontend", "dp_controller": "DP controller", "scheduler": "scheduler"}

var deploymentNames = map[string]string{
	"": "any", "dp": "with data parallelism", "pp": "with pipeline parallelism", "non_pd": "without PD disaggregation",
	"pd_prefill": "Prefill node", "pd_decode": "Decode node",
}

func (d *reference) events(r *registry) {
	d.p("## Span events\n")
	for _, e := range r.events {
		x := e.Annotations.Infertel
		if x.Log {
			continue
		}
		d.p("### %s\n", e.Name)
		d.p("%s\n", strings.TrimSpace(e.Brief+" "+e.Note))
		limit := ""
		if x.Granularity > 0 {
			limit = fmt.Sprintf(", at collection granularity %d", x.Granularity)
		}
		if x.Level > 0 {
			limit = fmt.Sprintf(", at trace level %d or higher", x.Level)
		}
		d.p("On %s%s.\n", links(x.Spans), limit)
		d.attributes(e.rows)
	}
	d.p("## Log events\n")
	for _, e := range r.events {
		if x := e.Annotations.Infertel; x.Log {
			d.p("### %s\n", e.Name)
			d.p("%s\n", strings.TrimSpace(e.Brief+" "+e.Note))
			d.p("Emitted when: %s.\n", x.When)
			d.attributes(e.rows)
		}
	}
}

func (d *reference) metrics(r *registry) {
	d.p("## Metrics\n")
	d.p("The Prometheus name is the one where unit and type suffixes are on, as in the Collector's Prometheus exporter.\n")
	for _, source := range r.sources() {
		var list []metric
		set := ""
		for _, m := range r.metrics {
			for _, rep := range m.Annotations.Infertel.Reporters {
				if rep.Source == source {
					list = append(list, m)
					set = rep.Dimensions
				}
			}
		}
		if len(list) == 0 {
			continue
		}
		d.p("### %s\n", source)
		d.p("Dimensions: [%s](#dimensions).\n", set)
		d.p("| Metric | Type | Unit | In Prometheus | Meaning |\n|---|---|---|---|---|")
		for _, m := range list {
			d.p("| %s | %s, %s | %s | %s | %s |", code(m.MetricName), m.Instrument, m.Annotations.Infertel.Value, code(m.Unit), code(m.prometheus), m.meaning())
		}
		d.p("")
	}
	d.p("## Dimensions\n")
	d.p("| Set | Dimension | Type | Meaning |\n|---|---|---|---|")
	for _, s := range r.dimensions {
		for _, row := range s.rows {
			d.p("| %s | %s | %s | %s |", s.Annotations.Infertel.DimensionSet, code(row.def.key), row.shape.typ, row.meaning())
		}
	}
	for _, m := range r.metrics {
		for _, row := range m.extra {
			d.p("| only %s | %s | %s | %s |", code(m.MetricName), code(row.def.key), row.shape.typ, row.meaning())
		}
	}
	d.p("")
}

func (m metric) meaning() string {
	x := m.Annotations.Infertel
	text := m.Brief
	if m.Note != "" {
		text += " " + m.Note
	}
	if len(x.ExtraDimensions) > 0 {
		text += " Has the dimension " + codes(x.ExtraDimensions, ", ") + " as well."
	}
	if x.When != "" {
		text += " Only when: " + x.When + "."
	}
	return escape(text)
}

func (d *reference) mapping(r *registry) {
	d.p("## Names that mean the same\n")
	d.p("One meaning has different names in different engines, versions and layers. \"opentelemetry\" is the name in OpenTelemetry's")
	d.p("conventions for generative AI.\n")
	d.p("| Meaning | Name | Kind | Reported by |\n|---|---|---|---|")
	for _, m := range r.meanings {
		var names []string
		by := map[string][]string{}
		for _, f := range m.fields {
			k := f.Name + "\x00" + f.Kind
			if by[k] == nil {
				names = append(names, k)
			}
			by[k] = append(by[k], f.Source)
		}
		for i, k := range names {
			name, kind, _ := strings.Cut(k, "\x00")
			brief := ""
			if i == 0 {
				brief = escape(strings.TrimSpace(m.Brief + " " + m.Note))
			}
			d.p("| %s | %s | %s | %s |", brief, code(name), kind, strings.Join(by[k], ", "))
		}
	}
	d.p("")
}

// index lists every attribute and dimension with its Go names.
func (d *reference) index(r *registry) {
	d.p("## Attributes from A to Z\n")
	d.p("| Attribute | In Go | Where |\n|---|---|---|")
	defs := slices.SortedFunc(slices.Values(r.attributes), func(a, b *definition) int { return strings.Compare(a.key, b.key) })
	for _, def := range defs {
		var where []string
		for _, u := range def.uses {
			where = append(where, u.where)
		}
		d.p("| %s | %s | %s |", code(def.key), codes(def.goNames(), ", "), strings.Join(where, ", "))
	}
}

// goNames are what builds the attribute: constructors or values.
func (d *definition) goNames() []string {
	var names []string
	switch {
	case len(d.members) > 0 && !d.choice:
		for _, m := range d.members {
			names = append(names, d.goName+goName(m.ID))
		}
	case d.indexed():
		names = append(names, d.goName)
	default:
		for _, s := range d.shapes {
			if s.typ != "any" {
				names = append(names, d.goName+d.suffix(s))
			}
		}
	}
	return names
}

func when(condition string) string {
	if condition == "" {
		return "always"
	}
	return escape(condition)
}

func memberValues(list []member) []string {
	var out []string
	for _, m := range list {
		out = append(out, strings.TrimSpace(fmt.Sprint(m.Value)))
	}
	return out
}

func code(s string) string { return "`" + s + "`" }

func codes(list []string, sep string) string {
	q := make([]string, len(list))
	for i, s := range list {
		q[i] = code(s)
	}
	return strings.Join(q, sep)
}

func links(ids []string) string {
	q := make([]string, len(ids))
	for i, id := range ids {
		q[i] = fmt.Sprintf("[%s](#%s)", id, anchor(id))
	}
	return strings.Join(q, ", ")
}

// anchor is the fragment that Markdown renderers give a heading.
func anchor(heading string) string {
	return strings.ToLower(strings.ReplaceAll(heading, ".", ""))
}

func escape(s string) string {
	return strings.NewReplacer("|", "\\|", "{i}", "`{i}`", "{j}", "`{j}`").Replace(s)
}
