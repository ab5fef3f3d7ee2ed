package vllm_test

import (
	"context"
	"reflect"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	noopmetric "go.opentelemetry.io/otel/metric/noop"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	nooptrace "go.opentelemetry.io/otel/trace/noop"

	"github.com/infertel/infertel-go/vllm"
)

// The benchmarks stand beside baselines: the same telemetry, written by hand
// with the OpenTelemetry API, as a careful engine author would. TestBaselines
// holds the two to the same result.

// discard ends spans nowhere.
type discard struct{}

func (discard) OnStart(context.Context, sdktrace.ReadWriteSpan) {}
func (discard) OnEnd(sdktrace.ReadOnlySpan)                     {}
func (discard) Shutdown(context.Context) error                  { return nil }
func (discard) ForceFlush(context.Context) error                { return nil }

func benchEngine(tb testing.TB, tp trace.TracerProvider, opts ...vllm.OptionV1) *vllm.EngineV1 {
	e, err := vllm.NewEngineV1(vllm.EngineConfig{Model: "qwen3-8b"},
		append([]vllm.OptionV1{vllm.WithTracerProvider(tp), vllm.WithMeterProvider(noopmetric.NewMeterProvider())}, opts...)...)
	if err != nil {
		tb.Fatal(err)
	}
	return e
}

var (
	benchRequest = vllm.Request{ID: "req-a", Temperature: new(0.7), TopP: new(0.9), MaxTokens: new(6), N: new(1), PromptTokens: 48}
	benchOutcome = vllm.OutcomeV1{At: at(126), FinishReason: vllm.FinishReasonLength, CompletionTokens: new(6), CachedTokens: 16,
		Detokenize: new(300 * time.Microsecond), FrontendFirstToken: at(31)}
)

// oursV1 tells a whole request at granularity 1: four spans.
func oursV1(ctx context.Context, e *vllm.EngineV1) {
	r := e.StartRequest(ctx, benchRequest, at(0))
	r.Tokenized(2 * time.Millisecond)
	r.Queued(at(3))
	r.Scheduled(at(10))
	r.Prefill(vllm.Iteration{At: at(30)})
	r.Decode(vllm.Iteration{At: at(125)})
	r.Finish(benchOutcome)
}

func rawV1(ctx context.Context, tracer trace.Tracer) {
	ctx, req := tracer.Start(ctx, "llm_request", trace.WithTimestamp(at(0)))
	rawRest(ctx, tracer, req)
}

// rawRest makes the stages, the attributes and the end of llm_request.
func rawRest(ctx context.Context, tracer trace.Tracer, req trace.Span) {
	stage := func(name string, start, end time.Time) {
		_, s := tracer.Start(ctx, name, trace.WithTimestamp(start))
		s.SetAttributes(attribute.String("gen_ai.request.id", "req-a"), attribute.String("gen_ai.request.model_name", "qwen3-8b"),
			attribute.Int("gen_ai.engine.index", 0), attribute.String("gen_ai.pd_role", "none"))
		s.End(trace.WithTimestamp(end))
	}
	stage("wait", at(3), at(10))
	stage("prefill", at(10), at(30))
	stage("decode", at(30), at(125))
	req.SetAttributes(
		attribute.String("gen_ai.request.id", "req-a"), attribute.String("gen_ai.request.model_name", "qwen3-8b"),
		attribute.Int("gen_ai.engine.index", 0), attribute.String("gen_ai.pd_role", "none"),
		attribute.Float64("gen_ai.request.temperature", 0.7), attribute.Float64("gen_ai.request.top_p", 0.9),
		attribute.Int("gen_ai.request.max_tokens", 6), attribute.Int("gen_ai.request.n", 1),
		attribute.Int("gen_ai.usage.prompt_tokens", 48), attribute.Int("gen_ai.usage.completion_tokens", 6),
		attribute.Int("gen_ai.usage.cache_read.input_tokens", 16),
		attribute.Int64("gen_ai.latency.e2e", at(126).Sub(at(0)).Nanoseconds()),
		attribute.Int64("gen_ai.latency.time_in_queue", at(10).Sub(at(3)).Nanoseconds()),
		attribute.Int64("gen_ai.latency.time_to_first_token", at(31).Sub(at(0)).Nanoseconds()),
		attribute.Int64("gen_ai.latency.time_in_model_prefill", at(30).Sub(at(10)).Nanoseconds()),
		attribute.Int64("gen_ai.latency.time_in_model_decode", at(125).Sub(at(30)).Nanoseconds()),
		attribute.Int64("gen_ai.latency.time_in_model_inference", at(125).Sub(at(10)).Nanoseconds()),
		attribute.Int64("gen_ai.latency.time_in_tokenize", 2_000_000), attribute.Int64("gen_ai.latency.time_in_detokenize", 300_000))
	req.End(trace.WithTimestamp(at(126)))
}

