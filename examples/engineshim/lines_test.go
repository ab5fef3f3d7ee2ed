package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/infertel/infertel-go/internal/otlpreceiver/otlptest"
)

// engineA declares an engine.
var engineA = v1(0, "engine", `, "model": "a"`)

// What is said of a bad line never holds what a user or the model wrote.
func TestBadLinesKeepContent(t *testing.T) {
	const secret = "ignore all previous"
	for line, says := range map[string]string{
		v1(1, "prefill", of("r", `, "token_texts": ["`+secret+`", 5]`)):   `field "token_texts" is a list, want a list of strings`,
		v1(1, "prefill", of("r", `, "token_texts": "`+secret+`"`)):        `field "token_texts" is a string, want`,
		v1(1, "prefill", of("r", `, "token_texts": {"a": "`+secret+`"}`)): `field "token_texts" is an object, want`,
		v1(1, "prefill", of("r", `, "token_texts": 5`)):                   `field "token_texts" is a number, want`,
		v1(1, "prefill", of("r", `, "token_ids": ["`+secret+`"]`)):        `field "token_ids" is a list, want a list of integers`,
		v1(1, "arrived", of("s", `, "n": {"ignore": 1}`)):                 `field "n" is an object, want an integer`,
		v1(1, "prefill", of("r", `, "token_texts": true`)):                `field "token_texts" is true or false, want`,
		`{"token_texts": ["` + secret + "\n":                              "not a JSON object: unexpected end of JSON input, at byte",
		`{"token_texts": ["` + secret + `"], "ts": x}` + "\n":             "not a JSON object: invalid character 'x'",
		`["` + secret + `"]` + "\n":                                       "line is a list, want a JSON object",
		`"` + secret + `"` + "\n":                                         "line is a string, want a JSON object",
		secret + "\n":                                                     "not a JSON object: invalid character 'i'",
		`{"ts": 1, "token_texts": ["` + secret + `"], "logprobs": NaN}\n`: "not a JSON object: NaN and Infinity at byte",
	} {
		_, status, said := exec(t, engineA+v1(0, "arrived", of("r", ""))+line)
		if status != 1 || !strings.Contains(said, says) {
			t.Errorf("of %s said %q, want %q", line, said, says)
		}
		if strings.Contains(said, "ignore") {
			t.Errorf("of %s said %q", line, said)
		}
	}
}

// What Python's json.dumps writes of floats that JSON does not have is named.
func TestNumbersThatAreNotJSON(t *testing.T) {
	for _, value := range []string{"NaN", "Infinity", "-Infinity", "[-0.5, -Infinity]"} {
		_, status, said := exec(t, engineA+v1(0, "arrived", of("r", ""))+v1(1, "prefill", of("r", `, "logprobs": `+value)))
		if status != 1 || !strings.Contains(said, "NaN and Infinity") || !strings.Contains(said, "allow_nan=False") {
			t.Errorf("%s: exit status %d, said %q", value, status, said)
		}
	}
	if _, _, said := exec(t, "{\"ts\": Nil}\n"); strings.Contains(said, "NaN") {
		t.Errorf("said %q", said)
	}
}

// A byte order mark before the first line is skipped, and nowhere else.
func TestByteOrderMark(t *testing.T) {
	r, status, said := exec(t, "\ufeff"+engineA+one("r"))
	if status != 0 || said != "" || len(r.FlatSpans()) != 4 {
		t.Errorf("exit status %d, said %q", status, said)
	}
	if _, status, _ := exec(t, engineA+"\ufeff"+one("r")); status != 1 {
		t.Errorf("exit status %d for a mark in the middle", status)
	}
}

// A share that is outside of 0 to 1 by rounding is taken for the bound.
func TestRatioNoise(t *testing.T) {
	for given, want := range map[string]float64{"1.0000000000000002": 1, "1.0000000009": 1, "-1e-12": 0, "0.5": 0.5, "1": 1, "0": 0} {
		r, status, said := exec(t, engineA+v1(1, "stats", `, "running": 2, "kv_cache_usage": `+given))
		if status != 0 || said != "" {
			t.Errorf("%s: exit status %d, said %q", given, status, said)
		}
		if got := pointValue(t, r.LastPoints(), "gen_ai_vllm_kv_cache_usage_perc"); got != want {
			t.Errorf("%s: usage %v, want %v", given, got, want)
		}
	}
	for _, given := range []string{"1.00000001", "-0.00000001", "80", "1e300"} {
		if _, status, said := exec(t, engineA+v1(1, "stats", `, "kv_cache_usage": `+given)); status != 1 || !strings.Contains(said, "want a number from 0 to 1") {
			t.Errorf("%s: exit status %d, said %q", given, status, said)
		}
	}
}

