package vllm_test

import (
	"context"
	"reflect"
	"strings"
	"testing"
	"time"
	"unsafe"

	"go.opentelemetry.io/otel/trace"

	"github.com/infertel/infertel-go/semconv"
	"github.com/infertel/infertel-go/vllm"
)

const ms = int64(time.Millisecond)

// The whole request: spans of kind INTERNAL without gen_ai.span.kind, durations as
// integers of nanoseconds, and where each span and each latency starts and ends.
func TestRequestV1(t *testing.T) {
	b := newBed(t)
	e := b.v1(vllm.EngineConfig{Index: 3})
	req := e.StartRequest(context.Background(), vllm.Request{ID: "r", Temperature: new(0.0), TopP: new(0.9), MaxTokens: new(-1), N: new(2), PromptTokens: 48}, at(0))
	req.Tokenized(2 * time.Millisecond)
	req.Queued(at(3))
	kv := req.StartKVTransfer(at(4))
	kv.End(vllm.KVTransfer{CachedTokens: 32, Failed: true}, at(6))
	req.Scheduled(at(10))
	req.Prefill(vllm.Iteration{At: at(30)})
	req.Decode(vllm.Iteration{At: at(40)})
	req.Preempted(at(45))
	req.Scheduled(at(70)) // changes nothing: the earliest counts
	req.Prefill(vllm.Iteration{At: at(95)})
	req.Decode(vllm.Iteration{At: at(125)})
	req.Finish(vllm.OutcomeV1{At: at(126), FinishReason: vllm.FinishReasonLength, CompletionTokens: new(4), CachedTokens: -1,
		Detokenize: new(300 * time.Microsecond), FrontendFirstToken: at(31)})

	for _, s := range b.recorder.Ended() {
		if s.SpanKind() != trace.SpanKindInternal {
			t.Errorf("%s has kind %v", s.Name(), s.SpanKind())
		}
		for _, kv := range s.Attributes() {
			if kv.Key == semconv.GenAISpanKindKey {
				t.Errorf("%s carries %s", s.Name(), kv.Key)
			}
		}
	}
	common := func(more map[string]any) map[string]any {
		m := map[string]any{"gen_ai.request.id": "r", "gen_ai.request.model_name": "qwen3-8b", "gen_ai.engine.index": int64(3), "gen_ai.pd_role": "none"}
		for k, v := range more {
			m[k] = v
		}
		return m
	}
	m := time.Millisecond
	want := []span{
		{name: "kv_transfer", parent: "wait", start: 4 * m, end: 6 * m, status: "Unset", attrs: common(map[string]any{
			"gen_ai.kv_transfer.direction": "recv", "gen_ai.kv_transfer.cached_tokens": int64(32), "gen_ai.kv_transfer.failed": true})},
		{name: "wait", parent: "llm_request", start: 3 * m, end: 10 * m, status: "Unset", attrs: common(nil)},
		{name: "prefill", parent: "llm_request", start: 10 * m, end: 30 * m, status: "Unset", attrs: common(nil)},
		{name: "decode", parent: "llm_request", start: 30 * m, end: 125 * m, status: "Unset", attrs: common(nil)},
		{name: "llm_request", start: 0, end: 126 * m, status: "Unset", attrs: common(map[string]any{
			"gen_ai.request.temperature": 0.0, "gen_ai.request.top_p": 0.9, "gen_ai.request.max_tokens": int64(-1), "gen_ai.request.n": int64(2),
			"gen_ai.usage.prompt_tokens": int64(48), "gen_ai.usage.completion_tokens": int64(4), "gen_ai.usage.cache_read.input_tokens": int64(0),
			"gen_ai.latency.e2e": 126 * ms, "gen_ai.latency.time_in_queue": 7 * ms, "gen_ai.latency.time_to_first_token": 31 * ms,
			"gen_ai.latency.time_in_model_prefill": 20 * ms, "gen_ai.latency.time_in_model_decode": 95 * ms,
			"gen_ai.latency.time_in_model_inference": 115 * ms, "gen_ai.latency.time_in_tokenize": 2 * ms,
			"gen_ai.latency.time_in_detokenize": int64(300_000), "gen_ai.latency.time_in_kv_transfer": 2 * ms,
			"gen_ai.request.preemption_count": int64(1)})},
	}
	got := b.spans()
	if len(got) != len(want) {
		t.Fatalf("spans %s", names(got))
	}
	for i := range want {
		if !reflect.DeepEqual(got[i], want[i]) {
			t.Errorf("span %d\n got %+v\nwant %+v", i, got[i], want[i])
		}
	}
	b.noReports()
}