// What an iteration put out, one token.
var (
	tokenIDs   = []int{151644}
	tokenTexts = []string{"Hello"}
	logProbs   = []float64{-0.25}
)

// oursEvents tells a request of n iterations at granularity 2.
func oursEvents(ctx context.Context, e *vllm.EngineV1, n int) {
	r := e.StartRequest(ctx, benchRequest, at(0))
	r.Tokenized(2 * time.Millisecond)
	r.Queued(at(3))
	r.Scheduled(at(10))
	it := vllm.Iteration{At: at(30), TokenIDs: tokenIDs, TokenTexts: tokenTexts, TokenCount: new(1), LogProbs: logProbs}
	r.Prefill(it)
	for range n - 2 {
		it.At = it.At.Add(time.Microsecond)
		r.Decode(it)
	}
	it.At = at(125)
	r.Decode(it)
	r.Finish(benchOutcome)
}

func rawEvents(ctx context.Context, tracer trace.Tracer, n int) {
	ctx, req := tracer.Start(ctx, "llm_request", trace.WithTimestamp(at(0)))
	event := func(name string, t time.Time) {
		req.AddEvent(name, trace.WithTimestamp(t), trace.WithAttributes(attribute.Int("gen_ai.engine.index", 0),
			attribute.IntSlice("gen_ai.token.ids", tokenIDs), attribute.StringSlice("gen_ai.token.texts", tokenTexts),
			attribute.Int("gen_ai.token.count", 1), attribute.Float64Slice("gen_ai.token.logprobs", logProbs)))
	}
	req.AddEvent("WAIT", trace.WithTimestamp(at(3)), trace.WithAttributes(attribute.Int("gen_ai.engine.index", 0)))
	t := at(30)
	event("PREFILL", t)
	for range n - 2 {
		t = t.Add(time.Microsecond)
		event("DECODE", t)
	}
	event("DECODE", at(125))
	rawRest(ctx, tracer, req)
}

func TestBaselines(t *testing.T) {
	ctx := context.Background()
	for name, c := range map[string]struct {
		granularity vllm.Granularity
		ours        func(*vllm.EngineV1)
		raw         func(trace.Tracer)
	}{
		"stages": {vllm.GranularityStages, func(e *vllm.EngineV1) { oursV1(ctx, e) }, func(tr trace.Tracer) { rawV1(ctx, tr) }},
		"events": {vllm.GranularityEvents, func(e *vllm.EngineV1) { oursEvents(ctx, e, 100) }, func(tr trace.Tracer) { rawEvents(ctx, tr, 100) }},
		"many":   {vllm.GranularityEvents, func(e *vllm.EngineV1) { oursEvents(ctx, e, 2000) }, func(tr trace.Tracer) { rawEvents(ctx, tr, 2000) }},
	} {
		b := newBed(t)
		c.ours(b.v1(vllm.EngineConfig{}, vllm.WithGranularity(c.granularity)))
		ours := b.spans()
		c.raw(b.traces.Tracer("raw"))
		if raw := b.spans(); !reflect.DeepEqual(ours, raw) {
			t.Errorf("%s:\nours %+v\nraw  %+v", name, ours, raw)
		}
	}
}

func BenchmarkV1Request(b *testing.B) {
	ctx := context.Background()
	tp := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(discard{}))
	b.Run("raw", func(b *testing.B) {
		tracer := tp.Tracer("raw")
		b.ReportAllocs()
		for b.Loop() {
			rawV1(ctx, tracer)
		}
	})
	b.Run("ours", func(b *testing.B) {
		e := benchEngine(b, tp, vllm.WithGranularity(vllm.GranularityStages))
		b.ReportAllocs()
		for b.Loop() {
			oursV1(ctx, e)
		}
	})
}

