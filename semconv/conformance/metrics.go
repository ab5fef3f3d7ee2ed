package conformance

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"go.opentelemetry.io/otel/attribute"

	"github.com/infertel/infertel-go/semconv"
)

const gaugeName = "gauge"

// sumName names a sum as an instrument.
func sumName(monotonic bool) string {
	if monotonic {
		return string(semconv.InstrumentCounter)
	}
	return "sum that is not monotonic"
}

func (c *checker) checkMetrics(all []metric) []Violation {
	types := map[string]*semconv.MetricType{}
	table := semconv.Metrics()
	for i := range table {
		types[table[i].Name] = &table[i]
	}
	sets := map[string]semconv.DimensionSet{}
	for _, d := range semconv.DimensionSets() {
		sets[d.ID] = d
	}
	type place struct {
		batch       int
		scope, name string
	}
	seen := map[place]bool{}
	c.tally.Metrics += len(all)
	for i := range all {
		m := &all[i]
		t := types[m.name]
		if c.foreign(m.scope) || t == nil && !c.ours(m.scope) {
			continue
		}
		c.tally.MetricsJudged++
		if t == nil {
			c.reportMetric(m, RuleMetricUndocumented, "", quoted(m.name), "the name of a documented metric", "")
			continue
		}
		p := place{m.batch, m.scope, m.name}
		if seen[p] {
			c.reportMetric(m, RuleMetricDuplicate, "", "the metric again in the scope "+quoted(m.scope), "each metric once", m.source(t, sets))
		}
		seen[p] = true
		c.checkMetric(m, t, sets)
	}
	c.checkSnapshots(all, types, sets)
	return inOrder(c.found)
}

func (c *checker) reportMetric(m *metric, rule Rule, field, got, want, source string) {
	c.found = append(c.found, Violation{Rule: rule, Signal: SignalMetric, Name: m.name, Field: field, Got: got, Want: want, Source: source})
}

// reporters are those who may report a metric in a scope: infertel's scopes
// belong to one engine, or to the API layer.
func (m *metric) reporters(t *semconv.MetricType) []semconv.Reporter {
	prefix, suffix := "", ""
	switch m.scope {
	case scopeGenAI:
		suffix = ".token"
	case scopeVLLM:
		prefix, suffix = "vllm.", ".metrics"
	case scopeSGLang:
		prefix, suffix = "sglang.", ".metrics"
	}
	var out []semconv.Reporter
	for _, r := range t.Reporters {
		if strings.HasPrefix(string(r.Source), prefix) && strings.HasSuffix(string(r.Source), suffix) {
			out = append(out, r)
		}
	}
	if len(out) == 0 {
		return t.Reporters
	}
	return out
}

// nearest returns, of those who may report a metric, the one to whose dimensions
// a data point comes nearest, and these dimensions.
func (m *metric) nearest(t *semconv.MetricType, p point, sets map[string]semconv.DimensionSet) (semconv.Reporter, []semconv.AttributeSpec) {
	var reporter semconv.Reporter
	var rows []semconv.AttributeSpec
	least := math.MaxInt
	for _, r := range m.reporters(t) {
		candidate := slices.Concat(sets[r.Dimensions].Attributes, t.ExtraDimensions)
		if d := distance(p.attributes, candidate); d < least {
			reporter, rows, least = r, candidate, d
		}
	}
	return reporter, rows
}

// source names who reports the metric, as its first data point shows.
func (m *metric) source(t *semconv.MetricType, sets map[string]semconv.DimensionSet) string {
	var first point
	if len(m.points) > 0 {
		first = m.points[0]
	}
	r, _ := m.nearest(t, first, sets)
	return string(r.Source)
}

