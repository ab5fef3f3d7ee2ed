package conformance_test

import (
	"context"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"go.opentelemetry.io/otel/propagation"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/infertel/infertel-go/internal/sdktest"
	"github.com/infertel/infertel-go/semconv/conformance"
	"github.com/infertel/infertel-go/sglang"
	"github.com/infertel/infertel-go/vllm"
)

// bench records what the engines' packages make.
type bench struct {
	t      *testing.T
	spans  *tracetest.SpanRecorder
	traces *sdktrace.TracerProvider
	reader *sdkmetric.ManualReader
	meters *sdkmetric.MeterProvider
	rnd    *rand.Rand
	now    time.Time
	tally  *conformance.Tally
}

func newBench(t *testing.T, seed uint64, tally *conformance.Tally) *bench {
	b := &bench{t: t, tally: tally, spans: tracetest.NewSpanRecorder(), reader: sdkmetric.NewManualReader(), rnd: rand.New(rand.NewPCG(1, seed)), now: time.Unix(1_700_000_000, 0)}
	b.traces = sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(b.spans))
	b.meters = sdkmetric.NewMeterProvider(sdkmetric.WithReader(b.reader))
	return b
}

// next is a time after all before it.
func (b *bench) next() time.Time {
	b.now = b.now.Add(time.Duration(b.rnd.IntN(5_000_000)))
	return b.now
}

// chance is true once in n times.
func (b *bench) chance(n int) bool { return b.rnd.IntN(n) == 0 }

// conforms judges everything that was recorded.
func (b *bench) conforms(opts ...conformance.Option) {
	b.t.Helper()
	opts = append(opts, conformance.WithTally(b.tally))
	f := &fixture{t: b.t, opts: opts, spans: tracetest.SpanStubsFromReadOnlySpans(b.spans.Ended())}
	if err := b.reader.Collect(context.Background(), &f.metrics); err != nil {
		b.t.Fatal(err)
	}
	conformance.Assert(b.t, f.judge())
}

// TestQuietOnVLLM judges requests of every role, finished or aborted at any
// point, at every granularity.
func TestQuietOnVLLM(t *testing.T) {
	sdktest.HandleErrors(t) // events beyond the SDK's limit are said, and are no violation
	var tally conformance.Tally
	for seed := range uint64(200) {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			b := newBench(t, seed, &tally)
			granularity := vllm.Granularity(b.rnd.IntN(3))
			opts := []vllm.OptionV1{vllm.WithTracerProvider(b.traces), vllm.WithMeterProvider(b.meters), vllm.WithGranularity(granularity)}
			if b.chance(3) {
				opts = append(opts, vllm.WithEventCoalescing())
			}
			role := vllm.PDRole(b.rnd.IntN(3))
			e, err := vllm.NewEngineV1(vllm.EngineConfig{Model: "m", Index: 1, PDRole: role}, opts...)
			if err != nil {
				t.Fatal(err)
			}
			if err := e.RecordScheduler(t.Context(), vllm.SchedulerStatsV1{Running: new(1), Waiting: new(0), KVCacheUsage: new(0.5), PrefixCacheQueries: new(9), PrefixCacheHits: new(3), Iterations: new(2)}); err != nil {
				t.Fatal(err)
			}
			for range 3 {
				b.requestV1(e, role)
			}
			b.requestV0()
			b.conforms(conformance.WithGranularity(int(granularity)))
		})
	}
	if tally.SpansJudged < 2000 || tally.SpansJudged != tally.Spans || tally.MetricsJudged != tally.Metrics {
		t.Errorf("judged %+v", tally)
	}
}

