package genaihttp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/infertel/infertel-go/genai"
)

// fixed is a transport that answers without a network and keeps what it got.
type fixed struct {
	resp    *http.Response
	err     error
	request *http.Request
	body    []byte
}

func (f *fixed) RoundTrip(r *http.Request) (*http.Response, error) {
	f.request = r
	if r.Body != nil {
		f.body, _ = io.ReadAll(r.Body)
		r.Body.Close()
	}
	return f.resp, f.err
}

// tracked is a body that says whether it was closed.
type tracked struct {
	io.Reader
	closed int
}

func (b *tracked) Close() error { b.closed++; return nil }

func chatRequest(t *testing.T, ctx context.Context) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://server"+chatPath, bytes.NewReader(chatStream))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func sse(body io.Reader) *http.Response {
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: &tracked{Reader: body}}
}

// TestTheSpanEndsWithTheBody runs every way in which a caller uses an answer.
func TestTheSpanEndsWithTheBody(t *testing.T) {
	whole := chunk("a") + chunk("b") + finish + usage + endMark
	half := func(resp *http.Response) { _, _ = io.CopyN(io.Discard, resp.Body, int64(len(chunk("a"))+20)) }
	for _, c := range []struct {
		name    string
		base    *fixed
		use     func(resp *http.Response)
		outcome genai.Outcome
		tokens  any
	}{
		{"read to the end, then closed", &fixed{resp: sse(strings.NewReader(whole))}, func(r *http.Response) { _, _ = io.ReadAll(r.Body); r.Body.Close() }, genai.OutcomeSuccess, int64(2)},
		{"read to the end, never closed", &fixed{resp: sse(strings.NewReader(whole))}, func(r *http.Response) { _, _ = io.ReadAll(r.Body) }, genai.OutcomeSuccess, int64(2)},
		{"half read, then closed", &fixed{resp: sse(strings.NewReader(whole))}, func(r *http.Response) { half(r); r.Body.Close() }, genai.OutcomeDisconnected, nil},
		{"closed twice", &fixed{resp: sse(strings.NewReader(whole))}, func(r *http.Response) { half(r); r.Body.Close(); r.Body.Close() }, genai.OutcomeDisconnected, nil},
		{"a body that is cut off", &fixed{resp: sse(strings.NewReader(chunk("a")))}, func(r *http.Response) { _, _ = io.ReadAll(r.Body) }, genai.OutcomeTruncated, nil},
		{"a read that fails", &fixed{resp: sse(io.MultiReader(strings.NewReader(chunk("a")), failedReader{io.ErrUnexpectedEOF}))}, func(r *http.Response) { _, _ = io.ReadAll(r.Body) }, genai.OutcomeTransport, nil},
		{"a read that is cancelled", &fixed{resp: sse(io.MultiReader(strings.NewReader(chunk("a")), failedReader{context.Canceled}))}, func(r *http.Response) { _, _ = io.ReadAll(r.Body) }, genai.OutcomeDisconnected, nil},
		{"a failure after the end", &fixed{resp: sse(io.MultiReader(strings.NewReader(whole), failedReader{io.ErrUnexpectedEOF}))}, func(r *http.Response) { _, _ = io.ReadAll(r.Body) }, genai.OutcomeSuccess, int64(2)},
		{"no connection", &fixed{err: errors.New("dial tcp secret-host: refused")}, nil, genai.OutcomeTransport, nil},
		{"an error that is a nil pointer", &fixed{err: (*net.OpError)(nil)}, nil, genai.OutcomeTransport, nil},
		{"no body", &fixed{resp: &http.Response{StatusCode: 204, Header: http.Header{}, Body: http.NoBody}}, func(*http.Response) {}, genai.OutcomeSuccess, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBed(t)
			r := chatRequest(t, context.Background())
			header, body := fmt.Sprint(r.Header), r.Body
			resp, err := NewTransport(c.base, b.inst).RoundTrip(r)
			if !errors.Is(err, c.base.err) {
				t.Fatalf("error is %v", err)
			}
			if err == nil {
				c.use(resp)
			}
			if fmt.Sprint(r.Header) != header || r.Body != body {
				t.Error("the request was changed")
			}
			if !bytes.Equal(c.base.body, chatStream) {
				t.Errorf("the server got %q", c.base.body)
			}
			f := <-b.ends
			b.ends <- f
			s := b.spans(1)[0]
			if f.Outcome != c.outcome || s.Attrs["gen_ai.usage.output_tokens"] != c.tokens || strings.Contains(s.StatusMessage, "secret") {
				t.Errorf("outcome %v, status %q, attributes %v", f.Outcome, s.StatusMessage, s.Attrs)
			}
			if s.Attrs["gen_ai.request.model"] != "m" || s.Name != "chat m" {
				t.Errorf("span %q with %v", s.Name, s.Attrs)
			}
		})
	}
}