// What the caller did not set is absent.
func TestUnsetRequestValues(t *testing.T) {
	b := newBed(t)
	lived(b.v1(vllm.EngineConfig{}), vllm.Request{ID: "r"})
	has(t, b.request().attrs, map[string]any{
		"gen_ai.request.temperature": absent, "gen_ai.request.top_p": absent, "gen_ai.request.max_tokens": absent, "gen_ai.request.n": absent,
		"gen_ai.latency.time_in_tokenize": absent, "gen_ai.latency.time_in_detokenize": absent, "gen_ai.latency.time_in_kv_transfer": absent,
		"gen_ai.request.preemption_count": absent,
	})
	// n is that of the request which the span stands for.
	lived(b.v1(vllm.EngineConfig{}), vllm.Request{ID: "r", N: new(1)})
	has(t, b.request().attrs, map[string]any{"gen_ai.request.n": int64(1)})
}

// A Prefill node has no decode, a Decode node no prefill.
func TestPDRoles(t *testing.T) {
	for _, c := range []struct {
		role  vllm.PDRole
		spans string
		attrs map[string]any
	}{
		{vllm.PDRoleNone, "wait prefill decode llm_request", map[string]any{"gen_ai.pd_role": "none",
			"gen_ai.latency.time_in_model_prefill": 40 * ms, "gen_ai.latency.time_in_model_decode": 20 * ms, "gen_ai.latency.time_in_model_inference": 60 * ms}},
		{vllm.PDRoleProducer, "wait prefill llm_request", map[string]any{"gen_ai.pd_role": "producer",
			"gen_ai.latency.time_in_model_prefill": 40 * ms, "gen_ai.latency.time_in_model_decode": int64(0), "gen_ai.latency.time_in_model_inference": 40 * ms}},
		{vllm.PDRoleConsumer, "wait decode llm_request", map[string]any{"gen_ai.pd_role": "consumer",
			"gen_ai.latency.time_in_model_prefill": int64(0), "gen_ai.latency.time_in_model_decode": 20 * ms, "gen_ai.latency.time_in_model_inference": 20 * ms}},
	} {
		b := newBed(t)
		check := func() {
			t.Helper()
			spans := b.spans()
			if got := names(spans); got != c.spans {
				t.Errorf("%v: spans %s, want %s", c.role, got, c.spans)
			}
			has(t, spans[len(spans)-1].attrs, c.attrs)
			has(t, spans[0].attrs, map[string]any{"gen_ai.pd_role": c.role.String()})
			b.noReports()
		}
		lived(b.v1(vllm.EngineConfig{PDRole: c.role}), vllm.Request{ID: "r"})
		check()
		other := vllm.PDRoleProducer
		if c.role == other {
			other = vllm.PDRoleConsumer
		}
		lived(b.v1(vllm.EngineConfig{PDRole: other}), vllm.Request{ID: "r", PDRole: new(c.role)})
		check()
		if got, err := vllm.ParsePDRole(c.role.String()); got != c.role || err != nil {
			t.Errorf("ParsePDRole(%q) = %v, %v", c.role, got, err)
		}
	}
	if _, err := vllm.ParsePDRole("both"); err == nil || !strings.Contains(err.Error(), `"both"`) {
		t.Errorf("error %v", err)
	}
}