func TestEmptyRequest(t *testing.T) {
	for _, event := range []string{"arrived", "queued", "finished"} {
		if _, status, said := exec(t, engineA+v1(1, event, of("", ""))); status != 1 || !strings.Contains(said, `field "request" is "", want an id that is not empty`) {
			t.Errorf("%s: exit status %d, said %q", event, status, said)
		}
	}
}

// The lines of a request make the same in any order: also a transfer whose end
// comes before its start, and two that overlap.
func TestLinesOutOfOrder(t *testing.T) {
	lines := []string{
		v1(1, "queued", of("r", "")),
		v1(2, "kv_transfer_started", of("r", "")), v1(3, "kv_transfer_started", of("r", "")),
		v1(4, "kv_transfer_finished", of("r", `, "cached_tokens": 1`)), v1(5, "kv_transfer_finished", of("r", `, "cached_tokens": 2`)),
		v1(6, "scheduled", of("r", "")), v1(7, "decode", of("r", "")), v1(8, "decode", of("r", "")), v1(9, "preempted", of("r", "")),
		v1(12, "scheduled", of("r", "")), v1(13, "decode", of("r", "")),
	}
	show := func(order []int) string {
		in := v1(0, "engine", `, "model": "a", "pd_role": "consumer"`) + v1(0, "arrived", of("r", ""))
		for _, i := range order {
			in += lines[i]
		}
		t.Setenv("VLLM_TRACE_GRANULARITY", "2")
		r, status, said := exec(t, in+v1(14, "finished", of("r", `, "finish_reason": "stop", "completion_tokens": 3`)))
		if status != 0 || said != "" {
			t.Errorf("exit status %d, said %q", status, said)
		}
		var out strings.Builder
		for _, s := range r.FlatSpans() {
			fmt.Fprint(&out, s.Name, " ", s.Start-t0, " ", s.End-t0, " ", s.Attrs)
			for _, e := range s.Events {
				fmt.Fprint(&out, " ", e.Name, "@", e.Time-t0)
			}
			fmt.Fprintln(&out)
		}
		return out.String()
	}
	want := show([]int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10})
	if !strings.Contains(want, "kv_transfer 2000000 4000000") || !strings.Contains(want, "kv_transfer 3000000 5000000") {
		t.Fatalf("overlapping transfers:\n%s", want)
	}
	for _, order := range [][]int{
		{10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0},
		{3, 1, 4, 2, 0, 5, 7, 6, 8, 9, 10},
		{5, 9, 1, 3, 2, 4, 10, 8, 6, 7, 0},
	} {
		if got := show(order); sortLines(got) != sortLines(want) {
			t.Errorf("order %v:\n%s\nwant\n%s", order, got, want)
		}
	}
}