// TestATransportThatMisbehaves: our span ends and what it does goes on.
func TestATransportThatMisbehaves(t *testing.T) {
	b := newBed(t)
	resp, err := NewTransport(roundTripper(func(*http.Request) (*http.Response, error) { return nil, nil }), b.inst).RoundTrip(chatRequest(t, context.Background()))
	if resp != nil || err != nil {
		t.Errorf("got %v, %v", resp, err)
	}
	func() {
		defer func() {
			if v := recover(); v != "boom" {
				t.Errorf("the panic became %v", v)
			}
		}()
		_, _ = NewTransport(roundTripper(func(*http.Request) (*http.Response, error) { panic("boom") }), b.inst).RoundTrip(chatRequest(t, context.Background()))
	}()
	for _, s := range b.spans(2) {
		if s.Status != "ERROR" {
			t.Errorf("status is %s", s.Status)
		}
	}
}

// TestAnUpgradedConnectionIsNotWrapped: its body can be written to.
func TestAnUpgradedConnectionIsNotWrapped(t *testing.T) {
	b := newBed(t)
	body := &tracked{Reader: strings.NewReader("")}
	base := &fixed{resp: &http.Response{StatusCode: http.StatusSwitchingProtocols, Header: http.Header{}, Body: body}}
	resp, err := NewTransport(base, b.inst).RoundTrip(chatRequest(t, context.Background()))
	if err != nil || resp.Body != io.ReadCloser(body) {
		t.Errorf("the body was wrapped: %v", err)
	}
	b.spans(1)
}