// An abort at every point. An interval without both ends
// makes nothing, and that is no misuse here.
func TestAbortAtEveryPoint(t *testing.T) {
	steps := []func(*vllm.RequestV1){
		func(*vllm.RequestV1) {},
		func(r *vllm.RequestV1) { r.Queued(at(2)) },
		func(r *vllm.RequestV1) { r.Scheduled(at(5)) },
		func(r *vllm.RequestV1) { r.Prefill(vllm.Iteration{At: at(45)}) },
		func(r *vllm.RequestV1) { r.Decode(vllm.Iteration{At: at(55)}) },
		func(r *vllm.RequestV1) { r.Preempted(at(60)) },
	}
	want := []string{"llm_request", "llm_request", "wait llm_request", "wait prefill decode llm_request", "wait prefill decode llm_request", "wait prefill decode llm_request"}
	for n := range steps {
		b := newBed(t)
		req := b.v1(vllm.EngineConfig{}).StartRequest(context.Background(), vllm.Request{ID: "r", PromptTokens: 4}, at(0))
		for _, step := range steps[:n+1] {
			step(req)
		}
		req.Finish(vllm.OutcomeV1{At: at(66), FinishReason: vllm.FinishReasonAbort})
		spans := b.spans()
		if got := names(spans); got != want[n] {
			t.Errorf("aborted after step %d: spans %s, want %s", n, got, want[n])
		}
		r := spans[len(spans)-1]
		if r.status != "Unset" || r.end-r.start != 66*time.Millisecond {
			t.Errorf("step %d: %+v", n, r)
		}
		attrs := map[string]any{"gen_ai.latency.e2e": 66 * ms, "gen_ai.usage.completion_tokens": int64(max(n-2, 0) - max(n-4, 0))}
		if n < 2 {
			attrs["gen_ai.latency.time_in_queue"] = absent
		}
		if n < 3 {
			for _, k := range []string{"time_to_first_token", "time_in_model_prefill", "time_in_model_decode", "time_in_model_inference"} {
				attrs["gen_ai.latency."+k] = absent
			}
		}
		has(t, r.attrs, attrs)
		b.noReports()
		p := b.points()
		if p["gen_ai_vllm_request_success{engine_index=0,finished_reason=abort,model_name=qwen3-8b}"] != 1 {
			t.Errorf("step %d: %v", n, p)
		}
		_, ttft := p["genai_llm_first_token_seconds{engine_index=0,model_name=qwen3-8b}"]
		_, prompt := p["gen_ai_vllm_prompt_tokens{engine_index=0,model_name=qwen3-8b}"]
		if (n >= 3) != ttft || (n >= 3) != prompt {
			t.Errorf("step %d: first token %v, prompt %v", n, ttft, prompt)
		}
	}
}

// A record without the last token: the time of decode is not known, unless the
// only token is the last.
func TestRecordWithoutLastToken(t *testing.T) {
	for tokens, want := range map[int]any{1: int64(0), 2: absent} {
		b := newBed(t)
		b.v1(vllm.EngineConfig{}).RecordRequest(context.Background(), vllm.RequestRecordV1{
			Arrival: at(0), Queued: at(1), Scheduled: at(2), FirstToken: at(5),
			Outcome: vllm.OutcomeV1{At: at(9), FinishReason: vllm.FinishReasonStop, CompletionTokens: new(tokens)}})
		has(t, b.request().attrs, map[string]any{"gen_ai.latency.time_in_model_prefill": 3 * ms, "gen_ai.latency.time_in_model_decode": want})
		if want == absent {
			b.oneReport("decode", "end")
		} else {
			b.noReports()
		}
	}
}

// What pointers point to stays the caller's to change.
func TestRequestIsCopied(t *testing.T) {
	b := newBed(t)
	r := vllm.Request{ID: "r", Temperature: new(0.5), TopP: new(0.5), MaxTokens: new(5), N: new(5)}
	req := b.v1(vllm.EngineConfig{}).StartRequest(context.Background(), r, at(0))
	*r.Temperature, *r.TopP, *r.MaxTokens, *r.N = 1, 1, 1, 1
	req.Finish(vllm.OutcomeV1{At: at(1), FinishReason: vllm.FinishReasonAbort})
	has(t, b.request().attrs, map[string]any{"gen_ai.request.temperature": 0.5, "gen_ai.request.top_p": 0.5, "gen_ai.request.max_tokens": int64(5), "gen_ai.request.n": int64(5)})
}

