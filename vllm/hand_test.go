package vllm_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/infertel/infertel-go/vllm"
)

// places writes spans, the last excepted, as "name start-end" in milliseconds.
func places(spans []span) (out []string) {
	for _, s := range spans[:len(spans)-1] {
		out = append(out, fmt.Sprintf("%s %g-%g", s.name, float64(s.start)/1e6, float64(s.end)/1e6))
	}
	return out
}

// Stages that were started by hand, beside what the lifecycle tells: they take ends
// from it, keep their own, and are never overlapped.
func TestHandAndLifecycle(t *testing.T) {
	iteration := func(ms float64) vllm.Iteration { return vllm.Iteration{At: at(ms)} }
	for name, c := range map[string]struct {
		tell   func(*vllm.RequestV1)
		tokens *int
		spans  []string
		ttft   any
		report []string
	}{
		"only by hand": {func(r *vllm.RequestV1) {
			r.StartWait(at(1)).End(at(4))
			r.StartPrefill(at(4)).End(at(20))
			r.StartDecode(at(20)).End(at(60))
		}, new(9), []string{"wait 1-4", "prefill 4-20", "decode 20-60"}, 20 * ms, nil},
		"a pause before decode": {func(r *vllm.RequestV1) {
			r.StartWait(at(1)).End(at(4))
			r.StartDecode(at(25)).End(at(60))
			r.StartPrefill(at(4)).End(at(20))
		}, nil, []string{"wait 1-4", "decode 25-60", "prefill 4-20"}, 20 * ms, nil},
		"chunks and a recompute": {func(r *vllm.RequestV1) {
			r.StartWait(at(1)).End(at(4))
			r.StartPrefill(at(4)).End(at(10))
			r.StartPrefill(at(10)).End(at(20))
			r.StartDecode(at(20)).End(at(30))
			r.StartPrefill(at(35)).End(at(40))
			r.StartDecode(at(40)).End(at(60))
		}, new(5), []string{"wait 1-4", "prefill 4-10", "prefill 10-20", "decode 20-30", "prefill 35-40", "decode 40-60"}, 20 * ms, nil},
		"only decode by hand": {func(r *vllm.RequestV1) {
			r.Queued(at(1))
			r.Scheduled(at(4))
			r.StartDecode(at(20)).End(at(60))
		}, new(5), []string{"wait 1-4", "prefill 4-20", "decode 20-60"}, 20 * ms, nil},
		"only prefill by hand": {func(r *vllm.RequestV1) {
			r.StartWait(at(1)).End(at(4))
			r.StartPrefill(at(4)).End(at(20))
		}, new(1), []string{"decode 20-20", "wait 1-4", "prefill 4-20"}, 20 * ms, nil},
		"no token yet": {func(r *vllm.RequestV1) {
			r.StartWait(at(1)).End(at(4))
			r.StartPrefill(at(4)).End(at(20))
		}, new(0), []string{"wait 1-4", "prefill 4-20"}, absent, []string{"decode", "start"}},
		"ended by hand, iterations go on": {func(r *vllm.RequestV1) {
			r.StartWait(at(1)).End(at(4))
			r.StartPrefill(at(4)).End(at(20))
			d := r.StartDecode(at(20))
			d.End(at(40))
			for _, ms := range []float64{20, 30, 40, 50, 60} {
				r.Decode(iteration(ms))
			}
			d.End(at(70))
		}, nil, []string{"wait 1-4", "prefill 4-20", "decode 20-40"}, 20 * ms, nil},
		"not ended by hand": {func(r *vllm.RequestV1) {
			r.StartWait(at(1))
			r.StartPrefill(at(4))
			r.StartDecode(at(20))
			r.Scheduled(at(4))
			r.Prefill(iteration(20))
			r.Decode(iteration(60))
		}, nil, []string{"wait 1-4", "prefill 4-20", "decode 20-60"}, 20 * ms, nil},
		"not started by hand": {func(r *vllm.RequestV1) {
			r.Queued(at(1))
			r.Scheduled(at(4))
			r.StartPrefill(time.Time{}).End(at(19))
			r.Prefill(iteration(20))
			r.Decode(iteration(60))
		}, nil, []string{"wait 1-4", "decode 20-60", "prefill 4-19"}, 20 * ms, nil},
		"another one by hand": {func(r *vllm.RequestV1) {
			r.Queued(at(1))
			r.Scheduled(at(4))
			r.Prefill(iteration(20))
			r.Decode(iteration(30))
			r.StartWait(at(30)).End(at(35))
			r.StartPrefill(at(35)).End(at(40))
			r.StartDecode(at(40)).End(at(50))
		}, nil, []string{"wait 1-4", "prefill 4-20", "decode 20-30", "wait 30-35", "prefill 35-40", "decode 40-50"}, 20 * ms, nil},
		"the first token at the edge": {func(r *vllm.RequestV1) {
			r.Queued(at(1))
			r.Scheduled(at(4))
			r.Prefill(iteration(20))
			r.StartDecode(at(20)).End(at(50))
		}, nil, []string{"wait 1-4", "prefill 4-20", "decode 20-50"}, 20 * ms, nil},
		"started by hand after the last": {func(r *vllm.RequestV1) {
			r.Queued(at(1))
			r.Scheduled(at(4))
			r.Prefill(iteration(20))
			r.Decode(iteration(30))
			r.StartDecode(at(40))
		}, nil, []string{"wait 1-4", "prefill 4-20", "decode 20-30"}, 20 * ms, []string{"decode", "end was not told"}},
		"backwards": {func(r *vllm.RequestV1) {
			r.StartWait(at(5)).End(at(3))
			r.StartPrefill(at(5)).End(at(20))
			r.StartDecode(at(20)).End(at(50))
		}, new(9), []string{"prefill 5-20", "decode 20-50"}, 20 * ms, []string{"wait", "before it starts"}},
		"ended at no time": {func(r *vllm.RequestV1) {
			w := r.StartWait(at(1))
			w.End(time.Time{})
			w.End(at(4)) // changes nothing
			r.Scheduled(at(4))
			r.Prefill(iteration(20))
			r.Decode(iteration(30))
		}, nil, []string{"prefill 4-20", "decode 20-30"}, 20 * ms, []string{"wait", "end"}},
		"the lifecycle backwards beside one by hand": {func(r *vllm.RequestV1) {
			r.Queued(at(6))
			r.Scheduled(at(4))
			r.StartWait(at(30)).End(at(35))
			r.Prefill(iteration(20))
			r.Decode(iteration(50))
		}, nil, []string{"prefill 4-20", "decode 20-50", "wait 30-35"}, 20 * ms, []string{"wait", "before it starts"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBed(t)
			r := b.v1(vllm.EngineConfig{}).StartRequest(context.Background(), vllm.Request{ID: "r", PromptTokens: 4}, at(0))
			c.tell(r)
			r.Finish(vllm.OutcomeV1{At: at(100), FinishReason: vllm.FinishReasonStop, CompletionTokens: c.tokens})
			spans := b.spans()
			if got := places(spans); !slices.Equal(got, c.spans) {
				t.Errorf("spans %q, want %q", got, c.spans)
			}
			has(t, spans[len(spans)-1].attrs, map[string]any{"gen_ai.latency.time_to_first_token": c.ttft})
			p := b.points()
			_, first := p["genai_llm_first_token_seconds"+dims]
			_, prompt := p["gen_ai_vllm_prompt_tokens"+dims]
			if want := c.ttft != absent; first != want || prompt != want {
				t.Errorf("metrics of the first token: %v, of the prompt: %v", first, prompt)
			}
			if c.report == nil {
				b.noReports()
			} else {
				b.oneReport(c.report...)
			}
		})
	}
}

