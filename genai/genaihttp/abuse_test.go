package genaihttp

import (
	"context"
	"fmt"
	"hash/crc64"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"github.com/infertel/infertel-go/genai"
)

// The bounds that SECURITY.md states on what is held for one exchange: without
// any text, and with content or the tool calls of the chat streams of SGLang.
const (
	boundWithoutText = 1 << 20
	boundWithText    = 6 << 20
)

// sink takes what passes.
type sink struct {
	header http.Header
	sum    uint64
	n      int64
}

func (s *sink) Header() http.Header { return s.header }
func (s *sink) WriteHeader(int)     {}
func (s *sink) Flush()              {}
func (s *sink) Write(p []byte) (int, error) {
	s.sum = crc64.Update(s.sum, table, p)
	s.n += int64(len(p))
	return len(p), nil
}

// heap keeps the most that was live.
type heap struct{ before, most uint64 }

func (h *heap) look() {
	var m runtime.MemStats
	if h.before == 0 {
		runtime.GC() // what pools hold goes only the second time
	}
	runtime.GC()
	runtime.ReadMemStats(&m)
	if h.before == 0 {
		h.before = m.HeapAlloc
	}
	h.most = max(h.most, m.HeapAlloc)
}

// exchange has a request and an answer pass at one place.
func (h *heap) exchange(t *testing.T, b *bed, where string, request, response *flood, kind string, header http.Header) {
	t.Helper()
	h.look()
	request.each, response.each = h.look, h.look
	var got, sent sink
	answer := roundTripper(func(r *http.Request) (*http.Response, error) {
		_, err := io.CopyBuffer(struct{ io.Writer }{&sent}, struct{ io.Reader }{r.Body}, make([]byte, 32<<10))
		return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {kind}, "Content-Encoding": header["Content-Encoding"]}, Body: response, Request: r}, err
	})
	got.header = http.Header{}
	r := httptest.NewRequest(http.MethodPost, chatPath, request)
	for name, values := range header {
		r.Header[name] = values
	}
	copyAnswer := func(w io.Writer, resp *http.Response) {
		_, _ = io.CopyBuffer(struct{ io.Writer }{w}, struct{ io.Reader }{resp.Body}, make([]byte, 32<<10))
		h.look()
		resp.Body.Close()
	}
	if where == "handler" {
		NewHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			resp, err := answer.RoundTrip(r)
			if err != nil {
				t.Error(err)
			}
			maps.Copy(w.Header(), resp.Header)
			copyAnswer(w, resp)
		}), b.inst).ServeHTTP(&got, r)
	} else {
		resp, err := NewTransport(answer, b.inst).RoundTrip(r)
		if err != nil {
			t.Error(err)
			return
		}
		copyAnswer(&got, resp)
	}
	if sent.n != request.read || sent.sum != request.sum || got.n != response.read || got.sum != response.sum {
		t.Error("what passed was changed")
	}
}

// TestFloodsAreBoundedAndPass: what is held stays within the bound at any moment,
// whatever passes, and it passes byte by byte.
func TestFloodsAreBoundedAndPass(t *testing.T) {
	for i, c := range []struct {
		name, where string
		bound       uint64
		opts        []genai.Option
	}{
		{"without content", "handler", boundWithoutText, []genai.Option{genai.WithEngine(genai.EngineVLLM)}},
		{"tool calls", "transport", boundWithText, []genai.Option{genai.WithEngine(genai.EngineSGLang)}},
		{"content", "handler", boundWithText, []genai.Option{genai.WithEngine(genai.EngineSGLang), genai.WithContent(genai.ContentSpan), genai.WithContentMaxLength(1 << 20)}},
	} {
		for name, f := range floods {
			t.Run(c.name+" "+name, func(t *testing.T) {
				if i > 0 { // one of each at its full length is enough
					f.request.size /= 4
					f.response.size /= 4
				}
				b := newBed(t, c.opts...)
				var h heap
				h.exchange(t, b, c.where, &f.request, &f.response, f.kind, f.header)
				if grown := h.most - h.before; grown > c.bound {
					t.Errorf("%.1f MiB are held, want at most %d", float64(grown)/(1<<20), c.bound>>20)
				} else {
					t.Logf("%.2f MiB are held", float64(grown)/(1<<20))
				}
				if s := b.spans(1)[0]; s.Name != "chat m" {
					t.Errorf("span is %q", s.Name)
				}
			})
		}
	}
}

