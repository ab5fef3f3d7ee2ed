package main

// registry is the resolved form: references followed, names worked out, everything checked.
type registry struct {
	sections   []section
	attributes []*definition
	spans      []span
	stages     []stage
	events     []event
	metrics    []metric
	dimensions []dimensionSet
	meanings   []meaning
	level      traceLevel
	labels     []member
	prefixes   []member
}

// section is one file's worth of attributes.
type section struct {
	name, brief string
	attributes  []*definition
}

// definition is one attribute key. A template attribute has one for each of its forms.
type definition struct {
	id       string
	key      string // with {i} and {j} if indexed
	goName   string
	brief    string
	note     string
	base     shape
	members  []member
	examples []string
	shapes   []shape // all that are documented, base first
	uses     []use
	// value of a metric dimension that callers choose among: a typed parameter, not a KeyValue.
	choice bool
}

// shape is the form in which a value goes over the wire.
type shape struct {
	typ, unit, format string
}

// use is one place where a definition is emitted.
type use struct {
	where string
	when  string
	shape shape
}

// row is one attribute of one span, event, log event or dimension set.
type row struct {
	def   *definition
	shape shape
	when  string
	enum  []string
}

type span struct {
	group
	id   string
	rows []row
	// on_abort rows.
	abort []row
}

type stage struct {
	group
	rows []row
}

type event struct {
	group
	rows []row
}

type metric struct {
	group
	goName     string
	prometheus string
	rows       []row
	extra      []row
}

type dimensionSet struct {
	group
	rows []row
}

type meaning struct {
	group
	id     string
	fields []field
}

// fixed is the value of a dimension that is the same in every set.
func (d *definition) fixed() (member, bool) {
	if len(d.members) == 1 {
		return d.members[0], true
	}
	return member{}, false
}

func (d *definition) indexed() bool { return d.key != d.id }