// A transfer that ended at no time is not ended again, as a stage is not.
func TestTransferEndedAtNoTime(t *testing.T) {
	b := newBed(t)
	r := b.v1(vllm.EngineConfig{}).StartRequest(context.Background(), vllm.Request{ID: "r"}, at(0))
	r.Queued(at(1))
	kv := r.StartKVTransfer(at(2))
	kv.End(vllm.KVTransfer{}, time.Time{})
	kv.End(vllm.KVTransfer{}, at(3))
	r.StartKVTransfer(at(2)).End(vllm.KVTransfer{CachedTokens: -1}, at(3)) // the engine does not know
	r.Scheduled(at(4))
	r.Prefill(vllm.Iteration{At: at(5)})
	r.Finish(vllm.OutcomeV1{At: at(9), FinishReason: vllm.FinishReasonStop})
	spans := b.spans()
	if names(spans) != "kv_transfer wait prefill decode llm_request" {
		t.Fatalf("spans %s", names(spans))
	}
	has(t, spans[0].attrs, map[string]any{"gen_ai.kv_transfer.cached_tokens": int64(0)})
	b.oneReport("kv_transfer", "end")
}

// A transfer belongs to the wait that it lies in; at the edge of two to the earlier
// one, unless it only fits in the later.
func TestTransferBetweenWaits(t *testing.T) {
	for name, c := range map[string]struct {
		start, end float64
		wait       float64 // start of the wait that has it
		outside    bool
	}{
		"in the first":         {2, 3, 1, false},
		"at the first's end":   {4, 4, 1, false},
		"from the edge on":     {4, 6, 4, false},
		"in the second":        {5, 6, 4, false},
		"over the edge":        {3, 5, 1, true},
		"before both":          {0.5, 0.7, 1, true},
		"in the third":         {21, 22, 20, false},
		"from an edge on":      {8, 10, 4, true},
		"between two":          {10, 12, 20, true},
		"after the last":       {30, 31, 20, true},
		"over the last's edge": {22, 30, 20, true},
	} {
		b := newBed(t)
		r := b.v1(vllm.EngineConfig{}).StartRequest(context.Background(), vllm.Request{ID: "r"}, at(0))
		r.StartKVTransfer(at(c.start)).End(vllm.KVTransfer{}, at(c.end))
		r.StartWait(at(1)).End(at(4))
		r.StartWait(at(4)).End(at(8))
		r.StartWait(at(20)).End(at(25))
		r.Finish(vllm.OutcomeV1{At: at(90), FinishReason: vllm.FinishReasonAbort})
		var parent time.Duration
		for _, s := range b.recorder.Ended() {
			for _, p := range b.recorder.Ended() {
				if s.Name() == "kv_transfer" && s.Parent().SpanID() == p.SpanContext().SpanID() {
					parent = p.StartTime().Sub(t0)
				}
			}
		}
		if parent != at(c.wait).Sub(t0) {
			t.Errorf("%s: in the wait from %v, want from %g ms", name, parent, c.wait)
		}
		if n := len(b.reports()); (n == 1) != c.outside {
			t.Errorf("%s: %d reports", name, n)
		}
	}
}
