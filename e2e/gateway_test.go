package e2e

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/infertel/infertel-go/e2e/internal/bed"
	"github.com/infertel/infertel-go/internal/otlpreceiver/otlptest"
)

// gateway is the example gateway as a process of its own, before an upstream
// server in the test, exporting to a receiver in the test.
type gateway struct {
	t        *testing.T
	url      string
	receiver *otlptest.Receiver
	cmd      *exec.Cmd
	stderr   bytes.Buffer
}

func TestMain(m *testing.M) { os.Exit(bed.Run(m)) }

func startGateway(t *testing.T, engine string, upstream http.Handler, args ...string) *gateway {
	t.Helper()
	r := otlptest.New(t)
	g := startGatewayTo(t, r.Endpoint(), engine, upstream, args...)
	g.receiver = r
	return g
}

// startGatewayTo starts a gateway that exports to an OTLP endpoint.
func startGatewayTo(t *testing.T, endpoint, engine string, upstream http.Handler, args ...string) *gateway {
	t.Helper()
	server := httptest.NewServer(upstream)
	t.Cleanup(server.Close)
	address := bed.FreeAddress(t)
	g := &gateway{t: t, url: "http://" + address}
	g.cmd = exec.Command(bed.Example(t, "gateway"), append([]string{"-listen", address, "-upstream", server.URL, "-engine", engine}, args...)...)
	g.cmd.Env = append(os.Environ(), "OTEL_EXPORTER_OTLP_ENDPOINT="+endpoint)
	g.cmd.Stderr = &g.stderr
	if err := g.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = g.cmd.Process.Kill()
		_ = g.cmd.Wait()
		if t.Failed() {
			t.Logf("the gateway said:\n%s", &g.stderr)
		}
	})
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		resp, err := http.Get(g.url + "/healthz")
		if err == nil {
			resp.Body.Close()
			return g
		}
		if time.Now().After(deadline) {
			t.Fatalf("the gateway did not come up: %v\n%s", err, &g.stderr)
		}
	}
}

// stop interrupts the gateway and returns its exit status.
func (g *gateway) stop() int {
	g.t.Helper()
	_ = g.cmd.Process.Signal(syscall.SIGINT)
	done := make(chan error, 1)
	go func() { done <- g.cmd.Wait() }()
	select {
	case err := <-done:
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			return exit.ExitCode()
		}
		return 0
	case <-time.After(20 * time.Second):
		g.t.Fatalf("the gateway does not stop\n%s", &g.stderr)
		return -1
	}
}

func body(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile("../genai/wire/testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestGatewayBadUsage(t *testing.T) {
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"-h"}, 0, "-stream-interval"},
		{nil, 2, "-upstream"},
		{[]string{"-upstream", "localhost:1"}, 2, `-upstream is "localhost:1", want http://host:port`},
		{[]string{"-upstream", "http://127.0.0.1:1", "-engine", "tgi"}, 2, `-engine is "tgi", want vllm or sglang`},
		{[]string{"-upstream", "http://127.0.0.1:1", "-stream-interval", "0"}, 2, "-stream-interval is 0, want 1 or more"},
		{[]string{"-upstream", "http://127.0.0.1:1", "more"}, 2, `"more"`},
		{[]string{"-nonsense"}, 2, "-nonsense"},
	} {
		var stderr bytes.Buffer
		cmd := exec.Command(bed.Example(t, "gateway"), c.args...)
		cmd.Stderr = &stderr
		_ = cmd.Run()
		if code := cmd.ProcessState.ExitCode(); code != c.code || !strings.Contains(stderr.String(), c.says) {
			t.Errorf("%q exits with %d and says %q, want %d and %q", c.args, code, stderr.String(), c.code, c.says)
		}
	}
}

func TestGatewayAnUnreachableUpstream(t *testing.T) {
	g := startGateway(t, "vllm", http.NotFoundHandler())
	dead := startGateway(t, "vllm", http.NotFoundHandler(), "-upstream", "http://127.0.0.1:1")
	resp, err := http.Post(dead.url+"/v1/chat/completions", "application/json", strings.NewReader(`{"model":"m"}`))
	if err != nil {
		t.Fatal(err)
	}
	text, _ := io.ReadAll(resp.Body)
	resp.Body.Close()
	if resp.StatusCode != http.StatusBadGateway || !strings.Contains(string(text), `"type":"upstream_error"`) || resp.Header.Get("Content-Type") != "application/json" {
		t.Errorf("got %d %s", resp.StatusCode, text)
	}
	if code := dead.stop(); code != 0 {
		t.Errorf("exit status %d\n%s", code, &dead.stderr)
	}
	if s := dead.receiver.FlatSpans(); len(s) != 1 || s[0].Status != "ERROR" || s[0].StatusMessage != "upstream_error" || s[0].Name != "chat m" {
		t.Errorf("spans are %+v", s)
	}
	g.stop()
}

// TestGatewayStopsGracefully: a stream that is under way comes to its end.
func TestGatewayStopsGracefully(t *testing.T) {
	release := make(chan struct{})
	g := startGateway(t, "vllm", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		stream := body(t, "vllm-chat-stream.sse")
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write(stream[:300])
		w.(http.Flusher).Flush()
		<-release
		_, _ = w.Write(stream[300:])
	}))
	resp, err := http.Post(g.url+"/v1/chat/completions", "application/json", bytes.NewReader(body(t, "vllm-chat-stream.request.json")))
	if err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(300*time.Millisecond, func() { close(release) })
	if code := g.stop(); code != 0 {
		t.Errorf("exit status %d\n%s", code, &g.stderr)
	}
	got, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	if err != nil || !bytes.Equal(got, body(t, "vllm-chat-stream.sse")) {
		t.Errorf("the stream came to %d bytes, %v", len(got), err)
	}
	if s := g.receiver.FlatSpans(); len(s) != 1 || s[0].Status != "UNSET" || s[0].Attrs["gen_ai.usage.output_tokens"] != int64(5) {
		t.Errorf("spans are %+v", s)
	}
}

func TestGatewayTellsOfLosses(t *testing.T) {
	g := startGateway(t, "vllm", http.NotFoundHandler())
	g.receiver.Stop()
	resp, err := http.Post(g.url+"/v1/chat/completions", "application/json", strings.NewReader(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if code := g.stop(); code != 1 || !strings.Contains(g.stderr.String(), "lost: 1 spans") {
		t.Errorf("exit status %d\n%s", code, &g.stderr)
	}
}

func TestGatewayPublicEndpoint(t *testing.T) {
	g := startGateway(t, "sglang", http.NotFoundHandler(), "-public")
	r, _ := http.NewRequestWithContext(context.Background(), http.MethodPost, g.url+"/v1/completions", strings.NewReader(`{}`))
	const trace = "0af7651916cd43dd8448eb211c80319c"
	r.Header.Set("traceparent", "00-"+trace+"-b7ad6b7169203331-01")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	g.stop()
	if s := g.receiver.FlatSpans(); len(s) != 1 || s[0].TraceID == trace || s[0].ParentID != "" || len(s[0].Links) != 1 || s[0].Links[0].TraceID != trace {
		t.Errorf("spans are %+v", s)
	}
}
