package vllm_test

import (
	"context"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/infertel/infertel-go/vllm"
)

// Iterations told late: the earliest is the first token, the latest the last.
func TestToldOutOfOrder(t *testing.T) {
	b := newBed(t)
	req := b.v1(vllm.EngineConfig{}, vllm.WithGranularity(vllm.GranularityEvents)).StartRequest(context.Background(), vllm.Request{ID: "r"}, at(0))
	req.Decode(vllm.Iteration{At: at(9)})
	req.Prefill(vllm.Iteration{At: at(8)})
	req.Scheduled(at(5))
	req.Scheduled(at(3))
	req.Scheduled(at(7)) // changes nothing: the earliest counts
	req.Queued(at(2))
	req.Queued(at(1))
	req.Queued(at(4))
	req.Finish(vllm.OutcomeV1{At: at(10), FinishReason: vllm.FinishReasonStop, CompletionTokens: new(2)})
	spans := b.spans()
	for i, want := range []struct {
		name       string
		start, end float64
	}{{"wait", 1, 3}, {"prefill", 3, 8}, {"decode", 8, 9}, {"llm_request", 0, 10}} {
		if s := spans[i]; s.name != want.name || s.start != at(want.start).Sub(t0) || s.end != at(want.end).Sub(t0) {
			t.Errorf("span %+v, want %+v", s, want)
		}
	}
	has(t, spans[3].attrs, map[string]any{"gen_ai.latency.time_to_first_token": 8 * ms, "gen_ai.latency.time_in_queue": 2 * ms,
		"gen_ai.latency.time_in_model_prefill": 5 * ms, "gen_ai.latency.time_in_model_decode": 1 * ms})
	if got := shape(spans[3].events); !slices.Equal(got, []string{"WAIT@1", "PREFILL@8", "DECODE@9"}) {
		t.Errorf("events %v", got)
	}
	b.noReports()

	v0 := b.v0().StartRequest(context.Background(), vllm.Request{ID: "r"}, at(0))
	for _, ms := range []float64{6, 5, 7} {
		v0.Scheduled(at(ms))
		v0.FirstToken(at(ms + 1))
	}
	v0.FirstToken(time.Time{})
	v0.Finish(vllm.OutcomeV0{At: at(10), FinishReason: vllm.FinishReasonStop})
	has(t, b.request().attrs, map[string]any{"gen_ai.latency.time_in_queue": 0.005, "gen_ai.latency.time_to_first_token": 0.006})
}

// What happens at the same time is shown in one order, however it was told.
func TestEventsAtTheSameTime(t *testing.T) {
	steps := []func(*vllm.RequestV1){
		func(r *vllm.RequestV1) { r.Queued(at(5)) },
		func(r *vllm.RequestV1) { r.Prefill(vllm.Iteration{At: at(5)}) },
		func(r *vllm.RequestV1) { r.Decode(vllm.Iteration{At: at(5)}) },
		func(r *vllm.RequestV1) { r.Preempted(at(5)) },
		func(r *vllm.RequestV1) { r.Preempted(at(5)) },
		func(r *vllm.RequestV1) { r.Scheduled(at(5)) },
	}
	want := []string{"WAIT@5", "PREFILL@5", "DECODE@5", "PREEMPTED@5", "WAIT@5", "PREEMPTED@5", "WAIT@5"}
	rnd := rand.New(rand.NewPCG(1, 1))
	b := newBed(t)
	e := b.v1(vllm.EngineConfig{}, vllm.WithGranularity(vllm.GranularityEvents))
	for range 50 {
		req := e.StartRequest(context.Background(), vllm.Request{ID: "r"}, at(0))
		rnd.Shuffle(len(steps), func(i, j int) { steps[i], steps[j] = steps[j], steps[i] })
		for _, step := range steps {
			step(req)
		}
		req.Finish(vllm.OutcomeV1{At: at(9), FinishReason: vllm.FinishReasonStop})
		if got := shape(b.request().events); !slices.Equal(got, want) {
			t.Fatalf("events %v, want %v", got, want)
		}
	}
	e.RecordRequest(context.Background(), vllm.RequestRecordV1{Arrival: at(0), Queued: at(5), Scheduled: at(5), PreemptedAt: []time.Time{at(5), at(5)},
		Iterations: []vllm.IterationRecord{{Iteration: vllm.Iteration{At: at(5)}}, {Iteration: vllm.Iteration{At: at(5)}, Prefill: true}}, Outcome: vllm.OutcomeV1{At: at(9), FinishReason: vllm.FinishReasonStop}})
	if got := shape(b.request().events); !slices.Equal(got, want) {
		t.Errorf("recorded events %v, want %v", got, want)
	}
}

