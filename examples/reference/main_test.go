package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/infertel/infertel-go/examples/internal/command"
	"github.com/infertel/infertel-go/internal/otlpreceiver"
	"github.com/infertel/infertel-go/semconv"
	"github.com/infertel/infertel-go/vllm"
)

// alone runs the program without a collector.
func alone(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	for _, name := range []string{"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT"} {
		t.Setenv(name, "")
	}
	var out, errs bytes.Buffer
	code = run(context.Background(), args, &out, &errs)
	return code, out.String(), errs.String()
}

func TestSameSeedSameTelemetry(t *testing.T) {
	a, b, c := collect(t, "-seed", "5").canonical(), collect(t, "-seed", "5").canonical(), collect(t, "-seed", "6").canonical()
	if !slices.Equal(a, b) {
		for i := range min(len(a), len(b)) {
			if a[i] != b[i] {
				t.Fatalf("two runs with the same seed differ:\n%s\n%s", a[i], b[i])
			}
		}
		t.Fatalf("two runs with the same seed made %d and %d items", len(a), len(b))
	}
	if slices.Equal(a, c) {
		t.Error("two runs with different seeds do not differ")
	}
}

// Whatever is asked for, what arrives is as documented.
func TestConformance(t *testing.T) {
	for _, args := range []string{
		"", "-seed 2", "-engine vllm-v0", "-engine vllm-v1 -granularity 1", "-engine vllm-v1 -granularity 0", "-output-tokens 1", "-requests 1",
		"-engine sglang -trace-level 3", "-engine sglang -trace-level 2", "-engine sglang -trace-level 1", "-engine sglang -trace-level 0",
		"-requests 13 -output-tokens 70",
	} {
		code, stdout, stderr := alone(t, append(strings.Fields(args), "-check")...)
		if code != 0 || !strings.Contains(stdout, "0 violations") || !strings.Contains(stdout, "nothing was lost") {
			t.Errorf("%q: exit status %d, stderr: %.2000s", args, code, stderr)
		}
	}
}

// The check finds what is not as documented, also in a trace without a root.
func TestCheckFinds(t *testing.T) {
	c := newChecker(&flags{granularity: 2, traceLevel: 4})
	c.inspect([]otlpreceiver.Span{{
		Origin: otlpreceiver.Origin{Scope: &commonpb.InstrumentationScope{Name: vllm.ScopeName}},
		Span: &tracepb.Span{TraceId: make([]byte, 16), SpanId: []byte("12345678"), ParentSpanId: []byte("87654321"), Name: semconv.SpanLLMRequest,
			Kind: tracepb.Span_SPAN_KIND_SERVER, StartTimeUnixNano: 1, EndTimeUnixNano: 2},
	}}, nil, nil)
	if err := c.finish(); err == nil || !strings.Contains(err.Error(), "span.kind") {
		t.Errorf("it finds %v, want a wrong kind", err)
	}
}

// A trace is judged as a whole, wherever its root comes, and then forgotten.
func TestCheckForgets(t *testing.T) {
	c := newChecker(&flags{granularity: 2, traceLevel: 4})
	span := func(trace, id, parent string) otlpreceiver.Span {
		return otlpreceiver.Span{Span: &tracepb.Span{TraceId: []byte(trace), SpanId: []byte(id), ParentSpanId: []byte(parent)}}
	}
	one := func(spans ...otlpreceiver.Span) { c.inspect(spans, nil, nil) }
	one(span("a", "2", "1"), span("a", "1", ""), span("a", "3", "1"))
	one()
	one(span("a", "4", "1"), span("b", "1", ""))
	if c.tally.Spans != 4 || len(c.open) != 1 {
		t.Errorf("%d spans were judged and %d traces are kept, want 4 and 1", c.tally.Spans, len(c.open))
	}
	if err := c.finish(); err != nil || c.tally.Spans != 5 || len(c.open) != 0 {
		t.Errorf("%d spans were judged and %d traces are kept in the end, want 5 and 0: %v", c.tally.Spans, len(c.open), err)
	}
}

