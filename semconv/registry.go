package semconv

import (
	"strings"

	"go.opentelemetry.io/otel/attribute"
)

// ValueType is the type of an attribute or metric value on the wire.
type ValueType uint8

// The documented value types.
const (
	// TypeString is a string.
	TypeString ValueType = iota + 1
	// TypeInt is a 64-bit integer.
	TypeInt
	// TypeDouble is a 64-bit floating-point number.
	TypeDouble
	// TypeBoolean is a truth value.
	TypeBoolean
	// TypeStringSlice is an array of strings.
	TypeStringSlice
	// TypeIntSlice is an array of integers.
	TypeIntSlice
	// TypeDoubleSlice is an array of floating-point numbers.
	TypeDoubleSlice
	// TypeAny is a structured value, which only log events can carry.
	TypeAny
)

// String returns the type's name in the registry, such as "string[]".
func (t ValueType) String() string {
	switch t {
	case TypeString:
		return "string"
	case TypeInt:
		return "int"
	case TypeDouble:
		return "double"
	case TypeBoolean:
		return "boolean"
	case TypeStringSlice:
		return "string[]"
	case TypeIntSlice:
		return "int[]"
	case TypeDoubleSlice:
		return "double[]"
	case TypeAny:
		return "any"
	}
	return "invalid"
}

// AttributeType returns the type that an attribute.Value of t has, which is
// EMPTY for [TypeAny]: no span attribute can hold such a value.
func (t ValueType) AttributeType() attribute.Type {
	switch t {
	case TypeString:
		return attribute.STRING
	case TypeInt:
		return attribute.INT64
	case TypeDouble:
		return attribute.FLOAT64
	case TypeBoolean:
		return attribute.BOOL
	case TypeStringSlice:
		return attribute.STRINGSLICE
	case TypeIntSlice:
		return attribute.INT64SLICE
	case TypeDoubleSlice:
		return attribute.FLOAT64SLICE
	}
	return attribute.EMPTY
}

// AttributeSpec is one attribute as one span, event or dimension set has it.
type AttributeSpec struct {
	// Key is the attribute's key. In keys with indices {i} and {j} stand for
	// numbers; see [AttributeSpec.Matches].
	Key attribute.Key
	// Type is the type of the value here. Elsewhere the key may have another.
	Type ValueType
	// Unit is the UCUM unit of a duration, else empty.
	Unit string
	// Format is the form of a string value, such as "JSON array", else empty.
	Format string
	// When is the condition under which the attribute is present. Empty means
	// always; "set" means when the caller, or the observed request or response,
	// supplies the value.
	When string
	// Enum lists the allowed values in text form, if they are limited.
	Enum []string
}

// Required reports whether the attribute is always present.
func (a AttributeSpec) Required() bool { return a.When == "" }

// Matches reports whether key is the attribute's key, or one of its keys if it
// has indices.
func (a AttributeSpec) Matches(key attribute.Key) bool {
	pattern, rest := string(a.Key), string(key)
	for {
		prefix, after, indexed := strings.Cut(pattern, "{")
		if !indexed {
			return rest == prefix
		}
		var ok bool
		if rest, ok = strings.CutPrefix(rest, prefix); !ok {
			return false
		}
		digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
		if digits == 0 {
			return false
		}
		rest = rest[digits:]
		_, pattern, _ = strings.Cut(after, "}")
	}
}

// Allows reports whether val is one of the allowed values. Without a limit
// every value is.
func (a AttributeSpec) Allows(val attribute.Value) bool {
	if len(a.Enum) == 0 {
		return true
	}
	text := val.String()
	for _, e := range a.Enum {
		if e == text {
			return true
		}
	}
	return false
}

// SpanType is one documented type of span. Every span is of kind INTERNAL.
type SpanType struct {
	// ID names the type in this package's tables, such as "vllm.v1.wait".
	ID string
	// Brief says what the span stands for.
	Brief string
	// Names are the span names, with placeholders in braces or brackets.
	Names []string
	// Endpoints are the API requests that an entry span stands for.
	Endpoints []Endpoint
	// DurationUnit is the UCUM unit of the latency attributes, if all share one.
	DurationUnit string
	// Granularity is the lowest vLLM collection granularity that has the span.
	Granularity int
	// Attributes are the attributes that the span may have; it has no others.
	Attributes []AttributeSpec
	// OnAbort are the attributes added when the request is aborted.
	OnAbort []AttributeSpec
	// Events are the span events that the span may have.
	Events []EventType
	// Children are the IDs of the types of its child spans.
	Children []string
	// Labels are the thread labels of an SGLang thread span, with {number} as a
	// placeholder. [ThreadLabelPrefixPrefill] or [ThreadLabelPrefixDecode] may
	// precede one.
	Labels []string
}

// Endpoint is the API request behind an operation.
type Endpoint struct {
	// Operation is the value of gen_ai.operation.name.
	Operation string
	// Request is the request's path, or a description where there are several.
	Request string
}

