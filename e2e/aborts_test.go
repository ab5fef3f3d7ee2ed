package e2e

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/infertel/infertel-go/genai"
	"github.com/infertel/infertel-go/genai/genaihttp"
)

// counter counts spans at both ends.
type counter struct{ started, ended atomic.Int64 }

func (c *counter) OnStart(context.Context, sdktrace.ReadWriteSpan) { c.started.Add(1) }
func (c *counter) OnEnd(sdktrace.ReadOnlySpan)                     { c.ended.Add(1) }
func (*counter) Shutdown(context.Context) error                    { return nil }
func (*counter) ForceFlush(context.Context) error                  { return nil }

// TestTenThousandBrokenConnections sends 10,000 requests over as many real
// connections through a gateway that is observed as a handler and as a client of
// its server, and breaks each off within the stream: every span that was started
// ends, and no goroutine is left.
func TestTenThousandBrokenConnections(t *testing.T) {
	const n, workers = 10_000, 32
	before := runtime.NumGoroutine()
	var spans counter
	tp := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(&spans))
	var outcomes sync.Map
	inst, err := genai.New(genai.WithTracerProvider(tp), genai.WithOnEnd(func(_ context.Context, f genai.Finished) {
		count, _ := outcomes.LoadOrStore(f.Outcome, new(atomic.Int64))
		count.(*atomic.Int64).Add(1)
	}))
	if err != nil {
		t.Fatal(err)
	}
	const event = `data: {"id":"c","choices":[{"index":0,"delta":{"content":"a"}}]}` + "\n\n"
	engine := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		for r.Context().Err() == nil {
			if _, err := io.WriteString(w, event); err != nil {
				return
			}
			_ = http.NewResponseController(w).Flush()
			select {
			case <-r.Context().Done():
			case <-time.After(time.Second):
			}
		}
	}))
	u, err := url.Parse(engine.URL)
	if err != nil {
		t.Fatal(err)
	}
	base := &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: workers}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(u) }, ErrorLog: log.New(io.Discard, "", 0),
		// Of another operation, so that it has a span of its own.
		Transport: genaihttp.NewTransport(base, inst, genaihttp.WithOperation(func(*http.Request) (genai.Operation, bool) { return genai.OperationTextCompletion, true })),
	}
	gateway := httptest.NewUnstartedServer(genaihttp.NewHandler(proxy, inst))
	gateway.Config.ErrorLog = log.New(io.Discard, "", 0)
	gateway.Start()

	var next atomic.Int64
	var clients sync.WaitGroup
	for range workers {
		clients.Go(func() {
			for i := next.Add(1); i <= n; i = next.Add(1) {
				if err := breakOff(gateway.Listener.Addr().String(), int(i)); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	clients.Wait()
	gateway.Close() // waits for the handlers
	base.CloseIdleConnections()
	engine.Close()
	if s, e := spans.started.Load(), spans.ended.Load(); s != e || s < n {
		t.Errorf("%d spans were started and %d ended, want %d or more of each", s, e, n)
	}
	outcomes.Range(func(k, v any) bool { t.Logf("%v: %d", k, v.(*atomic.Int64).Load()); return true })
	if _, ok := outcomes.Load(genai.OutcomeSuccess); ok {
		t.Error("a broken stream counts as a success")
	}
	after := runtime.NumGoroutine()
	for wait := 0; after > before+2 && wait < 200; wait++ {
		time.Sleep(50 * time.Millisecond)
		after = runtime.NumGoroutine()
	}
	if after > before+2 {
		buf := make([]byte, 1<<20)
		t.Errorf("%d goroutines before, %d after:\n%.4000s", before, after, buf[:runtime.Stack(buf, true)])
	}
}

// breakOff makes a request and resets the connection at one of several points.
func breakOff(address string, i int) error {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return err
	}
	defer conn.Close()
	_ = conn.(*net.TCPConn).SetLinger(0)
	body := `{"model":"m","stream":true}`
	head := fmt.Sprintf("POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n", len(body))
	switch i % 8 {
	case 0: // within the body of the request
		_, err = io.WriteString(conn, head+body[:9])
		return err
	case 1: // before the answer
		_, err = io.WriteString(conn, head+body)
		return err
	}
	if _, err = io.WriteString(conn, head+body); err != nil {
		return err
	}
	// After the first event, or somewhere before.
	var seen strings.Builder
	buf := make([]byte, 512)
	for !strings.Contains(seen.String(), [...]string{"HTTP/1.1 2", "data:", "\n\n"}[i%3]) {
		m, err := conn.Read(buf)
		if seen.Write(buf[:m]); err != nil {
			return fmt.Errorf("after %q: %w", seen.String(), err)
		}
	}
	return nil
}
