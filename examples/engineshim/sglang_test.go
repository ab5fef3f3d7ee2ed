package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/infertel/infertel-go/internal/otlpreceiver/otlptest"
)

// sglangExpected is what must arrive of a file of lines: spans exactly, of the
// metrics at least those listed.
type sglangExpected struct {
	Env   map[string]string
	Spans []struct {
		ID, Name, Kind, Status string
		Start, End             uint64
		Parent                 *string
		Attributes             map[string]any
		Events                 []struct {
			Name       string
			TS         uint64
			Attributes map[string]any
		}
		Links []string
	}
	Metrics []struct {
		Name       string
		Value      float64
		Attributes map[string]any
	}
}

func TestSGLangTimelines(t *testing.T) {
	files, err := filepath.Glob("testdata/sglang-*.jsonl")
	if err != nil || len(files) < 13 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".jsonl"), func(t *testing.T) {
			var want sglangExpected
			text, err := os.ReadFile(strings.TrimSuffix(file, "jsonl") + "expected.json")
			if err != nil {
				t.Fatal(err)
			}
			// Integers stay integers: the type on the wire is compared too.
			d := json.NewDecoder(bytes.NewReader(text))
			d.UseNumber()
			if err := d.Decode(&want); err != nil {
				t.Fatal(err)
			}
			for k, v := range want.Env {
				t.Setenv(k, v)
			}
			lines, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got, status, stderr := shimSGLang(t, string(lines))
			if status != 0 {
				t.Errorf("exit status %d: %s", status, stderr)
			}
			want.check(t, got)
		})
	}
}

