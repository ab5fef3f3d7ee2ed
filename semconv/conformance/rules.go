package conformance

// Rule identifies a rule. The identifiers are stable: they do not change their
// meaning from one version to the next.
type Rule string

// The rules on spans as such.
const (
	// RuleSpanUndocumented: a span is one of the documented types.
	RuleSpanUndocumented Rule = "span.undocumented"
	// RuleSpanName: a span's name has the documented form and fits its attributes.
	RuleSpanName Rule = "span.name"
	// RuleSpanKind: every span is INTERNAL.
	RuleSpanKind Rule = "span.kind"
	// RuleSpanStatus: a status is UNSET or ERROR: ERROR with a description on
	// entry spans, on SGLang only on thread spans, on vLLM not on stages. The
	// finish reason abort makes an entry span an ERROR.
	RuleSpanStatus Rule = "span.status"
	// RuleSpanTime: a span has a start and an end that is not before it.
	RuleSpanTime Rule = "span.time"
	// RuleSpanParent: a span's parent is of a documented type for it.
	RuleSpanParent Rule = "span.parent"
	// RuleSpanContainment: a span lies within its parent where both come from one
	// process.
	RuleSpanContainment Rule = "span.containment"
	// RuleSpanGranularity: a span of vLLM is not above the collection granularity.
	RuleSpanGranularity Rule = "span.granularity"
)

// The rules on attributes of spans, events and log events.
const (
	// RuleAttributeUndocumented: an attribute is documented for its span, event or
	// log event.
	RuleAttributeUndocumented Rule = "attribute.undocumented"
	// RuleAttributeMissing: a required attribute, or one whose condition holds, is
	// present.
	RuleAttributeMissing Rule = "attribute.missing"
	// RuleAttributeForbidden: an attribute whose condition does not hold is
	// absent.
	RuleAttributeForbidden Rule = "attribute.forbidden"
	// RuleAttributeType: an attribute has its documented type.
	RuleAttributeType Rule = "attribute.type"
	// RuleAttributeEnum: an attribute has one of its documented values.
	RuleAttributeEnum Rule = "attribute.enum"
	// RuleAttributeFormat: a text has its documented form, such as a JSON array.
	RuleAttributeFormat Rule = "attribute.format"
	// RuleAttributeRange: a count, a rank or a duration is not negative; a
	// preemption count is more than 0.
	RuleAttributeRange Rule = "attribute.range"
	// RuleAttributeDuplicate: a key stands once in a list of attributes.
	RuleAttributeDuplicate Rule = "attribute.duplicate"
	// RuleAttributeConsistency: attributes that say the same agree, within a span
	// and between a span of vLLM and its events and children.
	RuleAttributeConsistency Rule = "attribute.consistency"
	// RuleContentSchema: recorded messages have a role and typed parts.
	RuleContentSchema Rule = "content.schema"
)

// The rules on latencies.
const (
	// RuleLatencySpan: the end-to-end latency is the span's length.
	RuleLatencySpan Rule = "latency.span"
	// RuleLatencySum: inference is prefill and decode together; decode in SGLang
	// is what is left after the first token.
	RuleLatencySum Rule = "latency.sum"
	// RuleLatencyStage: a latency of a V1 stage is the length of its spans
	// together.
	RuleLatencyStage Rule = "latency.stage"
	// RuleLatencyOrder: the first token comes before the end.
	RuleLatencyOrder Rule = "latency.order"
)

// The rules on span events and links.
const (
	// RuleEventUndocumented: a span event is documented for its span; entry spans
	// have none.
	RuleEventUndocumented Rule = "event.undocumented"
	// RuleEventOrder: span events are in the order of their times.
	RuleEventOrder Rule = "event.order"
	// RuleEventPlacement: an event lies within its V1 request; in SGLang it is on
	// the deepest stage that covers it, else on the thread.
	RuleEventPlacement Rule = "event.placement"
	// RuleEventSequence: WAIT comes first, when the wait starts, and after
	// PREEMPTED.
	RuleEventSequence Rule = "event.sequence"
	// RuleEventLevel: an event is not above the trace level or the collection
	// granularity.
	RuleEventLevel Rule = "event.level"
	// RuleLinkForbidden: only first-level stages of SGLang have a link, and an
	// entry span that starts a trace.
	RuleLinkForbidden Rule = "link.forbidden"
	// RuleLinkMissing: every first-level stage of a thread but the first one has a
	// link.
	RuleLinkMissing Rule = "link.missing"
	// RuleLinkTarget: a stage links to the first-level stage that ended last in
	// its thread, the first one to a stage of another thread.
	RuleLinkTarget Rule = "link.target"
)

