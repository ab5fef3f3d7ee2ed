package genaihttp

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/textproto"
	"strings"
	"testing"
	"time"

	"github.com/infertel/infertel-go/genai"
	"github.com/infertel/infertel-go/genai/wire"
	"github.com/infertel/infertel-go/internal/sdktest"
)

const chatPath = "/v1/chat/completions"

var chatStream = []byte(`{"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}]}`)

func chunk(content string) string {
	return `data: {"id":"c1","model":"m","choices":[{"index":0,"delta":{"content":"` + content + `"},"finish_reason":null}]}` + "\n\n"
}

const (
	finish  = `data: {"id":"c1","model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\n"
	usage   = `data: {"id":"c1","model":"m","choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}}` + "\n\n"
	endMark = "data: [DONE]\n\n"
)

// streaming sends each piece with a flush, waiting for a tick before each but
// the first.
func streaming(ticks <-chan struct{}, pieces ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		for i, p := range pieces {
			if i > 0 && ticks != nil {
				select {
				case <-ticks:
				case <-r.Context().Done():
					return
				}
			}
			if _, err := io.WriteString(w, p); err != nil {
				return
			}
			w.(http.Flusher).Flush()
		}
	}
}

// TestEachPieceReachesTheClientAtOnce: the server sends the next event only
// when the client has the one before, so any buffering would block for ever.
func TestEachPieceReachesTheClientAtOnce(t *testing.T) {
	for _, where := range []string{"handler", "proxy", "transport"} {
		t.Run(where, func(t *testing.T) {
			b := newBed(t)
			ticks := make(chan struct{}, 10)
			pieces := []string{chunk("a"), chunk("b"), ": ping\n\n", chunk("c"), finish, usage, endMark}
			h := http.Handler(streaming(ticks, pieces...))
			client := plain(t)
			switch where {
			case "handler":
				h = NewHandler(h, b.inst)
			case "proxy":
				h = NewHandler(proxy(t, serve(t, h).URL), b.inst)
			case "transport":
				client.Transport = NewTransport(client.Transport, b.inst)
			}
			resp, err := client.Post(serve(t, h).URL+chatPath, "application/json", bytes.NewReader(chatStream))
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			for _, p := range pieces {
				buf := make([]byte, len(p))
				if _, err := io.ReadFull(resp.Body, buf); err != nil || string(buf) != p {
					t.Fatalf("got %q, %v, want %q", buf, err, p)
				}
				ticks <- struct{}{}
			}
			if rest, err := io.ReadAll(resp.Body); err != nil || len(rest) > 0 {
				t.Fatalf("after the end came %q, %v", rest, err)
			}
			s := b.spans(1)[0]
			if s.Status != "UNSET" || s.Attrs["gen_ai.usage.output_tokens"] != int64(2) {
				t.Errorf("span is %s %q with %v", s.Status, s.StatusMessage, s.Attrs)
			}
		})
	}
}

// TestPiecesAreWrittenBeforeTheyAreLookedAt looks at the exchange from within
// the writer below.
func TestPiecesAreWrittenBeforeTheyAreLookedAt(t *testing.T) {
	b := newBed(t)
	_, x := wire.Start(context.Background(), b.inst, wire.RequestHead{})
	var atWrite, atFlush []int
	lower := &recorder{
		write: func() { atWrite = append(atWrite, x.Response().Increments) },
		flush: func() { atFlush = append(atFlush, x.Response().Increments) },
	}
	w := (&responseObserver{exchange: x, prompt: true}).wrap(lower)
	w.Header().Set("Content-Type", "text/event-stream")
	for range 3 {
		_, _ = io.WriteString(w, chunk("x"))
		w.(http.Flusher).Flush()
	}
	if got := fmt.Sprint(atWrite, atFlush); got != "[0 1 2] [0 1 2]" {
		t.Errorf("increments seen at each write and flush are %s, want those of the pieces before", got)
	}
	x.End(nil)
}

