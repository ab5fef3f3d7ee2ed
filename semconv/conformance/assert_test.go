package conformance_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/infertel/infertel-go/semconv/conformance"
)

type failing struct{ said []string }

func (*failing) Helper() {}
func (f *failing) Errorf(format string, args ...any) {
	f.said = append(f.said, fmt.Sprintf(format, args...))
}

func TestAssert(t *testing.T) {
	var _ conformance.TB = t
	f := &failing{}
	if !conformance.Assert(f, nil) || len(f.said) > 0 {
		t.Errorf("no violations made it say %q", f.said)
	}
	vs := make([]conformance.Violation, 30)
	for i := range vs {
		vs[i] = conformance.Violation{
			Rule: conformance.RuleAttributeType, Signal: conformance.SignalSpan, Name: "llm_request", TraceID: "01", SpanID: "02",
			Field: "gen_ai.latency.e2e", Got: "double 0.126", Want: "int in ns", Source: "vllm.v1.llm_request",
		}
	}
	const line = `span "llm_request" (trace 01 span 02) gen_ai.latency.e2e: got double 0.126, want int in ns [attribute.type; vllm.v1.llm_request]`
	if conformance.Assert(f, vs[:2]) {
		t.Error("violations pass")
	}
	if want := "telemetry does not conform, 2 violations:\n\t" + line + "\n\t" + line; len(f.said) != 1 || f.said[0] != want {
		t.Errorf("said %q, want %q", f.said, want)
	}
	f.said = nil
	conformance.Assert(f, vs)
	if n := strings.Count(f.said[0], line); n != 25 || !strings.HasSuffix(f.said[0], "\n\t... and 5 more") {
		t.Errorf("%d lines in %q", n, f.said[0])
	}
}

// TestShort expects that a violation does not carry a long value on.
func TestShort(t *testing.T) {
	f := entries(t)
	f.span("vllm").Name = "chat " + strings.Repeat("é", 200)
	for _, v := range f.judge() {
		if len(v.Got) > 130 || !strings.Contains(v.Got, "...") {
			t.Errorf("got is %q", v.Got)
		}
	}
}
