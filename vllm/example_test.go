package vllm_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/infertel/infertel-go/vllm"
)

// A shim beside an engine tells what happens to each request. ctx carries the entry
// span if the request brought a traceparent.
func Example() {
	exporter, provider := inMemory()
	engine, err := vllm.NewEngineV1(vllm.EngineConfig{Model: "qwen3-8b"}, vllm.WithTracerProvider(provider))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer engine.Close()

	ctx := context.Background()
	arrival := time.Unix(1_700_000_000, 0) // these times are the engine's
	after := func(ms int) time.Time { return arrival.Add(time.Duration(ms) * time.Millisecond) }
	req := engine.StartRequest(ctx, vllm.Request{ID: "req-1", PromptTokens: 48}, arrival)
	req.Queued(after(1))
	req.Scheduled(after(4))
	req.Prefill(vllm.Iteration{At: after(20)})
	req.Decode(vllm.Iteration{At: after(32)})
	req.Finish(vllm.OutcomeV1{At: after(33), FinishReason: vllm.FinishReasonStop, CompletionTokens: new(2)})

	printTree(exporter)
	// Output:
	// llm_request 0-33ms
	//   gen_ai.request.id=req-1
	//   gen_ai.request.model_name=qwen3-8b
	//   gen_ai.engine.index=0
	//   gen_ai.pd_role=none
	//   gen_ai.usage.prompt_tokens=48
	//   gen_ai.usage.completion_tokens=2
	//   gen_ai.usage.cache_read.input_tokens=0
	//   gen_ai.latency.e2e=33000000
	//   gen_ai.latency.time_in_queue=3000000
	//   gen_ai.latency.time_to_first_token=20000000
	//   gen_ai.latency.time_in_model_prefill=16000000
	//   gen_ai.latency.time_in_model_decode=12000000
	//   gen_ai.latency.time_in_model_inference=28000000
	//   wait 1-4ms
	//   prefill 4-20ms
	//   decode 20-32ms
}

// A live request: each fact is told as the engine gets to it.
func ExampleEngineV1_StartRequest() {
	exporter, provider := inMemory()
	engine, err := vllm.NewEngineV1(vllm.EngineConfig{Model: "qwen3-8b", PDRole: vllm.PDRoleConsumer},
		vllm.WithTracerProvider(provider), vllm.WithGranularity(vllm.GranularityEvents))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer engine.Close()

	arrival := time.Unix(1_700_000_000, 0)
	after := func(ms int) time.Time { return arrival.Add(time.Duration(ms) * time.Millisecond) }

	req := engine.StartRequest(context.Background(), vllm.Request{ID: "req-1", MaxTokens: new(3), PromptTokens: 48}, arrival)
	req.Tokenized(2 * time.Millisecond)
	req.Queued(after(3))
	kv := req.StartKVTransfer(after(4))
	kv.End(vllm.KVTransfer{CachedTokens: 48}, after(9))
	req.Scheduled(after(10))
	req.Decode(vllm.Iteration{At: after(30), TokenIDs: []int{101}, TokenTexts: []string{"Hel"}})
	req.Preempted(after(35))
	req.Prefill(vllm.Iteration{At: after(60), TokenIDs: []int{102}, TokenTexts: []string{"lo"}})
	req.Decode(vllm.Iteration{At: after(70), TokenIDs: []int{103}, TokenTexts: []string{"!"}})
	req.Finish(vllm.OutcomeV1{At: after(71), FinishReason: vllm.FinishReasonLength, CompletionTokens: new(3), CachedTokens: 48})

	printTree(exporter)
	// Output:
	// llm_request 0-71ms
	//   gen_ai.request.id=req-1
	//   gen_ai.request.model_name=qwen3-8b
	//   gen_ai.engine.index=0
	//   gen_ai.pd_role=consumer
	//   gen_ai.request.max_tokens=3
	//   gen_ai.usage.prompt_tokens=48
	//   gen_ai.usage.completion_tokens=3
	//   gen_ai.usage.cache_read.input_tokens=48
	//   gen_ai.latency.e2e=71000000
	//   gen_ai.latency.time_in_queue=7000000
	//   gen_ai.latency.time_to_first_token=30000000
	//   gen_ai.latency.time_in_model_prefill=0
	//   gen_ai.latency.time_in_model_decode=40000000
	//   gen_ai.latency.time_in_model_inference=40000000
	//   gen_ai.latency.time_in_tokenize=2000000
	//   gen_ai.latency.time_in_kv_transfer=5000000
	//   gen_ai.request.preemption_count=1
	//   * WAIT at 3ms
	//   * DECODE at 30ms ids=[101] texts=["Hel"]
	//   * PREEMPTED at 35ms
	//   * WAIT at 35ms
	//   * PREFILL at 60ms ids=[102] texts=["lo"]
	//   * DECODE at 70ms ids=[103] texts=["!"]
	//   wait 3-10ms
	//     kv_transfer 4-9ms
	//   decode 30-70ms
}

