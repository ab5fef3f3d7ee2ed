package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/attribute"

	"github.com/infertel/infertel-go/internal/otlpreceiver"
	"github.com/infertel/infertel-go/semconv"
)

// With the defaults every row of the registry arrives: this walks it and names
// what is missing.
func TestEveryRowArrives(t *testing.T) {
	r := collect(t)
	byType := map[string][]otlpreceiver.Span{}
	byStage := map[string][]otlpreceiver.Span{}
	for _, s := range r.spans {
		id := typeOf(s)
		byType[id] = append(byType[id], s)
		if id == "sglang.stage" {
			byStage[s.GetName()] = append(byStage[s.GetName()], s)
		}
	}
	if n := len(byType[""]); n > 0 {
		t.Errorf("%d spans are of no documented type, such as %q", n, byType[""][0].GetName())
	}
	for _, st := range semconv.Spans() {
		spans := byType[st.ID]
		if len(spans) == 0 {
			t.Errorf("no span of the type %s", st.ID)
			continue
		}
		missingAttributes(t, st.ID, st.Attributes, attributesOf(spans), impossible[st.ID])
		where := spans
		if st.ID == "sglang.thread" { // an event that no stage covers is on the thread
			where = append(slices.Clone(spans), byType["sglang.stage"]...)
		}
		missingEvents(t, st.ID, st.Events, where)
		for _, e := range st.Endpoints {
			if !slices.ContainsFunc(spans, func(s otlpreceiver.Span) bool { return strings.HasPrefix(s.GetName(), e.Operation+" ") }) {
				t.Errorf("%s: no operation %s", st.ID, e.Operation)
			}
		}
		for _, label := range st.Labels {
			label, _, _ = strings.Cut(label, "{")
			for _, prefix := range []string{"", semconv.ThreadLabelPrefixPrefill, semconv.ThreadLabelPrefixDecode} {
				// Controllers and several tokenizers are found in front of a node
				// that does both only.
				if prefix != "" && label != semconv.ThreadLabelScheduler && label != semconv.ThreadLabelTokenizer {
					continue
				}
				if !slices.ContainsFunc(spans, func(s otlpreceiver.Span) bool { return strings.HasPrefix(s.GetName(), prefix+label) }) {
					t.Errorf("%s: no thread %s%s", st.ID, prefix, label)
				}
			}
		}
		if len(st.OnAbort) > 0 {
			// The other reasons belong to ends that do not happen here.
			missingAttributes(t, st.ID+" on abort", st.OnAbort, attributesOf(spans), []string{"status_code", "err_type", "reason"})
		}
	}
	for _, st := range semconv.Stages() {
		if len(byStage[st.Name]) == 0 {
			t.Errorf("no stage %s", st.Name)
			continue
		}
		missingAttributes(t, st.Name, st.Attributes, attributesOf(byStage[st.Name]), nil)
	}
	for _, le := range semconv.LogEvents() {
		var all []map[string]any
		for _, l := range r.logs {
			if l.GetEventName() == le.Name {
				all = append(all, otlpreceiver.Attributes(l.GetAttributes()))
			}
		}
		missingAttributes(t, le.Name, le.Attributes, all, nil)
	}
	missingMetrics(t, r.metrics)
}

// impossible are values that the documentation itself rules out: a Decode node
// has no prefill, a Prefill node no decode.
var impossible = map[string][]string{
	"vllm.v1.prefill": {"consumer"},
	"vllm.v1.decode":  {"producer"},
}

func typeOf(s otlpreceiver.Span) string {
	has := func(key attribute.Key) bool {
		_, ok := otlpreceiver.Attributes(s.GetAttributes())[string(key)]
		return ok
	}
	switch name := s.GetName(); {
	case has(semconv.GenAISpanKindKey) && has(semconv.GenAILatencyE2EKey):
		return "sglang.entry"
	case has(semconv.GenAISpanKindKey):
		return "vllm.entry"
	case name == semconv.SpanLLMRequest && has(semconv.GenAIUsageNumSequencesKey):
		return "vllm.v0.llm_request"
	case has(semconv.GenAIPDRoleKey):
		return "vllm.v1." + name
	case has(semconv.RIDKey):
		return "sglang.request"
	case has(semconv.ThreadLabelKey):
		return "sglang.thread"
	}
	if _, ok := semconv.StageByName(s.GetName()); ok {
		return "sglang.stage"
	}
	return ""
}

func attributesOf(spans []otlpreceiver.Span) (all []map[string]any) {
	for _, s := range spans {
		all = append(all, otlpreceiver.Attributes(s.GetAttributes()))
	}
	return all
}

// missingAttributes names attributes, and documented values of them, that none of
// all has.
func missingAttributes(t *testing.T, where string, specs []semconv.AttributeSpec, all []map[string]any, without []string) {
	t.Helper()
	for _, spec := range specs {
		seen := map[string]bool{}
		for _, m := range all {
			for k, v := range m {
				if spec.Matches(attribute.Key(k)) {
					seen[fmt.Sprint(v)] = true
				}
			}
		}
		if len(seen) == 0 && !slices.Contains(without, string(spec.Key)) {
			t.Errorf("%s: no %s", where, spec.Key)
		}
		for _, want := range spec.Enum {
			if !seen[want] && !slices.Contains(without, want) {
				t.Errorf("%s: %s is never %s", where, spec.Key, want)
			}
		}
	}
}

func missingEvents(t *testing.T, where string, types []semconv.EventType, spans []otlpreceiver.Span) {
	t.Helper()
	for _, et := range types {
		var all []map[string]any
		found := false
		for _, s := range spans {
			for _, e := range s.GetEvents() {
				if e.GetName() == et.Name {
					found = true
					all = append(all, otlpreceiver.Attributes(e.GetAttributes()))
				}
			}
		}
		if !found {
			t.Errorf("%s: no event %s", where, et.Name)
		}
		var without []string
		if et.Name == semconv.EventWait || et.Name == semconv.EventPreempted { // no token comes of them
			for _, a := range et.Attributes {
				if a.Key != semconv.GenAIEngineIndexKey {
					without = append(without, string(a.Key))
				}
			}
		}
		missingAttributes(t, where+" event "+et.Name, et.Attributes, all, without)
	}
}

func missingMetrics(t *testing.T, metrics []otlpreceiver.Metric) {
	t.Helper()
	sets := map[string][]string{}
	for _, d := range semconv.DimensionSets() {
		for _, a := range d.Attributes {
			sets[d.ID] = append(sets[d.ID], string(a.Key))
		}
	}
	seen := map[string]bool{}
	key := func(name string, dimensions []string) string {
		slices.Sort(dimensions)
		return name + " with " + strings.Join(dimensions, ", ")
	}
	for _, m := range metrics {
		for _, p := range append(m.GetSum().GetDataPoints(), m.GetGauge().GetDataPoints()...) {
			var dimensions []string
			for _, kv := range p.GetAttributes() {
				dimensions = append(dimensions, kv.GetKey())
			}
			seen[key(m.GetName(), dimensions)] = true
		}
	}
	for _, m := range semconv.Metrics() {
		for _, reporter := range m.Reporters {
			dimensions := slices.Clone(sets[reporter.Dimensions])
			for _, a := range m.ExtraDimensions {
				dimensions = append(dimensions, string(a.Key))
			}
			if k := key(m.Name, dimensions); !seen[k] {
				t.Errorf("%s: no metric %s", reporter.Source, k)
			}
		}
	}
}
