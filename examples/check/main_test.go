package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	collogs "go.opentelemetry.io/proto/otlp/collector/logs/v1"
	colmetrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	coltrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const collector = "testdata/collector.jsonl"

// check runs the program to its end.
func check(t *testing.T, stdin string, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	status = run(t.Context(), args, strings.NewReader(stdin), &out, &err)
	return status, out.String(), err.String()
}

func expect(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("no %q in\n%s", p, text)
		}
	}
}

// recorded returns the lines that a Collector has written, changed.
func recorded(t *testing.T, changes ...string) string {
	t.Helper()
	b, err := os.ReadFile(collector)
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	for i := 0; i < len(changes); i += 2 {
		if !strings.Contains(text, changes[i]) {
			t.Fatalf("nothing to change: %s", changes[i])
		}
		text = strings.ReplaceAll(text, changes[i], changes[i+1])
	}
	return text
}

func write(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "telemetry.json")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

const sums = "Judged 5 of 6 spans, 14 of 14 metrics, 1 of 1 log records"

func TestConforms(t *testing.T) {
	status, stdout, stderr := check(t, "", "-granularity", "2", "-entry", "vllm", collector)
	if status != 0 || stderr != "" {
		t.Errorf("status %d, %s%s", status, stdout, stderr)
	}
	expect(t, stdout, "0 violations. "+sums)
}

func TestStandardInput(t *testing.T) {
	for _, args := range [][]string{nil, {"-"}} {
		if status, stdout, stderr := check(t, recorded(t)+"\n\n", args...); status != 0 || stderr != "" {
			t.Errorf("status %d, %s%s", status, stdout, stderr)
		}
	}
}

// TestSpread spreads one trace over lines and files.
func TestSpread(t *testing.T) {
	lines := strings.SplitAfter(recorded(t), "\n")
	status, stdout, stderr := check(t, lines[2], write(t, lines[1]), "-", write(t, lines[0]))
	if status != 0 || stderr != "" {
		t.Errorf("status %d, %s%s", status, stdout, stderr)
	}
	expect(t, stdout, sums)
}

func TestViolations(t *testing.T) {
	file := write(t, recorded(t,
		`"name":"llm_request","kind":1`, `"name":"llm_request","kind":2`,
		`{"key":"gen_ai.engine.index","value":{"intValue":"0"}}`, `{"key":"gen_ai.engine.index","value":{"stringValue":"0"}}`,
		`"unit":"s"`, `"unit":"ms"`,
		`"rpcType","value":{"intValue":"2100"}`, `"rpcType","value":{"stringValue":"2100"}`))
	status, stdout, stderr := check(t, "", file)
	if status != 1 || stderr != "" {
		t.Errorf("status %d, %s", status, stderr)
	}
	expect(t, stdout,
		`span "llm_request" (trace 7ce829d77a1d21abf4401799267a109a span 47c281c39cd742e9): got SERVER, want INTERNAL [span.kind; vllm.v1.llm_request]`,
		`gen_ai.engine.index: got string "0", want int [attribute.type; vllm.v1.wait]`,
		`rpcType: got string "2100", want int [dimension.type; vllm.token]`,
		`metric "gen_ai_server_request_duration": got "ms", want "s" [metric.unit; vllm.v1.metrics]`,
		"dimension.type on genai_llm_usage_tokens rpcType: 2 times\n", "violations. "+sums)
	const usage = `metric "genai_llm_usage_tokens" {`
	if n := strings.Count(stdout, usage); n != 1 {
		t.Errorf("%d lines of one kind:\n%s", n, stdout)
	}
	_, verbose, _ := check(t, "", "-v", file)
	if n := strings.Count(verbose, usage); n != 2 || strings.Contains(verbose, "times") {
		t.Errorf("%d lines with -v:\n%s", n, verbose)
	}
}

