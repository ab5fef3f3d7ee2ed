package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/infertel/infertel-go/internal/otlpreceiver/otlptest"
	"github.com/infertel/infertel-go/internal/sdktest"
)

// sg writes a line of an SGLang engine, so many milliseconds after t0.
func sg(ms float64, event, more string) string {
	return fmt.Sprintf(`{"ts": %d, "engine": "sglang", "event": %q%s}`+"\n", int64(t0)+int64(ms*1e6), event, more)
}

// ns is a field with a time so many milliseconds after t0.
func ns(name string, ms float64) string {
	return fmt.Sprintf(`, %q: %d`, name, int64(t0)+int64(ms*1e6))
}

const (
	inThread  = `, "thread": "s"`
	scheduler = inThread + `, "label": "Scheduler", "host_id": "h", "pid": 1`
	allTokens = `, "prompt_tokens": 1, "completion_tokens": 1, "cached_tokens": 0`
)

// lengths lists spans with their ends, in milliseconds after t0.
func lengths(spans []otlptest.Span) []string {
	var out []string
	for _, s := range spans {
		out = append(out, fmt.Sprintf("%s %g-%g", s.Name, float64(s.Start-t0)/1e6, float64(s.End-t0)/1e6))
	}
	slices.Sort(out)
	return out
}

// Lines that come late or twice are no bad lines: nothing is lost over them, what
// is left out is said once, and the exit status is 0.
func TestSGLangLinesOutOfOrder(t *testing.T) {
	start := sg(0, "engine", `, "model": "m"`) + sg(0, "request_start", of("r", "")) + sg(0, "thread_start", of("r", scheduler)) +
		sg(1, "dispatched", of("r", "")) + sg(2, "first_token", of("r", ""))
	threadEnd, end := sg(8, "thread_end", of("r", inThread)), sg(9, "request_end", of("r", allTokens))
	whole := []string{"Req r 0-9", "Scheduler (host:h | pid:1) 0-8"}
	stage := func(more string) string { return sg(3, "stage", of("r", inThread+`, "stage": "prefill_forward"`+more)) }
	for name, tc := range map[string]struct {
		lines string
		said  string
		spans []string // besides the whole
	}{
		"nothing":              {start + threadEnd + end, "", nil},
		"stage backward":       {start + stage(ns("start_ts", 3)+ns("end_ts", 2)) + threadEnd + end, "stage prefill_forward would end 1ms before it starts", nil},
		"stage without end":    {start + stage(ns("start_ts", 3)) + threadEnd + end, "stage prefill_forward was recorded without its start or its end", nil},
		"stage with end null":  {start + stage(ns("start_ts", 3)+`, "end_ts": null`) + threadEnd + end, "without its start or its end", nil},
		"stage with end 0":     {start + stage(ns("start_ts", 3)+`, "end_ts": 0`) + threadEnd + end, "without its start or its end", nil},
		"stage without start":  {start + stage(ns("end_ts", 3)) + threadEnd + end, "without its start or its end", nil},
		"stage with start 0":   {start + stage(ns("end_ts", 3)+`, "start_ts": 0`) + threadEnd + end, "without its start or its end", nil},
		"second thread_end":    {start + threadEnd + sg(8.5, "thread_end", of("r", inThread)) + end, "a thread was ended again", nil},
		"stage after the end":  {start + threadEnd + stage(ns("start_ts", 2)+ns("end_ts", 3)) + end, "stage prefill_forward was told to a thread that had ended", nil},
		"start after the end":  {start + threadEnd + sg(3, "stage_start", of("r", inThread+`, "stage": "prefill_forward"`)) + end, "told to a thread that had ended", nil},
		"event after the end":  {start + threadEnd + sg(3, "retract", of("r", inThread)) + end, "an event was told to a thread that had ended", nil},
		"after the request":    {start + threadEnd + end + stage(ns("start_ts", 2)+ns("end_ts", 3)) + sg(9, "retract", of("r", inThread)), "told to a thread that had ended", nil},
		"thread after request": {start + sg(8, "request_end", of("r", allTokens)) + threadEnd, "1 open threads; they end with it\na thread was ended again", []string{"Req r 0-8", "Scheduler (host:h | pid:1) 0-8"}},
		"started after":        {start + threadEnd + end + sg(9, "thread_start", of("r", `, "thread": "x", "label": "Scheduler"`)), "a thread was started on a request that had ended", nil},
		"second request_end":   {start + threadEnd + end + sg(99, "request_end", of("r", `, "aborted": true`)), "was ended again; the first end holds", nil},
		"output after":         {start + threadEnd + end + sg(99, "output", of("r", "")), "was told after its end", nil},
	} {
		t.Run(name, func(t *testing.T) {
			errs := sdktest.HandleErrors(t)
			r, status, stderr := exec(t, tc.lines)
			if status != 0 || stderr != "" {
				t.Errorf("exit status %d, said %q", status, stderr)
			}
			want := whole
			if tc.spans != nil {
				want = tc.spans
			}
			if got := lengths(r.FlatSpans()); !slices.Equal(got, want) {
				t.Errorf("spans %q, want %q", got, want)
			}
			reported := errs.Take()
			var expected []string
			if tc.said != "" {
				expected = strings.Split(tc.said, "\n")
			}
			for _, w := range expected {
				if !slices.ContainsFunc(reported, func(err error) bool { return strings.Contains(err.Error(), w) }) {
					t.Errorf("reported %v, want %q", reported, w)
				}
			}
			if tc.said == "" && len(reported) > 0 {
				t.Errorf("reported %v", reported)
			}
		})
	}
}