func (b *bench) requestV1(e *vllm.EngineV1, role vllm.PDRole) {
	r := e.StartRequest(context.Background(), vllm.Request{ID: "r", PromptTokens: 9, MaxTokens: new(300), N: new(1), Temperature: new(0.5)}, b.next())
	reason := vllm.FinishReasonStop
	defer func() {
		o := vllm.OutcomeV1{At: b.next(), FinishReason: reason, CachedTokens: b.rnd.IntN(3) - 1}
		if reason == vllm.FinishReasonAbort && b.chance(2) {
			o.Err = context.Canceled
		}
		r.Finish(o)
	}()
	aborts := func() bool {
		if b.chance(8) {
			reason = vllm.FinishReasonAbort
		}
		return reason == vllm.FinishReasonAbort
	}
	if aborts() {
		return
	}
	r.Tokenized(time.Millisecond)
	r.Queued(b.next())
	if aborts() {
		return
	}
	if role == vllm.PDRoleConsumer || b.chance(4) {
		for range 1 + b.rnd.IntN(2) {
			kv := r.StartKVTransfer(b.next())
			kv.End(vllm.KVTransfer{CachedTokens: 4, Failed: b.chance(5)}, b.next())
		}
	}
	r.Scheduled(b.next())
	if aborts() {
		return
	}
	tokens := 1
	if role != vllm.PDRoleProducer {
		tokens += b.rnd.IntN(200)
	}
	for i := range tokens {
		it := vllm.Iteration{At: b.next(), TokenIDs: []int{i}, TokenCount: new(1)}
		switch {
		case i == 0 && role != vllm.PDRoleConsumer:
			r.Prefill(it)
		case b.chance(40):
			r.Preempted(b.next())
			it.At = b.next()
			r.Prefill(it)
		default:
			r.Decode(it)
		}
		if b.chance(400) && aborts() {
			return
		}
	}
}

func (b *bench) requestV0() {
	e, err := vllm.NewEngineV0("m", vllm.WithTracerProvider(b.traces), vllm.WithMeterProvider(b.meters))
	if err != nil {
		b.t.Fatal(err)
	}
	r := e.StartRequest(context.Background(), vllm.Request{ID: "r", PromptTokens: 9, TopP: new(1.0)}, b.next())
	switch b.rnd.IntN(3) {
	case 0:
		r.Finish(vllm.OutcomeV0{At: b.next(), FinishReason: vllm.FinishReasonAbort})
	default:
		r.Scheduled(b.next())
		r.FirstToken(b.next())
		r.Finish(vllm.OutcomeV0{At: b.next(), FinishReason: vllm.FinishReasonLength, CompletionTokens: 3, ModelForward: new(time.Millisecond)})
	}
}

// TestQuietOnSGLang judges requests of every role, on several threads, that end
// or are aborted at any point, at every trace level.
func TestQuietOnSGLang(t *testing.T) {
	var tally conformance.Tally
	for seed := range uint64(200) {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			b := newBench(t, seed, &tally)
			level := sglang.Level(b.rnd.IntN(5))
			role := []sglang.PDRole{sglang.PDRoleNone, sglang.PDRolePrefill, sglang.PDRoleDecode}[b.rnd.IntN(3)]
			opts := []sglang.Option{sglang.WithTracerProvider(b.traces), sglang.WithMeterProvider(b.meters), sglang.WithTraceLevel(level), sglang.WithHostID("host-one-two")}
			judged := []conformance.Option{conformance.WithTraceLevel(int(level))}
			if b.chance(4) {
				opts, judged = append(opts, sglang.WithNativeNames()), append(judged, conformance.WithNativeNames())
			}
			tr, err := sglang.NewEngine(sglang.EngineConfig{Model: "m", PDRole: role}, opts...)
			if err != nil {
				t.Fatal(err)
			}
			if err := tr.RecordScheduler(t.Context(), sglang.SchedulerStats{RunningReqs: 1, TokenUsage: 0.5, CacheHitRate: new(0.1)}); err != nil {
				t.Fatal(err)
			}
			for range 3 {
				b.requestSGLang(tr, role)
			}
			b.conforms(judged...)
		})
	}
	if tally.SpansJudged < 20_000 || tally.SpansJudged != tally.Spans || tally.MetricsJudged != tally.Metrics {
		t.Errorf("judged %+v", tally)
	}
}