func TestOptions(t *testing.T) {
	extra := write(t, recorded(t, `{"key":"gen_ai.span.kind",`, `{"key":"error.type","value":{"stringValue":"x"}},{"key":"gen_ai.span.kind",`))
	for _, c := range []struct {
		args   []string
		status int
		says   string
	}{
		{[]string{extra}, 1, "[attribute.undocumented; vllm.entry]"},
		{[]string{"-allow", "a, error.type", extra}, 0, "0 violations"},
		{[]string{"-granularity", "1", collector}, 1, "[event.level; vllm.v1.llm_request]"},
		{[]string{"-granularity", "0", collector}, 1, "[span.granularity; vllm.v1.wait]"},
		{[]string{"-trace-level", "0", "-native-names", collector}, 0, "0 violations"},
		{[]string{"-entry", "sglang", collector}, 1, "gen_ai.latency.e2e: got nothing"},
		{[]string{"-scopes", "github.com/infertel/infertel-go/genai", collector}, 0, "Judged 1 of 6 spans"},
		{[]string{"-trace-level", "-1", "-granularity", "-1", collector}, 0, "0 violations"},
		{[]string{"-scopes", "", collector}, 1, "nothing to judge"},
	} {
		status, stdout, stderr := check(t, "", c.args...)
		if status != c.status || stderr != "" {
			t.Errorf("%v: status %d, %s", c.args, status, stderr)
		}
		expect(t, stdout, c.says)
	}
}

func TestUnreadable(t *testing.T) {
	for name, line := range map[string]string{
		"no JSON":          "hello",
		"a list":           "[]",
		"two objects":      `{"resourceSpans":[]} {"resourceSpans":[]}`,
		"something else":   `{"spans":[]}`,
		"base64 ids":       `{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"fOgp13odIavgQBeZJnoQmg=="}]}]}]}`,
		"a short id":       `{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"7ce8"}]}]}]}`,
		"a number for ids": `{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"spanId":7}]}]}]}`,
		"a wrong shape":    `{"resourceMetrics":[{"scopeMetrics":7}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			status, stdout, stderr := check(t, line+"\n"+recorded(t))
			if status != 1 {
				t.Errorf("status %d", status)
			}
			expect(t, stderr, "check: -:1: ", "check: 1 line could not be read")
			expect(t, stdout, "0 violations. "+sums) // the rest is judged
		})
	}
	status, stdout, _ := check(t, "")
	if status != 1 {
		t.Errorf("status %d without any input", status)
	}
	expect(t, stdout, "There was nothing to judge.")
}

// TestNewerFields lets fields pass that this version of OTLP does not have.
func TestNewerFields(t *testing.T) {
	if status, _, stderr := check(t, recorded(t, `"status":{}`, `"status":{},"mood":"fine"`)); status != 0 {
		t.Errorf("status %d, %s", status, stderr)
	}
}

func TestUsage(t *testing.T) {
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"-nonsense"}, "see -h"},
		{[]string{"-trace-level", "-2"}, "-trace-level is -2"},
		{[]string{"-granularity", "3"}, "-granularity is 3"},
		{[]string{"-entry", "tgi"}, `-entry is "tgi"`},
		{[]string{"-settle", "0s", "-listen", "127.0.0.1:0"}, "-settle is 0s"},
		{[]string{"-listen", "127.0.0.1:0", "file"}, `unexpected file "file"`},
		{[]string{"-listen", "nowhere"}, "nowhere"},
		{[]string{"testdata/missing.json"}, "testdata/missing.json"},
	} {
		status, _, stderr := check(t, "", c.args...)
		if status != 2 {
			t.Errorf("%v: status %d", c.args, status)
		}
		expect(t, stderr, c.says)
	}
	status, _, stderr := check(t, "", "-h")
	if status != 0 {
		t.Errorf("-h: status %d", status)
	}
	expect(t, stderr, "usage: check", "-listen address", "-trace-level level", "Exit status")
	status, stdout, _ := check(t, "", "-rules")
	if status != 0 {
		t.Errorf("-rules: status %d", status)
	}
	expect(t, stdout, "span.kind                Every span is INTERNAL.\n")
}

// FuzzLine reads lines that nobody has written on purpose.
func FuzzLine(f *testing.F) {
	b, err := os.ReadFile(collector)
	if err != nil {
		f.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		f.Add([]byte(line))
	}
	f.Add([]byte(`{"resourceSpans":[null,{"scopeSpans":[{"spans":[{"traceId":null,"links":[{"spanId":""}]}]}]}]}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		var all telemetry
		if err := all.add(line); err != nil && len(all.spans)+len(all.metrics)+len(all.logs) > 0 {
			t.Errorf("kept a part of a line that is refused: %v", err)
		}
		r := newReport(io.Discard, true, nil)
		r.spans(all.spans)
		r.metrics(all.metrics)
		r.logs(all.logs)
		r.close()
	})
}

