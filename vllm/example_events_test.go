package vllm_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/infertel/infertel-go/vllm"
)

// A failure in words of the shim's own becomes the status of llm_request. The text of
// another error might quote a prompt, so only its type is told.
func ExampleError() {
	exporter, provider := inMemory()
	engine, err := vllm.NewEngineV1(vllm.EngineConfig{Model: "qwen3-8b"}, vllm.WithTracerProvider(provider))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer engine.Close()

	arrival := time.Unix(1_700_000_000, 0)
	for _, failure := range []error{
		&vllm.Error{Description: "the engine ran out of memory"},
		errors.New(`cannot encode "my secret prompt"`),
	} {
		req := engine.StartRequest(context.Background(), vllm.Request{ID: "req-1"}, arrival)
		req.Finish(vllm.OutcomeV1{At: arrival.Add(time.Second), FinishReason: vllm.FinishReasonError, Err: failure})
	}
	for _, s := range exporter.GetSpans() {
		fmt.Println(s.Name, s.Status.Code, s.Status.Description)
	}
	// Output:
	// llm_request Error the engine ran out of memory
	// llm_request Error failed with an error of type *errors.errorString
}

// An answer of more tokens than the span keeps events: none is lost.
func ExampleWithEventCoalescing() {
	limits := sdktrace.NewSpanLimits()
	limits.EventCountLimit = 4
	exporter := tracetest.NewInMemoryExporter()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(exporter), sdktrace.WithRawSpanLimits(limits))
	engine, err := vllm.NewEngineV1(vllm.EngineConfig{Model: "qwen3-8b"}, vllm.WithTracerProvider(provider),
		vllm.WithGranularity(vllm.GranularityEvents), vllm.WithEventLimit(4), vllm.WithEventCoalescing())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer engine.Close()

	arrival := time.Unix(1_700_000_000, 0)
	after := func(ms int) time.Time { return arrival.Add(time.Duration(ms) * time.Millisecond) }
	req := engine.StartRequest(context.Background(), vllm.Request{ID: "req-1"}, arrival)
	req.Queued(after(1))
	req.Scheduled(after(2))
	req.Prefill(vllm.Iteration{At: after(10), TokenIDs: []int{100}})
	for i := range 6 {
		req.Decode(vllm.Iteration{At: after(20 + 10*i), TokenIDs: []int{101 + i}})
	}
	req.Finish(vllm.OutcomeV1{At: after(80), FinishReason: vllm.FinishReasonStop, CompletionTokens: new(7)})

	for _, s := range exporter.GetSpans() {
		for _, e := range s.Events {
			fmt.Print(e.Name)
			for _, a := range e.Attributes[1:] {
				fmt.Print(" ", a.Value.String())
			}
			fmt.Println()
		}
	}
	// Output:
	// WAIT
	// PREFILL [100]
	// DECODE [101,102,103]
	// DECODE [104,105,106]
}
