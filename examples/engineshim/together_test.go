package main

import (
	"os"
	"testing"
)

// Engines of every kind in one process do not disturb each other: not even the
// metrics that they have in common.
func TestEnginesTogether(t *testing.T) {
	t.Setenv("VLLM_TRACE_GRANULARITY", "1")
	var in []byte
	var wants []*expected
	for _, name := range []string{"vllm-v0", "vllm-v1-preempted-g1", "sglang-retract"} {
		lines, err := os.ReadFile("testdata/" + name + ".jsonl")
		if err != nil {
			t.Fatal(err)
		}
		in = append(append(in, lines...), '\n')
		wants = append(wants, readExpected(t, "testdata/"+name))
	}
	r, status, said := exec(t, string(in))
	if status != 0 || said != "" {
		t.Errorf("exit status %d, said %q", status, said)
	}
	for _, want := range wants {
		comparePoints(t, r.LastPoints(), want)
	}
}