func BenchmarkV1Events100(b *testing.B) { benchmarkEvents(b, 100) }

// Coalesced into 128 events; the baseline adds them all.
func BenchmarkV1Events20000(b *testing.B) { benchmarkEvents(b, 20_000, vllm.WithEventCoalescing()) }

func benchmarkEvents(b *testing.B, n int, opts ...vllm.OptionV1) {
	ctx := context.Background()
	tp := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(discard{}))
	b.Run("raw", func(b *testing.B) {
		tracer := tp.Tracer("raw")
		b.ReportAllocs()
		for b.Loop() {
			rawEvents(ctx, tracer, n)
		}
	})
	b.Run("ours", func(b *testing.B) {
		e := benchEngine(b, tp, append(opts, vllm.WithGranularity(vllm.GranularityEvents))...)
		b.ReportAllocs()
		for b.Loop() {
			oursEvents(ctx, e, n)
		}
	})
}

func BenchmarkSchedulerReport(b *testing.B) {
	ctx := context.Background()
	mp := sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewManualReader()))
	b.Run("raw", func(b *testing.B) {
		report := rawReport(b, mp.Meter("raw"))
		b.ReportAllocs()
		for b.Loop() {
			report(ctx)
		}
	})
	b.Run("ours", func(b *testing.B) {
		e, err := vllm.NewEngineV1(vllm.EngineConfig{Model: "qwen3-8b"}, vllm.WithTracerProvider(nooptrace.NewTracerProvider()), vllm.WithMeterProvider(mp))
		if err != nil {
			b.Fatal(err)
		}
		b.ReportAllocs()
		for b.Loop() {
			oursReport(ctx, e)
		}
	})
}

func oursReport(ctx context.Context, e *vllm.EngineV1) {
	_ = e.RecordScheduler(ctx, vllm.SchedulerStatsV1{Running: new(3), Waiting: new(1), KVCacheUsage: new(0.25),
		PrefixCacheQueries: new(48), PrefixCacheHits: new(16), Iterations: new(6)})
}

func rawReport(tb testing.TB, meter metric.Meter) func(context.Context) {
	check := func(err error) {
		if err != nil {
			tb.Fatal(err)
		}
	}
	running, err := meter.Int64Gauge("gen_ai_vllm_num_requests_running")
	check(err)
	waiting, err := meter.Int64Gauge("gen_ai_vllm_num_requests_waiting")
	check(err)
	usage, err := meter.Float64Gauge("gen_ai_vllm_kv_cache_usage_perc")
	check(err)
	queries, err := meter.Int64Counter("gen_ai_vllm_prefix_cache_queries")
	check(err)
	hits, err := meter.Int64Counter("gen_ai_vllm_prefix_cache_hits")
	check(err)
	iterations, err := meter.Int64Counter("vllm_iter_count")
	check(err)
	dims := func() metric.MeasurementOption {
		return metric.WithAttributes(attribute.String("callType", "gen_ai"), attribute.Int("rpcType", 2100),
			attribute.Int("engine_index", 0), attribute.String("model_name", "qwen3-8b"))
	}
	return func(ctx context.Context) {
		running.Record(ctx, 3, dims())
		waiting.Record(ctx, 1, dims())
		usage.Record(ctx, 0.25, dims())
		queries.Add(ctx, 48, dims())
		hits.Add(ctx, 16, dims())
		iterations.Add(ctx, 6, dims())
	}
}

// switchedOff are engines of which an iteration makes nothing.
func switchedOff(tb testing.TB) map[string]*vllm.RequestV1 {
	ctx := context.Background()
	sampled := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(discard{}))
	unsampled := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(discard{}), sdktrace.WithSampler(sdktrace.NeverSample()))
	mp := sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewManualReader()))
	events := vllm.WithGranularity(vllm.GranularityEvents)
	return map[string]*vllm.RequestV1{
		"nil":                   nil,
		"no SDK":                benchEngine(tb, nooptrace.NewTracerProvider(), events).StartRequest(ctx, benchRequest, at(0)),
		"unsampled":             benchEngine(tb, unsampled, events).StartRequest(ctx, benchRequest, at(0)),
		"unsampled and metrics": benchEngine(tb, unsampled, events, vllm.WithMeterProvider(mp)).StartRequest(ctx, benchRequest, at(0)),
		"granularity 0":         benchEngine(tb, sampled, vllm.WithGranularity(vllm.GranularityRequest)).StartRequest(ctx, benchRequest, at(0)),
		"granularity 1":         benchEngine(tb, sampled, vllm.WithGranularity(vllm.GranularityStages)).StartRequest(ctx, benchRequest, at(0)),
		"event limit 0":         benchEngine(tb, sampled, events, vllm.WithEventLimit(0)).StartRequest(ctx, benchRequest, at(0)),
	}
}

