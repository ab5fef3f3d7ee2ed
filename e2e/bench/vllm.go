package main

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/trace"

	"github.com/infertel/infertel-go/vllm"
)

var t0 = time.Unix(1_790_000_000, 0)

func ms(n float64) time.Time { return t0.Add(time.Duration(n * float64(time.Millisecond))) }

func vllmEngine(tp trace.TracerProvider, opts ...vllm.OptionV1) *vllm.EngineV1 {
	return must(vllm.NewEngineV1(vllm.EngineConfig{Model: "qwen3-8b"},
		append([]vllm.OptionV1{vllm.WithTracerProvider(tp), vllm.WithMeterProvider(noop.NewMeterProvider())}, opts...)...))
}

var (
	vllmRequest = vllm.Request{ID: "req-a", Temperature: new(0.7), TopP: new(0.9), MaxTokens: new(6), N: new(1), PromptTokens: 48}
	vllmOutcome = vllm.OutcomeV1{At: ms(126), FinishReason: vllm.FinishReasonLength, CompletionTokens: new(6), CachedTokens: 16,
		Detokenize: new(300 * time.Microsecond), FrontendFirstToken: ms(31)}
)

// startVLLM tells the beginning of a request.
func startVLLM(ctx context.Context, e *vllm.EngineV1) *vllm.RequestV1 {
	r := e.StartRequest(ctx, vllmRequest, ms(0))
	r.Tokenized(2 * time.Millisecond)
	r.Queued(ms(3))
	r.Scheduled(ms(10))
	return r
}

// oursStages tells a whole request at granularity 1: four spans.
func oursStages(ctx context.Context, e *vllm.EngineV1) {
	r := startVLLM(ctx, e)
	r.Prefill(vllm.Iteration{At: ms(30)})
	r.Decode(vllm.Iteration{At: ms(125)})
	r.Finish(vllmOutcome)
}

// rawStages makes the same four spans with the SDK alone.
func rawStages(ctx context.Context, tracer trace.Tracer) {
	ctx, request := tracer.Start(ctx, "llm_request", trace.WithTimestamp(ms(0)))
	endRaw(ctx, tracer, request)
}

// endRaw makes the stages, the attributes and the end of llm_request.
func endRaw(ctx context.Context, tracer trace.Tracer, request trace.Span) {
	stage := func(name string, start, end time.Time) {
		_, s := tracer.Start(ctx, name, trace.WithTimestamp(start))
		s.SetAttributes(attribute.String("gen_ai.request.id", "req-a"), attribute.String("gen_ai.request.model_name", "qwen3-8b"),
			attribute.Int("gen_ai.engine.index", 0), attribute.String("gen_ai.pd_role", "none"))
		s.End(trace.WithTimestamp(end))
	}
	stage("wait", ms(3), ms(10))
	stage("prefill", ms(10), ms(30))
	stage("decode", ms(30), ms(125))
	request.SetAttributes(
		attribute.String("gen_ai.request.id", "req-a"), attribute.String("gen_ai.request.model_name", "qwen3-8b"),
		attribute.Int("gen_ai.engine.index", 0), attribute.String("gen_ai.pd_role", "none"),
		attribute.Float64("gen_ai.request.temperature", 0.7), attribute.Float64("gen_ai.request.top_p", 0.9),
		attribute.Int("gen_ai.request.max_tokens", 6), attribute.Int("gen_ai.request.n", 1),
		attribute.Int("gen_ai.usage.prompt_tokens", 48), attribute.Int("gen_ai.usage.completion_tokens", 6),
		attribute.Int("gen_ai.usage.cache_read.input_tokens", 16),
		attribute.Int64("gen_ai.latency.e2e", ms(126).Sub(ms(0)).Nanoseconds()),
		attribute.Int64("gen_ai.latency.time_in_queue", ms(10).Sub(ms(3)).Nanoseconds()),
		attribute.Int64("gen_ai.latency.time_to_first_token", ms(31).Sub(ms(0)).Nanoseconds()),
		attribute.Int64("gen_ai.latency.time_in_model_prefill", ms(30).Sub(ms(10)).Nanoseconds()),
		attribute.Int64("gen_ai.latency.time_in_model_decode", ms(125).Sub(ms(30)).Nanoseconds()),
		attribute.Int64("gen_ai.latency.time_in_model_inference", ms(125).Sub(ms(10)).Nanoseconds()),
		attribute.Int64("gen_ai.latency.time_in_tokenize", 2_000_000), attribute.Int64("gen_ai.latency.time_in_detokenize", 300_000))
	request.End(trace.WithTimestamp(ms(126)))
}