func TestASentAgainBodyIsReadAnew(t *testing.T) {
	b := newBed(t)
	base := roundTripper(func(r *http.Request) (*http.Response, error) {
		_, _ = io.CopyN(io.Discard, r.Body, 12) // the first try breaks off
		r.Body.Close()
		again, err := r.GetBody()
		if err != nil {
			return nil, err
		}
		_, _ = io.ReadAll(again)
		return sse(strings.NewReader(chunk("a") + finish)), nil
	})
	resp, err := NewTransport(base, b.inst).RoundTrip(chatRequest(t, context.Background()))
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.ReadAll(resp.Body)
	if s := b.spans(1)[0]; s.Name != "chat m" || s.Attrs["gen_ai.request.is_stream"] != true {
		t.Errorf("span %q with %v", s.Name, s.Attrs)
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestTransportLeavesOtherRequestsAlone(t *testing.T) {
	b := newBed(t)
	base := &fixed{resp: &http.Response{StatusCode: 200, Body: http.NoBody}}
	for _, tr := range []*Transport{NewTransport(base, b.inst), NewTransport(base, nil)} {
		r, _ := http.NewRequest(http.MethodGet, "http://server/v1/models", nil)
		if _, err := tr.RoundTrip(r); err != nil || base.request != r {
			t.Errorf("the request was wrapped: %v", err)
		}
	}
	if NewTransport(nil, nil).base != http.DefaultTransport {
		t.Error("nil does not mean the default transport")
	}
}

// TestCompressedBodies: gzip is looked into, everything else passes unread, and
// the client gets what the server sent.
func TestCompressedBodies(t *testing.T) {
	doc, stream := testdata(t, "vllm-chat.json"), testdata(t, "vllm-chat-stream.sse")
	for _, c := range []struct {
		name, contentType, encoding string
		pieces                      [][]byte
		want                        any // input tokens
		failed                      bool
	}{
		{"document", "application/json", "gzip", [][]byte{zip(t, doc)}, int64(26), false},
		{"document in bytes", "application/json", "gzip", cut(zip(t, doc), 1), int64(26), false},
		{"stream", "text/event-stream", "gzip", zipEvents(t, stream), int64(14), false},
		{"stream cut anywhere", "text/event-stream", "x-gzip", cut(bytes.Join(zipEvents(t, stream), nil), 7), int64(14), false},
		{"brotli", "application/json", "br", [][]byte{[]byte("\x1b\x0f\x00\xf8")}, nil, false},
		{"not gzip", "application/json", "gzip", [][]byte{doc}, nil, false},
		{"broken gzip", "application/json", "gzip", [][]byte{zip(t, doc)[:60]}, nil, false},
		{"damaged gzip stream", "text/event-stream", "gzip", damaged(zipEvents(t, stream)), nil, false},
		{"two encodings", "application/json", "gzip, br", [][]byte{doc}, nil, false},
	} {
		for _, where := range []string{"handler", "transport"} {
			t.Run(c.name+" "+where, func(t *testing.T) {
				b := newBed(t)
				h := http.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					w.Header().Set("Content-Encoding", c.encoding)
					canned(200, c.contentType, c.pieces...)(w, r)
				}))
				client := plain(t)
				if where == "handler" {
					h = NewHandler(h, b.inst)
				} else {
					client.Transport = NewTransport(client.Transport, b.inst)
				}
				got := post(t, client, serve(t, h).URL+chatPath, []byte(`{"model":"m"}`), "Accept-Encoding", "gzip, br")
				if !bytes.Equal(got.body, bytes.Join(c.pieces, nil)) || got.header.Get("Content-Encoding") != c.encoding {
					t.Error("the client got something else than the server sent")
				}
				s := b.spans(1)[0]
				if s.Attrs["gen_ai.usage.input_tokens"] != c.want || (s.Status == "ERROR") != c.failed || s.Name != "chat m" {
					t.Errorf("span %q, status %s %q, attributes %v", s.Name, s.Status, s.StatusMessage, s.Attrs)
				}
				if c.want == nil && s.Attrs["gen_ai.response.id"] != nil {
					t.Errorf("something was read out of a broken body: %v", s.Attrs)
				}
			})
		}
	}
	t.Run("request", func(t *testing.T) {
		b := newBed(t)
		h := NewHandler(canned(200, "application/json", doc), b.inst)
		post(t, plain(t), serve(t, h).URL+chatPath, zip(t, chatStream), "Content-Encoding", "gzip")
		if s := b.spans(1)[0]; s.Name != "chat m" {
			t.Errorf("span is %q", s.Name)
		}
	})
	t.Run("undone by net/http", func(t *testing.T) {
		b := newBed(t)
		server := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			canned(200, "application/json", zip(t, doc))(w, r)
		}))
		tr := &http.Transport{}
		t.Cleanup(tr.CloseIdleConnections)
		got := post(t, &http.Client{Transport: NewTransport(tr, b.inst)}, server.URL+chatPath, chatStream)
		if s := b.spans(1)[0]; !bytes.Equal(got.body, doc) || s.Attrs["gen_ai.usage.input_tokens"] != int64(26) {
			t.Errorf("attributes are %v", s.Attrs)
		}
	})
}

