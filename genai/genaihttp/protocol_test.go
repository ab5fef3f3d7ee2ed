package genaihttp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"runtime"
	"strings"
	"testing"

	"net/http/httptest"

	"github.com/infertel/infertel-go/genai"
)

var everyRequest = WithOperation(func(*http.Request) (genai.Operation, bool) { return genai.OperationChat, true })

// turn is one exchange, with what a client and a server do in it.
type turn struct {
	name, method  string
	body, expect  string
	trailer       string // of the request
	unknownLength bool
	answer        http.HandlerFunc
}

var turns = []turn{
	{name: "trailers of both", method: "POST", body: "{}", trailer: "X-Sum", unknownLength: true, answer: func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Trailer", "X-Declared")
		_, _ = io.WriteString(w, chunk("a"))
		w.Header().Set("X-Declared", "a")
		w.Header().Set(http.TrailerPrefix+"X-Late", "b")
	}},
	{name: "early hints", method: "POST", body: "{}", answer: func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Link", "</a.css>")
		w.WriteHeader(http.StatusEarlyHints)
		w.WriteHeader(http.StatusProcessing)
		w.Header().Set("Link", "</b.css>")
		w.WriteHeader(http.StatusAccepted)
		_, _ = io.WriteString(w, "x")
	}},
	{name: "an awaited continue", method: "POST", body: `{"model":"m"}`, expect: "100-continue"},
	{name: "a refused continue", method: "POST", body: `{"model":"m"}`, expect: "100-continue", answer: func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, "no", http.StatusExpectationFailed)
	}},
	{name: "HEAD", method: "HEAD", answer: func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "1234")
	}},
	{name: "HEAD that writes", method: "HEAD", answer: func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, "dropped") }},
	{name: "204", method: "POST", body: "{}", answer: func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusNoContent) }},
	{name: "204 that writes", method: "POST", body: "{}", answer: func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusNoContent)
		if _, err := io.WriteString(w, "x"); !errors.Is(err, http.ErrBodyNotAllowed) {
			panic(fmt.Sprint("a body of 204: ", err))
		}
	}},
	{name: "304", method: "GET", answer: func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Etag", `"e"`)
		w.WriteHeader(http.StatusNotModified)
	}},
	{name: "an empty answer", method: "POST", body: "{}", answer: func(http.ResponseWriter, *http.Request) {}},
	{name: "a length", method: "POST", body: "{}", answer: func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "5")
		_, err := io.WriteString(w, "12345678")
		w.Header().Set("X-Err", fmt.Sprint(err)) // too late
	}},
	{name: "a body of many headers", method: "PUT", body: strings.Repeat("x", 100_000), unknownLength: true, answer: func(w http.ResponseWriter, r *http.Request) {
		w.Header()["X-Many"] = []string{"a", "b", "", "c"}
		w.Header()["Set-Cookie"] = []string{"a=1", "b=2"}
		_, _ = io.WriteString(w, strings.Repeat("y", 100_000))
	}},
	{name: "two heads", method: "POST", body: "{}", answer: func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusTeapot)
		w.WriteHeader(http.StatusOK)
	}},
	{name: "an abort", method: "POST", body: "{}", answer: func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, chunk("a"))
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}},
}

// transcript is all that both sides of a turn see.
func (tn turn) transcript(t testing.TB, protocol string, server func(http.Handler) http.Handler, client func(http.RoundTripper) http.RoundTripper) string {
	t.Helper()
	var seen, heard strings.Builder // by the server and by the client
	s := start(t, protocol, server(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := []byte("not read")
		if tn.name != "a refused continue" {
			body, _ = io.ReadAll(r.Body)
		}
		h := r.Header.Clone()
		h.Del("Traceparent")
		fmt.Fprintf(&seen, "server: %s %s %s %v %d %v %q\n", r.Method, r.Proto, r.URL, h, r.ContentLength, r.TransferEncoding, body)
		if tn.answer != nil {
			tn.answer(w, r)
		}
		fmt.Fprintf(&seen, "server: trailer %v\n", r.Trailer)
	})))
	trace := &httptrace.ClientTrace{Got1xxResponse: func(code int, h textproto.MIMEHeader) error {
		fmt.Fprintf(&heard, "client: %d %v\n", code, h)
		return nil
	}}
	var body io.Reader = strings.NewReader(tn.body)
	if tn.unknownLength {
		body = io.MultiReader(body)
	}
	r, err := http.NewRequestWithContext(httptrace.WithClientTrace(context.Background(), trace), tn.method, s.URL+chatPath, body)
	if err != nil {
		t.Fatal(err)
	}
	if tn.expect != "" {
		r.Header.Set("Expect", tn.expect)
	}
	if tn.trailer != "" {
		r.Trailer = http.Header{tn.trailer: nil}
		r.Body = &atEnd{r.Body, func() { r.Trailer.Set(tn.trailer, "7") }}
	}
	c := (&dialer{}).client(t, protocol, s)
	c.Transport.(*http.Transport).ExpectContinueTimeout = 1 << 40
	c.Transport = client(c.Transport)
	resp, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	resp.Header.Del("Date")
	s.Close() // the handler has returned
	fmt.Fprintf(&heard, "client: %d %s %v %d %v %d bytes %.200q %v\nclient: trailer %v\n", resp.StatusCode, resp.Proto, resp.Header, resp.ContentLength, resp.TransferEncoding, len(got), got, err, resp.Trailer)
	return seen.String() + heard.String()
}