// TestPiecesWaitWhereNobodyAsksForTheirTimes: up to a bound, and not for ever.
func TestPiecesWaitWhereNobodyAsksForTheirTimes(t *testing.T) {
	b := sdktest.New(t)
	inst, err := genai.New(genai.WithTracerProvider(b.Traces), genai.WithMeterProvider(b.Metrics))
	if err != nil {
		t.Fatal(err)
	}
	_, x := wire.Start(context.Background(), inst, wire.RequestHead{})
	o := &responseObserver{exchange: x}
	w := o.wrap(&recorder{write: func() {}, flush: func() {}})
	w.Header().Set("Content-Type", "text/event-stream")
	for i := range 100 {
		_, _ = io.WriteString(w, chunk("x"))
		w.(http.Flusher).Flush()
		if seen := x.Response().Increments; len(o.pending) > maxPending || i == 2 && seen > 0 || (i-seen)*len(chunk("x")) > maxPending {
			t.Fatalf("%d of %d pieces seen, %d bytes wait", seen, i+1, len(o.pending))
		}
	}
	x.End(nil)
	h := NewHandler(streaming(nil, chunk("a"), chunk("b"), finish, usage, endMark), inst)
	post(t, plain(t), serve(t, h).URL+chatPath, chatStream)
	b.Flush()
	spans := b.Receiver.FlatSpans()
	if s := spans[len(spans)-1]; s.Status != "UNSET" || s.Attrs["gen_ai.usage.output_tokens"] != int64(2) || s.Attrs["gen_ai.response.id"] != "c1" {
		t.Errorf("span is %s %q with %v", s.Status, s.StatusMessage, s.Attrs)
	}
}

type recorder struct {
	header       http.Header
	write, flush func()
}

func (r *recorder) Header() http.Header {
	if r.header == nil {
		r.header = http.Header{}
	}
	return r.header
}
func (r *recorder) WriteHeader(int)             {}
func (r *recorder) Write(p []byte) (int, error) { r.write(); return len(p), nil }
func (r *recorder) Flush()                      { r.flush() }

// TestOptionalInterfaces: a handler sees the same writer as without us.
func TestOptionalInterfaces(t *testing.T) {
	b := newBed(t)
	probe := func(w http.ResponseWriter) string {
		_, flusher := w.(http.Flusher)
		_, hijacker := w.(http.Hijacker)
		_, readerFrom := w.(io.ReaderFrom)
		_, pusher := w.(http.Pusher)
		_, stringWriter := w.(io.StringWriter)
		c := http.NewResponseController(w)
		return fmt.Sprint(flusher, hijacker, readerFrom, pusher, stringWriter,
			errors.Is(c.SetReadDeadline(time.Time{}), http.ErrNotSupported), errors.Is(c.SetWriteDeadline(time.Time{}), http.ErrNotSupported),
			errors.Is(c.EnableFullDuplex(), http.ErrNotSupported), errors.Is(c.Flush(), http.ErrNotSupported))
	}
	for _, http2 := range []bool{false, true} {
		var seen [2]string
		for i, wrap := range []func(http.Handler) http.Handler{func(h http.Handler) http.Handler { return h }, func(h http.Handler) http.Handler { return NewHandler(h, b.inst) }} {
			s := httptest.NewUnstartedServer(wrap(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				seen[i] = fmt.Sprint(r.Proto, " ", probe(w))
			})))
			s.EnableHTTP2 = http2
			s.StartTLS()
			post(t, s.Client(), s.URL+chatPath, chatStream)
			s.Close()
		}
		if seen[0] != seen[1] || seen[0] == "" {
			t.Errorf("without us %s, with us %s", seen[0], seen[1])
		}
	}
	var bare struct{ http.ResponseWriter }
	bare.ResponseWriter = httptest.NewRecorder()
	NewHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if got := probe(w); !strings.HasPrefix(got, "false false false false false") {
			t.Errorf("a bare writer became %s", got)
		}
	}), b.inst).ServeHTTP(bare, httptest.NewRequest(http.MethodPost, chatPath, nil))
}

// TestAHandlerThatDoesNotFlushIsNotFlushed.
func TestAHandlerThatDoesNotFlushIsNotFlushed(t *testing.T) {
	b := newBed(t)
	w := httptest.NewRecorder()
	NewHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, chunk("a")) }), b.inst).
		ServeHTTP(w, httptest.NewRequest(http.MethodPost, chatPath, nil))
	if w.Flushed {
		t.Error("flushed")
	}
}

