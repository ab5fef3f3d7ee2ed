package genai_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
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

// Code below the one that started the call adds what it alone knows.
func ExampleCallFromContext() {
	spans := tracetest.NewInMemoryExporter()
	inst, err := genai.New(genai.WithTracerProvider(sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans))))
	if err != nil {
		fmt.Println(err)
		return
	}
	generate := func(ctx context.Context) {
		genai.CallFromContext(ctx).SetResponse(genai.Response{ID: "chatcmpl-1", Model: "qwen3-8b-awq"})
	}

	ctx, call := inst.Start(context.Background(), genai.Request{Model: "qwen3-8b"})
	generate(ctx)
	call.End(genai.Response{FinishReasons: []string{"stop"}}, nil)

	for _, a := range spans.GetSpans()[0].Attributes {
		if strings.HasPrefix(string(a.Key), "gen_ai.response.") {
			fmt.Println(a.Key, a.Value.String())
		}
	}
	// Output:
	// gen_ai.response.finish_reasons ["stop"]
	// gen_ai.response.id chatcmpl-1
	// gen_ai.response.model qwen3-8b-awq
}

// Messages are recorded only where it is asked for, here on the span.
func ExampleWithContent() {
	spans := tracetest.NewInMemoryExporter()
	inst, err := genai.New(
		genai.WithTracerProvider(sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans))),
		genai.WithContent(genai.ContentSpan), genai.WithContentMaxLength(12))
	if err != nil {
		fmt.Println(err)
		return
	}
	request, response := genai.Request{Model: "qwen3-8b"}, genai.Response{}
	_, call := inst.Start(context.Background(), request)
	if call.WantsContent() {
		request.Messages = []genai.Message{{Role: "user", Parts: []genai.Part{genai.TextPart("What is a span?")}}}
		response.Messages = []genai.Message{{Role: "assistant", Parts: []genai.Part{genai.TextPart("A piece of work.")}, FinishReason: "stop"}}
		call.SetRequest(request)
	}
	call.End(response, nil)

	for _, a := range spans.GetSpans()[0].Attributes {
		if strings.HasSuffix(string(a.Key), ".messages") {
			fmt.Println(a.Key, a.Value.String())
		}
	}
	// Output:
	// gen_ai.input.messages [{"role":"user","parts":[{"type":"text","content":"What is a sp"}]}]
	// gen_ai.output.messages [{"role":"assistant","parts":[{"type":"text","content":"A piece of w"}],"finish_reason":"stop"}]
}