// A long record whose iterations are mixed up loses no event to its order, and the
// caller's slices stay as they are.
func TestLongRecordOutOfOrder(t *testing.T) {
	b := newBed(t, sdktrace.WithRawSpanLimits(limitedTo(-1)))
	e := b.v1(vllm.EngineConfig{}, vllm.WithGranularity(vllm.GranularityEvents), vllm.WithEventLimit(-1))
	rec := vllm.RequestRecordV1{Arrival: at(0), Queued: at(0), Scheduled: at(0), Outcome: vllm.OutcomeV1{At: at(2000), FinishReason: vllm.FinishReasonStop}}
	for i := range 1000 {
		rec.Iterations = append(rec.Iterations, vllm.IterationRecord{Iteration: vllm.Iteration{At: at(float64(i + 1))}, Prefill: i == 0})
		rec.PreemptedAt = append(rec.PreemptedAt, at(float64(i)+1.5))
	}
	e.RecordRequest(context.Background(), rec)
	want := b.request()
	rand.New(rand.NewPCG(1, 1)).Shuffle(1000, func(i, j int) {
		rec.Iterations[i], rec.Iterations[j] = rec.Iterations[j], rec.Iterations[i]
		rec.PreemptedAt[i], rec.PreemptedAt[j] = rec.PreemptedAt[j], rec.PreemptedAt[i]
	})
	iterations, preempted := slices.Clone(rec.Iterations), slices.Clone(rec.PreemptedAt)
	e.RecordRequest(context.Background(), rec)
	if got := b.request(); !reflect.DeepEqual(got, want) {
		t.Errorf("%v\nwant %v", got, want)
	}
	if !reflect.DeepEqual(rec.Iterations, iterations) || !reflect.DeepEqual(rec.PreemptedAt, preempted) {
		t.Error("the record was changed")
	}
}

// The WAIT of a request whose log went to the span already is not told twice.
func TestQueuedAgainAfterLongTime(t *testing.T) {
	b := newBed(t)
	req := b.v1(vllm.EngineConfig{}, vllm.WithGranularity(vllm.GranularityEvents), vllm.WithEventLimit(-1)).StartRequest(context.Background(), vllm.Request{ID: "r"}, at(0))
	req.Queued(at(0.5))
	for i := range 126 {
		req.Decode(vllm.Iteration{At: at(float64(i + 1))})
	}
	req.Queued(at(0.25))
	for i := range 1000 {
		req.Decode(vllm.Iteration{At: at(float64(i + 127))})
	}
	req.Queued(at(0.125))
	req.Finish(vllm.OutcomeV1{At: at(2000), FinishReason: vllm.FinishReasonAbort})
	r := b.request()
	if n := r.dropped + len(r.events); n != 1127 {
		t.Errorf("%d events", n)
	}
}

// Two ends that both have a monotonic reading are measured by it, also
// where the arrival or another point has none.
func TestMixedClocks(t *testing.T) {
	now := time.Now()
	wall := now.Round(0)
	after := func(ms int) time.Duration { return time.Duration(ms) * time.Millisecond }
	// These were taken after the wall clock had been set back by a second.
	late := func(ms int) time.Time { return setBack(now.Add(after(ms))) }
	b := newBed(t)
	e := b.v1(vllm.EngineConfig{})

	req := e.StartRequest(context.Background(), vllm.Request{ID: "r"}, wall) // no reading
	req.Queued(now.Add(after(10)))
	req.Scheduled(late(30))
	req.Prefill(vllm.Iteration{At: late(70)})
	req.Decode(vllm.Iteration{At: now.Add(after(150))}) // before the clock was set back
	req.Finish(vllm.OutcomeV1{At: wall.Add(after(200)), FinishReason: vllm.FinishReasonStop})
	spans := b.spans()
	has(t, spans[3].attrs, map[string]any{"gen_ai.latency.time_in_queue": 20 * ms, "gen_ai.latency.time_in_model_prefill": 40 * ms, "gen_ai.latency.time_in_model_decode": 80 * ms,
		"gen_ai.latency.e2e": 200 * ms})
	for i, want := range []time.Duration{after(20), after(40), after(80), after(200)} {
		if d := spans[i].end - spans[i].start; d != want {
			t.Errorf("%s is %v long, want %v", spans[i].name, d, want)
		}
	}

	// The arrival has one, the stages have none: the wall clock decides.
	req = e.StartRequest(context.Background(), vllm.Request{ID: "r"}, now)
	req.Queued(wall.Add(after(10)))
	req.Scheduled(late(30)) // against a point without a reading: by the wall clock
	req.Finish(vllm.OutcomeV1{At: late(250), FinishReason: vllm.FinishReasonAbort})
	has(t, b.request().attrs, map[string]any{"gen_ai.latency.e2e": 250 * ms, "gen_ai.latency.time_in_queue": absent})

	v0 := b.v0().StartRequest(context.Background(), vllm.Request{ID: "r"}, wall)
	v0.FirstToken(now.Add(after(10)))
	v0.Finish(vllm.OutcomeV0{At: now.Add(after(40)), FinishReason: vllm.FinishReasonStop, CompletionTokens: 2})
	if d := b.points()["gen_ai_server_time_per_output_token{}"]; d != 0.03 {
		t.Errorf("time per output token %v", d)
	}
}
