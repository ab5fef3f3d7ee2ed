package main

import (
	"context"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/trace"

	"github.com/infertel/infertel-go/sglang"
)

const (
	sglangRID   = "5f2c9a7be1d34c0f8a6b7c8d9e0f1a2b"
	sglangHost  = "9f86d081884c7d659a2feaa0c55ad015"
	sglangLoops = 200
	sglangRanks = 2
)

func us(n int) time.Time { return t0.Add(time.Duration(n) * time.Microsecond) }

func sglangEngine(tp trace.TracerProvider, mp metric.MeterProvider) *sglang.Engine {
	return must(sglang.NewEngine(sglang.EngineConfig{Model: "m"}, sglang.WithTracerProvider(tp), sglang.WithMeterProvider(mp), sglang.WithTraceLevel(3)))
}

// startSGLang tells a request at level 3 with TP 2 up to its decode_forward.
func startSGLang(ctx context.Context, e *sglang.Engine) (*sglang.RequestSpan, [sglangRanks]*sglang.ThreadSpan) {
	r := e.StartRequest(ctx, sglang.Request{RID: sglangRID}, us(0))
	tok := r.StartThread(sglang.Thread{Label: sglang.ThreadTokenizer, HostID: sglangHost, PID: 1}, us(0))
	tok.RecordStage(sglang.Tokenize, us(0), us(30))
	tok.StartStage(sglang.APIServerDispatch, us(30))
	h := tok.Handover()
	tok.EndStage(sglang.APIServerDispatch, us(40))
	tok.End(us(40))
	r.Dispatched(us(40))
	var threads [sglangRanks]*sglang.ThreadSpan
	for rank := range threads {
		threads[rank] = r.StartThread(sglang.Thread{Label: sglang.ThreadScheduler, HostID: sglangHost, PID: 100 + rank, TPRank: &rank, From: h}, us(40))
	}
	for _, th := range threads {
		th.RecordStage(sglang.RequestProcess, us(40), us(42))
		th.RecordStage(sglang.PrefillWaiting, us(42), us(50))
		th.StartStage(sglang.PrefillForward, us(50))
		th.RecordStage(sglang.ChunkedPrefill, us(50), us(90))
		th.EndStage(sglang.PrefillForward, us(90))
		th.RecordStage(sglang.DecodeWaiting, us(90), us(91))
		th.StartStage(sglang.DecodeForward, us(91))
	}
	r.FirstToken(us(95))
	return r, threads
}

// oursSGLang tells a whole request of so many decode iterations.
func oursSGLang(ctx context.Context, e *sglang.Engine, loops int) {
	r, threads := startSGLang(ctx, e)
	for i := range loops {
		at := us(100 + 10*i)
		for _, th := range threads {
			th.Schedule(sglang.Batch{ID: "b", Size: 8, Mode: sglang.ForwardModeDecode}, at)
			th.RecordStage(sglang.DecodeLoop(i), at, at.Add(10*time.Microsecond))
		}
	}
	end := us(100 + 10*loops)
	for _, th := range threads {
		th.End(end)
	}
	r.End(sglang.Outcome{FinishReasons: []string{"length"}, PromptTokens: new(48), CompletionTokens: &loops, CachedTokens: new(0), MaxTokens: &loops}, end)
}