// All that engines put out and all requests end are accounted for.
func TestNothingIsLost(t *testing.T) {
	const requests = 16
	r := collect(t, "-requests", "16", "-output-tokens", "150")
	if want := "128 requests to 10 engines: all telemetry was sent to the collector, nothing was lost."; !strings.Contains(r.stdout, want) {
		t.Errorf("it says %q, want %q", r.stdout, want)
	}
	entries := 0
	for _, s := range r.spans {
		if len(s.GetParentSpanId()) == 0 {
			entries++
		} else if _, ok := r.byID[string(s.GetParentSpanId())]; !ok {
			t.Errorf("the parent of %q did not arrive", s.GetName())
		}
	}
	if want := 9 * requests; entries != want { // SGLang's two nodes each have their own
		t.Errorf("%d entry spans, want %d", entries, want)
	}
	// Coalesced or not, the events of vLLM V1 carry every token.
	for _, s := range r.named(semconv.SpanLLMRequest) {
		a := otlpreceiver.Attributes(s.GetAttributes())
		if _, isV1 := a[string(semconv.GenAIEngineIndexKey)]; !isV1 {
			continue
		}
		var ids int64
		for _, e := range s.GetEvents() {
			if list, ok := otlpreceiver.Attributes(e.GetAttributes())[string(semconv.GenAITokenIDsKey)].([]int64); ok {
				ids += int64(len(list))
			}
		}
		if a[string(semconv.GenAIUsageCompletionTokensKey)] != ids || s.GetDroppedEventsCount() > 0 {
			t.Errorf("events have %d tokens, %d events were dropped, the request has %v tokens", ids, s.GetDroppedEventsCount(), a[string(semconv.GenAIUsageCompletionTokensKey)])
		}
	}
	decoded := map[string]bool{}
	for _, s := range r.named(semconv.StageDecodeLoop) {
		decoded[string(s.GetTraceId())] = true
	}
	if len(decoded) != 3*requests {
		t.Errorf("%d traces have decode loops, want %d", len(decoded), 3*requests)
	}
}

func TestWithoutTraces(t *testing.T) {
	t.Setenv("OTEL_TRACES_EXPORTER", "none")
	r := collect(t, "-engine", "sglang")
	if len(r.spans) > 0 || len(r.metrics) == 0 {
		t.Errorf("%d spans and %d metrics arrived, want metrics alone", len(r.spans), len(r.metrics))
	}
}