// EventType is one documented type of span event.
type EventType struct {
	// Name is the event's name.
	Name string
	// Brief says what the event stands for.
	Brief string
	// Granularity is the lowest vLLM collection granularity that has the event.
	Granularity int
	// Level is the lowest SGLang trace level that has the event.
	Level int
	// Attributes are the attributes that the event may have; it has no others.
	Attributes []AttributeSpec
}

// LogEventType is one documented type of log event.
type LogEventType struct {
	// Name is the event's name.
	Name string
	// Brief says what the event stands for.
	Brief string
	// When is the condition under which the event is emitted.
	When string
	// Attributes are the attributes that the event may have. Their values are
	// structured, not strings as on spans.
	Attributes []AttributeSpec
}

// Process is the process of an SGLang deployment that produces a stage.
type Process string

// The processes that produce stages.
const (
	// ProcessFrontend serves the API and tokenizes.
	ProcessFrontend Process = "frontend"
	// ProcessDPController spreads requests over data parallel ranks.
	ProcessDPController Process = "dp_controller"
	// ProcessScheduler schedules and runs batches.
	ProcessScheduler Process = "scheduler"
)

// Deployment is the kind of SGLang deployment that a stage is limited to.
type Deployment string

// The kinds of deployment.
const (
	// DeploymentAny limits nothing.
	DeploymentAny Deployment = ""
	// DeploymentDP is a deployment with data parallelism.
	DeploymentDP Deployment = "dp"
	// DeploymentPP is a deployment with pipeline parallelism.
	DeploymentPP Deployment = "pp"
	// DeploymentNonPD is a deployment without prefill-decode disaggregation.
	DeploymentNonPD Deployment = "non_pd"
	// DeploymentPDPrefill is a Prefill node under disaggregation.
	DeploymentPDPrefill Deployment = "pd_prefill"
	// DeploymentPDDecode is a Decode node under disaggregation.
	DeploymentPDDecode Deployment = "pd_decode"
)

// StageType is one stage of an SGLang thread. A StageType and its slices are
// read-only.
type StageType struct {
	// Name is the stage's span name.
	Name string
	// Brief says what the stage stands for.
	Brief string
	// Level is the lowest trace level that has the stage.
	Level int
	// Process is the process that produces the stage.
	Process Process
	// Deployment limits the stage to one kind of deployment.
	Deployment Deployment
	// NestedUnder names the stages of which one is the parent. A stage without
	// any is a child of the thread span.
	NestedUnder []string
	// EndsWithThread says that the stage has no end of its own.
	EndsWithThread bool
	// Attributes are the attributes that the stage has; it has no others.
	Attributes []AttributeSpec
}

// StageByName returns the stage with the given span name.
func StageByName(name string) (StageType, bool) {
	for i := range stages {
		if stages[i].Name == name {
			return stages[i], true
		}
	}
	return StageType{}, false
}

// Stages returns every stage of an SGLang thread, in the order in which they
// are documented.
func Stages() []StageType {
	return append([]StageType(nil), stages[:]...)
}

// Instrument is the kind of instrument that reports a metric.
type Instrument string

// The kinds of instrument.
const (
	// InstrumentCounter only ever goes up.
	InstrumentCounter Instrument = "counter"
	// InstrumentGauge is the value of the moment.
	InstrumentGauge Instrument = "gauge"
)

// MetricType is one documented metric.
type MetricType struct {
	// Name is the instrument's name.
	Name string
	// Brief says what the metric measures.
	Brief string
	// Prometheus is the name in Prometheus, where unit and type suffixes are on.
	Prometheus string
	// Instrument is the kind of instrument.
	Instrument Instrument
	// Value is TypeInt or TypeDouble.
	Value ValueType
	// Unit is the UCUM unit.
	Unit string
	// Reporters are those who report the metric.
	Reporters []Reporter
	// ExtraDimensions are dimensions beyond the set of the reporter.
	ExtraDimensions []AttributeSpec
	// Snapshot says that each statistics report adds its momentary value to the
	// counter. The increase, divided by that of [MetricSGLangLogCount], is an
	// average of what was observed.
	Snapshot bool
	// Range is the lowest and the highest value, or empty.
	Range []float64
	// When is the condition under which a reporter has the metric at all. Empty
	// means always.
	When string
}

// Reporter is one who reports a metric.
type Reporter struct {
	// Source is the engine and version, or the API layer.
	Source Source
	// Dimensions is the ID of the [DimensionSet] that each data point has.
	Dimensions string
}

// DimensionSet is a set of dimensions that metrics share.
type DimensionSet struct {
	// ID is the set's name in this package's tables, such as "vllm.token".
	ID string
	// Attributes are the dimensions, all required. One whose Enum has one value
	// is constant.
	Attributes []AttributeSpec
}