// rawSGLang makes the same spans, events and links with the SDK alone.
func rawSGLang(ctx context.Context, tr trace.Tracer, loops int) {
	start := func(ctx context.Context, name string, at time.Time, links ...trace.Link) (context.Context, trace.Span) {
		if len(links) > 0 {
			return tr.Start(ctx, name, trace.WithTimestamp(at), trace.WithLinks(links...))
		}
		return tr.Start(ctx, name, trace.WithTimestamp(at))
	}
	to := func(s trace.Span) trace.Link { return trace.Link{SpanContext: s.SpanContext()} }
	request, r := start(ctx, "Req "+sglangRID[:8], us(0))
	r.SetAttributes(attribute.String("rid", sglangRID), attribute.String("module", "sglang::request"))
	inTokenizer, tok := start(request, "Tokenizer (host:"+sglangHost[:8]+" | pid:1)", us(0))
	tok.SetAttributes(attribute.String("host_id", sglangHost), attribute.Int("pid", 1), attribute.String("thread_label", "Tokenizer"))
	_, tokenize := start(inTokenizer, "tokenize", us(0))
	tokenize.End(trace.WithTimestamp(us(30)))
	_, dispatch := start(inTokenizer, "api_server_dispatch", us(30), to(tokenize))
	dispatch.End(trace.WithTimestamp(us(40)))
	tok.End(trace.WithTimestamp(us(40)))
	type thread struct {
		inForward     context.Context
		span, forward trace.Span
	}
	var threads [sglangRanks]thread
	for rank := range threads {
		pid := 100 + rank
		inThread, s := start(request, "Scheduler [TP "+strconv.Itoa(rank)+"] (host:"+sglangHost[:8]+" | pid:"+strconv.Itoa(pid)+")", us(40))
		s.SetAttributes(attribute.String("host_id", sglangHost), attribute.Int("pid", pid), attribute.String("thread_label", "Scheduler"), attribute.Int("tp_rank", rank))
		_, process := start(inThread, "request_process", us(40), to(dispatch))
		process.End(trace.WithTimestamp(us(42)))
		_, waiting := start(inThread, "prefill_waiting", us(42), to(process))
		waiting.End(trace.WithTimestamp(us(50)))
		inPrefill, prefill := start(inThread, "prefill_forward", us(50), to(waiting))
		_, chunk := start(inPrefill, "chunked_prefill", us(50))
		chunk.End(trace.WithTimestamp(us(90)))
		prefill.End(trace.WithTimestamp(us(90)))
		_, decodeWaiting := start(inThread, "decode_waiting", us(90), to(prefill))
		decodeWaiting.End(trace.WithTimestamp(us(91)))
		inForward, forward := start(inThread, "decode_forward", us(91), to(decodeWaiting))
		threads[rank] = thread{inForward, s, forward}
	}
	for i := range loops {
		at := us(100 + 10*i)
		for _, th := range threads {
			_, loop := start(th.inForward, "decode_loop", at)
			loop.SetAttributes(attribute.Int("decode_ct", i))
			loop.AddEvent("schedule", trace.WithTimestamp(at), trace.WithAttributes(
				attribute.String("bid", "b"), attribute.Int("batch_size", 8), attribute.String("forward_mode", "decode")))
			loop.End(trace.WithTimestamp(at.Add(10 * time.Microsecond)))
		}
	}
	end := us(100 + 10*loops)
	for _, th := range threads {
		th.forward.End(trace.WithTimestamp(end))
		th.span.End(trace.WithTimestamp(end))
	}
	seconds := func(from, to int) float64 { return us(to).Sub(us(from)).Seconds() }
	last := 100 + 10*loops
	r.SetAttributes(
		attribute.String("gen_ai.request.id", sglangRID), attribute.String("gen_ai.response.model", "m"),
		attribute.String("gen_ai.response.finish_reasons", `["length"]`),
		attribute.Int("gen_ai.usage.prompt_tokens", 48), attribute.Int("gen_ai.usage.completion_tokens", loops),
		attribute.Int("gen_ai.usage.cached_tokens", 0), attribute.Int("gen_ai.request.max_tokens", loops),
		attribute.Float64("gen_ai.latency.e2e", seconds(0, last)),
		attribute.Float64("gen_ai.latency.time_to_first_token", seconds(0, 95)),
		attribute.Float64("gen_ai.latency.time_in_model_prefill", seconds(40, 95)),
		attribute.Float64("gen_ai.latency.time_in_model_decode", seconds(95, last)),
		attribute.Float64("gen_ai.latency.time_in_model_inference", seconds(40, last)))
	r.End(trace.WithTimestamp(end))
}

func sglangGroups() []group {
	ctx := context.Background()
	return []group{{"sglang request", []subject{
		loop("raw", func() func() {
			tracer := spansOf(sampled).Tracer("raw")
			return func() { rawSGLang(ctx, tracer, sglangLoops) }
		}),
		loop("ours", func() func() {
			e := sglangEngine(spansOf(sampled), noop.NewMeterProvider())
			return func() { oursSGLang(ctx, e, sglangLoops) }
		}),
	}}}
}

func sglangRows() []row {
	return []row{ratioRow("SGLang request, level 3, TP 2, 200 decode_loop each", "sglang request/raw", "sglang request/ours", 1.10, 0)}
}
