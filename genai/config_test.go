package genai_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/infertel/infertel-go/genai"
)

func TestOptionsOutOfRange(t *testing.T) {
	_, err := genai.New(
		genai.WithEngine(9), genai.WithContent(7), genai.WithContentMaxLength(-1), genai.WithStreamInterval(0), genai.WithModelLimit(-2), nil,
	)
	if err == nil {
		t.Fatal("accepted")
	}
	for _, want := range []string{
		"WithEngine is 9, want EngineVLLM or EngineSGLang", "WithContent is 7, want ContentNone", "WithContentMaxLength is -1 bytes, want 0 or more",
		"WithStreamInterval is 0 tokens, want 1 or more", "WithModelLimit is -2 names, want 0 or more",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error does not say %q:\n%v", want, err)
		}
	}
}

func TestParseEngine(t *testing.T) {
	for name, want := range map[string]genai.Engine{"vllm": genai.EngineVLLM, "sglang": genai.EngineSGLang} {
		if got, err := genai.ParseEngine(name); err != nil || got != want {
			t.Errorf("%s is %v, %v", name, got, err)
		}
	}
	if _, err := genai.ParseEngine("tgi"); err == nil || !strings.Contains(err.Error(), `"tgi", want vllm or sglang`) {
		t.Errorf("error is %v", err)
	}
}

func TestPropagatorDefaultsToW3C(t *testing.T) {
	fields := func(opts ...genai.Option) []string {
		inst, err := genai.New(opts...)
		if err != nil {
			t.Fatal(err)
		}
		f := inst.Propagator().Fields()
		slices.Sort(f)
		return f
	}
	if got := fields(); !slices.Equal(got, []string{"baggage", "traceparent", "tracestate"}) {
		t.Errorf("default carries %v", got)
	}
	if got := fields(genai.WithPropagators(propagation.Baggage{})); !slices.Equal(got, []string{"baggage"}) {
		t.Errorf("the option is not heeded: %v", got)
	}
	// The global one of before would now delegate to the new one.
	defer otel.SetTextMapPropagator(propagation.NewCompositeTextMapPropagator())
	otel.SetTextMapPropagator(propagation.TraceContext{})
	if got := fields(); !slices.Equal(got, []string{"traceparent", "tracestate"}) {
		t.Errorf("the global propagator is not heeded: %v", got)
	}
}

// TestNobodyListens: without an SDK nothing is wanted, and a call costs only
// what the API's own no-op costs.
func TestNobodyListens(t *testing.T) {
	inst, err := genai.New(genai.WithTracerProvider(noop.NewTracerProvider()))
	if err != nil {
		t.Fatal(err)
	}
	_, call := inst.Start(context.Background(), genai.Request{})
	if call.Wanted() || call.WantsContent() || call.WantsToolCalls() {
		t.Error("a call is wanted though nobody listens")
	}
	r := genai.Response{ID: "x"}
	if n := testing.AllocsPerRun(100, func() {
		call.SetResponse(r)
		call.FirstToken(r.EndTime)
		call.SetRequest(genai.Request{Model: "m"})
		_ = call.WantsContent()
	}); n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}
