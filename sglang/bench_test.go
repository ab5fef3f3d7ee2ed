package sglang_test

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	metricnoop "go.opentelemetry.io/otel/metric/noop"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/infertel/infertel-go/sglang"
)

// The benchmarks compare with raw SDK calls that make the same telemetry. The
// spans end in a processor that drops them, so that only their making counts.

const (
	benchRID   = "5f2c9a7be1d34c0f8a6b7c8d9e0f1a2b"
	benchHost  = "9f86d081884c7d659a2feaa0c55ad015"
	benchLoops = 200
	benchRanks = 2
)

func us(n int) time.Time { return t0.Add(time.Duration(n) * time.Microsecond) }

// oursRequest makes a request at level 3 with TP 2 and 200 decode iterations.
func oursRequest(ctx context.Context, tr *sglang.Engine) {
	r := tr.StartRequest(ctx, sglang.Request{RID: benchRID}, us(0))
	tok := r.StartThread(sglang.Thread{Label: sglang.ThreadTokenizer, HostID: benchHost, PID: 1}, us(0))
	tok.RecordStage(sglang.Tokenize, us(0), us(30))
	tok.StartStage(sglang.APIServerDispatch, us(30))
	h := tok.Handover()
	tok.EndStage(sglang.APIServerDispatch, us(40))
	tok.End(us(40))
	r.Dispatched(us(40))
	var threads [benchRanks]*sglang.ThreadSpan
	for rank := range threads {
		threads[rank] = r.StartThread(sglang.Thread{Label: sglang.ThreadScheduler, HostID: benchHost, PID: 100 + rank, TPRank: &rank, From: h}, us(40))
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
	for i := range benchLoops {
		at := us(100 + 10*i)
		for _, th := range threads {
			th.Schedule(sglang.Batch{ID: "b", Size: 8, Mode: sglang.ForwardModeDecode}, at)
			th.RecordStage(sglang.DecodeLoop(i), at, at.Add(10*time.Microsecond))
		}
	}
	end := us(100 + 10*benchLoops)
	for _, th := range threads {
		th.End(end)
	}
	r.End(sglang.Outcome{FinishReasons: []string{"length"}, PromptTokens: new(48), CompletionTokens: new(benchLoops), MaxTokens: new(benchLoops), CachedTokens: new(0)}, end)
}

func start(tr trace.Tracer, ctx context.Context, name string, at time.Time, links ...trace.Link) (context.Context, trace.Span) {
	if len(links) > 0 {
		return tr.Start(ctx, name, trace.WithTimestamp(at), trace.WithLinks(links...))
	}
	return tr.Start(ctx, name, trace.WithTimestamp(at))
}

func link(s trace.Span) trace.Link { return trace.Link{SpanContext: s.SpanContext()} }

// rawRequest makes the same spans, events and links with the SDK alone.
func rawRequest(ctx context.Context, tr trace.Tracer) {
	rctx, r := start(tr, ctx, "Req "+benchRID[:8], us(0))
	r.SetAttributes(attribute.String("rid", benchRID), attribute.String("module", "sglang::request"))
	tctx, tok := start(tr, rctx, "Tokenizer (host:"+benchHost[:8]+" | pid:1)", us(0))
	tok.SetAttributes(attribute.String("host_id", benchHost), attribute.Int("pid", 1), attribute.String("thread_label", "Tokenizer"))
	_, tokenize := start(tr, tctx, "tokenize", us(0))
	tokenize.End(trace.WithTimestamp(us(30)))
	_, dispatch := start(tr, tctx, "api_server_dispatch", us(30), link(tokenize))
	dispatch.End(trace.WithTimestamp(us(40)))
	tok.End(trace.WithTimestamp(us(40)))
	type thread struct {
		ctx           context.Context
		span, forward trace.Span
	}
	var threads [benchRanks]thread
	for rank := range threads {
		pid := 100 + rank
		sctx, s := start(tr, rctx, "Scheduler [TP "+strconv.Itoa(rank)+"] (host:"+benchHost[:8]+" | pid:"+strconv.Itoa(pid)+")", us(40))
		s.SetAttributes(attribute.String("host_id", benchHost), attribute.Int("pid", pid), attribute.String("thread_label", "Scheduler"), attribute.Int("tp_rank", rank))
		_, process := start(tr, sctx, "request_process", us(40), link(dispatch))
		process.End(trace.WithTimestamp(us(42)))
		_, waiting := start(tr, sctx, "prefill_waiting", us(42), link(process))
		waiting.End(trace.WithTimestamp(us(50)))
		pctx, prefill := start(tr, sctx, "prefill_forward", us(50), link(waiting))
		_, chunk := start(tr, pctx, "chunked_prefill", us(50))
		chunk.End(trace.WithTimestamp(us(90)))
		prefill.End(trace.WithTimestamp(us(90)))
		_, decodeWaiting := start(tr, sctx, "decode_waiting", us(90), link(prefill))
		decodeWaiting.End(trace.WithTimestamp(us(91)))
		dctx, forward := start(tr, sctx, "decode_forward", us(91), link(decodeWaiting))
		threads[rank] = thread{dctx, s, forward}
	}
	for i := range benchLoops {
		at := us(100 + 10*i)
		for _, th := range threads {
			_, loop := start(tr, th.ctx, "decode_loop", at)
			loop.SetAttributes(attribute.Int("decode_ct", i))
			loop.AddEvent("schedule", trace.WithTimestamp(at), trace.WithAttributes(
				attribute.String("bid", "b"), attribute.Int("batch_size", 8), attribute.String("forward_mode", "decode")))
			loop.End(trace.WithTimestamp(at.Add(10 * time.Microsecond)))
		}
	}
	end := us(100 + 10*benchLoops)
	for _, th := range threads {
		th.forward.End(trace.WithTimestamp(end))
		th.span.End(trace.WithTimestamp(end))
	}
	seconds := func(from, to int) float64 { return us(to).Sub(us(from)).Seconds() }
	last := 100 + 10*benchLoops
	r.SetAttributes(
		attribute.String("gen_ai.request.id", benchRID), attribute.String("gen_ai.response.model", "m"),
		attribute.String("gen_ai.response.finish_reasons", `["length"]`),
		attribute.Int("gen_ai.usage.prompt_tokens", 48), attribute.Int("gen_ai.usage.completion_tokens", benchLoops),
		attribute.Int("gen_ai.usage.cached_tokens", 0), attribute.Int("gen_ai.request.max_tokens", benchLoops),
		attribute.Float64("gen_ai.latency.e2e", seconds(0, last)),
		attribute.Float64("gen_ai.latency.time_to_first_token", seconds(0, 95)),
		attribute.Float64("gen_ai.latency.time_in_model_prefill", seconds(40, 95)),
		attribute.Float64("gen_ai.latency.time_in_model_decode", seconds(95, last)),
		attribute.Float64("gen_ai.latency.time_in_model_inference", seconds(40, last)))
	r.End(trace.WithTimestamp(end))
}

// rawDecodeLoop makes one decode_loop span with the SDK alone.
func rawDecodeLoop(tr trace.Tracer) func(i int) {
	ctx, _ := start(tr, context.Background(), "decode_forward", t0)
	return func(i int) {
		_, s := start(tr, ctx, "decode_loop", ms(float64(i)))
		s.SetAttributes(attribute.Int("decode_ct", i))
		s.End(trace.WithTimestamp(ms(float64(i + 1))))
	}
}

// What is compared is the same: each span with its name, parent, times,
// attributes, events and links.
func TestBaselineMakesTheSameSpans(t *testing.T) {
	lines := func(emit func(trace.TracerProvider)) []string {
		exporter := tracetest.NewInMemoryExporter()
		emit(sdktrace.NewTracerProvider(sdktrace.WithSyncer(exporter)))
		spans := exporter.GetSpans()
		// With their full attributes, those of requests and threads too.
		var out []string
		for _, s := range spans {
			if _, err := sglang.ParseStage(s.Name); err != nil {
				out = append(out, s.Name+attributes(s.Attributes)+s.SpanKind.String())
			}
		}
		out = append(out, strings.Split(show(spans), "\n")...)
		slices.Sort(out)
		return out
	}
	ours := lines(func(p trace.TracerProvider) {
		oursRequest(t.Context(), benchTracer(t, p, metricnoop.NewMeterProvider()))
	})
	raw := lines(func(p trace.TracerProvider) { rawRequest(t.Context(), p.Tracer("raw")) })
	if !slices.Equal(ours, raw) {
		t.Errorf("ours:\n%s\nraw:\n%s", strings.Join(ours, "\n"), strings.Join(raw, "\n"))
	}
	if n := len(ours); n != 4+4+2+2*(6+benchLoops) {
		t.Errorf("%d lines", n)
	}
}

func benchTracer(t testing.TB, p trace.TracerProvider, m metric.MeterProvider) *sglang.Engine {
	t.Helper()
	tr, err := sglang.NewEngine(sglang.EngineConfig{Model: "m"}, sglang.WithTracerProvider(p), sglang.WithMeterProvider(m), sglang.WithTraceLevel(3))
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// dropping is a processor that drops every span.
type dropping struct{}

func (dropping) OnStart(context.Context, sdktrace.ReadWriteSpan) {}
func (dropping) OnEnd(sdktrace.ReadOnlySpan)                     {}
func (dropping) Shutdown(context.Context) error                  { return nil }
func (dropping) ForceFlush(context.Context) error                { return nil }

func BenchmarkRequest(b *testing.B) {
	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(dropping{}))
	ctx := context.Background()
	b.Run("raw", func(b *testing.B) {
		tr := provider.Tracer("raw")
		b.ReportAllocs()
		for b.Loop() {
			rawRequest(ctx, tr)
		}
	})
	b.Run("ours", func(b *testing.B) {
		tr := benchTracer(b, provider, metricnoop.NewMeterProvider())
		b.ReportAllocs()
		for b.Loop() {
			oursRequest(ctx, tr)
		}
	})
}

func BenchmarkSchedulerReport(b *testing.B) {
	ctx := context.Background()
	b.Run("raw", func(b *testing.B) {
		m := sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewManualReader())).Meter("raw")
		var counts [4]metric.Int64Counter
		var numbers [4]metric.Float64Counter
		for i := range counts {
			counts[i], _ = m.Int64Counter("count" + strconv.Itoa(i))
			numbers[i], _ = m.Float64Counter("number" + strconv.Itoa(i))
		}
		dimensions := func() metric.MeasurementOption {
			return metric.WithAttributes(attribute.String("callType", "gen_ai"), attribute.String("callKind", "custom_entry"), attribute.Int("rpcType", 2100))
		}
		b.ReportAllocs()
		for b.Loop() {
			for i := range counts {
				counts[i].Add(ctx, 1, dimensions())
				numbers[i].Add(ctx, 0.5, dimensions())
			}
		}
	})
	b.Run("ours", func(b *testing.B) {
		tr := benchTracer(b, sdktrace.NewTracerProvider(), sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewManualReader())))
		rate := 0.5
		stats := sglang.SchedulerStats{RunningReqs: 1, QueueReqs: 1, UsedTokens: 1, TokenUsage: 0.5, GenThroughput: 0.5, CacheHitRate: &rate, SpecAcceptLength: &rate}
		b.ReportAllocs()
		for b.Loop() {
			if err := tr.RecordScheduler(ctx, stats); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkSwitchedOff(b *testing.B) {
	l := newLab(b, sglang.EngineConfig{}, sglang.WithTraceLevel(1))
	_, th := l.request()
	b.Run("below its level", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			th.RecordStage(sglang.DecodeLoop(i), t0, t0)
		}
	})
	for name, r := range silent(b) {
		th := r.StartThread(sglang.Thread{Label: sglang.ThreadScheduler}, t0)
		b.Run(name+" RecordStage", func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				th.RecordStage(sglang.DecodeLoop(i), t0, t0)
			}
		})
		b.Run(name+" Output", func(b *testing.B) {
			for b.Loop() {
				r.Output(t0)
			}
		})
		b.Run(name+" Handover", func(b *testing.B) {
			for b.Loop() {
				th.Handover()
			}
		})
	}
}