// Each point missing or backwards in turn is left out, and reported
// once however often it happens.
func TestMissingAndBackwardPoints(t *testing.T) {
	type points struct{ arrival, queued, scheduled, first, last, finish, frontend time.Time }
	whole := points{at(0), at(2), at(5), at(45), at(65), at(66), at(46)}
	for name, c := range map[string]struct {
		change func(*points)
		report []string
		spans  string
		attrs  map[string]any
	}{
		"no queued":        {func(p *points) { p.queued = time.Time{} }, []string{"wait", "start"}, "prefill decode llm_request", map[string]any{"gen_ai.latency.time_in_queue": absent}},
		"queued is 0":      {func(p *points) { p.queued = time.Unix(0, 0) }, []string{"wait", "start"}, "prefill decode llm_request", map[string]any{"gen_ai.latency.time_in_queue": absent}},
		"queued in 2300":   {func(p *points) { p.queued = time.Date(2300, 1, 1, 0, 0, 0, 0, time.UTC) }, []string{"wait", "start"}, "prefill decode llm_request", map[string]any{"gen_ai.latency.time_in_queue": absent}},
		"queued late":      {func(p *points) { p.queued = at(6) }, []string{"wait", "before it starts"}, "prefill decode llm_request", map[string]any{"gen_ai.latency.time_in_queue": absent}},
		"first backwards":  {func(p *points) { p.first = at(4) }, []string{"prefill", "before it starts"}, "wait decode llm_request", map[string]any{"gen_ai.latency.time_in_model_prefill": absent, "gen_ai.latency.time_in_model_inference": absent, "gen_ai.latency.time_in_model_decode": 61 * ms}},
		"last backwards":   {func(p *points) { p.last = at(44) }, []string{"decode", "before it starts"}, "wait prefill llm_request", map[string]any{"gen_ai.latency.time_in_model_decode": absent, "gen_ai.latency.time_in_model_inference": absent}},
		"frontend before":  {func(p *points) { p.frontend = at(-1) }, []string{"time_to_first_token", "before it starts"}, "wait prefill decode llm_request", map[string]any{"gen_ai.latency.time_to_first_token": absent}},
		"finish backwards": {func(p *points) { p.finish = at(-1000) }, []string{"finished before"}, "wait prefill decode llm_request", map[string]any{"gen_ai.latency.e2e": absent}},
		"no finish":        {func(p *points) { p.finish = time.Time{} }, []string{"e2e", "end"}, "wait prefill decode llm_request", map[string]any{"gen_ai.latency.e2e": absent}},
		"no arrival":       {func(p *points) { p.arrival = time.Time{} }, []string{"arrival", "start"}, "wait prefill decode llm_request", map[string]any{"gen_ai.latency.e2e": absent, "gen_ai.latency.time_to_first_token": absent}},
	} {
		t.Run(name, func(t *testing.T) {
			p := whole
			c.change(&p)
			b := newBed(t)
			e := b.v1(vllm.EngineConfig{})
			for range 3 {
				e.RecordRequest(context.Background(), vllm.RequestRecordV1{
					Request: vllm.Request{ID: "r"}, Arrival: p.arrival, Queued: p.queued, Scheduled: p.scheduled, FirstToken: p.first,
					Outcome: vllm.OutcomeV1{At: p.finish, LastToken: p.last, FrontendFirstToken: p.frontend, FinishReason: vllm.FinishReasonStop, CompletionTokens: new(2)},
				})
			}
			reports := b.reports()
			if name == "finish backwards" { // its stages are then outside of it as well
				if len(reports) == 2 && strings.Contains(reports[1], "not within") {
					reports = reports[:1]
				}
			}
			if len(reports) != 1 {
				t.Fatalf("%d reports: %q", len(reports), reports)
			}
			if !containsAll(reports[0], c.report...) {
				t.Errorf("report %q does not name all of %q", reports[0], c.report)
			}
			spans := b.spans()
			spans = spans[len(spans)-len(strings.Fields(c.spans)):]
			if got := names(spans); got != c.spans {
				t.Errorf("spans %s, want %s", got, c.spans)
			}
			r := spans[len(spans)-1]
			has(t, r.attrs, c.attrs)
			if r.end < r.start || r.end-r.start > time.Second {
				t.Errorf("llm_request is [%v, %v]", r.start, r.end)
			}
			for name, v := range b.points() {
				if v < 0 || v > 6 {
					t.Errorf("%s = %v", name, v)
				}
			}
		})
	}
}

