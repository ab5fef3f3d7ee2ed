package conformance_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/infertel/infertel-go/semconv/conformance"
)

// mutation breaks one rule in clean telemetry.
type mutation struct {
	name   string
	base   string // a timeline, "entries" or "metrics"
	change func(*fixture)
}

// clean makes the telemetry that a mutation starts from.
func clean(t *testing.T, base string) *fixture {
	t.Helper()
	switch base {
	case "entries":
		return entries(t)
	case "metrics":
		return metrics(t)
	}
	return load(t, base)
}

// The timelines that mutations start from.
const (
	preempted = "vllm-v1-preempted-g2"
	producer  = "vllm-v1-producer"
	v0        = "vllm-v0"
	aborted   = "sglang-abort-running"
	prefillPD = "sglang-pd-prefill"
	retracted = "sglang-retract"
	tp2       = "sglang-tp2-spec-l3"
)

// TestMutations breaks each rule in clean telemetry, in one or more ways, and
// expects that just that rule notices.
func TestMutations(t *testing.T) {
	all := map[conformance.Rule][]mutation{}
	for _, table := range []map[conformance.Rule][]mutation{
		spanMutations(), attributeMutations(), latencyMutations(), eventMutations(), engineMutations(), metricMutations(), logMutations(),
	} {
		for rule, ms := range table {
			all[rule] = append(all[rule], ms...)
		}
	}
	for _, rule := range conformance.Rules() {
		if len(all[rule]) == 0 {
			t.Errorf("no mutation breaks %s", rule)
		}
	}
	known := map[conformance.Rule]bool{}
	for _, r := range conformance.Rules() {
		known[r] = true
	}
	for rule := range maps.Keys(all) {
		if !known[rule] {
			t.Errorf("%s is not among the rules", rule)
		}
		for _, m := range all[rule] {
			t.Run(string(rule)+"/"+m.name, func(t *testing.T) { m.run(t, rule) })
		}
	}
}

func (m mutation) run(t *testing.T, rule conformance.Rule) {
	f := clean(t, m.base)
	if found := f.judge(); len(found) > 0 {
		t.Fatalf("violations before the change:%s", lines(found))
	}
	m.change(f)
	found := f.judge()
	if len(found) == 0 {
		t.Fatal("not noticed")
	}
	if rule == conformance.RuleAttributeMissing && len(found) > 1 {
		t.Errorf("one attribute is missing, found%s", lines(found))
	}
	for _, v := range found {
		if v.Rule != rule {
			t.Errorf("noticed by another rule: %s", v)
		}
		if v.Got == "" || v.Want == "" || v.Name == "" && v.Signal != conformance.SignalLog {
			t.Errorf("says too little: %+v", v)
		}
		undocumented := strings.HasSuffix(string(rule), ".undocumented") && v.Field == ""
		if v.Source == "" != undocumented || v.Source != "" && !rows(t)[v.Source] {
			t.Errorf("names the row %q: %s", v.Source, v)
		}
		if v.Signal != conformance.SignalMetric && rule != conformance.RuleLogTrace && (len(v.TraceID) != 32 || len(v.SpanID) != 16) {
			t.Errorf("names no span: %+v", v)
		}
	}
}
