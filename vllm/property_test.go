package vllm_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/infertel/infertel-go/vllm"
)

// randomRecord returns the facts of a request with points at random: absent, out
// of order, any number of transfers, preemptions and iterations.
func randomRecord(rnd *rand.Rand) vllm.RequestRecordV1 {
	some := func(mean float64) time.Time {
		switch rnd.IntN(12) {
		case 0:
			return time.Time{}
		case 1:
			return at(rnd.Float64() * 100)
		}
		return at(mean + rnd.Float64())
	}
	number := func() *int {
		if rnd.IntN(2) == 0 {
			return nil
		}
		return new(rnd.IntN(5) - 1)
	}
	duration := func() *time.Duration {
		if rnd.IntN(3) > 0 {
			return nil
		}
		return new(time.Duration(rnd.IntN(1e6) - 1000))
	}
	rec := vllm.RequestRecordV1{
		Request: vllm.Request{ID: fmt.Sprint(rnd.Uint32()), MaxTokens: number(), N: number(), PromptTokens: rnd.IntN(100),
			Granularity: new(vllm.Granularity(rnd.IntN(3))), PDRole: new(vllm.PDRole(rnd.IntN(3)))},
		Arrival: at(0), Queued: some(2), Scheduled: some(10), Tokenize: duration(),
		Outcome: vllm.OutcomeV1{At: some(101), FinishReason: []vllm.FinishReason{"", "stop", "length", "abort"}[rnd.IntN(4)],
			CompletionTokens: number(), CachedTokens: rnd.IntN(5) - 1, Detokenize: duration()},
	}
	if rnd.IntN(3) == 0 {
		rec.Outcome.FrontendFirstToken = some(21)
	}
	if rnd.IntN(5) == 0 {
		rec.Outcome.LastToken = some(99)
	}
	for range rnd.IntN(4) {
		rec.KVTransfers = append(rec.KVTransfers, vllm.KVTransferRecord{Start: some(3), End: some(6), KVTransfer: vllm.KVTransfer{CachedTokens: rnd.IntN(9), Failed: rnd.IntN(2) == 0}})
	}
	n := rnd.IntN(8)
	if rnd.IntN(10) == 0 {
		n = rnd.IntN(400)
	}
	ms := 20.0
	for i := range n {
		ms += rnd.Float64()
		it := vllm.IterationRecord{Prefill: i == 0 || rnd.IntN(5) == 0, Iteration: vllm.Iteration{At: at(ms), NoToken: rnd.IntN(6) == 0}}
		if rnd.IntN(2) == 0 {
			it.TokenIDs, it.TokenTexts = []int{i, i}, []string{"a", "b"}
		}
		it.TokenCount = number()
		rec.Iterations = append(rec.Iterations, it)
		if rnd.IntN(6) == 0 {
			ms += rnd.Float64()
			rec.PreemptedAt = append(rec.PreemptedAt, at(ms))
		}
	}
	return rec
}

// live tells the facts of a record as they happen.
func live(e *vllm.EngineV1, rec vllm.RequestRecordV1) { liveIn(e, rec, nil) }

// liveIn tells the facts of a record in an order at random, or as they happen.
func liveIn(e *vllm.EngineV1, rec vllm.RequestRecordV1, order *rand.Rand) {
	req := e.StartRequest(context.Background(), rec.Request, rec.Arrival)
	type step struct {
		at time.Time
		do func()
	}
	var steps []step
	on := func(at time.Time, do func()) { steps = append(steps, step{at, do}) }
	if rec.Tokenize != nil {
		on(rec.Arrival, func() { req.Tokenized(*rec.Tokenize) })
	}
	on(rec.Queued, func() { req.Queued(rec.Queued) })
	on(rec.Scheduled, func() { req.Scheduled(rec.Scheduled) })
	for _, t := range rec.KVTransfers {
		// In the order of the record, which is also that of the spans.
		kv := req.StartKVTransfer(t.Start)
		on(t.End, func() { kv.End(t.KVTransfer, t.End) })
	}
	for _, it := range rec.Iterations {
		on(it.At, func() {
			if it.Prefill {
				req.Prefill(it.Iteration)
			} else {
				req.Decode(it.Iteration)
			}
		})
	}
	for _, p := range rec.PreemptedAt {
		on(p, func() {
			req.Preempted(p)
			// Back in the queue, and scheduled again: both change nothing.
			if !rec.Queued.IsZero() && !rec.Scheduled.IsZero() {
				req.Queued(p.Add(time.Hour))
				req.Scheduled(p.Add(2 * time.Hour))
			}
		})
	}
	slices.SortStableFunc(steps, func(a, b step) int { return a.at.Compare(b.at) })
	if order != nil {
		order.Shuffle(len(steps), func(i, j int) { steps[i], steps[j] = steps[j], steps[i] })
	}
	for _, s := range steps {
		s.do()
	}
	req.Finish(rec.Outcome)
}

// told runs one way to tell a record and returns everything that came of it.
func told(t testing.TB, tell func(*vllm.EngineV1, vllm.RequestRecordV1), rec vllm.RequestRecordV1, opts ...vllm.OptionV1) (spans []span, points map[string]float64, reports []string) {
	t.Helper()
	b := newBed(t)
	tell(b.v1(vllm.EngineConfig{}, opts...), rec)
	spans, points, reports = b.spans(), b.points(), b.reports()
	sound(t, b, spans, reports)
	slices.Sort(reports)
	return spans, points, reports
}

