package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// A bad line is named by its number and skipped; nothing of it is emitted, and
// everything else is.
func TestSGLangBadLines(t *testing.T) {
	const opening = `{"ts":1700000000000000000,"engine":"sglang","event":"engine","model":"m"}
{"ts":1700000000000000000,"engine":"sglang","event":"request_start","request":"r"}
{"ts":1700000000000000000,"engine":"sglang","event":"thread_start","request":"r","thread":"s","label":"Scheduler","host_id":"h","pid":1}
{"ts":1700000000000000000,"engine":"sglang","event":"thread_start","request":"r","thread":"e","label":"Scheduler","host_id":"h","pid":2}
{"ts":1700000000000000000,"engine":"sglang","event":"thread_end","request":"r","thread":"e"}
`
	const closing = `{"ts":1700000000009000000,"engine":"sglang","event":"thread_end","request":"r","thread":"s"}
{"ts":1700000000010000000,"engine":"sglang","event":"request_end","request":"r","unknown":[1]}
`
	bad := []struct{ line, want string }{
		{`"event":"finished","request":"r"`, `field "event" is "finished", which sglang does not have`},
		{`"event":"engine","pd_role":"producer"`, `field "pd_role" is "producer", want prefill, decode or none`},
		{`"event":"engine","model":7`, `field "model" is 7, want a string`},
		{`"event":"request_start"`, `field "request" is missing`},
		{`"event":"request_start","request":"r"`, `request "r" has arrived already`},
		{`"event":"request_end","request":"q"`, `request "q" is not open`},
		{`"event":"request_end"`, `field "request" is missing`},
		{`"event":"request_end","request":"r","prompt_tokens":-9`, `field "prompt_tokens" is -9, want 0 or more`},
		{`"event":"request_end","request":"r","top_k":1.5`, `field "top_k" is 1.5, want an integer`},
		{`"event":"request_end","request":"r","finish_reasons":"stop"`, `field "finish_reasons" is a string, want a list of strings`},
		{`"event":"request_end","request":"r","aborted":1`, `field "aborted" is 1, want true or false`},
		{`"event":"thread_start","request":"r","label":"Scheduler"`, `field "thread" is missing`},
		{`"event":"thread_start","request":"r","thread":"x"`, `field "label" is missing`},
		{`"event":"thread_start","request":"r","thread":"s","label":"Scheduler"`, `field "thread" is "s", want a thread that is not open`},
		{`"event":"thread_start","request":"r","thread":"x","label":5`, `field "label" is 5, want a string`},
		{`"event":"thread_end","request":"r","thread":"x"`, `field "thread" is "x", want a thread of the request that was started`},
		{`"event":"thread_end","request":"r"`, `field "thread" is missing`},
		{`"event":"thread_end","request":"r","thread":"s","abort":"gone"`, `field "abort" is "gone", want an object`},
		{`"event":"thread_end","request":"r","thread":"s","abort":{"status_code":"499"}`, `field "abort": field "status_code" is "499", want an integer`},
		{`"event":"stage_start","request":"r","thread":"s"`, `field "stage" is missing`},
		{`"event":"stage_start","request":"r","thread":"s","stage":"decode"`, `field "stage" is "decode", want one of the documented stages`},
		{`"event":"stage_end","request":"r","thread":"s","stage":"spec_verify","num_correct_drafts":-3`, `field "num_correct_drafts" is -3, want 0 or more`},
		{`"event":"stage","request":"r","thread":"s","stage":"decode_loop","start_ts":7`, `field "start_ts" is 7, want Unix nanoseconds from 1000000000`},
		{`"event":"stage","request":"r","thread":"s","stage":"decode_loop","end_ts":9223372036854775807`, `field "end_ts" is 9223372036854775807, want Unix nanoseconds from 1000000000`},
		{`"event":"retract","request":"r","thread":"s","ts":999999999`, `field "ts" is 999999999, want Unix nanoseconds from 1000000000`},
		{`"event":"request_start","request":"p","ts":8589934592000000000`, `field "ts" is 8589934592000000000, want Unix nanoseconds from 1000000000`},
		{`"event":"schedule","request":"r","thread":"s","batch_size":1`, `field "bid" is missing`},
		{`"event":"schedule","request":"r","thread":"s","bid":7,"batch_size":1`, `field "bid" is 7, want a string`},
		{`"event":"schedule","request":"r","thread":"s","bid":"b"`, `field "batch_size" is missing`},
		{`"event":"retract","request":"r"`, `field "thread" is missing`},
		{`"event":"stats","running":1,"used_tokens":0,"token_usage":0,"gen_throughput":0`, `field "queued" is missing`},
		{`"event":"stats","running":-1,"queued":0,"used_tokens":0,"token_usage":0,"gen_throughput":0`, `field "running" is -1, want 0 or more`},
		{`"event":"stats","running":1,"queued":0,"used_tokens":0,"token_usage":-0.5,"gen_throughput":0`, `field "token_usage" is -0.5, want 0 or more`},
		{`"event":"stats","running":1,"queued":0,"used_tokens":0,"token_usage":0.5,"gen_throughput":0,"cache_hit_rate":-1`, `field "cache_hit_rate" is -1, want 0 or more`},
	}
	input := opening
	for _, b := range bad {
		input += `{"ts":1700000000005000000,"engine":"sglang",` + b.line + "}\n"
	}
	r, status, stderr := exec(t, input+closing)
	if status != exitLost {
		t.Errorf("exit status %d, want 1", status)
	}
	said := strings.Split(stderr, "\n")
	for i, b := range bad {
		if want := fmt.Sprintf("engineshim: line %d: %s", i+6, b.want); !strings.HasPrefix(said[i], want) {
			t.Errorf("%s: said %q, want %q", b.line, said[i], want)
		}
	}
	if want := fmt.Sprintf("engineshim: %d bad lines were skipped", len(bad)); said[len(bad)] != want {
		t.Errorf("said %q, want %q", said[len(bad)], want)
	}
	var names []string
	for _, s := range r.FlatSpans() {
		names = append(names, fmt.Sprintf("%s %d", s.Name, s.End-t0))
	}
	slices.Sort(names)
	if want := []string{"Req r 10000000", "Scheduler (host:h | pid:1) 9000000", "Scheduler (host:h | pid:2) 0"}; !slices.Equal(names, want) {
		t.Errorf("spans %q, want %q", names, want)
	}
	for _, p := range r.LastPoints() {
		if p.Name == "sglang_log_count" {
			t.Error("a report was counted")
		}
	}
}