// Content goes where the environment says.
func TestContentFromEnvironment(t *testing.T) {
	t.Setenv("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "NO_CONTENT")
	r := collect(t, "-engine", "vllm-v1")
	for _, s := range r.spans {
		if _, ok := otlpreceiver.Attributes(s.GetAttributes())[string(semconv.GenAIInputMessagesKey)]; ok {
			t.Errorf("%q carries content", s.GetName())
		}
	}
	if len(r.logs) > 0 {
		t.Error("there are log events with content")
	}
}

func TestUsage(t *testing.T) {
	for args, want := range map[string]string{
		"-engine tgi":           "-engine",
		"-granularity 3":        "-granularity",
		"-trace-level 5":        "-trace-level",
		"-requests 0":           "-requests",
		"-output-tokens 0":      "-output-tokens",
		"-speed -1":             "-speed",
		"-speed NaN":            "-speed",
		"-seed x":               "-seed",
		"-nonsense":             "-nonsense",
		"argument":              "argument",
		"-requests 0 -speed -1": "-speed",
	} {
		if code, stdout, stderr := alone(t, strings.Fields(args)...); code != command.ExitUsage || !strings.Contains(stderr, want) || stdout != "" {
			t.Errorf("%s: exit status %d, stderr %q", args, code, stderr)
		}
	}
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
	var out, errs bytes.Buffer
	if code := run(context.Background(), []string{"-check"}, &out, &errs); code != command.ExitUsage {
		t.Errorf("-check with a collector: exit status %d", code)
	}
}

func TestHelpExplainsEveryFlag(t *testing.T) {
	code, _, stderr := alone(t, "-h")
	if code != 0 {
		t.Errorf("exit status %d", code)
	}
	for _, name := range []string{"engine", "granularity", "trace-level", "requests", "output-tokens", "seed", "speed", "check", "v", "html"} {
		if !strings.Contains(stderr, "  -"+name) {
			t.Errorf("-h does not explain -%s", name)
		}
	}
}

func TestDefaults(t *testing.T) {
	f, err := parse(nil, &bytes.Buffer{})
	if err != nil {
		t.Fatal(err)
	}
	if want := (flags{engine: "all", granularity: 2, traceLevel: 4, requests: 4, tokens: 12, seed: 1}); *f != want {
		t.Errorf("got %+v, want %+v", *f, want)
	}
}

// A collector that is not there is a loss, which is said.
func TestLoss(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
	t.Setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "200")
	var out, errs bytes.Buffer
	if code := run(context.Background(), []string{"-engine", "vllm-v0", "-requests", "1"}, &out, &errs); code != command.ExitLost || !strings.Contains(errs.String(), "lost") {
		t.Errorf("exit status %d, stderr %q", code, errs.String())
	}
	if strings.Contains(out.String(), "nothing was lost") {
		t.Error("it says that nothing was lost")
	}
}

// An interrupt ends what is under way, and that arrives as documented too.
func TestInterrupt(t *testing.T) {
	alone(t, "-h") // no collector from here on
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	var out, errs bytes.Buffer
	if code := run(ctx, []string{"-requests", "1000000", "-check"}, &out, &errs); code != 0 || !strings.Contains(errs.String(), "interrupted") || !strings.Contains(out.String(), "0 violations") {
		t.Errorf("exit status %d, stderr %.2000q", code, errs.String())
	}
}

// In real time spans are as long as the run.
func TestRealTime(t *testing.T) {
	began := time.Now()
	r := collect(t, "-engine", "vllm-v0", "-requests", "1", "-speed", "1")
	took := time.Since(began)
	entry := r.named("chat qwen2.5-7b")[0]
	if length := time.Duration(entry.GetEndTimeUnixNano() - entry.GetStartTimeUnixNano()); length > took {
		t.Errorf("the entry span lasts %v, the run only %v", length, took)
	}
}

func TestPrintedAndWritten(t *testing.T) {
	name := filepath.Join(t.TempDir(), "page.html")
	code, stdout, stderr := alone(t, "-html", name)
	if code != 0 {
		t.Fatal(stderr)
	}
	for _, want := range []string{"chat Qwen/Qwen3-8B", "└ llm_request", "Req ", "Scheduler [TP 1] [DP 0]", "ERROR", "• retract", "metrics of vllm", "log event gen_ai."} {
		if !strings.Contains(stdout, want) {
			t.Errorf("%q is not printed", want)
		}
	}
	if strings.Contains(stdout, "gen_ai.request.id") {
		t.Error("attributes are printed without -v")
	}
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(text, []byte("Scheduler [TP 1] [DP 0]")) {
		t.Error("the page lacks a span")
	}
	if _, verbose, _ := alone(t, "-v", "-engine", "vllm-v0"); !strings.Contains(verbose, "gen_ai.request.id=") {
		t.Error("attributes are not printed with -v")
	}
}

// The arguments of a tool call are JSON at any length of the answer.
func TestCallScript(t *testing.T) {
	for _, tokens := range []int{1, 2, 3, 12} {
		script, text := callScript(tokens), ""
		for i := range tokens {
			text += script(i, " word")
		}
		if !json.Valid([]byte(text)) {
			t.Errorf("%d tokens: %s", tokens, text)
		}
	}
}
