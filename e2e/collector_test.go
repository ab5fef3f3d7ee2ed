package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/infertel/infertel-go/e2e/internal/bed"
	"github.com/infertel/infertel-go/internal/otlpreceiver/otlptest"
	"github.com/infertel/infertel-go/semconv"
)

// runExample runs an example program to its end, with an OTLP endpoint.
func runExample(t *testing.T, endpoint, name string, args ...string) {
	t.Helper()
	cmd := exec.Command(bed.Example(t, name), args...)
	cmd.Env = append(os.Environ(), "OTEL_EXPORTER_OTLP_ENDPOINT="+endpoint)
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %q: %v\n%s", name, args, err, said)
	}
}

var judgedAll = regexp.MustCompile(`^0 violations\. Judged (\d+) of (\d+) spans, (\d+) of (\d+) metrics, (\d+) of (\d+) log records\.$`)

// conforms runs the checker on the files of a Collector as a user would. All must
// conform, and nothing may be of other instrumentation.
func conforms(t *testing.T, c *bed.Collector, args ...string) {
	t.Helper()
	said, err := exec.Command(bed.Example(t, "check"), append(args, c.Traces, c.Metrics, c.Logs)...).CombinedOutput()
	m := judgedAll.FindStringSubmatch(strings.TrimSpace(string(said)))
	if err != nil || m == nil || m[1] != m[2] || m[3] != m[4] || m[5] != m[6] {
		t.Errorf("check: %v\n%s", err, said)
	}
}

// stopped ends the Collector, which must have had nothing to complain about.
func stopped(t *testing.T, c *bed.Collector) {
	t.Helper()
	c.Stop()
	if said := c.Complaints(); said != "" {
		t.Errorf("the Collector said:\n%s", said)
	}
}

// TestReferenceInCollector: with the same seed a program sends the same to the
// Collector as to a receiver in the test, so nothing may be missing from the
// Collector's files.
func TestReferenceInCollector(t *testing.T) {
	c, r := bed.StartCollector(t), otlptest.New(t)
	runExample(t, c.Endpoint, "reference")
	runExample(t, r.Endpoint(), "reference")
	stopped(t, c)
	conforms(t, c, "-granularity", "2", "-trace-level", "4")
	var x exported
	got := x.ofFiles(t, c)
	got.same(t, x.ofReceiver(t, r))
	if len(got.logs) == 0 {
		t.Error("no log events")
	}
	for _, m := range semconv.Metrics() {
		found := false
		for series := range got.series {
			found = found || strings.HasPrefix(series, m.Name+" ")
		}
		if !found {
			t.Errorf("no %s", m.Name)
		}
	}
}

// TestShimInCollector sends each timeline of the shim, but for the one that
// leaves out on purpose what is documented.
func TestShimInCollector(t *testing.T) {
	timelines, err := filepath.Glob("../examples/engineshim/testdata/*.jsonl")
	if err != nil || len(timelines) == 0 {
		t.Fatal("no timelines", err)
	}
	c, r := bed.StartCollector(t), otlptest.New(t)
	for _, timeline := range timelines {
		if strings.HasSuffix(timeline, "-unbalanced.jsonl") {
			continue
		}
		setEnv(t, strings.TrimSuffix(timeline, ".jsonl")+".expected.json")
		runExample(t, c.Endpoint, "engineshim", "-input", timeline)
		runExample(t, r.Endpoint(), "engineshim", "-input", timeline)
	}
	stopped(t, c)
	conforms(t, c)
	var x exported
	x.ofFiles(t, c).same(t, x.ofReceiver(t, r))
}

// setEnv sets the variables that a timeline asks for, until the next one.
func setEnv(t *testing.T, expected string) {
	t.Helper()
	text, err := os.ReadFile(expected)
	if err != nil {
		t.Fatal(err)
	}
	var want struct{ Env map[string]string }
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"SGLANG_TRACE_LEVEL", "VLLM_TRACE_GRANULARITY", "OTEL_SPAN_EVENT_COUNT_LIMIT"} {
		t.Setenv(name, want.Env[name])
		delete(want.Env, name)
	}
	if len(want.Env) > 0 {
		t.Fatalf("%s names other variables too: %v", expected, want.Env)
	}
}

// TestGatewayInCollector sends what gateways before both engines make of recorded
// requests, with content.
func TestGatewayInCollector(t *testing.T) {
	t.Setenv("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "SPAN_AND_EVENT")
	c, r := bed.StartCollector(t), otlptest.New(t)
	requests := 0
	for _, engine := range []string{"vllm", "sglang"} {
		requests += replay(t, startGatewayTo(t, c.Endpoint, engine, http.HandlerFunc(answer)), engine)
		replay(t, startGatewayTo(t, r.Endpoint(), engine, http.HandlerFunc(answer)), engine)
	}
	stopped(t, c)
	conforms(t, c)
	x := exported{outline: true}
	got := x.ofFiles(t, c)
	got.same(t, x.ofReceiver(t, r))
	if n := got.count(); n != requests || requests == 0 {
		t.Errorf("%d spans of %d requests", n, requests)
	}
	if len(got.logs) == 0 {
		t.Error("no log events")
	}
}

const recorded = "../genai/wire/testdata/"

var paths = map[string]string{"chat": "chat/completions", "completions": "completions", "embeddings": "embeddings", "rerank": "rerank"}

// replay sends the recorded requests to an engine through a gateway, stops the
// gateway, and returns how many there are.
func replay(t *testing.T, g *gateway, engine string) (requests int) {
	t.Helper()
	files, err := filepath.Glob(recorded + engine + "-*.request.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".request.json")
		kind := strings.Split(name, "-")[1]
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, g.url+"/v1/"+paths[kind], bytes.NewReader(body(t, name+".request.json")))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Recorded", name)
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.Copy(io.Discard, resp.Body)
		if err := errors.Join(err, resp.Body.Close()); err != nil {
			t.Fatal(err)
		}
		requests++
	}
	if code := g.stop(); code != 0 {
		t.Errorf("exit status %d\n%s", code, &g.stderr)
	}
	return requests
}

// answer answers as an engine did when it was recorded.
func answer(w http.ResponseWriter, r *http.Request) {
	name := recorded + r.Header.Get("Recorded")
	if b, err := os.ReadFile(name + ".sse"); err == nil {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write(b)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	http.ServeFile(w, r, name+".json")
}
