package semconv

// Meaning is what a field stands for, whatever it is called.
type Meaning string

// Source is a place that reports fields: a type of span, the metrics of an
// engine version, the token metrics of an API layer, or OpenTelemetry's own
// conventions.
type Source string

// FieldKind tells what sort of name a field has.
type FieldKind string

// The kinds of field.
const (
	// FieldAttribute is an attribute of a span.
	FieldAttribute FieldKind = "attribute"
	// FieldDimension is a dimension of a metric.
	FieldDimension FieldKind = "dimension"
	// FieldMetric is a metric.
	FieldMetric FieldKind = "metric"
)

// Field is the name of one meaning at one source.
type Field struct {
	// Meaning is what the field stands for.
	Meaning Meaning
	// Source is the place that reports the field.
	Source Source
	// Kind tells what sort of name Name is.
	Kind FieldKind
	// Name is the attribute key, dimension or metric name.
	Name string
}

// Lookup returns the field that has the given meaning at the given source.
func Lookup(meaning Meaning, source Source) (Field, bool) {
	for _, f := range fields {
		if f.Meaning == meaning && f.Source == source {
			return f, true
		}
	}
	return Field{}, false
}

// FieldsOf returns every field with the given name, one for each source that
// uses it. There are none if the name has no equivalents.
func FieldsOf(name string) []Field {
	var found []Field
	for _, f := range fields {
		if f.Name == name {
			found = append(found, f)
		}
	}
	return found
}

// Equivalent translates a name that one source uses into the field that means
// the same at another. It reports false if from does not use the name, or if to
// has no field of that meaning.
func Equivalent(name string, from, to Source) (Field, bool) {
	for _, f := range fields {
		if f.Name == name && f.Source == from {
			return Lookup(f.Meaning, to)
		}
	}
	return Field{}, false
}

// Fields returns the whole mapping, grouped by meaning.
func Fields() []Field {
	return append([]Field(nil), fields[:]...)
}
