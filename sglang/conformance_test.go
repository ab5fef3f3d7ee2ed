package sglang_test

import (
	"context"
	"slices"
	"testing"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/infertel/infertel-go/semconv"
	"github.com/infertel/infertel-go/semconv/conformance"
	"github.com/infertel/infertel-go/sglang"
)

// every makes a request with every stage that a node with the role has, each
// where it is documented, and aborts one thread.
func every(t *testing.T, tr *sglang.Engine, role sglang.PDRole) {
	t.Helper()
	r := tr.StartRequest(t.Context(), sglang.Request{RID: "5f2c9a7b", BootstrapRoom: new(uint64(7))}, ms(0))
	tok := r.StartThread(sglang.Thread{Label: sglang.MultiTokenizer(1)}, ms(0))
	tok.RecordStage(sglang.Tokenize, ms(0), ms(1))
	tok.StartStage(sglang.APIServerDispatch, ms(1))
	dpc := r.StartThread(sglang.Thread{Label: sglang.ThreadDPController, From: tok.Handover()}, ms(2))
	tok.EndStage(sglang.APIServerDispatch, ms(2))
	tok.End(ms(2))
	r.Dispatched(ms(2))
	dpc.RecordStage(sglang.DPCDispatch, ms(2), ms(3))
	dpc.End(ms(3))
	h := dpc.Handover()
	for rank := range 2 {
		th := r.StartThread(sglang.Thread{Label: sglang.ThreadScheduler, TPRank: &rank, PPRank: new(0), DPRank: new(1), From: h}, ms(3))
		at := 4.0
		first := []sglang.Stage{sglang.RequestProcess, sglang.PrefillWaiting}
		switch role {
		case sglang.PDRolePrefill:
			first = []sglang.Stage{sglang.PrefillPrepare, sglang.PrefillBootstrap, sglang.PrefillWaiting}
		case sglang.PDRoleDecode:
			first = []sglang.Stage{sglang.DecodePrepare, sglang.DecodeBootstrap, sglang.DecodeTransferred, sglang.FakeOutput}
		}
		for _, s := range first {
			th.RecordStage(s, ms(at), ms(at+1))
			at++
		}
		th.RecordStage(sglang.RunBatchCPU(rank), ms(at), ms(at+1))
		if role != sglang.PDRoleDecode {
			th.StartStage(sglang.PrefillForward, ms(20))
			th.Schedule(batch("b1"), ms(20))
			th.RecordStage(sglang.ChunkedPrefill, ms(20), ms(30))
			th.EndStage(sglang.PrefillForward, ms(30))
		}
		if role == sglang.PDRolePrefill {
			th.RecordStage(sglang.PrefillTransferKVCache, ms(31), ms(35))
			th.End(ms(36))
			continue
		}
		th.RecordStage(sglang.DecodeWaiting, ms(31), ms(35))
		th.StartStage(sglang.DecodeForward, ms(35))
		for i := range 3 {
			at := 40 + 10*float64(i)
			th.RecordStage(sglang.SpecDraft, ms(at), ms(at+2))
			th.RecordStage(sglang.SpecVerify(2), ms(at+2), ms(at+4))
			th.RecordStage(sglang.SpecDraftExtend, ms(at+4), ms(at+6))
			th.RecordStage(sglang.DecodeLoop(i), ms(at), ms(at+10))
			th.Schedule(batch("b2"), ms(at+7))
		}
		th.Retract(ms(75))
		th.End(ms(80))
	}
	r.FirstToken(ms(50))
	r.Output(ms(60))
	r.End(sglang.Outcome{FinishReasons: []string{"length"}, PromptTokens: new(3), CompletionTokens: new(3), CachedTokens: new(0)}, ms(90))

	aborted := tr.StartRequest(t.Context(), sglang.Request{RID: "5f2c9a7c", BootstrapRoom: new(uint64(8))}, ms(0))
	th := aborted.StartThread(sglang.Thread{Label: sglang.ThreadScheduler, TPRank: new(0)}, ms(1))
	th.RecordStage(sglang.PrefillWaiting, ms(1), ms(2))
	aborted.Abort(sglang.AbortReason{Type: new("abort"), Message: new("gone"), StatusCode: new(499), ErrType: new("Gone"), Reason: new("r")}, sglang.Outcome{}, ms(3))
}

func TestConformance(t *testing.T) {
	seen := map[string]bool{}
	for _, role := range []sglang.PDRole{sglang.PDRoleNone, sglang.PDRolePrefill, sglang.PDRoleDecode} {
		for level := sglang.Level(1); level <= 4; level++ {
			for _, native := range []bool{false, true} {
				opts := []sglang.Option{sglang.WithTraceLevel(level)}
				check := []conformance.Option{conformance.WithTraceLevel(int(level))}
				if native {
					opts = append(opts, sglang.WithNativeNames())
					check = append(check, conformance.WithNativeNames())
				}
				l := newLab(t, sglang.EngineConfig{Model: "m", PDRole: role}, opts...)
				every(t, l.Engine, role)
				l.reported()
				spans := l.spans.GetSpans()
				for _, s := range spans {
					seen[s.Name] = true
				}
				conformance.Assert(t, conformance.CheckSpans(spans.Snapshots(), check...))
				_ = l.RecordScheduler(t.Context(), sglang.SchedulerStats{CacheHitRate: new(0.5), SpecAcceptLength: new(2.0)})
				var rm metricdata.ResourceMetrics
				if err := l.reader.Collect(context.Background(), &rm); err != nil {
					t.Fatal(err)
				}
				conformance.Assert(t, conformance.CheckMetrics(&rm))
			}
		}
	}
	for _, d := range semconv.Stages() {
		if !seen[d.Name] {
			t.Errorf("stage %s was not judged", d.Name)
		}
	}
}

// Threads that end hand their memory to others: many at once keep apart.
func TestShelvesAreNotMixedUp(t *testing.T) {
	exporter := tracetest.NewInMemoryExporter()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(exporter))
	tr := level3(t, provider, sdkmetric.NewMeterProvider())
	var want string
	for range 20 {
		a, b := tr.StartRequest(t.Context(), sglang.Request{RID: "a"}, t0), tr.StartRequest(t.Context(), sglang.Request{RID: "b"}, t0)
		x := a.StartThread(sglang.Thread{Label: sglang.ThreadScheduler, HostID: "h", PID: 1}, t0)
		y := b.StartThread(sglang.Thread{Label: sglang.ThreadScheduler, HostID: "h", PID: 2}, t0)
		for i := range 150 {
			x.Schedule(batch("x"), ms(float64(i)))
			x.RecordStage(sglang.DecodeLoop(i), ms(float64(i)), ms(float64(i+1)))
			y.Retract(ms(float64(i) + 0.5))
			y.RecordStage(sglang.PrefillForward, ms(float64(i)), ms(float64(i+1)))
		}
		for _, th := range []*sglang.ThreadSpan{x, y} {
			th.End(ms(200))
		}
		a.Abort(sglang.AbortReason{}, sglang.Outcome{}, ms(200))
		b.Abort(sglang.AbortReason{}, sglang.Outcome{}, ms(200))
		spans := exporter.GetSpans()
		slices.SortStableFunc(spans, func(a, b tracetest.SpanStub) int { return len(a.Name) - len(b.Name) })
		got := show(spans)
		exporter.Reset()
		if want == "" {
			want = got
		}
		if got != want || len(spans) != 304 {
			t.Fatalf("%d spans:\n%s\nwant\n%s", len(spans), got, want)
		}
	}
}
