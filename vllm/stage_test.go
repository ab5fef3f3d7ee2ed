package vllm_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/infertel/infertel-go/vllm"
)

// Each span can be started and ended by hand, for engines whose states do not
// follow vLLM's; the latencies follow.
func TestStagesByHand(t *testing.T) {
	b := newBed(t)
	req := b.v1(vllm.EngineConfig{}).StartRequest(context.Background(), vllm.Request{ID: "r"}, at(0))
	wait := req.StartWait(at(1))
	kv1 := req.StartKVTransfer(at(2))
	kv1.End(vllm.KVTransfer{CachedTokens: 1}, at(3))
	wait.End(at(4))
	wait.End(at(9)) // changes nothing
	prefill := req.StartPrefill(at(4))
	prefill.End(at(10))
	decode := req.StartDecode(at(10))
	decode.End(at(20))
	wait2 := req.StartWait(at(20))
	kv2, kv3 := req.StartKVTransfer(at(21)), req.StartKVTransfer(at(22))
	kv3.End(vllm.KVTransfer{CachedTokens: 3}, at(24))
	kv2.End(vllm.KVTransfer{CachedTokens: 2, Failed: true}, at(25))
	kv2.End(vllm.KVTransfer{}, at(26))
	wait2.End(at(26))
	req.StartPrefill(at(26)).End(at(30))
	req.StartDecode(at(30)).End(at(40))
	req.Finish(vllm.OutcomeV1{At: at(41), FinishReason: vllm.FinishReasonStop, FrontendFirstToken: at(11), CompletionTokens: new(5)})

	spans := b.spans()
	type place struct {
		name, parent string
		start, end   float64
	}
	want := []place{
		{"kv_transfer", "wait", 2, 3}, {"wait", "llm_request", 1, 4}, {"prefill", "llm_request", 4, 10}, {"decode", "llm_request", 10, 20},
		{"kv_transfer", "wait", 21, 25}, {"kv_transfer", "wait", 22, 24}, {"wait", "llm_request", 20, 26},
		{"prefill", "llm_request", 26, 30}, {"decode", "llm_request", 30, 40}, {"llm_request", "", 0, 41},
	}
	if len(spans) != len(want) {
		t.Fatalf("spans %s", names(spans))
	}
	for i, w := range want {
		if s := spans[i]; (place{s.name, s.parent, float64(s.start) / 1e6, float64(s.end) / 1e6}) != w {
			t.Errorf("span %d is %+v, want %+v", i, s, w)
		}
	}
	has(t, spans[4].attrs, map[string]any{"gen_ai.kv_transfer.cached_tokens": int64(2), "gen_ai.kv_transfer.failed": true, "gen_ai.kv_transfer.direction": "recv"})
	has(t, spans[9].attrs, map[string]any{
		"gen_ai.latency.time_in_queue": 9 * ms, "gen_ai.latency.time_in_model_prefill": 10 * ms, "gen_ai.latency.time_in_model_decode": 20 * ms,
		"gen_ai.latency.time_in_model_inference": 30 * ms, "gen_ai.latency.time_in_kv_transfer": 7 * ms, "gen_ai.latency.time_to_first_token": 11 * ms,
	})
	b.noReports()
}

// A transfer has no span without the wait that it lies in, and that is said unless
// the request ended while it waited; its time counts. One that never ended counts
// for nothing.
func TestTransferWithoutWait(t *testing.T) {
	b := newBed(t)
	e := b.v1(vllm.EngineConfig{PDRole: vllm.PDRoleConsumer})
	said := 0
	for _, reason := range []vllm.FinishReason{vllm.FinishReasonAbort, vllm.FinishReasonError, vllm.FinishReasonStop, vllm.FinishReasonStop} {
		if said == 0 {
			b.noReports()
		}
		req := e.StartRequest(context.Background(), vllm.Request{ID: "r"}, at(0))
		req.Queued(at(1))
		req.StartKVTransfer(at(2)).End(vllm.KVTransfer{Failed: true}, at(5))
		req.StartKVTransfer(at(6))
		req.Finish(vllm.OutcomeV1{At: at(9), FinishReason: reason})
		spans := b.spans()
		if names(spans) != "llm_request" {
			t.Errorf("spans %s", names(spans))
		}
		has(t, spans[0].attrs, map[string]any{"gen_ai.latency.time_in_kv_transfer": 3 * ms})
		if reason == vllm.FinishReasonStop && said == 0 {
			said++
			if r := b.reports(); !slices.ContainsFunc(r, func(s string) bool { return containsAll(s, "kv_transfer", "wait") }) {
				t.Errorf("reports %q", r)
			}
		}
	}
	b.noReports()
}