// What an iteration put out, one token.
var (
	tokenIDs   = []int{151644}
	tokenTexts = []string{"Hello"}
	logProbs   = []float64{-0.25}
)

// step is the time between two of n iterations.
func step(n int) time.Duration { return 95 * time.Millisecond / time.Duration(n) }

// oursEvents tells a request of n iterations at granularity 2.
func oursEvents(ctx context.Context, e *vllm.EngineV1, n int) {
	r := startVLLM(ctx, e)
	it := vllm.Iteration{At: ms(30), TokenIDs: tokenIDs, TokenTexts: tokenTexts, TokenCount: new(1), LogProbs: logProbs}
	r.Prefill(it)
	for range n - 2 {
		it.At = it.At.Add(step(n))
		r.Decode(it)
	}
	it.At = ms(125)
	r.Decode(it)
	r.Finish(vllmOutcome)
}

// rawEvents adds the same events with the SDK alone.
func rawEvents(ctx context.Context, tracer trace.Tracer, n int) {
	ctx, request := tracer.Start(ctx, "llm_request", trace.WithTimestamp(ms(0)))
	event := func(name string, t time.Time) {
		request.AddEvent(name, trace.WithTimestamp(t), trace.WithAttributes(attribute.Int("gen_ai.engine.index", 0),
			attribute.IntSlice("gen_ai.token.ids", tokenIDs), attribute.StringSlice("gen_ai.token.texts", tokenTexts),
			attribute.Int("gen_ai.token.count", 1), attribute.Float64Slice("gen_ai.token.logprobs", logProbs)))
	}
	request.AddEvent("WAIT", trace.WithTimestamp(ms(3)), trace.WithAttributes(attribute.Int("gen_ai.engine.index", 0)))
	t := ms(30)
	event("PREFILL", t)
	for range n - 2 {
		t = t.Add(step(n))
		event("DECODE", t)
	}
	event("DECODE", ms(125))
	endRaw(ctx, tracer, request)
}

const fewIterations, manyIterations = 100, 20_000

func vllmGroups() []group {
	ctx := context.Background()
	raw := func(f func(context.Context, trace.Tracer)) subject {
		return loop("raw", func() func() {
			tracer := spansOf(sampled).Tracer("raw")
			return func() { f(ctx, tracer) }
		})
	}
	ours := func(f func(context.Context, *vllm.EngineV1), opts ...vllm.OptionV1) subject {
		return loop("ours", func() func() {
			e := vllmEngine(spansOf(sampled), opts...)
			return func() { f(ctx, e) }
		})
	}
	events := vllm.WithGranularity(vllm.GranularityEvents)
	return []group{
		{"vllm stages", []subject{raw(rawStages), ours(oursStages, vllm.WithGranularity(vllm.GranularityStages))}},
		{"vllm events", []subject{
			raw(func(ctx context.Context, t trace.Tracer) { rawEvents(ctx, t, fewIterations) }),
			ours(func(ctx context.Context, e *vllm.EngineV1) { oursEvents(ctx, e, fewIterations) }, events),
		}},
		{"vllm coalesced", []subject{
			raw(func(ctx context.Context, t trace.Tracer) { rawEvents(ctx, t, manyIterations) }),
			ours(func(ctx context.Context, e *vllm.EngineV1) { oursEvents(ctx, e, manyIterations) }, events, vllm.WithEventCoalescing()),
		}},
	}
}

func vllmRows() []row {
	return []row{
		ratioRow("V1 request, granularity 1 (4 spans)", "vllm stages/raw", "vllm stages/ours", 1.10, 1.0),
		ratioRow("V1 request, granularity 2, 100 iterations", "vllm events/raw", "vllm events/ours", 1.10, 0),
		ratioRow("V1 request, granularity 2, 20,000 iterations in 128 events", "vllm coalesced/raw", "vllm coalesced/ours", 0.25, 0),
	}
}
