// Package frameworks tests genaihttp under the routers, proxies and
// instrumentation that gateways are built with.
package frameworks

import (
	"context"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"go.uber.org/goleak"

	"github.com/infertel/infertel-go/genai"
	"github.com/infertel/infertel-go/internal/otlpreceiver/otlptest"
	"github.com/infertel/infertel-go/internal/sdktest"
)

func TestMain(m *testing.M) {
	gin.SetMode(gin.ReleaseMode)
	goleak.VerifyTestMain(m)
}

const (
	callerTrace = "0af7651916cd43dd8448eb211c80319c"
	callerSpan  = "b7ad6b7169203331"
	traceparent = "00-" + callerTrace + "-" + callerSpan + "-01"

	chat = `{"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}]}`
)

// pieces are the events of an answer.
var pieces = []string{
	`data: {"id":"c1","model":"m","choices":[{"index":0,"delta":{"content":"a"},"finish_reason":null}]}` + "\n\n",
	`data: {"id":"c1","model":"m","choices":[{"index":0,"delta":{"content":"b"},"finish_reason":"stop"}]}` + "\n\n",
	`data: {"id":"c1","model":"m","choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}}` + "\n\n",
	"data: [DONE]\n\n",
}

type bed struct {
	*sdktest.Bed
	t    *testing.T
	inst *genai.Instrumentation
	ends chan genai.Finished
}

func newBed(t *testing.T, opts ...genai.Option) *bed {
	t.Helper()
	b := &bed{Bed: sdktest.New(t), t: t, ends: make(chan genai.Finished, 100)}
	inst, err := genai.New(append([]genai.Option{
		genai.WithTracerProvider(b.Traces), genai.WithMeterProvider(b.Metrics), genai.WithLoggerProvider(b.Logs),
		genai.WithOnEnd(func(_ context.Context, f genai.Finished) { b.ends <- f }),
	}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	b.inst = inst
	return b
}

// entry waits for one entry span to end and returns it. There must be no other.
func (b *bed) entry() otlptest.Span {
	b.t.Helper()
	select {
	case <-b.ends:
	case <-time.After(10 * time.Second):
		b.t.Fatal("the entry span does not end")
	}
	return b.only(1)[0]
}

// only returns the entry spans that have ended, which must be n.
func (b *bed) only(n int) []otlptest.Span {
	b.t.Helper()
	var entries []otlptest.Span
	for _, s := range b.all() {
		if s.Scope == genai.ScopeName {
			entries = append(entries, s)
		}
	}
	if len(entries) != n {
		b.t.Fatalf("%d entry spans, want %d: %+v", len(entries), n, entries)
	}
	b.Receiver.Reset()
	return entries
}

func (b *bed) all() []otlptest.Span {
	b.t.Helper()
	b.Flush()
	return b.Receiver.FlatSpans()
}

// streaming answers with the pieces, the next one only after a tick: whatever
// holds one back stops the test.
func streaming(ticks <-chan struct{}) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		for i, p := range pieces {
			if i > 0 {
				select {
				case <-ticks:
				case <-r.Context().Done():
					return
				}
			}
			_, _ = io.WriteString(w, p)
			w.(http.Flusher).Flush()
		}
	}
}

func serve(t *testing.T, h http.Handler) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s
}

// send sends a request with the caller's trace context.
func send(t *testing.T, method, url string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(chat))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("traceparent", traceparent)
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	resp, err := (&http.Client{Transport: transport, Timeout: 20 * time.Second}).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return resp
}

// readPieces reads the stream, asking for each piece when it has the one before.
func readPieces(t *testing.T, resp *http.Response, ticks chan<- struct{}) {
	t.Helper()
	for i, p := range pieces {
		if i > 0 {
			ticks <- struct{}{}
		}
		got := make([]byte, len(p))
		if _, err := io.ReadFull(resp.Body, got); err != nil || string(got) != p {
			t.Fatalf("piece %d is %q, %v", i, got, err)
		}
	}
	if rest, err := io.ReadAll(resp.Body); err != nil || len(rest) > 0 {
		t.Errorf("after the end came %q, %v", rest, err)
	}
}

// isWhole checks the entry span of a stream that was read to its end.
func isWhole(t *testing.T, s otlptest.Span) {
	t.Helper()
	if s.Name != "chat m" || s.Status != "UNSET" || s.Attrs["gen_ai.usage.output_tokens"] != int64(2) {
		t.Errorf("the span is %q, %s %q, %v", s.Name, s.Status, s.StatusMessage, s.Attrs)
	}
}

var quiet = log.New(io.Discard, "", 0)