// TestBombsAreNotUnpacked to their end, and pass as they are.
func TestBombsAreNotUnpacked(t *testing.T) {
	for _, where := range []string{"handler", "transport"} {
		b := newBed(t)
		var h heap
		packed := http.Header{"Content-Encoding": {"gzip"}}
		h.exchange(t, b, where, &flood{head: bomb()}, &flood{head: bomb()}, "application/json", packed)
		if grown := h.most - h.before; grown > boundWithoutText {
			t.Errorf("%d KiB are held", grown>>10)
		}
		// The model of the request stands at its end as well: it is not reached.
		if s := b.spans(1)[0]; strings.Contains(s.Name, "late") || s.Attrs["gen_ai.response.id"] == "late" {
			t.Errorf("span is %q with %v", s.Name, s.Attrs)
		}
	}
}

// TestHugeHeaders: they pass, and what is kept of them is short.
func TestHugeHeaders(t *testing.T) {
	long := strings.Repeat("h", 1<<20)
	states := make([]string, 5000)
	for i := range states {
		states[i] = fmt.Sprintf("k%d=v", i)
	}
	for _, public := range []bool{false, true} {
		opts := []genai.Option{genai.WithEngine(genai.EngineVLLM)}
		if public {
			opts = append(opts, genai.WithPublicEndpoint())
		}
		for name, header := range map[string]http.Header{
			"identifiers": {"X-Request-Id": {long}, "X-Session-Id": {long}},
			"types":       {"Content-Type": {long}, "Content-Encoding": {long}},
			"any":         {"X-Any": {long}},
			"parent":      {"Traceparent": {long}},
			"state":       {"Traceparent": {traceparent}, "Tracestate": {strings.Join(states, ",")}},
			"one state":   {"Traceparent": {traceparent}, "Tracestate": {"k=" + long}},
			"whole state": {"Traceparent": {traceparent}, "Tracestate": {strings.Join(states[:32], ",")}},
		} {
			b := newBed(t, opts...)
			var passed http.Header
			h := NewHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				passed = r.Header.Clone()
				_, _ = io.Copy(io.Discard, r.Body)
				w.Header().Set("Content-Type", long)
				_, _ = io.WriteString(w, whole)
			}), b.inst)
			r := httptest.NewRequest(http.MethodPost, chatPath, strings.NewReader(asks)).WithContext(context.Background())
			for k, v := range header {
				r.Header[k] = v
			}
			h.ServeHTTP(httptest.NewRecorder(), r)
			s := b.spans(1)[0]
			for k, v := range s.Attrs {
				if text, ok := v.(string); ok && len(text) > 256 {
					t.Errorf("%s: %s has %d bytes", name, k, len(text))
				}
			}
			for k, v := range header {
				if !strings.HasPrefix(k, "Trace") && passed.Get(k) != v[0] {
					t.Errorf("%s: %s was changed", name, k)
				}
			}
			if kept := passed.Get("Tracestate"); len(kept) > 512 || (kept != "") != (name == "whole state" && !public) {
				t.Errorf("%s, public %v: tracestate of %d bytes is sent on", name, public, len(kept))
			}
			if !strings.Contains(passed.Get("Traceparent"), s.TraceID) {
				t.Errorf("%s: traceparent is %.60q", name, passed.Get("Traceparent"))
			}
		}
	}
}

// TestRandomPathsMakeNoNames: only the operation is ever told of a path.
func TestRandomPathsMakeNoNames(t *testing.T) {
	b := newBed(t)
	names := map[string]bool{}
	h := NewHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"usage":{"prompt_tokens":1}}`)
	}), b.inst)
	n := 0
	for i := range 300 {
		for _, end := range []string{"chat/completions", "completions", "embeddings", "rerank", "score/", "score", "models", "chat/completions/x", "%2fcompletions"} {
			r := httptest.NewRequest(http.MethodPost, fmt.Sprintf("/tenant-%d/SECRET/%s?SECRET=%d", i, end, i), nil)
			h.ServeHTTP(httptest.NewRecorder(), r)
		}
		n += 7
	}
	text := everything(t, b.Bed)
	for _, s := range b.spans(n) {
		names[s.Name] = true
	}
	if len(names) != 4 || strings.Contains(text, "SECRET") || strings.Contains(text, "tenant") {
		t.Errorf("span names are %v", names)
	}
}
