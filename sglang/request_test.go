package sglang_test

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/infertel/infertel-go/genai"
	"github.com/infertel/infertel-go/sglang"
)

func TestAttributesAfterANormalEnd(t *testing.T) {
	l := newLab(t, sglang.EngineConfig{Model: "Qwen/Qwen3-8B", PDRole: sglang.PDRolePrefill})
	r := l.StartRequest(t.Context(), sglang.Request{RID: "5f2c9a7be1d34c0f", BootstrapRoom: new(uint64(7203945))}, t0)
	r.Dispatched(ms(2.5))
	r.Dispatched(ms(3)) // only the first counts
	r.FirstToken(ms(42))
	r.FirstToken(ms(43))
	r.End(sglang.Outcome{
		FinishReasons: []string{"length", "stop<"}, PromptTokens: new(48), CompletionTokens: new(1), CachedTokens: new(8),
		Temperature: new(0.0), TopP: new(1.0), TopK: new(-1), N: new(2), MaxTokens: new(0),
	}, ms(42.1))
	want := map[attribute.Key]any{
		"rid": "5f2c9a7be1d34c0f", "module": "sglang::request", "bootstrap_room": "0x6dec69",
		"gen_ai.request.id": "5f2c9a7be1d34c0f", "gen_ai.response.model": "Qwen/Qwen3-8B",
		"gen_ai.response.finish_reasons": `["length","stop<"]`,
		"gen_ai.usage.prompt_tokens":     int64(48), "gen_ai.usage.completion_tokens": int64(1), "gen_ai.usage.cached_tokens": int64(8),
		"gen_ai.request.temperature": 0.0, "gen_ai.request.top_p": 1.0, "gen_ai.request.top_k": int64(-1),
		"gen_ai.request.n": int64(2), "gen_ai.request.max_tokens": int64(0),
		"gen_ai.latency.time_to_first_token": 0.042, "gen_ai.latency.e2e": 0.0421,
		"gen_ai.latency.time_in_model_prefill": 0.0395, "gen_ai.latency.time_in_model_decode": 0.0001,
		"gen_ai.latency.time_in_model_inference": 0.0396,
	}
	span := l.spans.GetSpans()[0]
	if got := values(span); !reflect.DeepEqual(got, want) {
		t.Errorf("attributes\n%v, want\n%v", got, want)
	}
	if span.Name != "prefill Req 5f2c9a7b" || span.Status.Code != codes.Unset {
		t.Errorf("%s with the status %v", span.Name, span.Status)
	}
	l.reported()
}