// output is what a running program has written so far.
type output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

// until waits for text and returns what follows it on its line.
func (o *output) until(t *testing.T, text string) string {
	t.Helper()
	for range 2000 {
		if _, rest, ok := strings.Cut(o.String(), text); ok {
			if line, _, whole := strings.Cut(rest, "\n"); whole {
				return line
			}
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatalf("%q did not come in\n%s", text, o)
	return ""
}

// listening starts the program and returns a connection to it and a function that
// interrupts it and returns its status.
func listening(t *testing.T, stdout io.Writer, args ...string) (*grpc.ClientConn, func() int) {
	t.Helper()
	ctx, interrupt := context.WithCancel(context.Background())
	t.Cleanup(interrupt)
	stderr := &output{}
	status := make(chan int, 1)
	go func() { status <- run(ctx, append([]string{"-listen", "127.0.0.1:0"}, args...), nil, stdout, stderr) }()
	conn, err := grpc.NewClient(stderr.until(t, "listening on "), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn, func() int { interrupt(); return <-status }
}

// export sends what a Collector has written, the spans one by one.
func export(t *testing.T, conn *grpc.ClientConn, text string) {
	t.Helper()
	var all telemetry
	for line := range strings.Lines(text) {
		if err := all.add([]byte(line)); err != nil {
			t.Fatal(err)
		}
	}
	for _, rs := range all.spans {
		for _, ss := range rs.GetScopeSpans() {
			for _, s := range ss.GetSpans() {
				one := []*tracepb.ResourceSpans{{ScopeSpans: []*tracepb.ScopeSpans{{Scope: ss.GetScope(), Spans: []*tracepb.Span{s}}}}}
				if _, err := coltrace.NewTraceServiceClient(conn).Export(t.Context(), &coltrace.ExportTraceServiceRequest{ResourceSpans: one}); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	if _, err := colmetrics.NewMetricsServiceClient(conn).Export(t.Context(), &colmetrics.ExportMetricsServiceRequest{ResourceMetrics: all.metrics}); err != nil {
		t.Fatal(err)
	}
	if _, err := collogs.NewLogsServiceClient(conn).Export(t.Context(), &collogs.ExportLogsServiceRequest{ResourceLogs: all.logs}); err != nil {
		t.Fatal(err)
	}
}

func TestListen(t *testing.T) {
	stdout := &output{}
	conn, interrupt := listening(t, stdout, "-settle", "1h")
	export(t, conn, recorded(t))
	export(t, conn, recorded(t, "7ce829d77a1d21abf4401799267a109a", "7ce829d77a1d21abf4401799267a109b"))
	if status := interrupt(); status != 0 {
		t.Errorf("status %d:\n%s", status, stdout)
	}
	expect(t, stdout.String(), "0 violations. Judged 10 of 12 spans, 28 of 28 metrics, 2 of 2 log records")
}

// TestListenSaysAtOnce expects violations while the program runs.
func TestListenSaysAtOnce(t *testing.T) {
	stdout := &output{}
	conn, interrupt := listening(t, stdout, "-settle", "1ms")
	export(t, conn, recorded(t, `"name":"llm_request","kind":1`, `"name":"llm_request","kind":2`, `"unit":"s"`, `"unit":"ms"`))
	stdout.until(t, "got SERVER, want INTERNAL")
	stdout.until(t, `metric "gen_ai_server_request_duration": got "ms"`)
	if status := interrupt(); status != 1 {
		t.Errorf("status %d", status)
	}
}

func TestListenToNothing(t *testing.T) {
	stdout := &output{}
	_, interrupt := listening(t, stdout)
	if status := interrupt(); status != 1 {
		t.Errorf("status %d", status)
	}
	expect(t, stdout.String(), "There was nothing to judge.")
}