func TestReadFromHijackTrailersAndInformation(t *testing.T) {
	b := newBed(t)
	t.Run("ReadFrom", func(t *testing.T) {
		body := testdata(t, "vllm-chat.json")
		h := NewHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			n, err := io.Copy(w, struct{ io.Reader }{bytes.NewReader(body)})
			if n != int64(len(body)) || err != nil {
				t.Errorf("copied %d, %v", n, err)
			}
		}), b.inst)
		if got := post(t, plain(t), serve(t, h).URL+chatPath, chatStream); !bytes.Equal(got.body, body) {
			t.Error("the body was changed")
		}
		if s := b.spans(1)[0]; s.Attrs["gen_ai.usage.input_tokens"] != int64(26) {
			t.Errorf("attributes are %v", s.Attrs)
		}
	})
	t.Run("trailers", func(t *testing.T) {
		h := NewHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Trailer", "X-Declared")
			_, _ = io.WriteString(w, "{}")
			w.Header().Set("X-Declared", "a")
			w.Header().Set(http.TrailerPrefix+"X-Late", "b")
		}), b.inst)
		r, err := http.NewRequest(http.MethodPost, serve(t, h).URL+chatPath, bytes.NewReader(chatStream))
		if err != nil {
			t.Fatal(err)
		}
		client := plain(t)
		client.Transport = NewTransport(client.Transport, b.inst)
		resp, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		if resp.Trailer.Get("X-Declared") != "a" || resp.Trailer.Get("X-Late") != "b" {
			t.Errorf("trailers are %v", resp.Trailer)
		}
		b.spans(2)
	})
	t.Run("early hints", func(t *testing.T) {
		h := NewHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Link", "</style.css>")
			w.WriteHeader(http.StatusEarlyHints)
			w.WriteHeader(http.StatusTeapot)
		}), b.inst)
		hints := 0
		trace := &httptrace.ClientTrace{Got1xxResponse: func(int, textproto.MIMEHeader) error { hints++; return nil }}
		r, _ := http.NewRequestWithContext(httptrace.WithClientTrace(context.Background(), trace), http.MethodPost, serve(t, h).URL+chatPath, nil)
		resp, err := plain(t).Do(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if s := b.spans(1)[0]; hints != 1 || resp.StatusCode != http.StatusTeapot || s.StatusMessage != "HTTP 418" {
			t.Errorf("%d hints, status %d, span %q", hints, resp.StatusCode, s.StatusMessage)
		}
	})
	t.Run("upgrade", func(t *testing.T) {
		h := NewHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			conn, rw, err := w.(http.Hijacker).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			defer conn.Close()
			_, _ = rw.WriteString("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\nhello")
			_ = rw.Flush()
		}), b.inst)
		conn, err := net.Dial("tcp", serve(t, h).Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: x\r\nContent-Length: 0\r\n\r\n", chatPath)
		all, _ := io.ReadAll(bufio.NewReader(conn))
		if !strings.HasSuffix(string(all), "\r\n\r\nhello") {
			t.Errorf("got %q", all)
		}
		if s := b.spans(1)[0]; s.Status != "UNSET" {
			t.Errorf("span is %s %q", s.Status, s.StatusMessage)
		}
	})
}

// TestOtherRequestsAreLeftAlone: no span, and the very same writer and request.
func TestOtherRequestsAreLeftAlone(t *testing.T) {
	b := newBed(t)
	for _, c := range []struct{ method, path string }{
		{"GET", chatPath}, {"POST", "/v1/models"}, {"GET", "/healthz"}, {"POST", "/v1/chat/completions/x"}, {"OPTIONS", "/v1/embeddings"},
	} {
		w, r := httptest.NewRecorder(), httptest.NewRequest(c.method, c.path, nil)
		NewHandler(http.HandlerFunc(func(w2 http.ResponseWriter, r2 *http.Request) {
			if w2 != http.ResponseWriter(w) || r2 != r {
				t.Errorf("%s %s was wrapped", c.method, c.path)
			}
		}), b.inst).ServeHTTP(w, r)
	}
	own := WithOperation(func(r *http.Request) (genai.Operation, bool) { return genai.OperationRerank, r.URL.Path == "/mine" })
	NewHandler(http.NotFoundHandler(), b.inst, own).ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/mine", nil))
	if s := b.spans(1)[0]; s.Name != "rerank" || s.StatusMessage != "HTTP 404" {
		t.Errorf("span is %q %q", s.Name, s.StatusMessage)
	}
	NewHandler(http.NotFoundHandler(), nil).ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("POST", chatPath, nil))
}

func TestStackedHandlersMakeOneSpan(t *testing.T) {
	b := newBed(t)
	h := NewHandler(NewHandler(canned(200, "application/json", testdata(t, "vllm-chat.json")), b.inst), b.inst)
	post(t, plain(t), serve(t, h).URL+chatPath, chatStream)
	b.spans(1)
}
