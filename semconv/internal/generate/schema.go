package main

import (
	"fmt"

	"go.yaml.in/yaml/v3"
)

// file is one registry file, in OpenTelemetry's semantic convention format.
type file struct {
	Groups []group `yaml:"groups"`
}

// group is an attribute group, span, event or metric.
type group struct {
	ID          string      `yaml:"id"`
	Type        string      `yaml:"type"`
	Extends     string      `yaml:"extends"`
	Brief       string      `yaml:"brief"`
	Note        string      `yaml:"note"`
	Stability   string      `yaml:"stability"`
	SpanKind    string      `yaml:"span_kind"`
	Name        string      `yaml:"name"`
	MetricName  string      `yaml:"metric_name"`
	Instrument  string      `yaml:"instrument"`
	Unit        string      `yaml:"unit"`
	Attributes  []attribute `yaml:"attributes"`
	Annotations struct {
		Infertel groupExtra `yaml:"infertel"`
	} `yaml:"annotations"`

	file string
	line int
}

// groupExtra is what the registry format has no place for.
type groupExtra struct {
	Go string `yaml:"go"`

	// Spans.
	Names         []string    `yaml:"names"`
	Endpoints     []endpoint  `yaml:"endpoints"`
	DurationUnit  string      `yaml:"duration_unit"`
	Granularity   int         `yaml:"granularity"`
	Children      []string    `yaml:"children"`
	Labels        []member    `yaml:"labels"`
	LabelPrefixes []member    `yaml:"label_prefixes"`
	OnAbort       string      `yaml:"on_abort"`
	TraceLevel    *traceLevel `yaml:"trace_level"`

	// SGLang stages.
	Stage          string   `yaml:"stage"`
	Level          int      `yaml:"level"`
	Process        string   `yaml:"process"`
	Deployment     string   `yaml:"deployment"`
	NestedUnder    []string `yaml:"nested_under"`
	EndsWithThread bool     `yaml:"ends_with_thread"`

	// Events.
	Spans []string `yaml:"spans"`
	Log   bool     `yaml:"log"`

	// Log events and metrics.
	When string `yaml:"when"`

	// Metrics and dimension sets.
	Value           string     `yaml:"value"`
	Reporters       []reporter `yaml:"reporters"`
	ExtraDimensions []string   `yaml:"extra_dimensions"`
	Snapshot        bool       `yaml:"snapshot"`
	Range           []float64  `yaml:"range"`
	DimensionSet    string     `yaml:"dimension_set"`

	// Field names of one meaning.
	Meaning []field `yaml:"meaning"`
}

type endpoint struct {
	Operation string `yaml:"operation"`
	Request   string `yaml:"request"`
}

type traceLevel struct {
	Env       string `yaml:"env"`
	Default   int    `yaml:"default"`
	Off       int    `yaml:"off"`
	Path      string `yaml:"path"`
	Parameter string `yaml:"parameter"`
}

type reporter struct {
	Source     string `yaml:"source"`
	Dimensions string `yaml:"dimensions"`
}

type field struct {
	Source string `yaml:"source"`
	Kind   string `yaml:"kind"`
	Name   string `yaml:"name"`
}

// attribute is a definition (id) or a use (ref) of an attribute.
type attribute struct {
	ID          string        `yaml:"id"`
	Ref         string        `yaml:"ref"`
	Type        attributeType `yaml:"type"`
	Brief       string        `yaml:"brief"`
	Note        string        `yaml:"note"`
	Stability   string        `yaml:"stability"`
	Examples    values        `yaml:"examples"`
	Requirement requirement   `yaml:"requirement_level"`
	Annotations struct {
		Infertel attributeExtra `yaml:"infertel"`
	} `yaml:"annotations"`
}

// attributeExtra is what the registry format has no place for.
type attributeExtra struct {
	Go     string   `yaml:"go"`
	Type   string   `yaml:"type"`
	Unit   string   `yaml:"unit"`
	Format string   `yaml:"format"`
	Enum   []string `yaml:"enum"`
	When   string   `yaml:"when"`
	Forms  []form   `yaml:"forms"`
}

// form is one key of a template attribute.
type form struct {
	Key      string `yaml:"key"`
	Go       string `yaml:"go"`
	Brief    string `yaml:"brief"`
	Examples values `yaml:"examples"`
}

// attributeType is a type name, or an enum.
type attributeType struct {
	Name    string
	Members []member
}

type member struct {
	ID        string `yaml:"id"`
	Value     any    `yaml:"value"`
	Brief     string `yaml:"brief"`
	Stability string `yaml:"stability"`
}

// condition is what an attribute's presence depends on, empty if it is always there. The registry format has a text for
// conditionally_required but none for opt_in.
func (a attribute) condition() string {
	if a.Requirement.Level == "opt_in" {
		return a.Annotations.Infertel.When
	}
	return a.Requirement.Condition
}

func (t *attributeType) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		return n.Decode(&t.Name)
	}
	var enum enumType
	if err := n.Decode(&enum); err != nil {
		return err
	}
	t.Members = enum.Members
	t.Name = "string"
	if len(enum.Members) > 0 {
		if _, ok := enum.Members[0].Value.(int); ok {
			t.Name = "int"
		}
	}
	return nil
}

type enumType struct {
	Members []member `yaml:"members"`
}

// requirement says when an attribute is present.
type requirement struct {
	Level     string
	Condition string
}

func (r *requirement) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		return n.Decode(&r.Level)
	}
	var levels requirementLevels
	if err := n.Decode(&levels); err != nil {
		return err
	}
	if levels.ConditionallyRequired == "" {
		return fmt.Errorf("line %d: requirement_level: expected a condition after conditionally_required", n.Line)
	}
	r.Level, r.Condition = "conditionally_required", levels.ConditionallyRequired
	return nil
}

type requirementLevels struct {
	ConditionallyRequired string `yaml:"conditionally_required"`
}

// values is one scalar or list, or several, in the text that a reader would type.
type values []string

func (v *values) UnmarshalYAML(n *yaml.Node) error {
	nodes := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		nodes = n.Content
	}
	for _, c := range nodes {
		*v = append(*v, text(c))
	}
	return nil
}

func text(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.SequenceNode:
		s := "["
		for i, c := range n.Content {
			if i > 0 {
				s += ", "
			}
			s += text(c)
		}
		return s + "]"
	case n.Tag == "!!str":
		return fmt.Sprintf("%q", n.Value)
	default:
		return n.Value
	}
}