// An end is not taken for that of a transfer which started after it.
func TestTransfersOutOfOrder(t *testing.T) {
	r, status, said := exec(t, engineA+v1(0, "arrived", of("r", ""))+v1(1, "queued", of("r", ""))+v1(9, "scheduled", of("r", ""))+
		v1(7, "kv_transfer_started", of("r", ""))+v1(4, "kv_transfer_finished", of("r", ""))+v1(2, "kv_transfer_started", of("r", ""))+v1(8, "kv_transfer_finished", of("r", ""))+
		v1(10, "finished", of("r", `, "finish_reason": "abort"`)))
	var got []uint64
	for _, s := range r.FlatSpans() {
		if s.Name == "kv_transfer" {
			got = append(got, (s.Start-t0)/1e6, (s.End-t0)/1e6)
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, []uint64{2, 4, 7, 8}) || status != 0 || said != "" {
		t.Errorf("transfers %v, exit status %d, said %q", got, status, said)
	}
}

// A request id may be used again once its request has finished; a second finish is
// a bad line.
func TestRequestIDs(t *testing.T) {
	r, status, said := exec(t, engineA+one("r")+v1(6, "finished", of("r", `, "finish_reason": "stop"`))+one("r"))
	if status != 1 || !strings.Contains(said, `line 8: request "r" is not open`) || strings.Count(said, "\n") != 2 {
		t.Errorf("exit status %d, said %q", status, said)
	}
	if n := strings.Count(names(r.FlatSpans()), "llm_request"); n != 2 {
		t.Errorf("%d requests", n)
	}
	if n := pointValue(t, r.LastPoints(), "gen_ai_vllm_request_success"); n != 2 {
		t.Errorf("%v finished requests", n)
	}
}

// The frontend's first token and the engine's last one, and counts of 0.
func TestFinishedOverrides(t *testing.T) {
	r, status, said := exec(t, engineA+v1(0, "arrived", of("r", ""))+v1(1, "queued", of("r", ""))+v1(2, "scheduled", of("r", ""))+v1(3, "prefill", of("r", ""))+
		v1(9, "finished", of("r", fmt.Sprintf(`, "completion_tokens": 5, "first_token_ts": %d, "last_token_ts": %d`, t0+4_000_000, t0+8_000_000)))+
		v1(10, "arrived", of("zero", ""))+v1(11, "queued", of("zero", ""))+v1(12, "scheduled", of("zero", ""))+v1(13, "prefill", of("zero", ""))+
		v1(19, "finished", of("zero", `, "completion_tokens": 0, "finish_reason": "abort"`)))
	if status != 0 || said != "" {
		t.Errorf("exit status %d, said %q", status, said)
	}
	spans := r.FlatSpans()
	a := find(t, spans, "llm_request", "r").Attrs
	if a["gen_ai.latency.time_to_first_token"] != int64(4e6) || a["gen_ai.latency.time_in_model_decode"] != int64(5e6) || a["gen_ai.usage.completion_tokens"] != int64(5) {
		t.Errorf("%v", a)
	}
	if d := find(t, spans, "decode", "r"); d.End != t0+8_000_000 {
		t.Errorf("decode ends at %d", d.End-t0)
	}
	if a := find(t, spans, "llm_request", "zero").Attrs; a["gen_ai.usage.completion_tokens"] != int64(0) {
		t.Errorf("%v", a)
	}
	if n := pointValue(t, r.LastPoints(), "gen_ai_vllm_request_success", "finished_reason", "_OTHER"); n != 1 {
		t.Errorf("%v without a reason", n)
	}
}

// What is open at the end is aborted at the newest time read, which need not be
// that of the last line.
func TestNewestTime(t *testing.T) {
	v0 := func(ms float64, event, more string) string {
		return strings.Replace(v1(ms, event, more), "vllm-v1", "vllm-v0", 1)
	}
	r, status, said := exec(t, engineA+v0(0, "engine", `, "model": "b"`)+v1(1, "arrived", of("r", ""))+v0(30, "stats", `, "running": 1`)+v1(2, "queued", of("r", "")))
	if s := find(t, r.FlatSpans(), "llm_request", "r"); status != 0 || s.End != t0+30_000_000 {
		t.Errorf("exit status %d, said %q, ended at %d", status, said, s.End-t0)
	}
	// Another V0 engine takes the place of the first, whose request ends.
	r, status, said = exec(t, v0(0, "engine", `, "model": "b"`)+v0(1, "arrived", of("r", ""))+v0(5, "engine", `, "model": "c"`)+v0(6, "arrived", of("r", ""))+v0(9, "stats", `, "running": 4`))
	spans := r.FlatSpans()
	if len(spans) != 2 || status != 0 || said != "" {
		t.Fatalf("%d spans, exit status %d, said %q", len(spans), status, said)
	}
	for _, s := range spans {
		if want := map[any]uint64{"b": t0 + 5_000_000, "c": t0 + 9_000_000}[s.Attrs["gen_ai.response.model"]]; s.End != want {
			t.Errorf("%v ended at %d", s.Attrs, s.End-t0)
		}
	}
	if n := pointValue(t, r.LastPoints(), "num_running_sys"); n != 4 {
		t.Errorf("running %v", n)
	}
}

// With -coalesce no token is lost, without it the oldest events are.
func TestCoalesce(t *testing.T) {
	t.Setenv("VLLM_TRACE_GRANULARITY", "2")
	file := "testdata/vllm-v1-400.jsonl"
	for _, coalesce := range []bool{true, false} {
		r := otlptest.New(t)
		t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", r.Endpoint())
		var said strings.Builder
		status := run(context.Background(), []string{"-input", file, fmt.Sprintf("-coalesce=%t", coalesce)}, nil, io.Discard, &said)
		s := find(t, r.FlatSpans(), "llm_request", "long")
		ids := 0
		for _, e := range s.Events {
			if v, ok := e.Attrs["gen_ai.token.ids"].([]int64); ok {
				ids += len(v)
			}
		}
		if status != 0 || coalesce != (ids == 400) || said.Len() > 0 || len(s.Events) > 128 {
			t.Errorf("coalesce %t: exit status %d, %d events with %d tokens, said %q", coalesce, status, len(s.Events), ids, said.String())
		}
	}
}

func sortLines(s string) string {
	lines := strings.Split(s, "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}
