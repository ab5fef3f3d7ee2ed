package conformance

// Rule identifies a rule. The identifiers are stable: they do not change their
// meaning from one version to the next.
type Rule string

// The rules on spans as such.
const (
	RuleSpanUndocumented Rule = "span.undocumented"
	RuleSpanName         Rule = "span.name"
	RuleSpanKind         Rule = "span.kind"
	RuleSpanStatus       Rule = "span.status"
	RuleSpanTime         Rule = "span.time"
	RuleSpanParent       Rule = "span.parent"
	RuleSpanContainment  Rule = "span.containment"
	RuleSpanGranularity  Rule = "span.granularity"
)

// The rules on attributes of spans, events and log events.
const (
	RuleAttributeUndocumented Rule = "attribute.undocumented"
	RuleAttributeMissing      Rule = "attribute.missing"
	RuleAttributeForbidden    Rule = "attribute.forbidden"
	RuleAttributeType         Rule = "attribute.type"
	RuleAttributeEnum         Rule = "attribute.enum"
	RuleAttributeFormat       Rule = "attribute.format"
	RuleAttributeRange        Rule = "attribute.range"
	RuleAttributeDuplicate    Rule = "attribute.duplicate"
	RuleAttributeConsistency  Rule = "attribute.consistency"
	RuleContentSchema         Rule = "content.schema"
)

// The rules on latencies.
const (
	RuleLatencySpan  Rule = "latency.span"
	RuleLatencySum   Rule = "latency.sum"
	RuleLatencyStage Rule = "latency.stage"
	RuleLatencyOrder Rule = "latency.order"
)

// The rules on span events and links.
const (
	RuleEventUndocumented Rule = "event.undocumented"
	RuleEventOrder        Rule = "event.order"
	RuleEventPlacement    Rule = "event.placement"
	RuleEventSequence     Rule = "event.sequence"
	RuleEventLevel        Rule = "event.level"
	RuleLinkForbidden     Rule = "link.forbidden"
	RuleLinkMissing       Rule = "link.missing"
	RuleLinkTarget        Rule = "link.target"
)

// The rules on the engines' own structure.
const (
	RulePDRole          Rule = "pd.role"
	RuleThreadLabel     Rule = "thread.label"
	RuleThreadAbort     Rule = "thread.abort"
	RuleStageProcess    Rule = "stage.process"
	RuleStageDeployment Rule = "stage.deployment"
	RuleStageLevel      Rule = "stage.level"
	RuleStageEnd        Rule = "stage.end"
	RuleStageCount      Rule = "stage.count"
)

// The rules on metrics.
const (
	RuleMetricUndocumented    Rule = "metric.undocumented"
	RuleMetricInstrument      Rule = "metric.instrument"
	RuleMetricUnit            Rule = "metric.unit"
	RuleMetricValueType       Rule = "metric.value_type"
	RuleMetricRange           Rule = "metric.range"
	RuleMetricDuplicate       Rule = "metric.duplicate"
	RuleMetricSnapshot        Rule = "metric.snapshot"
	RuleDimensionMissing      Rule = "dimension.missing"
	RuleDimensionUndocumented Rule = "dimension.undocumented"
	RuleDimensionType         Rule = "dimension.type"
	RuleDimensionValue        Rule = "dimension.value"
)

// The rules on log events.
const (
	RuleLogUndocumented Rule = "log.undocumented"
	RuleLogContent      Rule = "log.content"
	RuleLogTrace        Rule = "log.trace"
)

type ruleBrief struct {
	rule  Rule
	brief string
}