// A request hangs under the trace context that its first line carries, and an
// engine that is not declared still has its telemetry.
func TestSGLangTraceparent(t *testing.T) {
	const start = `{"ts":1700000000000000000,"engine":"sglang","event":"request_start","request":"r","traceparent":"%s"}
{"ts":1700000000005000000,"engine":"sglang","event":"request_end","request":"r"}
{"ts":1700000000006000000,"engine":"sglang","event":"stats","running":1,"queued":0,"used_tokens":0,"token_usage":0,"gen_throughput":0}
`
	for traceparent, want := range map[string]string{
		"00-0102030405060708090a0b0c0d0e0f10-0102030405060708-01": "0102030405060708",
		"00-0102030405060708090a0b0c0d0e0f10-0102030405060708-00": "not sampled",
		"garbage": "",
	} {
		r, status, stderr := exec(t, fmt.Sprintf(start, traceparent))
		if status != 0 {
			t.Errorf("exit status %d: %s", status, stderr)
		}
		spans := r.FlatSpans()
		switch {
		case want == "not sampled":
			if len(spans) != 0 {
				t.Errorf("%s: spans %v", traceparent, spans)
			}
		case len(spans) != 1 || spans[0].ParentID != want:
			t.Errorf("%s: spans %v, want one under %q", traceparent, spans, want)
		}
		if n := len(r.LastPoints()); n == 0 {
			t.Errorf("%s: no metrics", traceparent)
		}
	}
}
