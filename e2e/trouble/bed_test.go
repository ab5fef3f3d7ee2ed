package trouble

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/infertel/infertel-go/e2e/internal/process"
	"github.com/infertel/infertel-go/internal/otlpreceiver/otlptest"
)

// never is an export timeout that no request could wait for: a client gives up
// long before.
const (
	never         = "600000"
	clientTimeout = 30 * time.Second
)

// trouble is a gateway whose collector is in some trouble, beside one whose
// collector is well. Both get the same requests.
type trouble struct {
	*testing.T
	program  *process.Program
	upstream string
	healthy  string // URL of the other gateway

	gateway *process.Process
	url     string
	sent    int

	mu              sync.Mutex
	took, healthily []time.Duration
}

// launch starts a gateway that exports everything often to an endpoint.
func launch(t *testing.T, program *process.Program, upstream, endpoint string, env ...string) (*process.Process, string) {
	t.Helper()
	address, err := process.FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	env = append([]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT=" + endpoint,
		"OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=EVENT_ONLY",
		"OTEL_BSP_SCHEDULE_DELAY=50", "OTEL_BLRP_SCHEDULE_DELAY=50", "OTEL_METRIC_EXPORT_INTERVAL=200",
	}, env...)
	p, err := program.Start([]string{"-listen", address, "-upstream", upstream}, env, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.Kill()
		if t.Failed() {
			t.Logf("the gateway said:\n%s", p.Stderr())
		}
	})
	url := "http://" + address
	if err := p.WaitHTTP(url+"/healthz", 20*time.Second); err != nil {
		t.Fatal(err)
	}
	return p, url
}

func (tr *trouble) start(endpoint string, env ...string) {
	tr.Helper()
	tr.gateway, tr.url = launch(tr.T, tr.program, tr.upstream, endpoint, env...)
}

// answers are what the upstream server says, by what is asked.
func answers(t *testing.T) http.HandlerFunc {
	document, stream := body(t, "vllm-chat.json"), body(t, "vllm-chat-stream.sse")
	return func(w http.ResponseWriter, r *http.Request) {
		request, _ := io.ReadAll(r.Body)
		if !bytes.Contains(request, []byte(`"stream":true`)) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write(document)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for part := range slices.Chunk(stream, 200) {
			_, _ = w.Write(part)
			w.(http.Flusher).Flush()
		}
	}
}

// requests sends n requests to each of the two gateways, in pairs, and holds the
// answers against the server's.
func (tr *trouble) requests(n int) {
	tr.Helper()
	document, stream := body(tr.T, "vllm-chat.json"), body(tr.T, "vllm-chat-stream.sse")
	client := &http.Client{Timeout: clientTimeout}
	ask := func(url string, i int) time.Duration {
		want, streamed := document, ""
		if i%2 == 0 {
			want, streamed = stream, `,"stream":true`
		}
		began := time.Now()
		resp, err := client.Post(url+"/v1/chat/completions", "application/json",
			strings.NewReader(`{"model":"m","messages":[{"role":"user","content":"hello"}]`+streamed+`}`))
		if err != nil {
			tr.Error(err)
			return 0
		}
		defer resp.Body.Close()
		got, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != http.StatusOK || !bytes.Equal(got, want) {
			tr.Errorf("status %d, %d bytes of %d, %v", resp.StatusCode, len(got), len(want), err)
		}
		return time.Since(began)
	}
	const workers = 4
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := w; i < n; i += workers {
				var took, healthily time.Duration
				if i/workers%2 == 0 { // who comes first is warm second
					took, healthily = ask(tr.url, i), ask(tr.healthy, i)
				} else {
					healthily, took = ask(tr.healthy, i), ask(tr.url, i)
				}
				tr.mu.Lock()
				tr.took, tr.healthily = append(tr.took, took), append(tr.healthily, healthily)
				tr.mu.Unlock()
			}
		})
	}
	wg.Wait()
	tr.sent += n
}

// losses are what a gateway says at its end that it lost.
type losses struct{ spans, logs, exports int }

var lostLine = regexp.MustCompile(`lost: (\d+) spans, (\d+) log records, (\d+) metric exports`)