func rules() []ruleBrief {
	return []ruleBrief{
		{RuleSpanUndocumented, "A span is one of the documented types."},
		{RuleSpanName, "A span's name has the documented form and fits its attributes."},
		{RuleSpanKind, "Every span is INTERNAL."},
		{RuleSpanStatus, "A status is UNSET or ERROR: ERROR with a description on entry spans, on SGLang only on thread spans, on vLLM not on stages. The finish reason abort makes an entry span an ERROR."},
		{RuleSpanTime, "A span has a start and an end that is not before it."},
		{RuleSpanParent, "A span's parent is of a documented type for it."},
		{RuleSpanContainment, "A span lies within its parent where both come from one process."},
		{RuleSpanGranularity, "A span of vLLM is not above the collection granularity."},
		{RuleAttributeUndocumented, "An attribute is documented for its span, event or log event."},
		{RuleAttributeMissing, "A required attribute, or one whose condition holds, is present."},
		{RuleAttributeForbidden, "An attribute whose condition does not hold is absent."},
		{RuleAttributeType, "An attribute has its documented type."},
		{RuleAttributeEnum, "An attribute has one of its documented values."},
		{RuleAttributeFormat, "A text has its documented form, such as a JSON array."},
		{RuleAttributeRange, "A count, a rank or a duration is not negative; a preemption count is more than 0."},
		{RuleAttributeDuplicate, "A key stands once in a list of attributes."},
		{RuleAttributeConsistency, "Attributes that say the same agree, within a span and between a span of vLLM and its events and children."},
		{RuleContentSchema, "Recorded messages have a role and typed parts."},
		{RuleLatencySpan, "The end-to-end latency is the span's length."},
		{RuleLatencySum, "Inference is prefill and decode together; decode in SGLang is what is left after the first token."},
		{RuleLatencyStage, "A latency of a V1 stage is the length of its spans together."},
		{RuleLatencyOrder, "The first token comes before the end."},
		{RuleEventUndocumented, "A span event is documented for its span; entry spans have none."},
		{RuleEventOrder, "Span events are in the order of their times."},
		{RuleEventPlacement, "An event lies within its V1 request; in SGLang it is on the deepest stage that covers it, else on the thread."},
		{RuleEventSequence, "PREEMPTED is followed by WAIT."},
		{RuleEventLevel, "An event is not above the trace level or the collection granularity."},
		{RuleLinkForbidden, "Only first-level stages of SGLang have a link, and an entry span that starts a trace."},
		{RuleLinkMissing, "Every first-level stage of a thread but the first one has a link."},
		{RuleLinkTarget, "A stage links to the first-level stage that ended last in its thread, the first one to a stage of another thread."},
		{RulePDRole, "A producer has no decode and a decode time of 0, a consumer no prefill and a prefill time of 0."},
		{RuleThreadLabel, "A thread has a documented label, with the prefix of its request's role."},
		{RuleThreadAbort, "Only a thread whose request was aborted, which is an ERROR, has end reasons."},
		{RuleStageProcess, "A stage is in a thread of its process."},
		{RuleStageDeployment, "A stage is in a deployment that has it."},
		{RuleStageLevel, "A span of SGLang is not above the trace level."},
		{RuleStageEnd, "decode_forward ends with its thread."},
		{RuleStageCount, "decode_ct goes up within a thread."},
		{RuleMetricUndocumented, "A metric has a documented name."},
		{RuleMetricInstrument, "A counter is a monotonic sum, a gauge a gauge."},
		{RuleMetricUnit, "A metric has its documented unit."},
		{RuleMetricValueType, "A metric is of integers or of doubles, as documented."},
		{RuleMetricRange, "A value is finite, not negative, and within the documented range."},
		{RuleMetricDuplicate, "A scope has a metric once, and a metric a set of dimensions once."},
		{RuleMetricSnapshot, "Snapshots of SGLang come with sglang_log_count, by which they are divided."},
		{RuleDimensionMissing, "A data point has every dimension of its set."},
		{RuleDimensionUndocumented, "A data point has no other dimension."},
		{RuleDimensionType, "A dimension has its documented type; rpcType and engine_index are integers."},
		{RuleDimensionValue, "A dimension has one of its documented values."},
		{RuleLogUndocumented, "A log event has a documented name."},
		{RuleLogContent, "A content event carries the input, the output or both."},
		{RuleLogTrace, "A content event belongs to a span."},
	}
}

// Rules returns every rule.
func Rules() []Rule {
	var out []Rule
	for _, r := range rules() {
		out = append(out, r.rule)
	}
	return out
}

// Brief says what the rule demands.
func (r Rule) Brief() string {
	for _, b := range rules() {
		if b.rule == r {
			return b.brief
		}
	}
	return ""
}