func (b *bench) requestSGLang(tr *sglang.Engine, role sglang.PDRole) {
	r := tr.StartRequest(context.Background(), sglang.Request{RID: "0123456789abcdef", BootstrapRoom: new(uint64(77)), Embedding: b.chance(6)}, b.next())
	tok := r.StartThread(sglang.Thread{Label: sglang.MultiTokenizer(2), PID: 7}, b.next())
	start := b.next()
	tok.RecordStage(sglang.Tokenize, start, b.next())
	tok.StartStage(sglang.APIServerDispatch, b.next())
	carrier := propagation.MapCarrier{}
	tok.Handover().Inject(carrier)
	dispatched := b.next()
	tok.EndStage(sglang.APIServerDispatch, dispatched)
	tok.End(dispatched)
	r.Dispatched(dispatched)

	remote := tr.Resume(sglang.ExtractHandover(carrier))
	if b.chance(3) {
		dpc := remote.StartThread(sglang.Thread{Label: sglang.ThreadDPController, PID: 8}, b.next())
		dpc.StartStage(sglang.DPCDispatch, b.next())
		carrier = propagation.MapCarrier{}
		dpc.Handover().Inject(carrier)
		dpc.EndStage(sglang.DPCDispatch, b.next())
		dpc.End(b.now)
		remote = tr.Resume(sglang.ExtractHandover(carrier))
	}
	thread := remote.StartThread(sglang.Thread{Label: sglang.ThreadScheduler, PID: 9, TPRank: new(0), PPRank: new(1)}, b.next())
	completed := b.schedule(thread, role)
	r.FirstToken(b.next())
	if !completed {
		why := sglang.AbortReason{Type: new("abort"), Message: new("gone"), StatusCode: new(499)}
		thread.Abort(why, b.next())
		r.Abort(why, sglang.Outcome{}, b.next())
		return
	}
	thread.End(b.next())
	r.End(sglang.Outcome{FinishReasons: []string{"stop"}, PromptTokens: new(9), CompletionTokens: new(3), CachedTokens: new(0), Temperature: new(0.5)}, b.next())
}

// schedule makes the stages of a scheduler and reports whether all of them were.
func (b *bench) schedule(thread *sglang.ThreadSpan, role sglang.PDRole) bool {
	record := func(stages ...sglang.Stage) {
		for _, s := range stages {
			start := b.next()
			thread.RecordStage(s, start, b.next())
		}
	}
	switch role {
	case sglang.PDRoleNone:
		record(sglang.RequestProcess)
	case sglang.PDRolePrefill:
		record(sglang.PrefillPrepare, sglang.PrefillBootstrap)
	case sglang.PDRoleDecode:
		record(sglang.DecodePrepare, sglang.DecodeBootstrap, sglang.DecodeTransferred, sglang.FakeOutput)
	}
	ct := 0
	for range 1 + b.rnd.IntN(2) {
		if role != sglang.PDRoleDecode {
			record(sglang.PrefillWaiting)
			thread.StartStage(sglang.PrefillForward, b.next())
			thread.Schedule(sglang.Batch{ID: "b", Size: 2, Mode: sglang.ForwardModePrefill}, b.next())
			record(sglang.ChunkedPrefill, sglang.RunBatchCPU(0), sglang.ChunkedPrefill)
			if b.chance(6) {
				return false
			}
			thread.EndStage(sglang.PrefillForward, b.next())
			if b.chance(3) { // all of one stage is told within another that is told later
				start := b.next()
				record(sglang.RunBatchCPU(1))
				thread.RecordStage(sglang.PrefillForward, start, b.next())
			}
		}
		if role == sglang.PDRolePrefill {
			record(sglang.PrefillTransferKVCache)
			return true
		}
		record(sglang.DecodeWaiting)
		thread.Schedule(sglang.Batch{ID: "c", Size: 1}, b.next())
		thread.StartStage(sglang.DecodeForward, b.next())
		for range b.rnd.IntN(200) {
			start := b.next()
			thread.Schedule(sglang.Batch{ID: "d", Size: 3, Mode: sglang.ForwardModeDecode}, b.next())
			record(sglang.SpecDraft, sglang.SpecVerify(2), sglang.SpecDraftExtend)
			thread.RecordStage(sglang.DecodeLoop(ct), start, b.next())
			ct++
			if b.chance(400) {
				return false
			}
		}
		if role == sglang.PDRoleDecode {
			return true
		}
		thread.Retract(b.next())
	}
	return true
}
