package conformance

import (
	"math"
	"slices"
	"time"

	"go.opentelemetry.io/otel/attribute"

	"github.com/infertel/infertel-go/semconv"
)

// rounding is how far two values of one duration may be apart: seconds are
// floating-point numbers.
const rounding = time.Microsecond

// latency returns a duration of the span if it is there, of its documented type
// and not negative.
func (c *checker) latency(s *span, key attribute.Key) (time.Duration, bool) {
	v, ok := get(s.attributes, key)
	if !ok {
		return 0, false
	}
	for _, a := range s.typ.Attributes {
		if a.Key != key || v.Type() != a.Type.AttributeType() {
			continue
		}
		if a.Type == semconv.TypeInt {
			return min(time.Duration(v.AsInt64()), math.MaxInt64/2), v.AsInt64() >= 0
		}
		const most = 4e9 // seconds, so that the sum of two fits into nanoseconds
		return time.Duration(min(v.AsFloat64(), most) * 1e9), v.AsFloat64() >= 0
	}
	return 0, false
}

func (c *checker) checkLatencies(s *span) {
	switch s.typ.ID {
	case idSGLangEntry:
		// The span and the latency may have been measured apart, so only another
		// unit is told from a pause of the process.
		if e2e, ok := c.latency(s, semconv.GenAILatencyE2EKey); ok && s.start > 0 && s.end >= s.start {
			if off := (e2e - s.length()).Abs(); off > time.Second && off > max(e2e, s.length())/2 {
				c.reportLatency(s, RuleLatencySpan, semconv.GenAILatencyE2EKey, e2e, s.length(), "the span's length")
			}
		}
		return
	case idV0, idV1, idRequest:
	default:
		return
	}
	e2e, hasE2E := c.latency(s, semconv.GenAILatencyE2EKey)
	first, hasFirst := c.latency(s, semconv.GenAILatencyTimeToFirstTokenKey)
	prefill, hasPrefill := c.latency(s, semconv.GenAILatencyTimeInModelPrefillKey)
	decode, hasDecode := c.latency(s, semconv.GenAILatencyTimeInModelDecodeKey)
	inference, hasInference := c.latency(s, semconv.GenAILatencyTimeInModelInferenceKey)

	if hasE2E && s.start > 0 && s.end >= s.start && apart(e2e, s.length()) {
		c.reportLatency(s, RuleLatencySpan, semconv.GenAILatencyE2EKey, e2e, s.length(), "the span's length")
	}
	if hasE2E && hasFirst && first > e2e+rounding {
		c.reportLatency(s, RuleLatencyOrder, semconv.GenAILatencyTimeToFirstTokenKey, first, e2e, "at most the end-to-end latency")
	}
	if hasPrefill && hasDecode && hasInference && apart(inference, prefill+decode) {
		c.reportLatency(s, RuleLatencySum, semconv.GenAILatencyTimeInModelInferenceKey, inference, prefill+decode, "prefill and decode together")
	}
	if s.is(idRequest) && hasE2E && hasFirst && hasDecode && first <= e2e && apart(decode, e2e-first) {
		c.reportLatency(s, RuleLatencySum, semconv.GenAILatencyTimeInModelDecodeKey, decode, e2e-first, "the end-to-end latency without the time to first token")
	}
	if s.is(idV1) {
		c.checkStageLatencies(s)
		c.checkAdjacent(s, idWait, idPrefill)
		c.checkAdjacent(s, idPrefill, idDecode)
	}
}

// checkStageLatencies compares the latencies of a V1 request with the spans of
// its stages, where it has them.
func (c *checker) checkStageLatencies(s *span) {
	for _, stage := range []struct {
		id  string
		key attribute.Key
	}{
		{idWait, semconv.GenAILatencyTimeInQueueKey},
		{idPrefill, semconv.GenAILatencyTimeInModelPrefillKey},
		{idDecode, semconv.GenAILatencyTimeInModelDecodeKey},
		{idKVTransfer, semconv.GenAILatencyTimeInKVTransferKey},
	} {
		spans := s.stages(stage.id)
		have, ok := c.latency(s, stage.key)
		if len(spans) == 0 || !ok || c.misplaced(s, stage.id) || slices.ContainsFunc(spans, func(child *span) bool { return child.length() < 0 }) {
			continue
		}
		var sum time.Duration
		for _, child := range spans {
			sum += child.length()
		}
		if apart(have, sum) {
			c.reportLatency(s, RuleLatencyStage, stage.key, have, sum, "the length of the span "+spans[0].name)
		}
	}
}

// checkAdjacent judges the end of one stage that is the start of the next. An
// engine that goes through a stage several times has no such point.
func (c *checker) checkAdjacent(s *span, before, after string) {
	a, b := s.stages(before), s.stages(after)
	if len(a) != 1 || len(b) != 1 || a[0].length() < 0 || b[0].length() < 0 || c.misplaced(s, before) || c.misplaced(s, after) {
		return
	}
	if gap := nsDuration(b[0].start - a[0].end); gap.Abs() > rounding {
		c.report(b[0], RuleStageAdjacent, "", "a start "+gap.String()+" after the end of "+a[0].name, "no gap and no overlap")
	}
}

func apart(a, b time.Duration) bool { return (a - b).Abs() > rounding }

func (c *checker) reportLatency(s *span, rule Rule, key attribute.Key, got, want time.Duration, what string) {
	c.report(s, rule, string(key), got.String(), what+", "+want.String())
}