// What is switched off allocates nothing, however much is handed in.
func TestSwitchedOffAllocatesNothing(t *testing.T) {
	for name, r := range switchedOff(t) {
		if n := testing.AllocsPerRun(200, func() {
			r.Tokenized(time.Millisecond)
			r.Queued(at(1))
			r.Scheduled(at(2))
			r.Prefill(vllm.Iteration{At: at(3), TokenIDs: []int{1}, TokenTexts: []string{"a"}, TokenCount: new(1), LogProbs: []float64{1}})
			r.Decode(vllm.Iteration{At: at(4), TokenIDs: []int{1}, TokenTexts: []string{"a"}, TokenCount: new(1), LogProbs: []float64{1}})
			r.Preempted(at(5))
		}); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
		if r.Recording() {
			continue
		}
		if name != "unsampled and metrics" { // which measures stages
			if n := testing.AllocsPerRun(200, func() {
				r.StartWait(at(1)).End(at(2))
				r.StartPrefill(at(1)).End(at(2))
				r.StartDecode(at(1)).End(at(2))
				r.StartKVTransfer(at(1)).End(vllm.KVTransfer{}, at(2))
				r.Finish(vllm.OutcomeV1{At: at(3), FinishReason: vllm.FinishReasonStop})
			}); n != 0 {
				t.Errorf("%s: %v allocations of stages", name, n)
			}
		}
	}
}

// A report and a finished request's measurements allocate nothing.
func TestMetricsAllocateNothing(t *testing.T) {
	ctx := context.Background()
	mp := sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewManualReader()))
	e, err := vllm.NewEngineV1(vllm.EngineConfig{Model: "qwen3-8b"}, vllm.WithTracerProvider(nooptrace.NewTracerProvider()), vllm.WithMeterProvider(mp))
	if err != nil {
		t.Fatal(err)
	}
	call := vllm.CallRecord{Start: at(0), FirstToken: at(1), End: at(9), InputTokens: new(3), OutputTokens: new(4), FinishReason: vllm.FinishReasonStop}
	for name, f := range map[string]func(){
		"report": func() { oursReport(ctx, e) },
		"totals": func() {
			_ = e.RecordSchedulerFromTotals(ctx, vllm.SchedulerStatsV1{Running: new(3), PrefixCacheHits: new(16), Iterations: new(6)})
		},
		"call": func() { _ = e.RecordCall(ctx, call) },
	} {
		f()
		if n := testing.AllocsPerRun(200, f); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func BenchmarkSwitchedOff(b *testing.B) {
	for name, r := range switchedOff(b) {
		b.Run(name, func(b *testing.B) {
			it := vllm.Iteration{At: at(4), TokenIDs: tokenIDs, TokenTexts: tokenTexts, TokenCount: new(1), LogProbs: logProbs}
			b.ReportAllocs()
			for b.Loop() {
				r.Decode(it)
			}
		})
	}
}

// Starting and finishing what is not recorded, beside the SDK's own Start.
func BenchmarkUnsampledRequest(b *testing.B) {
	ctx := context.Background()
	for name, tp := range map[string]trace.TracerProvider{
		"no SDK":    nooptrace.NewTracerProvider(),
		"unsampled": sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(discard{}), sdktrace.WithSampler(sdktrace.NeverSample())),
	} {
		b.Run(name+"/raw", func(b *testing.B) {
			tracer := tp.Tracer("raw")
			b.ReportAllocs()
			for b.Loop() {
				_, s := tracer.Start(ctx, "llm_request", trace.WithTimestamp(at(0)))
				s.End(trace.WithTimestamp(at(126)))
			}
		})
		b.Run(name+"/ours", func(b *testing.B) {
			e := benchEngine(b, tp)
			b.ReportAllocs()
			for b.Loop() {
				oursV1(ctx, e)
			}
		})
	}
}
