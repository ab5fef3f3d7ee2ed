package conformance

import (
	"slices"

	"go.opentelemetry.io/otel/attribute"

	"github.com/infertel/infertel-go/semconv"
)

func (c *checker) checkLogs(all []record) []Violation {
	types := semconv.LogEvents()
	c.tally.Logs += len(all)
	for i := range all {
		r := &all[i]
		n := slices.IndexFunc(types, func(t semconv.LogEventType) bool { return t.Name == r.name })
		if c.foreign(r.scope) || n < 0 && !c.ours(r.scope) {
			continue
		}
		c.tally.LogsJudged++
		if n < 0 {
			c.reportLog(r, RuleLogUndocumented, "", quoted(r.name), "the name of a documented log event", "")
			continue
		}
		c.checkLog(r, types[n])
	}
	return inOrder(c.found)
}

func (c *checker) reportLog(r *record, rule Rule, field, got, want, source string) {
	c.found = append(c.found, Violation{
		Rule: rule, Signal: SignalLog, Name: r.name, TraceID: hexID(r.trace[:]), SpanID: hexID(r.span[:]),
		Field: field, Got: got, Want: want, Source: source, start: r.at,
	})
}

func (c *checker) checkLog(r *record, t semconv.LogEventType) {
	report := func(rule Rule, field, got, want string) { c.reportLog(r, rule, field, got, want, t.Name) }
	c.check(holder{
		attributes: r.attributes, specs: t.Attributes, dropped: r.dropped,
		condition: func(semconv.AttributeSpec) verdict { return open },
		report:    report,
	}, func(kv attribute.KeyValue, _ func(Rule, string, string, string)) bool {
		return slices.Contains(c.allowed, kv.Key)
	})
	carries := slices.ContainsFunc(t.Attributes, func(a semconv.AttributeSpec) bool {
		_, ok := get(r.attributes, a.Key)
		return ok
	})
	if !carries && !r.dropped {
		report(RuleLogContent, "", "neither input nor output", "the input, the output or both")
	}
	if !r.trace.IsValid() || !r.span.IsValid() {
		report(RuleLogTrace, "", "no trace or span id", "those of the entry span")
	}
}