// A transfer that ends before it starts, or outside of its wait.
func TestTransferOutsideOfWait(t *testing.T) {
	b := newBed(t)
	req := b.v1(vllm.EngineConfig{}).StartRequest(context.Background(), vllm.Request{ID: "r"}, at(0))
	req.Queued(at(1))
	req.StartKVTransfer(at(3)).End(vllm.KVTransfer{}, at(2))
	req.StartKVTransfer(at(7)).End(vllm.KVTransfer{}, at(8))
	req.Scheduled(at(5))
	req.Finish(vllm.OutcomeV1{At: at(9), FinishReason: vllm.FinishReasonAbort})
	spans := b.spans()
	if names(spans) != "kv_transfer wait llm_request" || spans[0].parent != "wait" || spans[0].start != 7*time.Millisecond {
		t.Errorf("spans %+v", spans)
	}
	if r := b.reports(); len(r) != 2 {
		t.Errorf("reports %q", r)
	}
}

// The granularity of the engine, of the environment and of one
// request.
func TestGranularity(t *testing.T) {
	for _, c := range []struct {
		env     string
		option  *vllm.Granularity
		request *vllm.Granularity
		want    vllm.Granularity
		report  bool
	}{
		{"", nil, nil, vllm.GranularityStages, false},
		{"0", nil, nil, vllm.GranularityRequest, false},
		{"1", nil, nil, vllm.GranularityStages, false},
		{"2", nil, nil, vllm.GranularityEvents, false},
		{"3", nil, nil, vllm.GranularityStages, true},
		{" 2", nil, nil, vllm.GranularityStages, true},
		{"2", new(vllm.GranularityRequest), nil, vllm.GranularityRequest, false},
		{"bad", new(vllm.GranularityEvents), nil, vllm.GranularityEvents, false},
		{"0", nil, new(vllm.GranularityEvents), vllm.GranularityEvents, false},
		{"2", nil, new(vllm.GranularityRequest), vllm.GranularityRequest, false},
	} {
		t.Setenv(vllm.EnvGranularity, c.env)
		b := newBed(t)
		var opts []vllm.OptionV1
		if c.option != nil {
			opts = append(opts, vllm.WithGranularity(*c.option))
		}
		lived(b.v1(vllm.EngineConfig{}, opts...), vllm.Request{ID: "r", Granularity: c.request})
		spans := b.spans()
		want := "wait prefill decode llm_request"
		if c.want == vllm.GranularityRequest {
			want = "llm_request"
		}
		if got := names(spans); got != want {
			t.Errorf("%+v: spans %s", c, got)
		}
		r := spans[len(spans)-1]
		if (c.want == vllm.GranularityEvents) != (len(r.events) == 4) {
			t.Errorf("%+v: events %v", c, r.events)
		}
		// What is left out of the trace stays in the attributes.
		has(t, r.attrs, map[string]any{"gen_ai.latency.time_in_model_decode": 20 * ms})
		if c.report {
			b.oneReport(vllm.EnvGranularity, `"`+c.env+`"`)
		} else {
			b.noReports()
		}
	}
}

// An iteration that put out no token is not the first token.
func TestChunkedPrefill(t *testing.T) {
	b := newBed(t)
	req := b.v1(vllm.EngineConfig{}, vllm.WithGranularity(vllm.GranularityEvents)).StartRequest(context.Background(), vllm.Request{ID: "r"}, at(0))
	req.Queued(at(1))
	req.Scheduled(at(2))
	req.Prefill(vllm.Iteration{At: at(10), NoToken: true, TokenCount: new(512)})
	req.Prefill(vllm.Iteration{At: at(20)})
	req.Decode(vllm.Iteration{At: at(30), TokenIDs: []int{1, 2, 3}})
	req.Finish(vllm.OutcomeV1{At: at(31), FinishReason: vllm.FinishReasonStop})
	r := b.request()
	has(t, r.attrs, map[string]any{"gen_ai.latency.time_to_first_token": 20 * ms, "gen_ai.latency.time_in_model_prefill": 18 * ms,
		"gen_ai.usage.completion_tokens": int64(4)})
	if len(r.events) != 4 {
		t.Errorf("events %v", r.events)
	}
}