func (c *checker) checkMetric(m *metric, t *semconv.MetricType, sets map[string]semconv.DimensionSet) {
	source := m.source(t, sets)
	if m.instrument != string(t.Instrument) {
		c.reportMetric(m, RuleMetricInstrument, "", m.instrument, string(t.Instrument), source)
	}
	if m.unit != t.Unit {
		c.reportMetric(m, RuleMetricUnit, "", quoted(m.unit), quoted(t.Unit), source)
	}
	if i := slices.IndexFunc(m.points, func(p point) bool { return p.value.Type() != t.Value.AttributeType() }); i >= 0 {
		c.reportMetric(m, RuleMetricValueType, "", typeName(m.points[i].value), t.Value.String(), source)
	}
	seen := map[string]bool{}
	for _, p := range m.points {
		if text, bad := outOfRange(p.value, t.Range); bad {
			c.reportMetric(m, RuleMetricRange, pointField(p), text, rangeText(t.Range), source)
		}
		id := pointField(p)
		if seen[id] {
			c.reportMetric(m, RuleMetricDuplicate, id, "these dimensions again", "each set of dimensions once", source)
		}
		seen[id] = true
		c.checkDimensions(m, t, p, sets)
	}
}

func outOfRange(v attribute.Value, limits []float64) (string, bool) {
	f := v.AsFloat64()
	if v.Type() == attribute.INT64 {
		f = float64(v.AsInt64())
	}
	low, high := 0.0, math.MaxFloat64
	if len(limits) == 2 {
		low, high = limits[0], limits[1]
	}
	return v.String(), !(f >= low && f <= high) // NaN is out of every range
}

func rangeText(limits []float64) string {
	if len(limits) == 2 {
		return fmt.Sprintf("%v to %v", limits[0], limits[1])
	}
	return "0 or more"
}

// pointField names a data point by its dimensions, in the order of their keys.
func pointField(p point) string {
	parts := make([]string, len(p.attributes))
	for i, kv := range p.attributes {
		parts[i] = string(kv.Key) + "=" + shown(kv.Value.String())
	}
	slices.Sort(parts)
	return "{" + strings.Join(parts, ", ") + "}"
}

// checkDimensions holds a data point against the set of dimensions that comes
// nearest.
func (c *checker) checkDimensions(m *metric, t *semconv.MetricType, p point, sets map[string]semconv.DimensionSet) {
	reporter, rows := m.nearest(t, p, sets)
	report := func(rule Rule, key attribute.Key, got, want string) {
		c.reportMetric(m, rule, pointField(p)+" "+string(key), got, want, reporter.Dimensions)
	}
	for _, kv := range p.attributes {
		i := slices.IndexFunc(rows, func(a semconv.AttributeSpec) bool { return a.Key == kv.Key })
		switch {
		case i < 0:
			report(RuleDimensionUndocumented, kv.Key, valueText(kv.Value), "the dimensions of the set only")
		case kv.Value.Type() != rows[i].Type.AttributeType():
			report(RuleDimensionType, kv.Key, typeName(kv.Value)+" "+valueText(kv.Value), rows[i].Type.String())
		case !rows[i].Allows(kv.Value):
			report(RuleDimensionValue, kv.Key, valueText(kv.Value), "one of "+strings.Join(rows[i].Enum, ", "))
		case kv.Key == semconv.EngineIndexKey && kv.Value.AsInt64() < 0:
			report(RuleDimensionValue, kv.Key, strconv.FormatInt(kv.Value.AsInt64(), 10), "0 or more")
		}
	}
	for _, a := range rows {
		if _, ok := get(p.attributes, a.Key); !ok {
			report(RuleDimensionMissing, a.Key, "nothing", article(a.Type))
		}
	}
}

// distance counts the keys that only one of the two has.
func distance(have []attribute.KeyValue, rows []semconv.AttributeSpec) int {
	n := 0
	for _, a := range rows {
		if _, ok := get(have, a.Key); ok {
			n++
		}
	}
	return len(have) + len(rows) - 2*n
}

// checkSnapshots judges that what is divided by the number of reports comes with
// it.
func (c *checker) checkSnapshots(all []metric, types map[string]*semconv.MetricType, sets map[string]semconv.DimensionSet) {
	counted := map[string]bool{}
	for i := range all {
		if all[i].name == semconv.MetricSGLangLogCount.Name() {
			counted[all[i].scope] = true
		}
	}
	for i := range all {
		m := &all[i]
		if t := types[m.name]; t != nil && t.Snapshot && !c.foreign(m.scope) && !counted[m.scope] {
			counted[m.scope] = true // once is enough
			c.reportMetric(m, RuleMetricSnapshot, "", "snapshots without "+semconv.MetricSGLangLogCount.Name(), "both from one scope", m.source(t, sets))
		}
	}
}