func TestAttributesThatAreLeftOut(t *testing.T) {
	keys := func(l *lab) string {
		var out []string
		for _, kv := range l.spans.GetSpans()[0].Attributes {
			out = append(out, strings.TrimPrefix(string(kv.Key), "gen_ai."))
		}
		return strings.Join(out, " ")
	}
	// No PD role, so no room. No milestones, so but one latency.
	l := newLab(t, sglang.EngineConfig{Model: "m"})
	r := l.StartRequest(t.Context(), sglang.Request{RID: "r", BootstrapRoom: new(uint64(1))}, t0)
	r.End(counted, ms(1))
	if got, want := keys(l), "rid module request.id response.finish_reasons response.model usage.prompt_tokens usage.completion_tokens usage.cached_tokens latency.e2e"; got != want {
		t.Errorf("attributes %s, want %s", got, want)
	}
	if got := values(l.spans.GetSpans()[0])["gen_ai.response.finish_reasons"]; got != "[]" {
		t.Errorf("finish reasons are %v", got)
	}
	l.reported("without the times that the latency from the start to the first token needs")

	// An embedding request has no output tokens, and may have no first token.
	l = newLab(t, sglang.EngineConfig{PDRole: sglang.PDRoleDecode})
	r = l.StartRequest(t.Context(), sglang.Request{RID: "r", Embedding: true}, t0)
	r.Dispatched(ms(0.5))
	r.End(sglang.Outcome{PromptTokens: new(5), CachedTokens: new(0)}, ms(1))
	if got, want := keys(l), "rid module request.id response.finish_reasons response.model usage.prompt_tokens usage.cached_tokens latency.e2e latency.time_in_model_inference"; got != want {
		t.Errorf("attributes %s, want %s", got, want)
	}
	if p := l.points(); len(p) != 4 || p["prompt_tokens_total"] != 5 {
		t.Errorf("metrics %v", p)
	}
	l.reported()

	// Times in the wrong order, and counts that are none.
	l = newLab(t, sglang.EngineConfig{Model: "m"})
	r = l.StartRequest(t.Context(), sglang.Request{RID: "r"}, t0)
	r.Dispatched(ms(9))
	r.FirstToken(ms(8))
	r.End(sglang.Outcome{PromptTokens: new(-2), CompletionTokens: new(-1), CachedTokens: new(-1)}, ms(10))
	if got, want := keys(l), "rid module request.id response.finish_reasons response.model latency.e2e latency.time_to_first_token latency.time_in_model_decode latency.time_in_model_inference"; got != want {
		t.Errorf("attributes %s, want %s", got, want)
	}
	l.reported(" from the end of dispatch to the first token would be -1ms", "ended with an Outcome.PromptTokens of -2, want 0 or more")
	for name, v := range l.points() {
		if v < 0 || math.IsNaN(v) {
			t.Errorf("%s is %v", name, v)
		}
	}
}

// An abort is on the thread spans that are open, never on the request span.
func TestAbort(t *testing.T) {
	l := newLab(t, sglang.EngineConfig{Model: "m"})
	r := l.StartRequest(t.Context(), sglang.Request{RID: "r"}, t0)
	tok := r.StartThread(sglang.Thread{Label: sglang.ThreadTokenizer, PID: 1}, t0)
	tok.End(ms(1))
	s0 := r.StartThread(sglang.Thread{Label: sglang.ThreadScheduler, PID: 2, TPRank: new(0)}, ms(2))
	s0.StartStage(sglang.PrefillForward, ms(3))
	s0.StartStage(sglang.ChunkedPrefill, ms(3))
	s0.Abort(sglang.AbortReason{Type: new("abort"), Message: new("Client disconnected"), StatusCode: new(499), ErrType: new("Disconnect")}, ms(5))
	s1 := r.StartThread(sglang.Thread{Label: sglang.ThreadScheduler, PID: 3, TPRank: new(1)}, ms(2))
	s1.StartStage(sglang.DecodeForward, ms(3))
	r.FirstToken(ms(4))
	r.Abort(sglang.AbortReason{Reason: new("gone")}, sglang.Outcome{FinishReasons: []string{"abort"}, PromptTokens: new(9), MaxTokens: new(7)}, ms(6))
	for _, s := range l.spans.GetSpans() {
		got := values(s)
		for _, key := range []attribute.Key{"host_id", "pid", "thread_label", "tp_rank"} {
			delete(got, key)
		}
		want, status := map[attribute.Key]any{}, codes.Unset
		switch s.Name {
		case "Scheduler [TP 0] (host:9f86d081 | pid:2)":
			want = map[attribute.Key]any{"type": "abort", "message": "Client disconnected", "status_code": int64(499), "err_type": "Disconnect"}
			status = codes.Error
			if s.Status.Description != "abort, status code 499" {
				t.Errorf("the status is described as %q", s.Status.Description)
			}
		case "Scheduler [TP 1] (host:9f86d081 | pid:3)":
			want, status = map[attribute.Key]any{"reason": "gone"}, codes.Error
		case "Req r":
			want = map[attribute.Key]any{"rid": "r", "module": "sglang::request"}
		}
		if !reflect.DeepEqual(got, want) || s.Status.Code != status {
			t.Errorf("%s has %v and %v, want %v and %v", s.Name, got, s.Status.Code, want, status)
		}
	}
	if got := l.points(); got["num_requests_total"] != 1 || got["prompt_tokens_total"] != 9 || got["gen_ai_server_request_duration"] != 0.006 {
		t.Errorf("metrics %v", got)
	}
	l.reported() // stages and threads left open are part of an abort
}

