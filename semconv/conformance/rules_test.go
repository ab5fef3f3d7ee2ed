package conformance_test

import (
	"strings"
	"testing"

	"github.com/infertel/infertel-go/genai"
	"github.com/infertel/infertel-go/semconv"
	"github.com/infertel/infertel-go/semconv/conformance"
	"github.com/infertel/infertel-go/sglang"
	"github.com/infertel/infertel-go/vllm"
)

// rows are the names that the registry's tables give to what they document.
func rows(testing.TB) map[string]bool {
	m := map[string]bool{}
	for _, s := range semconv.Spans() {
		m[s.ID] = true
	}
	for _, s := range semconv.Stages() {
		m["sglang.stage."+s.Name] = true
	}
	for _, l := range semconv.LogEvents() {
		m[l.Name] = true
	}
	for _, d := range semconv.DimensionSets() {
		m[d.ID] = true
	}
	for _, t := range semconv.Metrics() {
		for _, r := range t.Reporters {
			m[string(r.Source)] = true
		}
	}
	return m
}

func TestRulesAreExplained(t *testing.T) {
	seen := map[conformance.Rule]bool{}
	for _, r := range conformance.Rules() {
		if seen[r] {
			t.Errorf("%s stands twice", r)
		}
		seen[r] = true
		if b := r.Brief(); len(b) < 20 || !strings.HasSuffix(b, ".") {
			t.Errorf("%s is explained by %q", r, b)
		}
	}
	if b := conformance.Rule("none").Brief(); b != "" {
		t.Errorf("an unknown rule is explained by %q", b)
	}
}

func TestScopes(t *testing.T) {
	got := strings.Join(conformance.Scopes(), " ")
	if want := strings.Join([]string{genai.ScopeName, vllm.ScopeName, sglang.ScopeName}, " "); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestConditionsAreKnown holds the conditions of the registry against those that
// are judged or left open on purpose: a new one must be decided about.
func TestConditionsAreKnown(t *testing.T) {
	known := map[string]bool{
		"": true, "streaming": true, "not streaming": true, "chat and streaming": true, "chat and streaming and call detected": true,
		"first token produced": true, "a transfer occurred": true, "preempted at least once": true, "PD": true,
		"ended normally": true, "ended normally and set": true, "ended normally and not embedding": true,
		// left open
		"set": true, "known": true, "engine provides it": true, "content capture on spans": true,
	}
	check := func(where string, list []semconv.AttributeSpec) {
		for _, a := range list {
			if !known[a.When] {
				t.Errorf("%s %s: nobody judges %q", where, a.Key, a.When)
			}
		}
	}
	for _, s := range semconv.Spans() {
		check(s.ID, s.Attributes)
		check(s.ID, s.OnAbort)
		for _, e := range s.Events {
			check(s.ID+" "+e.Name, e.Attributes)
		}
	}
	for _, s := range semconv.Stages() {
		check(s.Name, s.Attributes)
	}
	for _, l := range semconv.LogEvents() {
		check(l.Name, l.Attributes)
	}
}