// A bad field is said, and the request or the thread starts without it.
func TestSGLangStartsWithoutABadField(t *testing.T) {
	for _, tc := range []struct{ request, thread, said, room string }{
		{``, ``, ``, ""},
		{`, "bootstrap_room": 255`, ``, ``, "0xff"},
		{`, "bootstrap_room": "0x5"`, ``, ``, "0x5"},
		{`, "bootstrap_room": "0XfF"`, ``, ``, "0xff"},
		{`, "bootstrap_room": "255"`, ``, ``, "0xff"},
		{`, "bootstrap_room": 18446744073709551615`, ``, ``, "0xffffffffffffffff"},
		{`, "bootstrap_room": null`, ``, ``, ""},
		{`, "bootstrap_room": "ff"`, ``, `line 2: field "bootstrap_room" is "ff", want an integer of 0 or more, or one as text`, ""},
		{`, "bootstrap_room": "0x_5"`, ``, `line 2: field "bootstrap_room" is "0x_5"`, ""},
		{`, "bootstrap_room": ""`, ``, `line 2: field "bootstrap_room" is ""`, ""},
		{`, "bootstrap_room": -1`, ``, `line 2: field "bootstrap_room" is -1`, ""},
		{`, "embedding": "yes"`, ``, `line 2: field "embedding" is "yes", want true or false`, ""},
		{`, "traceparent": 7`, ``, `line 2: field "traceparent" is 7, want a string`, ""},
		{``, `, "from": "y"`, `line 3: field "from" is "y", want a thread of the request`, ""},
		{``, `, "from": ""`, `line 3: field "from" is "", want a thread of the request`, ""},
		{``, `, "from": null`, ``, ""},
		{``, `, "tp_rank": "0"`, `line 3: field "tp_rank" is "0", want an integer`, ""},
		{``, `, "dp_rank": 0.5`, `line 3: field "dp_rank" is 0.5, want an integer`, ""},
	} {
		in := sg(0, "engine", `, "model": "m", "pd_role": "decode"`) + sg(0, "request_start", of("r", tc.request)) + sg(0, "thread_start", of("r", scheduler+tc.thread)) +
			sg(3, "stage", of("r", inThread+`, "stage": "decode_waiting"`+ns("start_ts", 1)+ns("end_ts", 2))) +
			sg(8, "thread_end", of("r", inThread)) + sg(9, "request_end", of("r", allTokens))
		r, status, stderr := exec(t, in)
		if status != 0 != (tc.said != "") || !strings.Contains(stderr, tc.said) {
			t.Errorf("%+v: exit status %d, said %q", tc, status, stderr)
		}
		spans := r.FlatSpans()
		want := []string{"Decode Scheduler (host:h | pid:1) 0-8", "decode Req r 0-9", "decode_waiting 1-2"}
		if got := lengths(spans); !slices.Equal(got, want) {
			t.Errorf("%+v: spans %q, want %q", tc, got, want)
		}
		for _, s := range spans {
			if room, _ := s.Attrs["bootstrap_room"].(string); strings.HasPrefix(s.Name, "decode Req") && room != tc.room {
				t.Errorf("%+v: room %q", tc, room)
			}
			if len(s.Links) > 0 {
				t.Errorf("%+v: links %v", tc, s.Links)
			}
		}
	}
}

