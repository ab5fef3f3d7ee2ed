package sglang_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"go.opentelemetry.io/otel/propagation"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/infertel/infertel-go/semconv"
	"github.com/infertel/infertel-go/sglang"
)

// The examples print the spans as a tree: name, start and end in milliseconds,
// attributes of stages, events (@) and links (<-).
var (
	exported = tracetest.NewInMemoryExporter()
	provider = sdktrace.NewTracerProvider(sdktrace.WithSyncer(exported))
)

func printTree() {
	fmt.Println(show(exported.GetSpans()))
	exported.Reset()
}

func Example() {
	engine, err := sglang.NewEngine(sglang.EngineConfig{Model: "Qwen/Qwen3-8B"},
		sglang.WithTracerProvider(provider), sglang.WithHostID("9f86d081884c7d65"), sglang.WithTraceLevel(3))
	if err != nil {
		fmt.Println(err)
		return
	}

	// The frontend process. The context carries the entry span, if there is one.
	request := engine.StartRequest(context.Background(), sglang.Request{RID: "5f2c9a7be1d34c0f"}, ms(0))
	tokenizer := request.StartThread(sglang.Thread{Label: sglang.ThreadTokenizer, PID: 4242}, ms(0))
	tokenizer.RecordStage(sglang.Tokenize, ms(0), ms(3))
	tokenizer.StartStage(sglang.APIServerDispatch, ms(3.5))
	message := map[string]string{} // to the scheduler
	tokenizer.Handover().Inject(propagation.MapCarrier(message))
	tokenizer.EndStage(sglang.APIServerDispatch, ms(4))
	tokenizer.End(ms(4))
	request.Dispatched(ms(4))

	// The scheduler process.
	resumed := engine.Resume(sglang.ExtractHandover(propagation.MapCarrier(message)))
	scheduler := resumed.StartThread(sglang.Thread{Label: sglang.ThreadScheduler, PID: 5001, TPRank: new(0)}, ms(5))
	scheduler.RecordStage(sglang.RequestProcess, ms(5), ms(5.2))
	scheduler.RecordStage(sglang.PrefillWaiting, ms(5.2), ms(8))
	scheduler.StartStage(sglang.PrefillForward, ms(8))
	scheduler.Schedule(sglang.Batch{ID: "b1", Size: 1, Mode: sglang.ForwardModePrefill}, ms(8.3))
	scheduler.RecordStage(sglang.ChunkedPrefill, ms(8), ms(20))
	scheduler.EndStage(sglang.PrefillForward, ms(20))
	scheduler.RecordStage(sglang.DecodeWaiting, ms(20), ms(20.5))
	scheduler.StartStage(sglang.DecodeForward, ms(20.5))
	scheduler.RecordStage(sglang.DecodeLoop(0), ms(20.5), ms(30))
	scheduler.RecordStage(sglang.DecodeLoop(1), ms(30), ms(39))
	scheduler.End(ms(40))

	// The frontend process again.
	request.FirstToken(ms(31))
	request.Output(ms(41))
	request.End(sglang.Outcome{FinishReasons: []string{"stop"}, PromptTokens: new(14), CompletionTokens: new(2), CachedTokens: new(0)}, ms(41))

	printTree()
	// Output:
	// Req 5f2c9a7b 0-41
	//   Tokenizer (host:9f86d081 | pid:4242) 0-4
	//     tokenize 0-3
	//     api_server_dispatch 3.5-4 <- tokenize
	//   Scheduler [TP 0] (host:9f86d081 | pid:5001) 5-40
	//     request_process 5-5.2 <- api_server_dispatch
	//     prefill_waiting 5.2-8 <- request_process
	//     prefill_forward 8-20 <- prefill_waiting
	//       chunked_prefill 8-20 @8.3 schedule{batch_size=1 bid=b1 forward_mode=prefill}
	//     decode_waiting 20-20.5 <- prefill_forward
	//     decode_forward 20.5-40 <- decode_waiting
	//       decode_loop 20.5-30{decode_ct=0}
	//       decode_loop 30-39{decode_ct=1}
}

// Threads of one process hand the request over without a carrier.
func ExampleThread() {
	engine, _ := sglang.NewEngine(sglang.EngineConfig{}, sglang.WithTracerProvider(provider), sglang.WithHostID("node-1"))
	request := engine.StartRequest(context.Background(), sglang.Request{RID: "5f2c9a7be1d34c0f"}, ms(0))
	tokenizer := request.StartThread(sglang.Thread{Label: sglang.MultiTokenizer(7), PID: 1}, ms(0))
	tokenizer.RecordStage(sglang.Tokenize, ms(0), ms(3))
	tokenizer.End(ms(3))
	for rank := range 2 {
		scheduler := request.StartThread(sglang.Thread{
			Label: sglang.ThreadScheduler, PID: 2, TPRank: &rank, DPRank: new(1), From: tokenizer.Handover(),
		}, ms(4))
		scheduler.RecordStage(sglang.PrefillForward, ms(5), ms(9))
		scheduler.End(ms(10))
	}
	request.Abort(sglang.AbortReason{}, sglang.Outcome{}, ms(11))
	printTree()
	// Output:
	// Req 5f2c9a7b 0-11
	//   MultiTokenizer-7 (host:node-1 | pid:1) 0-3
	//     tokenize 0-3
	//   Scheduler [TP 0] [DP 1] (host:node-1 | pid:2) 4-10
	//     prefill_forward 5-9 <- tokenize
	//   Scheduler [TP 1] [DP 1] (host:node-1 | pid:2) 4-10
	//     prefill_forward 5-9 <- tokenize
}

