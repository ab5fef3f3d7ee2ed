package vllm_test

import (
	"context"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/infertel/infertel-go/vllm"
)

// shape writes events as "NAME@ms".
func shape(events []spanEvent) []string {
	var out []string
	for _, e := range events {
		out = append(out, fmt.Sprintf("%s@%g", e.name, float64(e.at)/1e6))
	}
	return out
}

// An event for each iteration, queueing and preemption, with the tokens told.
func TestEvents(t *testing.T) {
	b := newBed(t)
	req := b.v1(vllm.EngineConfig{Index: 2}, vllm.WithGranularity(vllm.GranularityEvents)).StartRequest(context.Background(), vllm.Request{ID: "r"}, at(0))
	req.Queued(at(3))
	req.Queued(at(4)) // changes nothing
	req.Scheduled(at(10))
	ids := []int{101}
	req.Prefill(vllm.Iteration{At: at(30), TokenIDs: ids, TokenTexts: []string{"\xffa"}, TokenCount: new(1), LogProbs: []float64{-0.5}})
	ids[0] = 7 // the caller keeps its slice
	req.Decode(vllm.Iteration{At: at(50), TokenIDs: []int{}})
	req.Decode(vllm.Iteration{At: at(40)}) // told late
	req.Preempted(at(60))
	req.Prefill(vllm.Iteration{At: at(90), TokenCount: new(0)})
	req.Finish(vllm.OutcomeV1{At: at(91), FinishReason: vllm.FinishReasonStop})
	events := b.request().events
	want := []string{"WAIT@3", "PREFILL@30", "DECODE@40", "DECODE@50", "PREEMPTED@60", "WAIT@60", "PREFILL@90"}
	if got := shape(events); !slices.Equal(got, want) {
		t.Fatalf("events %v, want %v", got, want)
	}
	index := map[string]any{"gen_ai.engine.index": int64(2)}
	for i, attrs := range []map[string]any{
		index,
		{"gen_ai.engine.index": int64(2), "gen_ai.token.ids": []int64{101}, "gen_ai.token.texts": []string{"\uFFFDa"}, "gen_ai.token.count": int64(1), "gen_ai.token.logprobs": []float64{-0.5}},
		index,
		{"gen_ai.engine.index": int64(2), "gen_ai.token.ids": []int64{}},
		index, index,
		{"gen_ai.engine.index": int64(2), "gen_ai.token.count": int64(0)},
	} {
		if !reflect.DeepEqual(events[i].attrs, attrs) {
			t.Errorf("event %d has %v, want %v", i, events[i].attrs, attrs)
		}
	}
	b.noReports()
}

// long runs a request of n iterations, the first of them a prefill, one token
// each. With the WAIT before there are n+1 events.
func long(e *vllm.EngineV1, n int) {
	req := e.StartRequest(context.Background(), vllm.Request{ID: "r"}, at(0))
	req.Queued(at(0))
	req.Scheduled(at(0))
	for i := range n {
		it := vllm.Iteration{At: at(float64(i + 1)), TokenIDs: []int{i}, TokenTexts: []string{fmt.Sprint(i)}, TokenCount: new(1), LogProbs: []float64{-float64(i)}}
		if i == 0 {
			req.Prefill(it)
		} else {
			req.Decode(it)
		}
	}
	req.Finish(vllm.OutcomeV1{At: at(float64(n + 1)), FinishReason: vllm.FinishReasonStop})
}

// The default: every event is added, the SDK keeps the newest.
func TestEventsBeyondTheLimit(t *testing.T) {
	for _, limit := range []string{"", "128", "0", "-1", "-7", "200", " 200", "abc", "1"} {
		t.Setenv("OTEL_SPAN_EVENT_COUNT_LIMIT", limit)
		kept := map[string]int{"": 128, "128": 128, "0": 0, "-1": 1 << 30, "-7": 1 << 30, "200": 200, " 200": 128, "abc": 128, "1": 1}[limit]
		for _, n := range []int{0, 1, 126, 127, 128, 129, 199, 200, 255, 256, 400, 20_000} {
			if n == 20_000 && limit != "" && limit != "-1" && limit != "0" {
				continue // these are slow in the SDK, and as the others
			}
			b := newBed(t)
			e := b.v1(vllm.EngineConfig{}, vllm.WithGranularity(vllm.GranularityEvents))
			for range 2 {
				long(e, n)
			}
			r := b.request()
			if want := min(n+1, kept); len(r.events) != want {
				t.Fatalf("limit %q, %d iterations: %d events, want %d", limit, n, len(r.events), want)
			}
			dropped := n + 1 - len(r.events)
			if kept == 0 {
				dropped = 0 // nothing was added
			}
			if r.dropped != dropped {
				t.Errorf("limit %q, %d iterations: %d dropped, want %d", limit, n, r.dropped, dropped)
			}
			for i, e := range r.events {
				if want := time.Duration(n+1-len(r.events)+i) * time.Millisecond; e.at != want {
					t.Fatalf("limit %q, %d iterations: event %d is %s at %v, want at %v", limit, n, i, e.name, e.at, want)
				}
			}
			var said []string
			if n > 0 { // a request without a token is reported for that
				said = b.reports()
			} else {
				b.reports()
			}
			if (dropped > 0) != (len(said) == 1) {
				t.Errorf("limit %q, %d iterations: reported %q", limit, n, said)
			}
			if len(said) == 1 {
				if want := fmt.Sprintf("%d events, of which the span keeps the newest %d: raise OTEL_SPAN_EVENT_COUNT_LIMIT", n+1, kept); !containsAll(said[0], want) {
					t.Errorf("reported %q", said[0])
				}
			}
		}
	}
}

