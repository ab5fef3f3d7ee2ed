// Package sglang emits the native telemetry of an SGLang engine as Alibaba Cloud
// ARMS documents it, for engines and shims written in Go: request, thread and
// stage spans with their links and events, trace levels, the hand-over of a
// request between processes, and the metrics of scheduler and frontend.
//
// An [Engine] stands for the engine. Under the entry span of the API layer (see
// [github.com/infertel/infertel-go/genai]) each request makes a tree of three
// levels:
//
//	chat {model}                          the entry span
//	└─ Req {first 8 characters of rid}    Engine.StartRequest, in the frontend process
//	   ├─ Tokenizer (host:… | pid:…)      RequestSpan.StartThread
//	   │  ├─ tokenize                     ThreadSpan.RecordStage, or StartStage and EndStage
//	   │  └─ api_server_dispatch
//	   └─ Scheduler [TP 0] (host:… | pid:…)
//	      ├─ prefill_waiting
//	      ├─ prefill_forward
//	      │  └─ chunked_prefill
//	      └─ decode_forward
//	         └─ decode_loop
//
// A thread that hands the request over gives a [Handover] to the next one, which
// may be in another process, where [Engine.Resume] continues it:
//
//	tokenizer.StartStage(sglang.APIServerDispatch, t1)
//	tokenizer.Handover().Inject(propagation.MapCarrier(message))
//	tokenizer.EndStage(sglang.APIServerDispatch, t2)
//	...
//	request := engine.Resume(sglang.ExtractHandover(propagation.MapCarrier(message)))
//	scheduler := request.StartThread(sglang.Thread{Label: sglang.ThreadScheduler, TPRank: new(0)}, t3)
//
// # Trace level
//
// The level bounds how much of a request is recorded, from the environment
// variable SGLANG_TRACE_LEVEL, [WithTraceLevel], [Engine.SetTraceLevel] or
// [Engine.LevelHandler]. A request reads it when it starts and keeps it for its
// life, in every process that it reaches. [Stage] lists which stage has which
// level; the event retract has 1, schedule has 3. Level 0 turns native spans
// off, never the metrics.
//
// # Prefill-decode disaggregation
//
// With [EngineConfig.PDRole] set, the Prefill and the Decode node each have a request
// span of their own, so a request makes two traces. They are not linked; both
// request spans have the same bootstrap_room ([Request.BootstrapRoom]). On a
// Decode node decode_waiting is the wait from the end of the KV cache transfer to
// the start of the forward computation, not the wait that it is elsewhere.
//
// # Token metric
//
// genai_llm_usage_tokens is not among the metrics here: it has the dimensions of
// the API layer, where [github.com/infertel/infertel-go/genai] feeds it. Where
// that runs in another process, on a gateway, the metric comes from there.
//
// # Times
//
// Every time is the caller's, on one wall clock; this package never reads a clock
// for a time that it was given. A length is taken from the monotonic clock where
// both ends have a reading of it. An interval is never negative: where an end is
// missing or lies before its start, a latency or a recorded stage is left out,
// a span that was started has no length, and it is reported once through
// [otel.Handle]. Where the start of a request or a thread is the zero time, now
// stands in for it; see [Engine.StartRequest] and [RequestSpan.StartThread].
package sglang