// After the fact: one call with what the engine's final statistics say.
func ExampleEngineV1_RecordRequest() {
	exporter, provider := inMemory()
	engine, err := vllm.NewEngineV1(vllm.EngineConfig{Model: "qwen3-8b", Index: 1}, vllm.WithTracerProvider(provider))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer engine.Close()

	arrival := time.Unix(1_700_000_000, 0)
	after := func(ms int) time.Time { return arrival.Add(time.Duration(ms) * time.Millisecond) }
	engine.RecordRequest(context.Background(), vllm.RequestRecordV1{
		Request:    vllm.Request{ID: "req-2", Temperature: new(0.7), N: new(1), PromptTokens: 48},
		Arrival:    arrival,
		Queued:     after(3),
		Scheduled:  after(10),
		FirstToken: after(30),
		Outcome: vllm.OutcomeV1{
			At: after(126), FinishReason: vllm.FinishReasonStop, CompletionTokens: new(6), CachedTokens: 16,
			FrontendFirstToken: after(31), LastToken: after(125),
		},
	})

	printTree(exporter)
	// Output:
	// llm_request 0-126ms
	//   gen_ai.request.id=req-2
	//   gen_ai.request.model_name=qwen3-8b
	//   gen_ai.engine.index=1
	//   gen_ai.pd_role=none
	//   gen_ai.request.temperature=0.7
	//   gen_ai.request.n=1
	//   gen_ai.usage.prompt_tokens=48
	//   gen_ai.usage.completion_tokens=6
	//   gen_ai.usage.cache_read.input_tokens=16
	//   gen_ai.latency.e2e=126000000
	//   gen_ai.latency.time_in_queue=7000000
	//   gen_ai.latency.time_to_first_token=31000000
	//   gen_ai.latency.time_in_model_prefill=20000000
	//   gen_ai.latency.time_in_model_decode=95000000
	//   gen_ai.latency.time_in_model_inference=115000000
	//   wait 3-10ms
	//   prefill 10-30ms
	//   decode 30-125ms
}

// An engine whose states do not follow vLLM's starts and ends the stages itself.
func ExampleRequestV1_StartWait() {
	exporter, provider := inMemory()
	engine, err := vllm.NewEngineV1(vllm.EngineConfig{Model: "m"}, vllm.WithTracerProvider(provider))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer engine.Close()

	arrival := time.Unix(1_700_000_000, 0)
	after := func(ms int) time.Time { return arrival.Add(time.Duration(ms) * time.Millisecond) }
	req := engine.StartRequest(context.Background(), vllm.Request{ID: "req-3"}, arrival)
	req.StartWait(after(1)).End(after(4))
	req.StartPrefill(after(4)).End(after(20))
	req.StartWait(after(20)).End(after(25)) // back to the queue
	req.StartDecode(after(25)).End(after(60))
	req.Finish(vllm.OutcomeV1{At: after(61), FinishReason: vllm.FinishReasonStop, CompletionTokens: new(9)})

	printTree(exporter)
	// Output:
	// llm_request 0-61ms
	//   gen_ai.request.id=req-3
	//   gen_ai.request.model_name=m
	//   gen_ai.engine.index=0
	//   gen_ai.pd_role=none
	//   gen_ai.usage.prompt_tokens=0
	//   gen_ai.usage.completion_tokens=9
	//   gen_ai.usage.cache_read.input_tokens=0
	//   gen_ai.latency.e2e=61000000
	//   gen_ai.latency.time_in_queue=8000000
	//   gen_ai.latency.time_to_first_token=20000000
	//   gen_ai.latency.time_in_model_prefill=16000000
	//   gen_ai.latency.time_in_model_decode=35000000
	//   gen_ai.latency.time_in_model_inference=51000000
	//   wait 1-4ms
	//   prefill 4-20ms
	//   wait 20-25ms
	//   decode 25-60ms
}

func inMemory() (*tracetest.InMemoryExporter, *sdktrace.TracerProvider) {
	exporter := tracetest.NewInMemoryExporter()
	return exporter, sdktrace.NewTracerProvider(sdktrace.WithSyncer(exporter))
}

// printTree prints the exported spans as a tree, times in milliseconds from the
// start of the root.
func printTree(exporter *tracetest.InMemoryExporter) {
	spans := exporter.GetSpans()
	children := map[trace.SpanID][]tracetest.SpanStub{}
	for _, s := range spans {
		children[s.Parent.SpanID()] = append(children[s.Parent.SpanID()], s)
	}
	var print func(s tracetest.SpanStub, root time.Time, depth int)
	print = func(s tracetest.SpanStub, root time.Time, depth int) {
		indent := strings.Repeat("  ", depth)
		fmt.Printf("%s%s %d-%dms\n", indent, s.Name, s.StartTime.Sub(root).Milliseconds(), s.EndTime.Sub(root).Milliseconds())
		if depth == 0 {
			for _, a := range s.Attributes {
				fmt.Printf("  %s=%v\n", a.Key, a.Value.String())
			}
		}
		for _, e := range s.Events {
			fmt.Printf("%s  * %s at %dms", indent, e.Name, e.Time.Sub(root).Milliseconds())
			for _, a := range e.Attributes {
				if short, ok := strings.CutPrefix(string(a.Key), "gen_ai.token."); ok {
					fmt.Printf(" %s=%s", short, a.Value.String())
				}
			}
			fmt.Println()
		}
		next := children[s.SpanContext.SpanID()]
		slices.SortStableFunc(next, func(a, b tracetest.SpanStub) int { return a.StartTime.Compare(b.StartTime) })
		for _, c := range next {
			print(c, root, depth+1)
		}
	}
	for _, s := range children[trace.SpanID{}] {
		print(s, s.StartTime, 0)
	}
}