// TestUsageOnRequest pins the one thing that can change what passes, and that
// it does so only when it is asked to.
func TestUsageOnRequest(t *testing.T) {
	const asked = `{"stream_options":{"include_usage":true},`
	stream := chunk("a") + finish
	server := func(seen *[]byte) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			*seen, _ = io.ReadAll(r.Body)
			if changed := bytes.HasPrefix(*seen, []byte(asked)); changed && r.Header.Get("Accept-Encoding") != "identity" {
				t.Errorf("a compressed answer is accepted: %q", r.Header.Get("Accept-Encoding"))
			}
			if int64(len(*seen)) != r.ContentLength {
				t.Errorf("Content-Length is %d for %d bytes", r.ContentLength, len(*seen))
			}
			body := stream
			if bytes.Contains(*seen, []byte(`"include_usage":true`)) {
				body += usage
			}
			w.Header().Set("Content-Type", "text/event-stream")
			for _, p := range cut([]byte(body+endMark), 17) {
				_, _ = w.Write(p)
				w.(http.Flusher).Flush()
			}
		}
	}
	for _, c := range []struct {
		name, request string
		opts          []HandlerOption
		changed       bool
		usage         bool // reaches the client
	}{
		{"off", `{"model":"m","stream":true}`, nil, false, false},
		{"on", ` {"model":"m","stream":true}`, []HandlerOption{WithIncludeUsage()}, true, false},
		{"not a stream", `{"model":"m"}`, []HandlerOption{WithIncludeUsage()}, false, false},
		{"the request asks itself", `{"model":"m","stream":true,"stream_options":{"include_usage":true}}`, []HandlerOption{WithIncludeUsage()}, false, true},
		{"the request says no", `{"model":"m","stream":true,"stream_options":{"include_usage":false}}`, []HandlerOption{WithIncludeUsage()}, false, false},
		{"the request has other options", `{"model":"m","stream":true,"stream_options":{}}`, []HandlerOption{WithIncludeUsage()}, false, false},
		{"a name in another case", `{"model":"m","Stream":true}`, []HandlerOption{WithIncludeUsage()}, false, false},
		{"not JSON", `{"model":"m","stream":true`, []HandlerOption{WithIncludeUsage()}, false, false},
		{"too long", `{"model":"m","stream":true,"pad":"` + strings.Repeat("x", maxInjected) + `"}`, []HandlerOption{WithIncludeUsage()}, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBed(t)
			var seen []byte
			upstream := serve(t, server(&seen))
			got := post(t, plain(t), serve(t, NewHandler(proxy(t, upstream.URL), b.inst, c.opts...)).URL+chatPath, []byte(c.request))
			want := c.request
			if c.changed {
				want = asked + strings.TrimPrefix(strings.TrimSpace(c.request), "{")
			}
			if string(seen) != want {
				t.Errorf("the server got %.100q, want %.100q", seen, want)
			}
			client := stream
			if c.usage {
				client += usage
			}
			if string(got.body) != client+endMark {
				t.Errorf("the client got %q, want %q", got.body, client+endMark)
			}
			s := b.spans(1)[0]
			if has := s.Attrs["gen_ai.usage.input_tokens"] != nil; has != (c.changed || c.usage) {
				t.Errorf("attributes are %v", s.Attrs)
			}
		})
	}
}

// TestWhatTheFilterHoldsIsLetGo at the end of a stream that ends within an event.
func TestWhatTheFilterHoldsIsLetGo(t *testing.T) {
	b := newBed(t)
	pieces := chunk("a") + finish + "data: unfinished"
	got := post(t, plain(t), serve(t, NewHandler(streaming(nil, pieces), b.inst, WithIncludeUsage())).URL+chatPath, chatStream)
	if string(got.body) != pieces {
		t.Errorf("the client got %q, want %q", got.body, pieces)
	}
	b.spans(1)
}

// TestTheFilterLosesNothing but the event that is nothing but the usage.
func TestTheFilterLosesNothing(t *testing.T) {
	long := "data: " + strings.Repeat("x", maxHeld+10) + "\n\n"
	for _, c := range []struct{ in, out string }{
		{usage, ""},
		{strings.ReplaceAll(usage, "\n", "\r\n"), ""},
		{chunk("a") + usage + endMark, chunk("a") + endMark},
		{strings.Replace(usage, `"choices":[]`, `"choices":[{}]`, 1), strings.Replace(usage, `"choices":[]`, `"choices":[{}]`, 1)},
		{strings.Replace(usage, `"usage":{`, `"usage":null,"x":{`, 1), strings.Replace(usage, `"usage":{`, `"usage":null,"x":{`, 1)},
		{long + usage + chunk("b"), long + chunk("b")},
		{": usage\n\n\n\ndata:\n\n", ": usage\n\n\n\ndata:\n\n"},
		{"data: unfinished", "data: unfinished"},
	} {
		for _, n := range []int{1, 3, 64, 1 << 20} {
			var got bytes.Buffer
			f := &usageFilter{}
			for _, p := range cut([]byte(c.in), n) {
				got.Write(f.pass(p))
			}
			got.Write(f.held)
			if got.String() != c.out {
				t.Errorf("%.60q in pieces of %d became %.60q", c.in, n, got.String())
			}
		}
	}
}