// Coalesced: everything fits and no token is lost.
func TestEventCoalescing(t *testing.T) {
	for _, limit := range []int{128, 127, 2, 1, 3, 1000, 0, -1} {
		for _, n := range []int{0, 1, 2, 126, 127, 128, 129, 400, 20_000} {
			b := newBed(t, sdktrace.WithRawSpanLimits(limitedTo(limit)))
			e := b.v1(vllm.EngineConfig{}, vllm.WithGranularity(vllm.GranularityEvents), vllm.WithEventCoalescing(), vllm.WithEventLimit(limit))
			long(e, n)
			r := b.request()
			if r.dropped != 0 {
				t.Fatalf("limit %d, %d iterations: %d dropped", limit, n, r.dropped)
			}
			if limit == 0 {
				if len(r.events) != 0 {
					t.Errorf("%d events", len(r.events))
				}
				continue
			}
			if limit < 0 || n+1 <= limit {
				if len(r.events) != n+1 {
					t.Errorf("limit %d, %d iterations: %d events", limit, n, len(r.events))
				}
			} else if len(r.events) > limit || len(r.events) <= limit/2 {
				t.Errorf("limit %d, %d iterations: %d events", limit, n, len(r.events))
			}
			var ids []int64
			var texts []string
			var count int64
			for _, e := range r.events {
				if v, ok := e.attrs["gen_ai.token.ids"].([]int64); ok {
					if e.at != at(float64(v[0]+1)).Sub(t0) {
						t.Fatalf("limit %d, %d iterations: the event of token %d is at %v", limit, n, v[0], e.at)
					}
					ids = append(ids, v...)
					texts = append(texts, e.attrs["gen_ai.token.texts"].([]string)...)
					count += e.attrs["gen_ai.token.count"].(int64)
					if c := e.attrs["gen_ai.token.count"].(int64); c != int64(len(v)) || len(e.attrs["gen_ai.token.logprobs"].([]float64)) != len(v) {
						t.Fatalf("event of %d tokens: %v", len(v), e.attrs)
					}
				}
			}
			if len(ids) != n || len(texts) != n || count != int64(n) {
				t.Fatalf("limit %d, %d iterations: %d ids, %d texts, count %d", limit, n, len(ids), len(texts), count)
			}
			for i := range ids {
				if ids[i] != int64(i) || texts[i] != fmt.Sprint(i) {
					t.Fatalf("token %d is %d, %q", i, ids[i], texts[i])
				}
			}
			if limit >= 3 && n > 0 {
				if got := shape(r.events[:2]); !slices.Equal(got, []string{"WAIT@0", "PREFILL@1"}) {
					t.Errorf("first events %v", got)
				}
			}
		}
	}
}

func limitedTo(events int) sdktrace.SpanLimits {
	l := sdktrace.NewSpanLimits()
	l.EventCountLimit = events
	return l
}

