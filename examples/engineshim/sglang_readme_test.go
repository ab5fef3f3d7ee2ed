package main

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/infertel/infertel-go/internal/sdktest"
)

// The lines that the README shows work, without a word.
func TestSGLangReadme(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "## From an SGLang engine")
	_, lines, _ := strings.Cut(section, "```json\n")
	lines, _, ok := strings.Cut(lines, "```")
	if !ok {
		t.Fatal("no lines")
	}
	errs := sdktest.HandleErrors(t)
	r, status, said := exec(t, lines)
	if reported := errs.Take(); status != 0 || said != "" || len(reported) > 0 {
		t.Errorf("exit status %d, said %q, reported %v", status, said, reported)
	}
	var names []string
	for _, s := range r.FlatSpans() {
		name, _, _ := strings.Cut(s.Name, " ")
		names = append(names, name)
		if linked := s.Name == "api_server_dispatch" || s.Name == "prefill_waiting" || s.Name == "prefill_forward" || s.Name == "decode_forward"; linked != (len(s.Links) == 1) {
			t.Errorf("%s has %d links", s.Name, len(s.Links))
		}
	}
	slices.Sort(names)
	if want := "Req Scheduler Tokenizer api_server_dispatch decode_forward decode_loop prefill_forward prefill_waiting tokenize"; strings.Join(names, " ") != want {
		t.Errorf("spans %v, want %s", names, want)
	}
	for _, name := range []string{"sglang_inter_token_latency_seconds", "gen_ai_server_time_to_first_token", "sglang_log_count"} {
		pointValue(t, r.LastPoints(), name)
	}
}
