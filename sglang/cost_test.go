package sglang_test

import (
	"context"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	metricnoop "go.opentelemetry.io/otel/metric/noop"
	tracenoop "go.opentelemetry.io/otel/trace/noop"

	"github.com/infertel/infertel-go/sglang"
)

// silent are requests of which nothing is recorded, for every reason there is,
// and a thread of which some things are not.
func silent(t testing.TB) map[string]*sglang.RequestSpan {
	t.Helper()
	sampled := sdktrace.NewTracerProvider()
	start := func(ctx context.Context, p trace.TracerProvider, level sglang.Level) *sglang.RequestSpan {
		tr, err := sglang.NewEngine(sglang.EngineConfig{}, sglang.WithTracerProvider(p), sglang.WithMeterProvider(metricnoop.NewMeterProvider()), sglang.WithTraceLevel(level))
		if err != nil {
			t.Fatal(err)
		}
		return tr.StartRequest(ctx, sglang.Request{RID: "5f2c9a7be1d34c0f"}, t0)
	}
	ctx := context.Background()
	unsampled := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{1}})
	ended := start(ctx, sampled, 0)
	ended.End(counted, t0)
	return map[string]*sglang.RequestSpan{
		"nil":       nil,
		"no SDK":    start(ctx, tracenoop.NewTracerProvider(), 4),
		"unsampled": start(trace.ContextWithSpanContext(ctx, unsampled), sampled, 4),
		"level 0":   start(ctx, sampled, sglang.LevelOff),
		"ended":     ended,
	}
}

func TestNothingIsAllocatedWhereNothingIsRecorded(t *testing.T) {
	ctx := context.Background()
	batch := sglang.Batch{ID: "b", Size: 1, Mode: sglang.ForwardModeDecode}
	reason := sglang.AbortReason{Type: new("abort"), Message: new("gone")}
	rank := 0
	for name, r := range silent(t) {
		th := r.StartThread(sglang.Thread{Label: sglang.ThreadScheduler}, t0)
		for call, f := range map[string]func(){
			"StartThread": func() { r.StartThread(sglang.Thread{Label: sglang.ThreadScheduler, TPRank: &rank}, t0) },
			"StartStage":  func() { th.StartStage(sglang.PrefillForward, t0) },
			"EndStage":    func() { th.EndStage(sglang.SpecVerify(3), t0) },
			"RecordStage": func() { th.RecordStage(sglang.DecodeLoop(7), t0, t0) },
			"Retract":     func() { th.Retract(t0) },
			"Schedule":    func() { th.Schedule(batch, t0) },
			"Handover":    func() { th.Handover() },
			"End":         func() { th.End(t0) },
			"Abort":       func() { th.Abort(reason, t0) },
			"Dispatched":  func() { r.Dispatched(t0) },
			"FirstToken":  func() { r.FirstToken(t0) },
			"Output":      func() { r.Output(t0) },
			"Recording":   func() { r.Recording() },
		} {
			if n := testing.AllocsPerRun(100, f); n != 0 {
				t.Errorf("%s, %s: %v allocations", name, call, n)
			}
		}
	}
	// Below its level a call costs nothing on a request that is recorded either.
	l := newLab(t, sglang.EngineConfig{}, sglang.WithTraceLevel(1))
	r, th := l.request()
	for call, f := range map[string]func(){
		"StartStage":  func() { th.StartStage(sglang.ChunkedPrefill, t0) },
		"EndStage":    func() { th.EndStage(sglang.ChunkedPrefill, t0) },
		"RecordStage": func() { th.RecordStage(sglang.DecodeLoop(7), t0, t0) },
		"Schedule":    func() { th.Schedule(batch, t0) },
	} {
		if n := testing.AllocsPerRun(100, f); n != 0 {
			t.Errorf("below its level, %s: %v allocations", call, n)
		}
	}
	finish(r, th)
	// The metrics have their dimensions ready.
	rate := 0.5
	stats := sglang.SchedulerStats{RunningReqs: 1, CacheHitRate: &rate, SpecAcceptLength: &rate}
	r = l.StartRequest(ctx, sglang.Request{}, t0)
	for call, f := range map[string]func(){
		"RecordScheduler": func() { _ = l.RecordScheduler(ctx, stats) },
		"Output":          func() { r.Output(t0) },
	} {
		if n := testing.AllocsPerRun(100, f); n != 0 {
			t.Errorf("%s: %v allocations", call, n)
		}
	}
}

// A stage costs no more allocations than the SDK's span, and of what the
// timeline holds nothing is allocated anew once it is warm.
func TestStageAllocations(t *testing.T) {
	provider := sdktrace.NewTracerProvider(sdktrace.WithSampler(sdktrace.AlwaysSample()))
	tr, err := sglang.NewEngine(sglang.EngineConfig{}, sglang.WithTracerProvider(provider), sglang.WithMeterProvider(sdkmetric.NewMeterProvider()))
	if err != nil {
		t.Fatal(err)
	}
	r := tr.StartRequest(context.Background(), sglang.Request{RID: "r"}, t0)
	th := r.StartThread(sglang.Thread{Label: sglang.ThreadScheduler}, t0)
	th.StartStage(sglang.DecodeForward, t0)
	i := 0
	ours := func() {
		th.RecordStage(sglang.DecodeLoop(i), ms(float64(i)), ms(float64(i+1)))
		i++
	}
	for range 300 {
		ours()
	}
	raw := rawDecodeLoop(provider.Tracer("raw"))
	a, b := testing.AllocsPerRun(200, ours), testing.AllocsPerRun(200, func() { raw(i); i++ })
	if a > b {
		t.Errorf("%v allocations for a stage, %v for a span by hand", a, b)
	}
}

// rawDecodeLoop makes one decode_loop span with the SDK alone.
func rawDecodeLoop(tr trace.Tracer) func(i int) {
	ctx, _ := tr.Start(context.Background(), "decode_forward", trace.WithTimestamp(t0))
	return func(i int) {
		_, s := tr.Start(ctx, "decode_loop", trace.WithTimestamp(ms(float64(i))))
		s.SetAttributes(attribute.Int("decode_ct", i))
		s.End(trace.WithTimestamp(ms(float64(i + 1))))
	}
}

func level3(t testing.TB, p trace.TracerProvider, m metric.MeterProvider) *sglang.Engine {
	t.Helper()
	tr, err := sglang.NewEngine(sglang.EngineConfig{Model: "m"}, sglang.WithTracerProvider(p), sglang.WithMeterProvider(m), sglang.WithTraceLevel(3))
	if err != nil {
		t.Fatal(err)
	}
	return tr
}
