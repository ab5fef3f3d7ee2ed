package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/infertel/infertel-go/internal/otlpreceiver/otlptest"
)

const (
	t0      = 1_700_000_000_000_000_000
	traceID = "4bf92f3577b34da6a3ce929d0e0e4736"
	spanID  = "00f067aa0ba902b7"
)

// v1 writes a line of a vLLM V1 engine, so many milliseconds after t0.
func v1(ms float64, event, more string) string {
	return fmt.Sprintf(`{"ts": %d, "engine": "vllm-v1", "event": %q%s}`+"\n", int64(t0)+int64(ms*1e6), event, more)
}

// of names the request of a line.
func of(request, more string) string { return fmt.Sprintf(`, "request": %q%s`, request, more) }

func names(spans []otlptest.Span) string {
	var out []string
	for _, s := range spans {
		out = append(out, s.Name)
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

func find(t *testing.T, spans []otlptest.Span, name, request string) otlptest.Span {
	t.Helper()
	for _, s := range spans {
		if s.Name == name && s.Attrs["gen_ai.request.id"] == request {
			return s
		}
	}
	t.Fatalf("no span %s of %s", name, request)
	return otlptest.Span{}
}

// A consumer with two transfers, the role of a request, two engines told apart
// by their index, and the parent from traceparent.
func TestVLLMV1Engines(t *testing.T) {
	in := v1(0, "engine", `, "model": "a", "pd_role": "consumer"`) +
		v1(0, "engine", `, "model": "b", "engine_index": 1`) +
		v1(0, "arrived", of("r", `, "prompt_tokens": 7, "traceparent": "00-`+traceID+`-`+spanID+`-01", "tracestate": "a=b"`)) +
		v1(0, "arrived", of("r", `, "engine_index": 1, "pd_role": "producer", "traceparent": "nonsense"`)) +
		v1(1, "queued", of("r", "")) + v1(1, "queued", of("r", `, "engine_index": 1`)) +
		v1(2, "kv_transfer_started", of("r", "")) +
		v1(3, "kv_transfer_finished", of("r", `, "cached_tokens": 5`)) +
		v1(4, "kv_transfer_started", of("r", "")) +
		v1(6, "kv_transfer_finished", of("r", `, "cached_tokens": 2, "failed": true`)) +
		v1(7, "scheduled", of("r", "")) + v1(7, "scheduled", of("r", `, "engine_index": 1`)) +
		v1(8, "decode", of("r", "")) + v1(9, "prefill", of("r", `, "engine_index": 1`)) +
		v1(10, "decode", of("r", "")) +
		v1(11, "finished", of("r", `, "finish_reason": "stop", "cached_tokens": -1`)) +
		v1(11, "finished", of("r", `, "engine_index": 1, "finish_reason": "length", "completion_tokens": 1`)) +
		v1(12, "stats", `, "running": 1, "kv_cache_usage": 1`) +
		v1(12, "stats", `, "running": 2, "engine_index": 1, "unknown_field": {"a": [1]}`)
	r, status, said := exec(t, in)
	if status != 0 || said != "" {
		t.Errorf("exit status %d, said %q", status, said)
	}
	spans := r.FlatSpans()
	if got := names(spans); got != "decode kv_transfer kv_transfer llm_request llm_request prefill wait wait" {
		t.Errorf("spans %s", got)
	}
	for _, s := range spans {
		if s.Name != "llm_request" {
			continue
		}
		switch s.Attrs["gen_ai.engine.index"] {
		case int64(0):
			if s.TraceID != traceID || s.ParentID != spanID || s.TraceState != "a=b" {
				t.Errorf("not a child of the traceparent: %+v", s)
			}
			if s.Attrs["gen_ai.pd_role"] != "consumer" || s.Attrs["gen_ai.latency.time_in_kv_transfer"] != int64(3e6) || s.Attrs["gen_ai.usage.completion_tokens"] != int64(2) ||
				s.Attrs["gen_ai.usage.cache_read.input_tokens"] != int64(0) || s.Attrs["gen_ai.latency.time_in_model_prefill"] != int64(0) {
				t.Errorf("%v", s.Attrs)
			}
		case int64(1):
			if s.ParentID != "" || s.TraceID == traceID || s.Attrs["gen_ai.pd_role"] != "producer" || s.Attrs["gen_ai.request.model_name"] != "b" {
				t.Errorf("%+v", s)
			}
		}
	}
	points := r.LastPoints()
	if n := pointValue(t, points, "gen_ai_vllm_num_requests_running", "engine_index", 0, "model_name", "a"); n != 1 {
		t.Errorf("running %v", n)
	}
	if n := pointValue(t, points, "gen_ai_vllm_num_requests_running", "engine_index", 1, "model_name", "b"); n != 2 {
		t.Errorf("running %v", n)
	}
	for _, p := range points {
		if p.Name == "gen_ai_vllm_num_requests_waiting" {
			t.Errorf("a gauge that no line had: %v", p)
		}
	}
}

// A request whose parent is not sampled makes no span and counts.
func TestVLLMUnsampledParent(t *testing.T) {
	r, status, _ := exec(t, v1(0, "engine", `, "model": "a"`)+
		v1(0, "arrived", of("r", `, "traceparent": "00-`+traceID+`-`+spanID+`-00"`))+v1(1, "finished", of("r", `, "finish_reason": "stop"`)))
	if len(r.FlatSpans()) != 0 || status != 0 {
		t.Errorf("spans %v, exit status %d", r.FlatSpans(), status)
	}
	if n := pointValue(t, r.LastPoints(), "gen_ai_vllm_request_success"); n != 1 {
		t.Errorf("%v finished requests", n)
	}
}

// Points that are missing or backwards are no bad lines: what can be emitted is.
func TestVLLMMissingPoints(t *testing.T) {
	r, status, _ := exec(t, v1(0, "engine", `, "model": "a"`)+
		v1(0, "arrived", of("r", ""))+v1(5, "kv_transfer_finished", of("r", ""))+v1(4, "scheduled", of("r", ""))+v1(3, "prefill", of("r", ""))+
		v1(9, "finished", of("r", `, "finish_reason": "stop", "first_token_ts": 0, "last_token_ts": null`)))
	if got := names(r.FlatSpans()); got != "decode llm_request" || status != 0 {
		t.Errorf("spans %s, exit status %d", got, status)
	}
}

// Requests that are open at the end of the input are ended as aborted at the
// newest time read; so are those of an engine in whose place another is declared.
func TestOpenRequestsAreAborted(t *testing.T) {
	v0 := func(ms float64, event, more string) string {
		return strings.Replace(v1(ms, event, more), "vllm-v1", "vllm-v0", 1)
	}
	r, status, said := exec(t, v1(0, "engine", `, "model": "old"`)+v0(0, "engine", `, "model": "b"`)+
		v1(0, "arrived", of("old", ""))+
		v1(1, "engine", `, "model": "old"`)+v0(1, "engine", `, "model": "b"`)+ // the same again: nothing changes
		v1(5, "engine", `, "model": "a"`)+
		v1(6, "arrived", of("r", ""))+v1(7, "queued", of("r", ""))+v1(8, "scheduled", of("r", ""))+v1(9, "prefill", of("r", ""))+
		v0(10, "arrived", of("r", ""))+v0(11, "scheduled", of("r", ""))+
		v0(20, "stats", `, "swapped": 3`))
	if status != 0 || said != "" {
		t.Errorf("exit status %d, said %q", status, said)
	}
	spans := r.FlatSpans()
	if got := names(spans); got != "decode llm_request llm_request llm_request prefill wait" {
		t.Errorf("spans %s", got)
	}
	if s := find(t, spans, "llm_request", "old"); s.End != t0+5e6 {
		t.Errorf("the old engine's request ended at %d", s.End-t0)
	}
	for _, s := range spans {
		if s.Name == "llm_request" && s.Attrs["gen_ai.request.id"] == "r" && (s.End != t0+20e6 || s.Status != "UNSET") {
			t.Errorf("%+v", s)
		}
	}
	points := r.LastPoints()
	if n := pointValue(t, points, "gen_ai_vllm_request_success", "finished_reason", "abort", "model_name", "a"); n != 1 {
		t.Errorf("%v aborted", n)
	}
	if n := pointValue(t, points, "num_swapped_sys"); n != 3 {
		t.Errorf("swapped %v", n)
	}
}

// Each kind of bad line, with what is said of it; the rest is emitted.
func TestBadLines(t *testing.T) {
	engine := v1(0, "engine", `, "model": "a"`)
	arrived := v1(1, "arrived", of("ok", ""))
	bad := []struct{ line, says string }{
		{"{\n", "not a JSON object"},
		{"[1]\n", "line is a list, want a JSON object"},
		{"null\n", "line is null, want a JSON object"},
		{`{"ts": 1, "engine": "vllm-v1", "event": "queued"} x` + "\n", "not a JSON object"},
		{`{"engine": "vllm-v1", "event": "queued"}` + "\n", `field "ts" is missing`},
		{`{"ts": "1", "engine": "vllm-v1", "event": "queued"}` + "\n", `field "ts" is "1", want an integer of Unix nanoseconds`},
		{`{"ts": 1.5, "engine": "vllm-v1", "event": "queued"}` + "\n", `field "ts" is 1.5, want an integer`},
		{`{"ts": -1, "engine": "vllm-v1", "event": "queued"}` + "\n", `field "ts" is -1, want 0 or more`},
		{`{"ts": 0, "engine": "vllm-v1", "event": "queued"}` + "\n", `field "ts" is 0, want more than 0`},
		{`{"ts": 99999999999999999999, "engine": "vllm-v1", "event": "queued"}` + "\n", `field "ts" is 99999999999999999999, want an integer`},
		{`{"ts": 1, "engine": "trt", "event": "queued"}` + "\n", `field "engine" is "trt", want vllm-v0, vllm-v1 or sglang`},
		{`{"ts": 1, "engine": 3, "event": "queued"}` + "\n", `field "engine" is 3, want a string`},
		{v1(2, "exploded", of("ok", "")), `field "event" is "exploded", which vllm-v1 does not have`},
		{v1(2, "queued", of("nobody", "")), `request "nobody" is not open`},
		{v1(2, "queued", ""), `field "request" is missing`},
		{v1(2, "arrived", of("ok", "")), `request "ok" has arrived already`},
		{v1(2, "arrived", of("r", `, "max_tokens": "x"`)), `field "max_tokens" is "x", want an integer`},
		{v1(2, "arrived", of("r", `, "max_tokens": 1.5`)), `field "max_tokens" is 1.5, want an integer`},
		{v1(2, "arrived", of("r", `, "temperature": true`)), `field "temperature" is true, want a number`},
		{v1(2, "arrived", of("r", `, "prompt_tokens": -4`)), `field "prompt_tokens" is -4, want 0 or more`},
		{v1(2, "arrived", of("r", `, "pd_role": "both"`)), `field "pd_role" is "both", want producer, consumer or none`},
		{v1(2, "arrived", of("r", `, "traceparent": 4`)), `field "traceparent" is 4, want a string`},
		{v1(2, "tokenized", of("ok", `, "duration_ns": -4`)), `field "duration_ns" is -4, want 0 or more nanoseconds`},
		{v1(2, "tokenized", of("ok", "")), `field "duration_ns" is missing`},
		{v1(2, "decode", of("ok", `, "token_ids": [1, "x"]`)), `field "token_ids" is a list, want a list of integers`},
		{v1(2, "decode", of("ok", `, "token_texts": "x"`)), `field "token_texts" is a string, want a list of strings`},
		{v1(2, "decode", of("ok", `, "logprobs": ["x"]`)), `field "logprobs" is ["x"], want a list of numbers`},
		{v1(2, "kv_transfer_finished", of("ok", `, "failed": 1`)), `field "failed" is 1, want true or false`},
		{v1(2, "stats", `, "kv_cache_usage": 1.5`), `field "kv_cache_usage" is 1.5, want a number from 0 to 1`},
		{v1(2, "stats", `, "running": -1`), `field "running" is -1, want 0 or more`},
		{v1(2, "stats", `, "engine_index": 7`), `engine 7 is not declared`},
		{v1(2, "engine", ""), `field "model" is missing`},
		{v1(2, "engine", `, "model": ""`), `EngineConfig.Model is empty`},
		{strings.Replace(v1(2, "stats", ""), "v1", "v0", 1), `the engine is not declared`},
		{strings.Repeat("x", maxLine+1) + "\n", fmt.Sprintf("longer than %d bytes", maxLine)},
		{`{"ts": 1, "engine": "` + strings.Repeat("x", 9999) + `", "event": "queued"}` + "\n", `field "engine" is "xxx`},
	}
	in, number := engine+"\n  \n"+arrived, 4
	for _, b := range bad {
		in += b.line
	}
	in += v1(3, "finished", of("ok", `, "finish_reason": "stop"`))
	r, status, said := exec(t, strings.TrimSuffix(in, "\n"))
	if status != 1 {
		t.Errorf("exit status %d", status)
	}
	lines := strings.Split(said, "\n")
	if len(lines) != len(bad)+2 || lines[len(bad)] != fmt.Sprintf("engineshim: %d bad lines were skipped", len(bad)) {
		t.Fatalf("said %q", said)
	}
	for i, b := range bad {
		number++
		if !strings.HasPrefix(lines[i], fmt.Sprintf("engineshim: line %d: ", number)) || !strings.Contains(lines[i], b.says) {
			t.Errorf("of %.80q said %q, want %q", b.line, lines[i], b.says)
		}
		if len(lines[i]) > 300 {
			t.Errorf("said %d bytes", len(lines[i]))
		}
	}
	if got := names(r.FlatSpans()); got != "llm_request" {
		t.Errorf("spans %s", got)
	}
}