// What an abort tells is told as it is: null and absent are left out, "" is not.
func TestSGLangAbort(t *testing.T) {
	for abort, want := range map[string]map[string]any{
		`{}`: {},
		`{"type": null, "message": null, "status_code": null, "err_type": null, "reason": null}`: {},
		`{"type": "", "message": "", "status_code": 0, "err_type": "", "reason": ""}`:            {"type": "", "message": "", "status_code": int64(0), "err_type": "", "reason": ""},
		`{"err_type": "BadRequestError", "reason": "gone"}`:                                      {"err_type": "BadRequestError", "reason": "gone"},
	} {
		r, status, stderr := exec(t, sg(0, "request_start", of("r", ""))+sg(0, "thread_start", of("r", scheduler))+
			sg(8, "thread_end", of("r", inThread+`, "abort": `+abort))+sg(9, "request_end", of("r", `, "aborted": true`)))
		if status != 0 {
			t.Errorf("exit status %d, said %q", status, stderr)
		}
		for _, s := range r.FlatSpans() {
			if s.Name != "Scheduler (host:h | pid:1)" {
				continue
			}
			if s.Status != "ERROR" {
				t.Errorf("%s: status %s", abort, s.Status)
			}
			want["host_id"], want["pid"], want["thread_label"] = "h", int64(1), "Scheduler"
			compareAttrs(t, abort, s.Attrs, want)
		}
	}
}

// A request that is told no counts has none; those that are told are there.
func TestSGLangUnknownCounts(t *testing.T) {
	for given, want := range map[string][]string{
		"":                       nil,
		`, "prompt_tokens": 0`:   {"gen_ai.usage.prompt_tokens"},
		`, "cached_tokens": 3`:   {"gen_ai.usage.cached_tokens"},
		allTokens:                {"gen_ai.usage.cached_tokens", "gen_ai.usage.completion_tokens", "gen_ai.usage.prompt_tokens"},
		`, "cached_tokens":null`: nil,
	} {
		r, status, stderr := exec(t, sg(0, "request_start", of("r", ""))+sg(9, "request_end", of("r", given)))
		if status != 0 {
			t.Errorf("exit status %d, said %q", status, stderr)
		}
		var got []string
		for k := range r.FlatSpans()[0].Attrs {
			if strings.HasPrefix(k, "gen_ai.usage.") {
				got = append(got, k)
			}
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", given, got, want)
		}
	}
}

// An id and the name of a thread can be used again. What is open at the end is
// aborted at the newest ts, which need not be that of the last line, and only that.
func TestSGLangNamesUsedAgain(t *testing.T) {
	thread := func(ms float64) string {
		return sg(ms, "thread_start", of("r", scheduler)) + sg(ms+1, "thread_end", of("r", inThread))
	}
	r, status, stderr := exec(t, sg(0, "request_start", of("r", ""))+thread(0)+thread(2)+sg(5, "request_end", of("r", allTokens))+
		sg(10, "request_start", of("r", ""))+thread(10)+sg(12, "thread_start", of("r", scheduler))+
		sg(20, "stats", `, "running": 1, "queued": 0, "used_tokens": 0, "token_usage": 0, "gen_throughput": 0`)+
		sg(14, "dispatched", of("r", "")))
	if status != 0 {
		t.Errorf("exit status %d, said %q", status, stderr)
	}
	const name = "Scheduler (host:h | pid:1) "
	want := []string{"Req r 0-5", "Req r 10-20", name + "0-1", name + "10-11", name + "12-20", name + "2-3"}
	spans := r.FlatSpans()
	if got := lengths(spans); !slices.Equal(got, want) {
		t.Errorf("spans %q, want %q", got, want)
	}
	for _, s := range spans {
		if open := s.End == t0+20e6 && s.Name != "Req r"; (s.Status == "ERROR") != open {
			t.Errorf("%v has the status %s", lengths([]otlptest.Span{s}), s.Status)
		}
	}
	if n := pointValue(t, r.LastPoints(), "num_requests_total"); n != 2 {
		t.Errorf("%v requests", n)
	}
}

// Only so many requests that have ended are remembered, the newest ones.
func TestSGLangForgetsRequests(t *testing.T) {
	h := newSGLang(inProcess{}).(*sglangEngines)
	for i := range 10 * maxEnded {
		r := &sglangRequest{id: fmt.Sprint(i % (5 * maxEnded))}
		h.start(r)
		h.end(r)
		h.end(r)
	}
	if len(h.ended) != maxEnded || len(h.requests) != maxEnded || h.open.Len() != 0 {
		t.Errorf("%d have ended, %d are known, %d open", len(h.ended), len(h.requests), h.open.Len())
	}
}