// A live request whose arrival is not known still ends no earlier than it starts.
func TestLiveWithoutArrival(t *testing.T) {
	b := newBed(t)
	req := b.v1(vllm.EngineConfig{}).StartRequest(context.Background(), vllm.Request{ID: "r"}, time.Time{})
	req.Finish(vllm.OutcomeV1{At: at(66), FinishReason: vllm.FinishReasonAbort})
	r := b.request()
	if r.end != r.start {
		t.Errorf("llm_request is [%v, %v]", r.start, r.end)
	}
	has(t, r.attrs, map[string]any{"gen_ai.latency.e2e": absent})
}

// The monotonic clock decides where both ends have one; a span of an
// engine whose clock is behind keeps its times and is reported.
func TestClocks(t *testing.T) {
	b := newBed(t)
	e := b.v1(vllm.EngineConfig{})
	start := time.Now()
	req := e.StartRequest(context.Background(), vllm.Request{ID: "r"}, start)
	req.Queued(setBack(start.Add(10 * time.Millisecond)))
	req.Scheduled(setBack(start.Add(20 * time.Millisecond)))
	req.Finish(vllm.OutcomeV1{At: setBack(start.Add(250 * time.Millisecond)), FinishReason: vllm.FinishReasonAbort})
	spans := b.spans()
	has(t, spans[1].attrs, map[string]any{"gen_ai.latency.e2e": 250 * ms, "gen_ai.latency.time_in_queue": 10 * ms})
	if r, wait := spans[1], spans[0]; r.end-r.start != 250*time.Millisecond || wait.start-r.start != 10*time.Millisecond {
		t.Errorf("%+v %+v", r, wait)
	}
	b.noReports()

	req = e.StartRequest(context.Background(), vllm.Request{ID: "r"}, at(0))
	req.Queued(at(-40))
	req.Scheduled(at(-35))
	req.Prefill(vllm.Iteration{At: at(5)})
	req.Finish(vllm.OutcomeV1{At: at(66), FinishReason: vllm.FinishReasonStop})
	spans = b.spans()
	if spans[0].start != -40*time.Millisecond || spans[0].end != -35*time.Millisecond {
		t.Errorf("wait is %+v", spans[0])
	}
	b.oneReport("not within its parent")
}

// setBack returns t as it reads after the wall clock was set back by a second,
// its monotonic reading as it was. The wall seconds of a Time that has one start
// at bit 30 of its first word.
func setBack(t time.Time) time.Time {
	*(*uint64)(unsafe.Pointer(&t)) -= 1 << 30
	return t
}

func TestNewEngineErrors(t *testing.T) {
	_, err := vllm.NewEngineV1(vllm.EngineConfig{Index: -2, PDRole: 9}, vllm.WithGranularity(7), nil)
	for _, w := range []string{"EngineConfig.Model is empty", "EngineConfig.Index is -2", "EngineConfig.PDRole is 9", "WithGranularity is 7"} {
		if err == nil || !strings.Contains(err.Error(), w) {
			t.Errorf("error %v does not say %q", err, w)
		}
	}
	if _, err := vllm.NewEngineV0("", nil); err == nil || err.Error() != "vllm: the model of NewEngineV0 is empty, want its name" {
		t.Errorf("error %v", err)
	}
}

// Names that others chose are bounded and valid.
func TestBoundedNames(t *testing.T) {
	b := newBed(t)
	lived(b.v1(vllm.EngineConfig{Model: strings.Repeat("m", 1000)}), vllm.Request{ID: strings.Repeat("\xff", 1000)})
	r := b.request()
	if id, model := r.attrs["gen_ai.request.id"].(string), r.attrs["gen_ai.request.model_name"].(string); len(id) > 3*256 || strings.ToValidUTF8(id, "") != id || len(model) != 256 {
		t.Errorf("id of %d bytes, model of %d", len(id), len(model))
	}
}