// shimSGLang feeds lines to the program, which exports to a receiver.
func shimSGLang(t *testing.T, lines string) (got *otlptest.Receiver, status int, stderr string) {
	t.Helper()
	r := otlptest.New(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", r.Endpoint())
	var out, problems bytes.Buffer
	status = run(t.Context(), nil, strings.NewReader(lines), &out, &problems)
	if out.Len() > 0 {
		t.Errorf("printed %q", out.String())
	}
	return r, status, problems.String()
}

func (want *sglangExpected) check(t *testing.T, r *otlptest.Receiver) {
	t.Helper()
	spans := r.FlatSpans()
	ids := map[string]string{} // of the spans that must arrive, by what they are called there
	found := map[string]otlptest.Span{}
	for _, w := range want.Spans {
		i := slices.IndexFunc(spans, func(s otlptest.Span) bool {
			parent := w.Parent == nil && s.ParentID == "" || w.Parent != nil && s.ParentID == ids[*w.Parent]
			// A parent may stand further down.
			return s.Name == w.Name && s.Start == w.Start && s.End == w.End && (parent || w.Parent != nil && ids[*w.Parent] == "")
		})
		if i < 0 {
			t.Errorf("no span %s %d-%d under %v", w.Name, w.Start, w.End, w.Parent)
			continue
		}
		ids[w.ID], found[w.ID] = spans[i].SpanID, spans[i]
		spans = slices.Delete(spans, i, i+1)
	}
	for _, s := range spans {
		t.Errorf("span %s %d-%d is too much", s.Name, s.Start, s.End)
	}
	for _, w := range want.Spans {
		s, ok := found[w.ID]
		if !ok {
			continue
		}
		if w.Parent != nil && s.ParentID != ids[*w.Parent] {
			t.Errorf("%s has another parent than %s", w.ID, *w.Parent)
		}
		if s.Kind != w.Kind || s.Status != w.Status {
			t.Errorf("%s is %s and %s, want %s and %s", w.ID, s.Kind, s.Status, w.Kind, w.Status)
		}
		sameAttributes(t, w.ID, s.Attrs, w.Attributes)
		var links []string
		for _, id := range w.Links {
			links = append(links, ids[id])
		}
		if got := linked(s); !slices.Equal(got, links) {
			t.Errorf("%s has the links %v, want %v", w.ID, got, links)
		}
		if len(s.Events) != len(w.Events) {
			t.Errorf("%s has the events %v, want %v", w.ID, s.Events, w.Events)
			continue
		}
		for i, e := range w.Events {
			if s.Events[i].Name != e.Name || s.Events[i].Time != e.TS {
				t.Errorf("%s has the event %v, want %v", w.ID, s.Events[i], e)
			}
			sameAttributes(t, w.ID+" "+e.Name, s.Events[i].Attrs, e.Attributes)
		}
	}
	for _, w := range want.Metrics {
		i := slices.IndexFunc(r.LastPoints(), func(p otlptest.Point) bool { return p.Name == w.Name })
		if i < 0 {
			t.Errorf("no metric %s", w.Name)
			continue
		}
		p := r.LastPoints()[i]
		value, _ := p.Value.(float64)
		if n, ok := p.Value.(int64); ok {
			value = float64(n)
		}
		if math.Abs(value-w.Value) > 1e-9 {
			t.Errorf("%s is %v, want %v", w.Name, value, w.Value)
		}
		sameAttributes(t, w.Name, p.Attrs, w.Attributes)
	}
}

func linked(s otlptest.Span) []string {
	var out []string
	for _, l := range s.Links {
		out = append(out, l.SpanID)
	}
	return out
}

func sameAttributes(t *testing.T, what string, got, want map[string]any) {
	t.Helper()
	text := func(v any) string {
		if n, ok := v.(json.Number); ok {
			if i, err := n.Int64(); err == nil && !strings.ContainsAny(n.String(), ".eE") {
				v = i
			} else {
				v, _ = n.Float64()
			}
		}
		if f, ok := v.(float64); ok {
			return fmt.Sprintf("%T %.9g", v, f)
		}
		return fmt.Sprintf("%T %v", v, v)
	}
	for k, v := range want {
		if g, ok := got[k]; !ok || text(g) != text(v) {
			t.Errorf("%s: %s is %s, want %s", what, k, text(g), text(v))
		}
	}
	for k, v := range got {
		if _, ok := want[k]; !ok {
			t.Errorf("%s: %s is %v, want it to be absent", what, k, v)
		}
	}
}

// A bad line is named by its number and skipped; nothing of it is emitted, and
// everything else is.
func TestSGLangBadLines(t *testing.T) {
	const opening = `{"ts":1700000000000000000,"engine":"sglang","event":"engine","model":"m"}
{"ts":1700000000000000000,"engine":"sglang","event":"request_start","request":"r"}
{"ts":1700000000000000000,"engine":"sglang","event":"thread_start","request":"r","thread":"s","label":"Scheduler","host_id":"h","pid":1}
{"ts":1700000000000000000,"engine":"sglang","event":"thread_start","request":"r","thread":"e","label":"Scheduler","host_id":"h","pid":2}
{"ts":1700000000000000000,"engine":"sglang","event":"thread_end","request":"r","thread":"e"}
`
	const closing = `
{"ts":1700000000009000000,"engine":"sglang","event":"thread_end","request":"r","thread":"s"}
{"ts":1700000000010000000,"engine":"sglang","event":"request_end","request":"r","unknown":[1]}
`
	for _, tc := range []struct{ line, want string }{
		{`"event":"finished","request":"r"`, `field "event" is "finished", which sglang does not have`},
		{`"event":"engine","pd_role":"producer"`, `field "pd_role" is "producer", want "prefill", "decode" or nothing`},
		{`"event":"engine","model":7`, `field "model" is 7, want a string`},
		{`"event":"request_start"`, `field "request" is missing`},
		{`"event":"request_start","request":"r"`, `request "r" has arrived already`},
		{`"event":"request_start","request":"q","bootstrap_room":-1`, `field "bootstrap_room" is -1, want an integer of 0 or more`},
		{`"event":"request_start","request":"q","embedding":"yes"`, `field "embedding" is "yes", want true or false`},
		{`"event":"request_end","request":"q"`, `request "q" is not open`},
		{`"event":"request_end"`, `field "request" is missing`},
		{`"event":"request_end","request":"r","prompt_tokens":-9`, `field "prompt_tokens" is -9, want 0 or more`},
		{`"event":"request_end","request":"r","top_k":1.5`, `field "top_k" is 1.5, want an integer`},
		{`"event":"request_end","request":"r","finish_reasons":"stop"`, `field "finish_reasons" is "stop", want a list of strings`},
		{`"event":"request_end","request":"r","aborted":1`, `field "aborted" is 1, want true or false`},
		{`"event":"thread_start","request":"r","label":"Scheduler"`, `field "thread" is missing`},
		{`"event":"thread_start","request":"r","thread":"x"`, `field "label" is missing`},
		{`"event":"thread_start","request":"r","thread":"s","label":"Scheduler"`, `field "thread" is "s", want a thread that is not open`},
		{`"event":"thread_start","request":"r","thread":"x","label":"Scheduler","from":"y"`, `field "from" is "y", want a thread of the request`},
		{`"event":"thread_start","request":"r","thread":"x","label":"Scheduler","tp_rank":"0"`, `field "tp_rank" is "0", want an integer`},
		{`"event":"thread_end","request":"r","thread":"x"`, `field "thread" is "x", want a thread of the request that was started and has not ended`},
		{`"event":"thread_end","request":"r","thread":"e"`, `field "thread" is "e", want a thread of the request that was started and has not ended`},
		{`"event":"thread_end","request":"r"`, `field "thread" is missing`},
		{`"event":"thread_end","request":"r","thread":"s","abort":"gone"`, `field "abort" is "gone", want an object`},
		{`"event":"thread_end","request":"r","thread":"s","abort":{"status_code":"499"}`, `field "abort": field "status_code" is "499", want an integer`},
		{`"event":"stage_start","request":"r","thread":"s"`, `field "stage" is missing`},
		{`"event":"stage_start","request":"r","thread":"s","stage":"decode"`, `field "stage" is "decode", want one of the documented stages`},
		{`"event":"stage_end","request":"r","thread":"s","stage":"spec_verify","num_correct_drafts":-3`, `field "num_correct_drafts" is -3, want 0 or more`},
		{`"event":"stage","request":"r","thread":"s","stage":"decode_loop","start_ts":1700000000000000000`, `field "end_ts" is missing`},
		{`"event":"stage","request":"r","thread":"s","stage":"decode_loop","start_ts":1700000000000000002,"end_ts":1700000000000000001`, `field "end_ts" is 1700000000000000001, want no less than start_ts`},
		{`"event":"schedule","request":"r","thread":"s","batch_size":1`, `field "bid" is missing`},
		{`"event":"schedule","request":"r","thread":"s","bid":7,"batch_size":1`, `field "bid" is 7, want a string`},
		{`"event":"schedule","request":"r","thread":"s","bid":"b"`, `field "batch_size" is missing`},
		{`"event":"retract","request":"r"`, `field "thread" is missing`},
		{`"event":"stats","running":1`, `field "queued" is missing`},
		{`"event":"stats","running":-1,"queued":0,"used_tokens":0,"token_usage":0,"gen_throughput":0`, `field "running" is -1, want 0 or more`},
		{`"event":"stats","running":1,"queued":0,"used_tokens":0,"token_usage":-0.5,"gen_throughput":0`, `field "token_usage" is -0.5, want 0 or more`},
		{`"event":"stats","running":1,"queued":0,"used_tokens":0,"token_usage":0.5,"gen_throughput":0,"cache_hit_rate":-1`, `field "cache_hit_rate" is -1, want 0 or more`},
	} {
		r, status, stderr := shimSGLang(t, opening+`{"ts":1700000000005000000,"engine":"sglang",`+tc.line+"}"+closing)
		if status != exitLost || !strings.Contains(stderr, "line 6: ") || !strings.Contains(stderr, tc.want) {
			t.Errorf("%s: exit status %d and %q, want 1 and %q", tc.line, status, stderr, tc.want)
		}
		var names []string
		for _, s := range r.FlatSpans() {
			names = append(names, fmt.Sprintf("%s %d", s.Name, s.End-1700000000000000000))
		}
		slices.Sort(names)
		if want := []string{"Req r 10000000", "Scheduler (host:h | pid:1) 9000000", "Scheduler (host:h | pid:2) 0"}; !slices.Equal(names, want) {
			t.Errorf("%s: spans %q, want %q", tc.line, names, want)
		}
		for _, p := range r.LastPoints() {
			if p.Name == "sglang_log_count" {
				t.Errorf("%s: a report was counted", tc.line)
			}
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
		r, status, stderr := shimSGLang(t, fmt.Sprintf(start, traceparent))
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