// The texts that were told are written, empty or not; the status has of them what
// quotes nobody, and the first of what there is.
func TestAbortReason(t *testing.T) {
	for _, tc := range []struct {
		why    sglang.AbortReason
		want   string
		status string
	}{
		{sglang.AbortReason{}, "", "the request was aborted"},
		{sglang.AbortReason{Type: new(""), Message: new(""), ErrType: new(""), Reason: new("")}, "{err_type= message= reason= type=}", "the request was aborted"},
		{sglang.AbortReason{Message: new("")}, "{message=}", "the request was aborted"},
		{sglang.AbortReason{Message: new("secret"), Type: new("")}, "{message=secret type=}", "the request was aborted"},
		{sglang.AbortReason{Type: new("abort"), Message: new("secret"), Reason: new("secret"), ErrType: new("secret")}, "{err_type=secret message=secret reason=secret type=abort}", "abort"},
		{sglang.AbortReason{StatusCode: new(0)}, "{status_code=0}", "the request was aborted, status code 0"},
		{sglang.AbortReason{Type: new("length"), StatusCode: new(400)}, "{status_code=400 type=length}", "length, status code 400"},
	} {
		l := newLab(t, sglang.EngineConfig{})
		r, th := l.request()
		th.Abort(tc.why, ms(1))
		r.Abort(tc.why, sglang.Outcome{}, ms(2))
		s := l.spans.GetSpans()[0]
		s.Attributes = slices.DeleteFunc(s.Attributes, func(a attribute.KeyValue) bool {
			return a.Key == "host_id" || a.Key == "pid" || a.Key == "thread_label"
		})
		if got := attributes(s.Attributes); got != tc.want || s.Status.Description != tc.status || s.Status.Code != codes.Error {
			t.Errorf("%+v: %s and %v, want %s and %q", tc.why, got, s.Status, tc.want, tc.status)
		}
	}
}

// A count that is not known is no 0: not as an attribute, not as a metric.
func TestUnknownCounts(t *testing.T) {
	for _, aborted := range []bool{false, true} {
		l := newLab(t, sglang.EngineConfig{})
		r := l.StartRequest(t.Context(), sglang.Request{RID: "r"}, t0)
		r.Dispatched(ms(1))
		r.FirstToken(ms(2))
		if aborted {
			r.Abort(sglang.AbortReason{}, sglang.Outcome{}, ms(3))
			l.reported()
		} else {
			r.End(sglang.Outcome{}, ms(3))
			l.reported("ended normally without all of its token counts")
		}
		for _, kv := range l.spans.GetSpans()[0].Attributes {
			if strings.HasPrefix(string(kv.Key), "gen_ai.usage.") {
				t.Errorf("there is %v", kv)
			}
		}
		if p := l.points(); len(p) != 3 || p["num_requests_total"] != 1 {
			t.Errorf("metrics %v", p)
		}
	}
	// An embedding request has no completion tokens to tell of.
	l := newLab(t, sglang.EngineConfig{})
	l.StartRequest(t.Context(), sglang.Request{Embedding: true}, t0).End(sglang.Outcome{PromptTokens: new(0), CachedTokens: new(0)}, ms(1))
	l.reported()
	for _, o := range []sglang.Outcome{
		{CompletionTokens: new(0), CachedTokens: new(0)}, {PromptTokens: new(0), CachedTokens: new(0)}, {PromptTokens: new(0), CompletionTokens: new(0)},
	} {
		l = newLab(t, sglang.EngineConfig{})
		r := l.StartRequest(t.Context(), sglang.Request{}, t0)
		r.Dispatched(ms(0))
		r.FirstToken(ms(0))
		r.End(o, ms(1))
		l.reported("ended normally without all of its token counts")
	}
}