// stop ends the gateway, which has five seconds for its telemetry, and returns
// what was lost. Each kind of loss is reported once.
func (tr *trouble) stop() losses {
	tr.Helper()
	began := time.Now()
	code, err := tr.gateway.Interrupt(clientTimeout)
	if err != nil {
		tr.Fatal(err)
	}
	said := tr.gateway.Stderr()
	var l losses
	if m := lostLine.FindStringSubmatch(said); m != nil {
		l.spans, _ = strconv.Atoi(m[1])
		l.logs, _ = strconv.Atoi(m[2])
		l.exports, _ = strconv.Atoi(m[3])
	}
	if want := min(1, l.spans+l.logs+l.exports); code != want {
		tr.Errorf("exit status %d after losses of %+v", code, l)
	}
	slices.Sort(tr.took)
	slices.Sort(tr.healthily)
	at := func(ds []time.Duration, percent int) time.Duration {
		return ds[(len(ds)-1)*percent/100].Round(10 * time.Microsecond)
	}
	tr.Logf("%d requests: median %v, 99%% %v; with a healthy collector %v, %v. Shutdown took %v. Lost %+v",
		len(tr.took), at(tr.took, 50), at(tr.took, 99), at(tr.healthily, 50), at(tr.healthily, 99), time.Since(began).Round(time.Millisecond), l)
	return l
}

// reported fails the test unless each of the parts is in one report of its own.
func (tr *trouble) reported(parts ...string) {
	tr.Helper()
	for _, part := range parts {
		n := 0
		for line := range strings.Lines(tr.gateway.Stderr()) {
			if strings.Contains(line, "lost, more of this kind are only counted") && strings.Contains(line, part) {
				n++
			}
		}
		if n != 1 {
			tr.Errorf("%d reports with %q, want 1:\n%s", n, part, tr.gateway.Stderr())
		}
	}
}

// accounted fails the test unless what arrived and what was lost is what was sent.
// What arrived before its acknowledgement was cut off arrives twice.
func (tr *trouble) accounted(l losses, receivers ...*otlptest.Receiver) {
	tr.Helper()
	spans, logs := map[string]bool{}, map[string]bool{} // by the id of the request's span
	for _, r := range receivers {
		for _, s := range r.Spans() {
			spans[string(s.GetSpanId())] = true
		}
		for _, l := range r.Logs() {
			logs[string(l.GetSpanId())] = true
		}
	}
	if l.spans+len(spans) != tr.sent || l.logs+len(logs) != tr.sent {
		tr.Errorf("%d spans and %d log records arrived, %v were counted as lost, want %d", len(spans), len(logs), l, tr.sent)
	}
}

// eventually waits for what other processes bring about.
func (tr *trouble) eventually(what string, ok func() bool) {
	tr.Helper()
	for end := time.Now().Add(time.Minute); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			tr.Fatalf("did not happen within a minute: %s", what)
		}
	}
}

// lostMetric returns the newest value of the metric of losses.
func lostMetric(r *otlptest.Receiver, signal, cause string) int64 {
	n := int64(0)
	for _, p := range r.Points() {
		if p.Name == "infertel.otlp.lost" && p.Attrs["signal"] == signal && p.Attrs["cause"] == cause {
			n = p.Value.(int64)
		}
	}
	return n
}

// tokens returns how many tokens the newest export counts.
func tokens(r *otlptest.Receiver) (n int64) {
	for _, p := range r.LastPoints() {
		if p.Name == "genai_llm_usage_tokens" {
			n += p.Value.(int64)
		}
	}
	return n
}

var totalTokens = regexp.MustCompile(`"total_tokens":\s*(\d+)`)

// tokens returns how many the answers tell of: half of them are streams.
func (tr *trouble) tokens() int64 {
	n := 0
	for _, name := range []string{"vllm-chat.json", "vllm-chat-stream.sse"} {
		all := totalTokens.FindAllSubmatch(body(tr.T, name), -1)
		total, err := strconv.Atoi(string(all[len(all)-1][1]))
		if err != nil {
			tr.Fatal(err)
		}
		n += total
	}
	return int64(tr.sent / 2 * n)
}

func TestCollectorTrouble(t *testing.T) {
	t.Parallel()
	program, err := process.Build("gateway", false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = program.Remove() })
	upstream := httptest.NewServer(answers(t))
	t.Cleanup(upstream.Close)
	well := otlptest.New(t)
	_, healthy := launch(t, program, upstream.URL, well.Endpoint())
	for name, run := range map[string]func(*trouble){
		"unreachable":          unreachable,
		"comes back":           comesBack,
		"silent":               silent,
		"exhausted":            exhausted,
		"exhausted for a time": exhaustedForATime,
		"exhausted for long":   exhaustedForLong,
		"partial success":      partialSuccess,
		"refuses":              refuses,
		"blackhole":            blackhole,
		"slow":                 slow,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(&trouble{T: t, program: program, upstream: upstream.URL, healthy: healthy})
		})
	}
}

// everything is the number of requests of a test.
const everything = 120

func (l losses) String() string {
	return fmt.Sprintf("%d spans, %d log records, %d metric exports", l.spans, l.logs, l.exports)
}

func stderrHas(tr *trouble, parts ...string) bool {
	for _, part := range parts {
		if !strings.Contains(tr.gateway.Stderr(), part) {
			return false
		}
	}
	return true
}

func body(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile("../../genai/wire/testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