// atEnd calls a function at the end of a body.
type atEnd struct {
	io.ReadCloser
	f func()
}

func (a *atEnd) Read(p []byte) (int, error) {
	n, err := a.ReadCloser.Read(p)
	if err == io.EOF {
		a.f()
	}
	return n, err
}

// TestBothSidesSeeTheSame over each protocol: head, body, trailers and all that
// comes before, with and without us.
func TestBothSidesSeeTheSame(t *testing.T) {
	for _, protocol := range []string{"HTTP/1.1", "h2", "h2c"} {
		for _, tn := range turns {
			t.Run(protocol+" "+tn.name, func(t *testing.T) {
				b := newBed(t)
				bareServer := func(h http.Handler) http.Handler { return h }
				bareClient := func(rt http.RoundTripper) http.RoundTripper { return rt }
				handler := func(h http.Handler) http.Handler { return NewHandler(h, b.inst, everyRequest) }
				transport := func(rt http.RoundTripper) http.RoundTripper { return NewTransport(rt, b.inst, everyRequest) }
				want := tn.transcript(t, protocol, bareServer, bareClient)
				if is := tn.transcript(t, protocol, handler, bareClient); is != want {
					t.Errorf("as a handler:\n%s\nwithout us:\n%s", is, want)
				}
				if is := tn.transcript(t, protocol, bareServer, transport); is != want {
					t.Errorf("as a transport:\n%s\nwithout us:\n%s", is, want)
				}
				b.spans(2)
			})
		}
	}
}

// TestTrailersThatWereNotAnnounced reach the handler, over HTTP/1.1.
func TestTrailersThatWereNotAnnounced(t *testing.T) {
	for _, wrapped := range []bool{false, true} {
		b := newBed(t)
		trailer := make(chan http.Header, 1)
		h := http.Handler(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			trailer <- r.Trailer
		}))
		if wrapped {
			h = NewHandler(h, b.inst)
		}
		conn := dial(t, serve(t, h))
		fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n%s0\r\nX-Late: 7\r\n\r\n", chatPath, chunked("{}"))
		if got := <-trailer; got.Get("X-Late") != "7" {
			t.Errorf("wrapped %v: trailers are %v", wrapped, got)
		}
		if wrapped {
			b.spans(1)
		}
	}
}

// TestEveryPanicPassesOn, of whatever value, the nil one and the end of a
// goroutine included.
func TestEveryPanicPassesOn(t *testing.T) {
	b := newBed(t)
	pointer := &struct{}{}
	for _, v := range []any{"boom", 7, pointer, http.ErrAbortHandler, errors.New("x"), nil} {
		boom := func() { panic(v) }
		for name, run := range map[string]func(){
			"handler": func() {
				NewHandler(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { boom() }), b.inst).
					ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, chatPath, bytes.NewReader(chatStream)))
			},
			"transport": func() {
				_, _ = NewTransport(roundTripper(func(*http.Request) (*http.Response, error) { boom(); return nil, nil }), b.inst).RoundTrip(chatRequest(t, context.Background()))
			},
		} {
			func() {
				defer func() {
					got := recover()
					if v == nil {
						if _, ok := got.(*runtime.PanicNilError); !ok {
							t.Errorf("%s: a nil panic became %v", name, got)
						}
					} else if got != v {
						t.Errorf("%s: %v became %v", name, v, got)
					}
				}()
				run()
			}()
			// The end of the goroutine is no panic, but ends the call as well.
			boom = runtime.Goexit
			done := make(chan struct{})
			go func() { defer close(done); run() }()
			<-done
			boom = func() { panic(v) }
		}
	}
	for _, s := range b.spans(24) {
		if s.Status != "ERROR" || len(s.Events) != 0 {
			t.Errorf("span is %s %q with events %v", s.Status, s.StatusMessage, s.Events)
		}
	}
}