// The events besides DECODE are kept apart as long as they fit; then no token is
// lost still.
func TestCoalescingWithPreemptions(t *testing.T) {
	for _, c := range []struct{ preemptions, decodes, limit int }{{10, 50, 128}, {10, 1, 41}, {31, 30, 128}, {32, 3, 128}, {200, 2, 128}, {200, 0, 128}} {
		b := newBed(t, sdktrace.WithRawSpanLimits(limitedTo(c.limit)))
		req := b.v1(vllm.EngineConfig{}, vllm.WithGranularity(vllm.GranularityEvents), vllm.WithEventCoalescing(), vllm.WithEventLimit(c.limit)).
			StartRequest(context.Background(), vllm.Request{ID: "r"}, at(0))
		ms, tokens := 0.0, 0
		next := func() time.Time { ms++; return at(ms) }
		iteration := func() vllm.Iteration { tokens++; return vllm.Iteration{At: next(), TokenIDs: []int{tokens}} }
		req.Queued(next())
		req.Scheduled(next())
		req.Prefill(iteration())
		for range c.preemptions {
			for range c.decodes {
				req.Decode(iteration())
			}
			req.Preempted(next())
			req.Prefill(iteration())
		}
		req.Finish(vllm.OutcomeV1{At: next(), FinishReason: vllm.FinishReasonStop})
		r := b.request()
		if len(r.events) > c.limit || r.dropped > 0 {
			t.Fatalf("%+v: %d events, %d dropped", c, len(r.events), r.dropped)
		}
		others := 2 + 3*c.preemptions
		runs := c.preemptions
		if c.decodes == 0 {
			runs = 0
		}
		preempted, seen := 0, int64(0)
		for _, e := range r.events {
			if e.name == "PREEMPTED" {
				preempted++
			}
			ids, _ := e.attrs["gen_ai.token.ids"].([]int64)
			for _, id := range ids {
				if seen++; id != seen {
					t.Fatalf("%+v: token %d comes after %d", c, id, seen-1)
				}
			}
		}
		if seen != int64(tokens) {
			t.Errorf("%+v: %d of %d tokens", c, seen, tokens)
		}
		if others+runs <= c.limit {
			if preempted != c.preemptions {
				t.Errorf("%+v: %d preemptions are shown", c, preempted)
			}
			b.noReports()
		} else {
			b.oneReport("OTEL_SPAN_EVENT_COUNT_LIMIT", fmt.Sprint(c.limit))
		}
		has(t, r.attrs, map[string]any{"gen_ai.request.preemption_count": int64(c.preemptions)})
	}
}

// Merged events follow the order of time, however late an iteration was told.
func TestCoalescingOutOfOrder(t *testing.T) {
	b := newBed(t)
	req := b.v1(vllm.EngineConfig{}, vllm.WithGranularity(vllm.GranularityEvents), vllm.WithEventCoalescing(), vllm.WithEventLimit(4)).
		StartRequest(context.Background(), vllm.Request{ID: "r"}, at(0))
	for _, i := range []int{0, 2, 1, 4, 3, 6, 5, 9, 7, 8} {
		it := vllm.Iteration{At: at(float64(i)), TokenIDs: []int{i}, TokenTexts: []string{fmt.Sprint(i)}}
		if i%3 == 0 {
			it.LogProbs = []float64{float64(i)}
		}
		req.Decode(it)
	}
	req.Finish(vllm.OutcomeV1{At: at(10), FinishReason: vllm.FinishReasonStop})
	events := b.request().events
	var ids []int64
	for _, e := range events {
		ids = append(ids, e.attrs["gen_ai.token.ids"].([]int64)...)
	}
	if len(events) > 4 || !slices.Equal(ids, []int64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}) {
		t.Errorf("events %v, ids %v", shape(events), ids)
	}
	if v, ok := events[0].attrs["gen_ai.token.logprobs"]; ok {
		t.Errorf("the first event has log probabilities %v, of some of its tokens", v)
	}
}

// Without coalescing a request holds a bounded number of events, however long.
func TestEventMemoryIsBounded(t *testing.T) {
	b := newBed(t)
	e := b.v1(vllm.EngineConfig{}, vllm.WithGranularity(vllm.GranularityEvents))
	req := e.StartRequest(context.Background(), vllm.Request{ID: "r"}, at(0))
	defer req.Finish(vllm.OutcomeV1{At: at(1e9)})
	heap := func(from, to int) uint64 {
		for i := from; i < to; i++ {
			req.Decode(vllm.Iteration{At: at(float64(i)), TokenIDs: []int{i, i, i, i}, TokenTexts: []string{"a", "b", "c", "d"}})
		}
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	small := heap(0, 2000)
	if large := heap(2000, 50_000); large > small+1<<20 {
		t.Errorf("%d bytes after 2,000 iterations, %d after 50,000", small, large)
	}
}

// The tokens that a request holds are bounded by what a receiver takes; its events
// go on, and so does the count of tokens.
func TestTokenMemoryIsBounded(t *testing.T) {
	b := newBed(t)
	req := b.v1(vllm.EngineConfig{}, vllm.WithGranularity(vllm.GranularityEvents), vllm.WithEventCoalescing()).
		StartRequest(context.Background(), vllm.Request{ID: "r"}, at(0))
	large := strings.Repeat("x", 2<<20)
	for i, text := range []string{large, large, "small"} {
		req.Decode(vllm.Iteration{At: at(float64(i)), TokenTexts: []string{text}, TokenCount: new(1)})
	}
	req.Finish(vllm.OutcomeV1{At: at(9), FinishReason: vllm.FinishReasonAbort})
	events := b.request().events
	if len(events) != 3 {
		t.Fatalf("%d events", len(events))
	}
	has(t, events[1].attrs, map[string]any{"gen_ai.token.texts": absent, "gen_ai.token.count": int64(1)})
	has(t, events[2].attrs, map[string]any{"gen_ai.token.texts": absent, "gen_ai.token.count": int64(1)})
	if events[0].attrs["gen_ai.token.texts"] == nil {
		t.Error("the first event has no text")
	}
	b.oneReport("bytes of tokens")
}
