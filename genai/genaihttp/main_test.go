package genaihttp

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/infertel/infertel-go/genai"
	"github.com/infertel/infertel-go/internal/otlpreceiver/otlptest"
	"github.com/infertel/infertel-go/internal/sdktest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bed is a gateway before a server, observed on the side of the server, of the
// client, or on both.
type bed struct {
	*sdktest.Bed
	t    testing.TB
	inst *genai.Instrumentation
	ends chan genai.Finished
}

func newBed(t testing.TB, opts ...genai.Option) *bed {
	t.Helper()
	b := &bed{Bed: sdktest.New(t), t: t, ends: make(chan genai.Finished, 20000)}
	inst, err := genai.New(append([]genai.Option{
		genai.WithTracerProvider(b.Traces), genai.WithMeterProvider(b.Metrics), genai.WithLoggerProvider(b.Logs),
		genai.WithOnEnd(func(_ ctx, f genai.Finished) { b.ends <- f }),
	}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	b.inst = inst
	return b
}

// spans waits for n calls to end and returns their spans as they arrived.
func (b *bed) spans(n int) []otlptest.Span {
	b.t.Helper()
	for range n {
		select {
		case <-b.ends:
		case <-time.After(10 * time.Second):
			b.t.Fatal("a call did not end")
		}
	}
	b.Flush()
	spans := b.Receiver.FlatSpans()
	if len(spans) != n {
		b.t.Fatalf("%d spans arrived, want %d", len(spans), n)
	}
	b.Receiver.Reset()
	return spans
}

func serve(t testing.TB, h http.Handler) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s
}

// proxy is a reverse proxy to the server at target, as a gateway has it.
func proxy(t testing.TB, target string) *httputil.ReverseProxy {
	t.Helper()
	u, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{DisableCompression: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(u) },
		Transport: transport,
		ErrorLog:  quiet,
	}
}

// testdata reads a body that an engine wrote.
func testdata(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile("../wire/testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

type answer struct {
	status int
	header http.Header
	body   []byte
}

func post(t testing.TB, client *http.Client, url string, body []byte, header ...string) answer {
	t.Helper()
	r, err := http.NewRequest(http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{resp.StatusCode, resp.Header, b}
}

// plain is a client that asks for nothing by itself.
func plain(t testing.TB) *http.Client {
	tr := &http.Transport{DisableCompression: true}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr}
}

// canned answers every request with one body, in pieces.
func canned(status int, contentType string, pieces ...[]byte) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		for _, p := range pieces {
			_, _ = w.Write(p)
			w.(http.Flusher).Flush()
		}
	}
}

func now() int64 { return time.Now().UnixNano() }

func cut(b []byte, n int) [][]byte {
	var out [][]byte
	for len(b) > n {
		out = append(out, b[:n])
		b = b[n:]
	}
	return append(out, b)
}