// The rules on the engines' own structure.
const (
	// RulePDRole: a producer has no decode and a decode time of 0, a consumer no
	// prefill and a prefill time of 0.
	RulePDRole Rule = "pd.role"
	// RuleStageAdjacent: prefill of V1 begins where the wait ends, and decode where
	// prefill ends.
	RuleStageAdjacent Rule = "stage.adjacent"
	// RuleThreadLabel: a thread has a documented label, with the prefix of its
	// request's role.
	RuleThreadLabel Rule = "thread.label"
	// RuleThreadAbort: only a thread whose request was aborted, which is an ERROR,
	// has end reasons.
	RuleThreadAbort Rule = "thread.abort"
	// RuleStageProcess: a stage is in a thread of its process.
	RuleStageProcess Rule = "stage.process"
	// RuleStageDeployment: a stage is in a deployment that has it.
	RuleStageDeployment Rule = "stage.deployment"
	// RuleStageLevel: a span of SGLang is not above the trace level.
	RuleStageLevel Rule = "stage.level"
	// RuleStageEnd: decode_forward ends with its thread.
	RuleStageEnd Rule = "stage.end"
	// RuleStageCount: decode_ct goes up within a thread.
	RuleStageCount Rule = "stage.count"
)

// The rules on metrics.
const (
	// RuleMetricUndocumented: a metric has a documented name.
	RuleMetricUndocumented Rule = "metric.undocumented"
	// RuleMetricInstrument: a counter is a monotonic sum, a gauge a gauge.
	RuleMetricInstrument Rule = "metric.instrument"
	// RuleMetricUnit: a metric has its documented unit.
	RuleMetricUnit Rule = "metric.unit"
	// RuleMetricValueType: a metric is of integers or of doubles, as documented.
	RuleMetricValueType Rule = "metric.value_type"
	// RuleMetricRange: a value is finite, not negative, and within the documented
	// range.
	RuleMetricRange Rule = "metric.range"
	// RuleMetricDuplicate: a scope has a metric once, and a metric a set of
	// dimensions once.
	RuleMetricDuplicate Rule = "metric.duplicate"
	// RuleMetricSnapshot: snapshots of SGLang come with sglang_log_count, by which
	// they are divided.
	RuleMetricSnapshot Rule = "metric.snapshot"
	// RuleDimensionMissing: a data point has every dimension of its set.
	RuleDimensionMissing Rule = "dimension.missing"
	// RuleDimensionUndocumented: a data point has no other dimension.
	RuleDimensionUndocumented Rule = "dimension.undocumented"
	// RuleDimensionType: a dimension has its documented type; rpcType and
	// engine_index are integers.
	RuleDimensionType Rule = "dimension.type"
	// RuleDimensionValue: a dimension has one of its documented values.
	RuleDimensionValue Rule = "dimension.value"
)

// The rules on log events.
const (
	// RuleLogUndocumented: a log event has a documented name.
	RuleLogUndocumented Rule = "log.undocumented"
	// RuleLogContent: a content event carries the input, the output or both.
	RuleLogContent Rule = "log.content"
	// RuleLogTrace: a content event belongs to a span.
	RuleLogTrace Rule = "log.trace"
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
		{RuleEventSequence, "WAIT comes first, when the wait starts, and after PREEMPTED."},
		{RuleEventLevel, "An event is not above the trace level or the collection granularity."},
		{RuleLinkForbidden, "Only first-level stages of SGLang have a link, and an entry span that starts a trace."},
		{RuleLinkMissing, "Every first-level stage of a thread but the first one has a link."},
		{RuleLinkTarget, "A stage links to the first-level stage that ended last in its thread, the first one to a stage of another thread."},
		{RulePDRole, "A producer has no decode and a decode time of 0, a consumer no prefill and a prefill time of 0."},
		{RuleStageAdjacent, "Prefill of V1 begins where the wait ends, and decode where prefill ends."},
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
