package genai_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/infertel/infertel-go/genai"
)

// A host that knows the facts of a request itself tells them to a call.
func Example() {
	spans := tracetest.NewInMemoryExporter()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans))

	inst, err := genai.New(genai.WithTracerProvider(provider), genai.WithEngine(genai.EngineVLLM))
	if err != nil {
		fmt.Println(err)
		return
	}
	_, call := inst.Start(context.Background(), genai.Request{
		Operation: genai.OperationChat, Model: "qwen3-8b", Temperature: new(0.7),
	})
	call.End(genai.Response{
		FinishReasons: []string{"stop"},
		Usage:         genai.Usage{InputTokens: new(14), OutputTokens: new(5)},
	}, nil)

	for _, s := range spans.GetSpans() {
		fmt.Println(s.Name, s.SpanKind)
		for _, a := range s.Attributes {
			fmt.Printf("  %s = %s\n", a.Key, a.Value.String())
		}
	}
	// Output:
	// chat qwen3-8b internal
	//   gen_ai.span.kind = LLM
	//   gen_ai.operation.name = chat
	//   gen_ai.request.model = qwen3-8b
	//   gen_ai.usage.input_tokens = 14
	//   gen_ai.usage.output_tokens = 5
	//   gen_ai.usage.total_tokens = 19
	//   gen_ai.response.finish_reasons = ["stop"]
	//   gen_ai.request.is_stream = false
	//   gen_ai.request.temperature = 0.7
}

// A host that feeds metrics of its own is told of each call when it has ended.
func ExampleWithOnEnd() {
	inst, err := genai.New(genai.WithOnEnd(func(_ context.Context, f genai.Finished) {
		fmt.Println(f.Operation, f.RequestModel, f.Outcome, f.TimeToFirstToken, f.Duration)
	}))
	if err != nil {
		fmt.Println(err)
		return
	}
	start := time.Unix(1700000000, 0)
	_, call := inst.Start(context.Background(), genai.Request{Model: "m", Stream: true, StartTime: start})
	call.FirstToken(start.Add(40 * time.Millisecond))
	call.End(genai.Response{EndTime: start.Add(time.Second)}, nil)
	// Output: chat m success 40ms 1s
}

// An Error says in words that are safe to record why a call failed. Of any
// other error only the type is told.
func ExampleError() {
	inst, err := genai.New(genai.WithOnEnd(func(_ context.Context, f genai.Finished) { fmt.Println(f.Outcome) }))
	if err != nil {
		fmt.Println(err)
		return
	}
	_, call := inst.Start(context.Background(), genai.Request{Operation: genai.OperationEmbeddings})
	call.End(genai.Response{}, &genai.Error{Outcome: genai.OutcomeTransport, Description: "the engine could not be reached"})
	_, call = inst.Start(context.Background(), genai.Request{})
	call.End(genai.Response{}, errors.New("anything"))
	// Output:
	// transport_error
	// error
}