// A retraction lands on the decode_forward that is open, in which the second
// round nests.
func ExampleThreadSpan_Retract() {
	engine, _ := sglang.NewEngine(sglang.EngineConfig{}, sglang.WithTracerProvider(provider), sglang.WithHostID("node-1"))
	request := engine.StartRequest(context.Background(), sglang.Request{RID: "5f2c9a7be1d34c0f"}, ms(0))
	scheduler := request.StartThread(sglang.Thread{Label: sglang.ThreadScheduler, PID: 2}, ms(0))
	scheduler.StartStage(sglang.DecodeForward, ms(20))
	scheduler.RecordStage(sglang.DecodeLoop(0), ms(20), ms(30))
	scheduler.Retract(ms(32))
	scheduler.RecordStage(sglang.PrefillForward, ms(50), ms(60))
	scheduler.StartStage(sglang.DecodeForward, ms(60))
	scheduler.RecordStage(sglang.DecodeLoop(1), ms(60), ms(70))
	scheduler.End(ms(71))
	request.Abort(sglang.AbortReason{}, sglang.Outcome{}, ms(72))
	printTree()
	// Output:
	// Req 5f2c9a7b 0-72
	//   Scheduler (host:node-1 | pid:2) 0-71
	//     decode_forward 20-71 @32 retract
	//       decode_loop 20-30{decode_ct=0}
	//       prefill_forward 50-60
	//       decode_forward 60-71
	//         decode_loop 60-70{decode_ct=1}
}

// An abort shows on the thread span, not on the request span.
func ExampleThreadSpan_Abort() {
	engine, _ := sglang.NewEngine(sglang.EngineConfig{PDRole: sglang.PDRolePrefill}, sglang.WithTracerProvider(provider), sglang.WithHostID("node-1"))
	request := engine.StartRequest(context.Background(), sglang.Request{RID: "5f2c9a7be1d34c0f", BootstrapRoom: new(uint64(7203945))}, ms(0))
	scheduler := request.StartThread(sglang.Thread{Label: sglang.ThreadScheduler, PID: 2}, ms(0))
	scheduler.StartStage(sglang.PrefillTransferKVCache, ms(1))
	reason := sglang.AbortReason{Type: new("abort"), Message: new("Client disconnected")}
	scheduler.Abort(reason, ms(5))
	request.Abort(reason, sglang.Outcome{PromptTokens: new(9)}, ms(6))
	printTree()
	// Output:
	// prefill Req 5f2c9a7b 0-6
	//   Prefill Scheduler (host:node-1 | pid:2) 0-5 Error
	//     prefill_transfer_kv_cache 1-5
}

// The client went away: the request is counted, and the threads that are still at
// work end with it.
func ExampleRequestSpan_Abort() {
	engine, _ := sglang.NewEngine(sglang.EngineConfig{Model: "Qwen/Qwen3-8B"}, sglang.WithTracerProvider(provider), sglang.WithHostID("node-1"))
	request := engine.StartRequest(context.Background(), sglang.Request{RID: "5f2c9a7be1d34c0f"}, ms(0))
	scheduler := request.StartThread(sglang.Thread{Label: sglang.ThreadScheduler, PID: 2}, ms(1))
	scheduler.RecordStage(sglang.PrefillWaiting, ms(1), ms(3))
	reason := sglang.AbortReason{Type: new("abort"), StatusCode: new(499)}
	request.Abort(reason, sglang.Outcome{PromptTokens: new(9)}, ms(6))
	printTree()
	// Output:
	// Req 5f2c9a7b 0-6
	//   Scheduler (host:node-1 | pid:2) 1-6 Error
	//     prefill_waiting 1-3
}

// An operator sets the level of the requests that start from then on.
func ExampleEngine_LevelHandler() {
	engine, _ := sglang.NewEngine(sglang.EngineConfig{}, sglang.WithTraceLevel(3))
	mux := http.NewServeMux()
	mux.Handle(semconv.SGLangTraceLevelPath, engine.LevelHandler())

	for _, level := range []string{"1", "all"} {
		answer := httptest.NewRecorder()
		mux.ServeHTTP(answer, httptest.NewRequest(http.MethodPost, "/set_trace_level?level="+level, nil))
		fmt.Println(answer.Code, answer.Body, "-> level", engine.TraceLevel())
	}
	// Output:
	// 200 success -> level 1
	// 422 trace level is "all", want an integer of 0 or more
	//  -> level 1
}

// Every report adds its snapshot to the sums; the average is their quotient.
func ExampleEngine_RecordScheduler() {
	reader := sdkmetric.NewManualReader()
	engine, _ := sglang.NewEngine(sglang.EngineConfig{}, sglang.WithMeterProvider(sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))))
	ctx := context.Background()
	for _, running := range []int{4, 8} {
		err := engine.RecordScheduler(ctx, sglang.SchedulerStats{RunningReqs: running, TokenUsage: 0.5, GenThroughput: 120.5})
		if err != nil {
			fmt.Println(err)
		}
	}
	fmt.Println(engine.RecordScheduler(ctx, sglang.SchedulerStats{RunningReqs: -1}))

	sums := sumsOf(reader)
	fmt.Println(sums["sglang_num_running_reqs"], "by", sums["sglang_log_count"], "reports")
	// Output:
	// sglang: SchedulerStats.RunningReqs is -1, want 0 or more
	// 12 by 2 reports
}