// Facts make the same telemetry in whatever order they are told, live and in a
// record with its iterations mixed up.
func TestOrderDoesNotMatter(t *testing.T) {
	for seed := range uint64(600) {
		record := func() vllm.RequestRecordV1 { return randomRecord(rand.New(rand.NewPCG(seed, 1))) }
		opts := []vllm.OptionV1{vllm.WithEventLimit(1000)}
		if len(record().Iterations) > 100 {
			// Bit by bit the events of a long request only go out about in order.
			opts = []vllm.OptionV1{vllm.WithEventCoalescing()}
		}
		rnd := rand.New(rand.NewPCG(seed, 2))
		wantSpans, wantPoints, wantReports := told(t, live, record(), opts...)
		for name, tell := range map[string]func(*vllm.EngineV1, vllm.RequestRecordV1){
			"live": func(e *vllm.EngineV1, rec vllm.RequestRecordV1) { liveIn(e, rec, rnd) },
			"recorded": func(e *vllm.EngineV1, rec vllm.RequestRecordV1) {
				rnd.Shuffle(len(rec.Iterations), func(i, j int) { rec.Iterations[i], rec.Iterations[j] = rec.Iterations[j], rec.Iterations[i] })
				rnd.Shuffle(len(rec.PreemptedAt), func(i, j int) { rec.PreemptedAt[i], rec.PreemptedAt[j] = rec.PreemptedAt[j], rec.PreemptedAt[i] })
				e.RecordRequest(context.Background(), rec)
			},
		} {
			spans, points, reports := told(t, tell, record(), opts...)
			if !reflect.DeepEqual(spans, wantSpans) {
				t.Fatalf("seed %d, %s\n in order %+v\nshuffled %+v", seed, name, wantSpans, spans)
			}
			if !reflect.DeepEqual(points, wantPoints) || !reflect.DeepEqual(reports, wantReports) {
				t.Fatalf("seed %d, %s\n in order %v %q\nshuffled %v %q", seed, name, wantPoints, wantReports, points, reports)
			}
		}
	}
}

// Telling a request live and recording it afterwards make the same spans and the
// same measurements, for any timeline, coalesced or not.
func TestLiveEqualsRecorded(t *testing.T) {
	for seed := range uint64(1000) {
		var spans [2][]span
		var points [2]map[string]float64
		var reports [2][]string
		for i, tell := range []func(*vllm.EngineV1, vllm.RequestRecordV1){live, func(e *vllm.EngineV1, r vllm.RequestRecordV1) { e.RecordRequest(context.Background(), r) }} {
			rec := randomRecord(rand.New(rand.NewPCG(seed, 0)))
			b := newBed(t)
			opts := []vllm.OptionV1{}
			if seed%2 == 0 {
				opts = append(opts, vllm.WithEventCoalescing())
			}
			tell(b.v1(vllm.EngineConfig{}, opts...), rec)
			spans[i], points[i], reports[i] = b.spans(), b.points(), b.reports()
			sound(t, b, spans[i], reports[i])
		}
		if !reflect.DeepEqual(spans[0], spans[1]) {
			t.Fatalf("seed %d\n    live %+v\nrecorded %+v", seed, spans[0], spans[1])
		}
		if !reflect.DeepEqual(points[0], points[1]) {
			t.Fatalf("seed %d\n    live %v\nrecorded %v", seed, points[0], points[1])
		}
		if !reflect.DeepEqual(reports[0], reports[1]) {
			t.Fatalf("seed %d\n    live %q\nrecorded %q", seed, reports[0], reports[1])
		}
	}
}

// sound asks what must hold of the spans of a request whatever was told of it.
func sound(t testing.TB, b *bed, spans []span, reports []string) {
	t.Helper()
	said := slices.ContainsFunc(reports, func(r string) bool { return containsAll(r, "not within its parent") })
	root := spans[len(spans)-1]
	if root.name != "llm_request" || root.parent != "" {
		t.Fatalf("last of the spans is %+v", root)
	}
	parents := map[string][]span{"llm_request": {root}}
	for _, s := range spans {
		parents[s.name] = append(parents[s.name], s)
	}
	for _, s := range spans {
		if s.end < s.start {
			t.Errorf("%s is negative: [%v, %v]", s.name, s.start, s.end)
		}
		if s.end-s.start > 30*24*time.Hour {
			t.Errorf("%s is huge: [%v, %v]", s.name, s.start, s.end)
		}
		if s.name != "llm_request" && !said && !slices.ContainsFunc(parents[s.parent], func(p span) bool { return s.start >= p.start && s.end <= p.end }) {
			t.Errorf("%s [%v, %v] is outside of %s, and that was not said", s.name, s.start, s.end, s.parent)
		}
		for k, v := range s.attrs {
			if n, ok := v.(int64); ok && containsAll(k, "latency") && (n < 0 || n > int64(30*24*time.Hour)) {
				t.Errorf("%s has %s = %d", s.name, k, n)
			}
		}
		if !slices.IsSortedFunc(s.events, func(a, b spanEvent) int { return int(a.at - b.at) }) {
			t.Errorf("events out of order: %v", shape(s.events))
		}
	}
	for name, v := range b.points() {
		if !(v >= 0) || v > 1e9 {
			t.Errorf("%s = %v", name, v)
		}
	}
}
