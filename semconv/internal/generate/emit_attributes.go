package main

import (
	"fmt"
	"strings"
)

// goTypes are the parameter types of constructors, and the methods of attribute.Key that they call.
var goTypes = map[string]struct{ param, method string }{
	"string":   {"string", "String"},
	"int":      {"int", "Int"},
	"double":   {"float64", "Float64"},
	"boolean":  {"bool", "Bool"},
	"string[]": {"...string", "StringSlice"},
	"int[]":    {"...int", "IntSlice"},
	"double[]": {"...float64", "Float64Slice"},
}

// emitAttributes writes the keys, constructors and enum values of one section.
func emitAttributes(s section) *source {
	imports := []string{"go.opentelemetry.io/otel/attribute"}
	for _, d := range s.attributes {
		if d.base.unit != "" {
			imports = append([]string{"time", ""}, imports...)
			break
		}
	}
	src := newSource(imports...)
	src.p("\n// %s", s.brief)
	src.p("const (")
	for _, d := range s.attributes {
		if !d.indexed() {
			emitKey(src, d)
		}
	}
	src.p(")")
	for _, d := range s.attributes {
		switch {
		case d.indexed():
			emitIndexed(src, d)
		case d.choice:
			emitChoice(src, d)
		case len(d.members) > 0:
			emitEnum(src, d)
		default:
			for _, shape := range d.shapes {
				if shape.typ == "any" {
					continue // built with the log API
				}
				emitConstructor(src, d, shape)
			}
		}
	}
	return src
}

func emitKey(src *source, d *definition) {
	src.comment(fmt.Sprintf("%sKey is the key of %q: %s", d.goName, d.key, sentence(d.brief)), d.note, d.facts())
	src.p("%sKey = attribute.Key(%q)\n", d.goName, d.key)
}

// facts are the lines on type, examples and places that end the comment on a key.
func (d *definition) facts() string {
	var types []string
	for _, s := range d.shapes {
		types = append(types, s.String())
	}
	facts := "Type: " + strings.Join(types, " or ") + "."
	if len(d.examples) > 0 {
		facts += "\nExamples: " + strings.Join(d.examples, ", ") + "."
	}
	if len(d.members) > 0 {
		var vals []string
		for _, m := range d.members {
			vals = append(vals, fmt.Sprint(m.Value))
		}
		facts += "\nValues: " + strings.Join(vals, ", ") + "."
	}
	for _, u := range d.uses {
		facts += "\nSource: " + u.where
		if len(d.shapes) > 1 {
			facts += ", " + u.shape.String()
		}
		if u.when != "" {
			facts += ", when " + u.when
		}
		facts += "."
	}
	return facts
}

// String describes the shape for readers.
func (s shape) String() string {
	t := s.typ
	switch s.unit {
	case "s":
		t += " in seconds"
	case "ns":
		t += " in nanoseconds"
	}
	if s.format != "" {
		t += " (" + s.format + ")"
	}
	return t
}

// suffix tells the constructors of one key apart.
func (d *definition) suffix(s shape) string {
	switch {
	case s.unit == "s":
		return "Seconds"
	case s.unit == "ns":
		return "Nanoseconds"
	case s == d.base:
		return ""
	case strings.HasPrefix(s.format, "JSON"):
		return "JSON"
	default:
		return goName(s.typ)
	}
}

func emitConstructor(src *source, d *definition, s shape) {
	name := d.goName + d.suffix(s)
	doc := fmt.Sprintf("%s returns the attribute %q: %s", name, d.key, sentence(d.brief))
	src.p("")
	switch s.unit {
	case "s":
		src.comment(doc, "The value is in seconds, a floating-point number.")
		src.p("func %s(d time.Duration) attribute.KeyValue {\nreturn %sKey.Float64(d.Seconds())\n}", name, d.goName)
		return
	case "ns":
		src.comment(doc, "The value is in nanoseconds, an integer.")
		src.p("func %s(d time.Duration) attribute.KeyValue {\nreturn %sKey.Int64(d.Nanoseconds())\n}", name, d.goName)
		return
	}
	extra := ""
	if s != d.base {
		extra = "The value is of type " + s.String() + "."
	} else if s.format != "" {
		extra = "The value is text, a " + s.format + "."
		if s.format == "hexadecimal" {
			extra = "The value is a hexadecimal number as text."
		}
	}
	src.comment(doc, extra)
	t := goTypes[s.typ]
	src.p("func %s(val %s) attribute.KeyValue {\nreturn %sKey.%s(val)\n}", name, t.param, d.goName, t.method)
}

func emitEnum(src *source, d *definition) {
	src.p("\n// The values of %s.", d.key)
	src.p("var (")
	for _, m := range d.members {
		name := d.goName + goName(m.ID)
		src.comment(fmt.Sprintf("%s is the attribute %s with the value %v: %s", name, d.key, m.Value, sentence(m.Brief)))
		src.p("%s = %sKey.%s(%#v)", name, d.goName, goTypes[d.base.typ].method, m.Value)
	}
	src.p(")")
}

// emitChoice writes a dimension whose value is a parameter: a type of its own keeps other strings out.
func emitChoice(src *source, d *definition) {
	typ := d.goName + "Attr"
	src.p("")
	src.comment(fmt.Sprintf("%s is a value of the dimension %s: %s", typ, d.key, sentence(d.brief)))
	src.p("type %s string", typ)
	src.p("\n// The values of %s.", d.key)
	src.p("const (")
	for _, m := range d.members {
		name := d.goName + goName(m.ID)
		src.comment(fmt.Sprintf("%s is %s", name, sentence(m.Brief)))
		src.p("%s %s = %q", name, typ, m.Value)
	}
	src.p(")\n")
	src.comment(fmt.Sprintf("%s returns the dimension %q: %s", d.goName, d.key, sentence(d.brief)))
	src.p("func %s(val %s) attribute.KeyValue {\nreturn %sKey.String(string(val))\n}", d.goName, typ, d.goName)
}

// emitIndexed writes an attribute whose key holds indices. Its key is a function.
func emitIndexed(src *source, d *definition) {
	prefix, rest, _ := strings.Cut(d.key, "{i}")
	middle, suffix, _ := strings.Cut(rest, "{j}")
	brief := strings.NewReplacer("{i}", "candidate", "{j}", "call", "tool call {j}", "tool call call").Replace(d.brief)
	brief = strings.NewReplacer("tool call call", "tool call number call", "candidate candidate", "candidate number candidate").Replace(brief)
	src.p("")
	src.comment(fmt.Sprintf("%sKey returns the key %q for the given indices: %s", d.goName, d.key, sentence(brief)), d.facts())
	src.p("func %sKey(candidate, call int) attribute.Key {", d.goName)
	src.p("return indexedKey(%q, candidate, %q, call, %q)\n}\n", prefix, middle, suffix)
	src.comment(fmt.Sprintf("%s returns the attribute %q: %s", d.goName, d.key, sentence(brief)))
	src.p("func %s(candidate, call int, val string) attribute.KeyValue {", d.goName)
	src.p("return %sKey(candidate, call).String(val)\n}", d.goName)
}
