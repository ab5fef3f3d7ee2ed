package vllm_test

import (
	"context"
	"fmt"
	"time"

	"github.com/infertel/infertel-go/vllm"
)

// A live request in a V0 engine: no stages, durations in seconds.
func ExampleEngineV0_StartRequest() {
	exporter, provider := inMemory()
	engine, err := vllm.NewEngineV0("llama-3", vllm.WithTracerProvider(provider))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer engine.Close()

	arrival := time.Unix(1_700_000_000, 0)
	after := func(ms int) time.Time { return arrival.Add(time.Duration(ms) * time.Millisecond) }
	req := engine.StartRequest(context.Background(), vllm.Request{ID: "req-0", N: new(2), PromptTokens: 32}, arrival)
	req.Scheduled(after(4))
	req.FirstToken(after(24))
	req.Finish(vllm.OutcomeV0{At: after(88), FinishReason: vllm.FinishReasonLength, CompletionTokens: 16})

	printTree(exporter)
	// Output:
	// llm_request 0-88ms
	//   gen_ai.request.id=req-0
	//   gen_ai.response.model=llama-3
	//   gen_ai.request.n=2
	//   gen_ai.usage.num_sequences=2
	//   gen_ai.usage.prompt_tokens=32
	//   gen_ai.usage.completion_tokens=16
	//   gen_ai.latency.e2e=0.088
	//   gen_ai.latency.time_in_queue=0.004
	//   gen_ai.latency.time_to_first_token=0.024
}

// A V0 engine: one span, durations in seconds.
func ExampleEngineV0_RecordRequest() {
	exporter, provider := inMemory()
	engine, err := vllm.NewEngineV0("llama-3", vllm.WithTracerProvider(provider))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer engine.Close()

	arrival := time.Unix(1_700_000_000, 0)
	after := func(ms int) time.Time { return arrival.Add(time.Duration(ms) * time.Millisecond) }
	engine.RecordRequest(context.Background(), vllm.RequestRecordV0{
		Request: vllm.Request{ID: "req-0", PromptTokens: 32}, Arrival: arrival, Scheduled: after(4), FirstToken: after(24),
		Outcome: vllm.OutcomeV0{At: after(88), FinishReason: vllm.FinishReasonStop, CompletionTokens: 8,
			ModelForward: new(41700 * time.Microsecond)},
	})

	printTree(exporter)
	// Output:
	// llm_request 0-88ms
	//   gen_ai.request.id=req-0
	//   gen_ai.response.model=llama-3
	//   gen_ai.usage.num_sequences=1
	//   gen_ai.usage.prompt_tokens=32
	//   gen_ai.usage.completion_tokens=8
	//   gen_ai.latency.e2e=0.088
	//   gen_ai.latency.time_in_queue=0.004
	//   gen_ai.latency.time_to_first_token=0.024
	//   gen_ai.latency.time_in_model_forward=0.0417
}
