package genai_test

import (
	"context"
	"testing"
	"time"

	metricnoop "go.opentelemetry.io/otel/metric/noop"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	tracenoop "go.opentelemetry.io/otel/trace/noop"

	"github.com/infertel/infertel-go/genai"
)

func TestWhatIsNotRecordedAllocatesNothing(t *testing.T) {
	unsampled := sdktrace.NewTracerProvider(sdktrace.WithSampler(sdktrace.NeverSample()))
	start := func(opts ...genai.Option) *genai.Call {
		inst, err := genai.New(opts...)
		if err != nil {
			t.Fatal(err)
		}
		_, call := inst.Start(context.Background(), genai.Request{Model: "m"})
		return call
	}
	ended := start(genai.WithTracerProvider(sdktrace.NewTracerProvider()))
	ended.End(genai.Response{}, nil)
	request, response := genai.Request{Model: "m", MaxTokens: new(3)}, genai.Response{ID: "r", FinishReasons: []string{"stop"}}
	for name, call := range map[string]*genai.Call{
		"nil":       nil,
		"no SDK":    start(genai.WithTracerProvider(tracenoop.NewTracerProvider()), genai.WithMeterProvider(metricnoop.NewMeterProvider())),
		"unsampled": start(genai.WithTracerProvider(unsampled), genai.WithMeterProvider(sdkmetric.NewMeterProvider())),
		"ended":     ended,
	} {
		if n := testing.AllocsPerRun(100, func() {
			call.SetRequest(request)
			call.FirstToken(time.Time{})
			call.SetResponse(response)
			_ = call.Recording() || call.Wanted() || call.WantsContent() || call.WantsToolCalls() || call.WantsFirstToken()
			_, _ = call.Context(), call.Operation()
		}); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

// TestACallAllocatesLittle: the call itself, and what the SDK needs for a span.
func TestACallAllocatesLittle(t *testing.T) {
	if raceEnabled {
		return // pools forget what they hold
	}
	inst, err := genai.New(genai.WithTracerProvider(sdktrace.NewTracerProvider()), genai.WithMeterProvider(sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewManualReader()))))
	if err != nil {
		t.Fatal(err)
	}
	response := genai.Response{ID: "r", FinishReasons: []string{"stop"}, Usage: genai.Usage{InputTokens: new(3), OutputTokens: new(4)}}
	if n := testing.AllocsPerRun(100, func() {
		_, call := inst.Start(context.Background(), genai.Request{Model: "m", Temperature: new(0.5)})
		call.End(response, nil)
	}); n > 8 {
		t.Errorf("%v allocations, want at most 8", n)
	}
}