// The model is documented for a normal end; that there is none is said once.
func TestNoModel(t *testing.T) {
	l := newLab(t, sglang.EngineConfig{Model: "m"})
	tr, err := sglang.NewEngine(sglang.EngineConfig{}, sglang.WithTracerProvider(l.provider))
	if err != nil {
		t.Fatal(err)
	}
	tr.StartRequest(t.Context(), sglang.Request{Embedding: true}, t0).Abort(sglang.AbortReason{}, sglang.Outcome{}, ms(1))
	l.reported()
	for range 2 {
		tr.StartRequest(t.Context(), sglang.Request{Embedding: true}, t0).End(counted, ms(1))
	}
	l.reported("EngineConfig.Model is empty")
}

// Spans of the caller's own hang under the request span.
func TestContext(t *testing.T) {
	l := newLab(t, sglang.EngineConfig{})
	r := l.StartRequest(t.Context(), sglang.Request{}, t0)
	span := trace.SpanContextFromContext(r.Context())
	r.Abort(sglang.AbortReason{}, sglang.Outcome{}, ms(1))
	if got := l.spans.GetSpans()[0].SpanContext; !got.Equal(span) {
		t.Errorf("the context carries %v, the request span is %v", span, got)
	}
}

// An end that lies before the start takes only the latencies with it that it is
// an end of.
func TestRequestThatEndsBeforeItStarts(t *testing.T) {
	for end, reported := range map[time.Time]string{ms(-1): "ended 1ms before it started", {}: "was ended without a time"} {
		l := newLab(t, sglang.EngineConfig{})
		r := l.StartRequest(t.Context(), sglang.Request{RID: "r"}, t0)
		r.Dispatched(ms(1))
		r.FirstToken(ms(3))
		r.End(counted, end)
		var got []string
		for _, kv := range l.spans.GetSpans()[0].Attributes {
			if k, ok := strings.CutPrefix(string(kv.Key), "gen_ai.latency."); ok {
				got = append(got, fmt.Sprint(k, "=", kv.Value.AsFloat64()))
			}
		}
		if want := []string{"time_to_first_token=0.003", "time_in_model_prefill=0.002"}; !slices.Equal(got, want) {
			t.Errorf("ended at %v: %v, want %v", end, got, want)
		}
		if errs := l.errors.Take(); len(errs) != 2 || !strings.Contains(errs[0].Error(), reported) {
			t.Errorf("reported: %v", errs)
		}
	}
}

// The gateway's entry span is the root, and everything hangs under it.
func TestCompleteTrace(t *testing.T) {
	l := newLab(t, sglang.EngineConfig{})
	inst, err := genai.New(genai.WithEngine(genai.EngineSGLang), genai.WithTracerProvider(l.provider))
	if err != nil {
		t.Fatal(err)
	}
	ctx, call := inst.Start(t.Context(), genai.Request{Operation: genai.OperationChat, Model: "qwen3-8b", StartTime: ms(0)})
	header := map[string]string{}
	inst.Propagator().Inject(ctx, carrier(header))

	// In the engine's server.
	ctx = inst.Propagator().Extract(t.Context(), carrier(header))
	r := l.StartRequest(ctx, sglang.Request{RID: "5f2c9a7b"}, ms(1))
	tok := r.StartThread(sglang.Thread{Label: sglang.ThreadTokenizer, PID: 1}, ms(1))
	tok.RecordStage(sglang.Tokenize, ms(1), ms(2))
	tok.StartStage(sglang.APIServerDispatch, ms(2))
	h, _ := over(tok.Handover())
	tok.EndStage(sglang.APIServerDispatch, ms(3))
	tok.End(ms(3))
	sch := l.Resume(h).StartThread(sglang.Thread{Label: sglang.ThreadScheduler, PID: 2, TPRank: new(0)}, ms(3))
	sch.RecordStage(sglang.PrefillWaiting, ms(3), ms(4))
	sch.StartStage(sglang.PrefillForward, ms(4))
	sch.RecordStage(sglang.ChunkedPrefill, ms(4), ms(9))
	sch.EndStage(sglang.PrefillForward, ms(9))
	sch.StartStage(sglang.DecodeForward, ms(10))
	sch.RecordStage(sglang.DecodeLoop(0), ms(10), ms(20))
	sch.End(ms(20))
	r.End(counted, ms(21))
	call.End(genai.Response{EndTime: ms(22)}, nil)
	l.tree(`
	chat qwen3-8b 0-22
	  Req 5f2c9a7b 1-21
	    Tokenizer (host:9f86d081 | pid:1) 1-3
	      tokenize 1-2
	      api_server_dispatch 2-3 <- tokenize
	    Scheduler [TP 0] (host:9f86d081 | pid:2) 3-20
	      prefill_waiting 3-4 <- api_server_dispatch
	      prefill_forward 4-9 <- prefill_waiting
	        chunked_prefill 4-9
	      decode_forward 10-20 <- prefill_forward
	        decode_loop 10-20{decode_ct=0}
	`)
}

