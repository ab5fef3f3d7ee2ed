package vllm_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/infertel/infertel-go/semconv/conformance"
	"github.com/infertel/infertel-go/vllm"
)

// A whole request conforms to the registry, on every role and granularity.
func TestConformance(t *testing.T) {
	b := newBed(t)
	for _, role := range []vllm.PDRole{vllm.PDRoleNone, vllm.PDRoleProducer, vllm.PDRoleConsumer} {
		for g := range vllm.GranularityEvents + 1 {
			lived(b.v1(vllm.EngineConfig{PDRole: role}, vllm.WithGranularity(g)), vllm.Request{ID: "r", Temperature: new(0.0), TopP: new(1.0), MaxTokens: new(-1), N: new(1)})
		}
	}
	b.v0().RecordRequest(context.Background(), vllm.RequestRecordV0{Arrival: at(0), Scheduled: at(1), FirstToken: at(2), Outcome: vllm.OutcomeV0{At: at(3), CompletionTokens: 2}})
	conformance.Assert(t, conformance.CheckSpans(b.recorder.Ended()))
}

// What is told of a request may be incomplete, or from two clocks; that apart,
// what is emitted conforms to the registry whatever it was.
func TestConformanceOfRandomTimelines(t *testing.T) {
	theCallers := []conformance.Rule{conformance.RuleAttributeMissing, conformance.RuleSpanContainment, conformance.RuleEventPlacement, conformance.RuleLatencyOrder}
	b := newBed(t)
	for seed := range uint64(1000) {
		rec := randomRecord(rand.New(rand.NewPCG(seed, 1)))
		b.v1(vllm.EngineConfig{}).RecordRequest(context.Background(), rec)
		violations := conformance.CheckSpans(b.recorder.Ended())
		b.recorder.Reset()
		violations = slices.DeleteFunc(violations, func(v conformance.Violation) bool { return slices.Contains(theCallers, v.Rule) })
		if !conformance.Assert(t, violations) {
			t.Fatalf("seed %d", seed)
		}
	}
}
