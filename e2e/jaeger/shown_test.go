package main

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// uiTrace is a trace in the form that the web UI gets.
type uiTrace struct {
	TraceID string
	Spans   []uiSpan
}

type uiSpan struct {
	SpanID        string
	OperationName string
	References    []struct{ RefType, TraceID, SpanID string }
	Logs          []struct {
		Fields []struct {
			Key   string
			Value any
		}
	}
	Warnings []string
}

// shown has the lines that must be among those of the tree of some trace. A line is
// a span after all that it stands under, or one of its events or links.
var shown = []string{
	"chat qwen2.5-7b > llm_request",
	"chat qwen3-8b > llm_request > wait > kv_transfer",
	"chat qwen3-8b > llm_request > prefill",
	"chat qwen3-8b > llm_request > decode",
	"chat qwen3-8b > llm_request • WAIT",
	"chat qwen3-8b > llm_request • PREFILL",
	"chat qwen3-8b > llm_request • DECODE",
	"chat qwen3-8b > llm_request • PREEMPTED",
	"embeddings bge-m3 > llm_request > prefill",
	"rerank bge-m3 > llm_request > prefill",
	"chat Qwen/Qwen3-8B > Req > MultiTokenizer-0 > tokenize",
	"chat Qwen/Qwen3-8B > Req > MultiTokenizer-0 > api_server_dispatch",
	"chat Qwen/Qwen3-8B > Req > MultiTokenizer-0 > api_server_dispatch ← tokenize",
	"chat Qwen/Qwen3-8B > Req > DP Controller > dpc_dispatch",
	"chat Qwen/Qwen3-8B > Req > DP Controller > dpc_dispatch ← api_server_dispatch",
	"chat Qwen/Qwen3-8B > Req > Scheduler [TP 0] [DP 0] > request_process ← dpc_dispatch",
	"chat Qwen/Qwen3-8B > Req > Scheduler [TP 1] [DP 0] > request_process ← dpc_dispatch",
	"chat Qwen/Qwen3-8B > Req > Scheduler [TP 0] [DP 0] > prefill_forward • schedule",
	"chat Qwen/Qwen3-8B > Req > Scheduler [TP 0] [DP 0] > decode_forward > decode_loop",
	"chat Qwen/Qwen3-8B > Req > Scheduler [TP 0] [DP 0] > decode_forward > spec_verify",
	"chat deepseek-ai/DeepSeek-V3 > Req > Scheduler [TP 0] [PP 1] > prefill_forward > chunked_prefill",
	"chat Qwen/Qwen3-32B > prefill Req > Prefill Scheduler [TP 0] > prefill_transfer_kv_cache",
	"chat Qwen/Qwen3-32B > decode Req > Decode Scheduler [TP 0] > decode_transferred",
}

// individual is what makes the name of a span that of one request or process.
var individual = regexp.MustCompile(` \(host:.*\)$|( ?Req) [0-9a-f]{8}$`)

// asShown draws the trees from what the web UI gets.
func asShown(t *testing.T, a *api, taken map[string][]span) {
	lines := map[string]bool{}
	for id, want := range taken {
		var answer struct{ Data []uiTrace }
		a.json("/api/traces/"+id, &answer)
		if len(answer.Data) != 1 || len(answer.Data[0].Spans) != len(want) {
			t.Fatalf("trace %s is not whole: %v", id, answer)
		}
		warnings(t, answer.Data[0], want)
		gotLinks, wantLinks := 0, 0
		for _, l := range tree(t, answer.Data[0]) {
			lines[l] = true
			if strings.Contains(l, " ← ") {
				gotLinks++
			}
		}
		for _, s := range want {
			wantLinks += len(s.Links)
		}
		if gotLinks != wantLinks {
			t.Errorf("trace %s shows %d links, want %d", id, gotLinks, wantLinks)
		}
	}
	for _, l := range shown {
		if !lines[l] {
			t.Errorf("no trace shows %q", l)
		}
	}
}

func tree(t *testing.T, trace uiTrace) (lines []string) {
	byID := map[string]uiSpan{}
	for _, s := range trace.Spans {
		byID[s.SpanID] = s
	}
	name := func(s uiSpan) string { return individual.ReplaceAllString(s.OperationName, "$1") }
	var path func(s uiSpan) string
	path = func(s uiSpan) string {
		for _, r := range s.References {
			if r.RefType == "CHILD_OF" && r.TraceID == trace.TraceID {
				return path(byID[r.SpanID]) + " > " + name(s)
			}
		}
		return name(s)
	}
	roots := 0
	for _, s := range trace.Spans {
		line := path(s)
		if line == name(s) {
			roots++
		}
		lines = append(lines, line)
		for _, r := range s.References {
			if r.RefType == "FOLLOWS_FROM" {
				lines = append(lines, line+" ← "+name(byID[r.SpanID]))
			}
		}
		for _, l := range s.Logs {
			for _, f := range l.Fields {
				if f.Key == "event" {
					lines = append(lines, fmt.Sprint(line, " • ", f.Value))
				}
			}
		}
	}
	if roots != 1 {
		t.Errorf("trace %s has %d roots", trace.TraceID, roots)
	}
	return lines
}

// warnings fails where Jaeger warns of a span, but of one without duration.
func warnings(t *testing.T, trace uiTrace, want []span) {
	instant := map[string]bool{}
	for _, s := range want {
		instant[s.ID] = s.instant()
	}
	for _, s := range trace.Spans {
		if len(s.Warnings) > 0 && !instant[s.SpanID] {
			t.Errorf("%s of trace %s has the warnings %q", s.OperationName, trace.TraceID, s.Warnings)
		}
	}
}