type carrier map[string]string

func (c carrier) Get(k string) string { return c[k] }
func (c carrier) Set(k, v string)     { c[k] = v }
func (c carrier) Keys() []string      { return nil }

// Under an unsampled parent nothing is exported, but the metrics are.
func TestUnsampledParent(t *testing.T) {
	l := newLab(t, sglang.EngineConfig{})
	parent := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}, Remote: true})
	r := l.StartRequest(trace.ContextWithSpanContext(t.Context(), parent), sglang.Request{RID: "r"}, t0)
	th := r.StartThread(sglang.Thread{Label: sglang.ThreadScheduler}, t0)
	_, c := over(th.Handover())
	if !strings.HasPrefix(c["traceparent"], "00-"+parent.TraceID().String()) || !strings.HasSuffix(c["traceparent"], "-00") {
		t.Errorf("traceparent is %q, want the same trace, not sampled", c["traceparent"])
	}
	use(r, th)
	if n := len(l.spans.GetSpans()); n != 0 || r.Recording() {
		t.Errorf("%d spans, recording %v", n, r.Recording())
	}
	if got := l.points(); got["num_requests_total"] != 1 || got["sglang_inter_token_latency_seconds"] != 0.001 {
		t.Errorf("metrics %v", got)
	}
}

// A sampler that drops some spans leaves the others whole.
func TestSamplerThatDropsStages(t *testing.T) {
	l := newLab(t, sglang.EngineConfig{})
	provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(l.spans), sdktrace.WithSampler(dropper{}))
	tr, err := sglang.NewEngine(sglang.EngineConfig{}, sglang.WithTracerProvider(provider), sglang.WithHostID("h"))
	if err != nil {
		t.Fatal(err)
	}
	r := tr.StartRequest(t.Context(), sglang.Request{RID: "r"}, t0)
	th := r.StartThread(sglang.Thread{Label: sglang.ThreadScheduler, PID: 1}, t0)
	th.StartStage(sglang.DecodeForward, ms(1))
	th.RecordStage(sglang.DecodeLoop(0), ms(1), ms(2))
	th.Schedule(batch("b"), ms(1))
	finish(r, th)
	l.tree(`
	Req r 0-100
	  Scheduler (host:h | pid:1) 0-100
	    decode_forward 1-100
	`)
}

type dropper struct{}

func (dropper) ShouldSample(p sdktrace.SamplingParameters) sdktrace.SamplingResult {
	if p.Name == "decode_loop" {
		return sdktrace.SamplingResult{Decision: sdktrace.Drop}
	}
	return sdktrace.SamplingResult{Decision: sdktrace.RecordAndSample}
}

func (dropper) Description() string { return "drops decode_loop" }
