package vllm_test

import (
	"context"
	"testing"
	"time"

	noopmetric "go.opentelemetry.io/otel/metric/noop"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	nooptrace "go.opentelemetry.io/otel/trace/noop"

	"github.com/infertel/infertel-go/vllm"
)

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

var benchRequest = vllm.Request{ID: "req-a", Temperature: new(0.7), TopP: new(0.9), MaxTokens: new(6), N: new(1), PromptTokens: 48}

func oursReport(ctx context.Context, e *vllm.EngineV1) {
	_ = e.RecordScheduler(ctx, vllm.SchedulerStatsV1{Running: new(3), Waiting: new(1), KVCacheUsage: new(0.25),
		PrefixCacheQueries: new(48), PrefixCacheHits: new(16), Iterations: new(6)})
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
