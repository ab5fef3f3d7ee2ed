package genaihttp

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/infertel/infertel-go/genai"
)

// TestStateOfAnotherTraceGoesNowhere: tracestate belongs to the trace that the
// caller's traceparent names, and goes with it.
func TestStateOfAnotherTraceGoesNowhere(t *testing.T) {
	for _, c := range []struct {
		parent string
		public bool
		want   string
	}{
		{traceparent, false, "vendor=abc"},
		{traceparent, true, ""},
		{"garbage", false, ""},
		{"", false, ""},
	} {
		var opts []genai.Option
		if c.public {
			opts = append(opts, genai.WithPublicEndpoint())
		}
		for _, where := range []string{"handler", "transport"} {
			b := newBed(t, opts...)
			var got http.Header
			upstream := serve(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = r.Header.Clone() }))
			p := proxy(t, upstream.URL)
			h := NewHandler(p, b.inst)
			if where == "transport" {
				p.Transport = NewTransport(p.Transport, b.inst)
				h = extracting(p, b.inst)
			}
			post(t, plain(t), serve(t, h).URL+chatPath, chatStream, "traceparent", c.parent, "tracestate", "vendor=abc")
			if s := b.spans(1)[0]; got.Get("tracestate") != c.want || !strings.Contains(got.Get("traceparent"), s.SpanID) {
				t.Errorf("%s, %q, public %v: the server got %q and %q", where, c.parent, c.public, got.Get("traceparent"), got.Get("tracestate"))
			}
		}
	}
}

// TestAnOuterSpanIsTheParent: a server that has a span of its own, as with
// otelhttp, has read the caller's headers already.
func TestAnOuterSpanIsTheParent(t *testing.T) {
	for _, public := range []bool{false, true} {
		var opts []genai.Option
		if public {
			opts = append(opts, genai.WithPublicEndpoint())
		}
		b := newBed(t, opts...)
		h := NewHandler(http.NotFoundHandler(), b.inst)
		var outer string
		server := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			ctx, span := b.Traces.Tracer("outer").Start(r.Context(), "outer")
			defer span.End()
			outer = span.SpanContext().SpanID().String()
			h.ServeHTTP(w, r.WithContext(ctx))
		}))
		post(t, plain(t), server.URL+chatPath, chatStream, "traceparent", traceparent)
		<-b.ends
		b.Flush()
		for _, s := range b.Receiver.FlatSpans() {
			if s.Name != "outer" && (s.ParentID != outer || s.TraceID == callerTrace || len(s.Links) != 0) {
				t.Errorf("public %v: parent is %q, want %q; trace %s, links %v", public, s.ParentID, outer, s.TraceID, s.Links)
			}
		}
	}
}

// TestUnsampledRequestsThatNobodyCounts still go on in the trace of their own.
func TestUnsampledRequestsThatNobodyCounts(t *testing.T) {
	for _, public := range []bool{false, true} {
		opts := []genai.Option{genai.WithTracerProvider(sdktrace.NewTracerProvider(sdktrace.WithSampler(sdktrace.NeverSample())))}
		if public {
			opts = append(opts, genai.WithPublicEndpoint())
		}
		inst, err := genai.New(opts...)
		if err != nil {
			t.Fatal(err)
		}
		for _, parent := range []string{"", traceparent} {
			var onward string
			h := NewHandler(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { onward = r.Header.Get("traceparent") }), inst)
			r := httptest.NewRequest(http.MethodPost, chatPath, bytes.NewReader(chatStream))
			r.Header.Set("traceparent", parent)
			h.ServeHTTP(httptest.NewRecorder(), r)
			if sameTrace := strings.Contains(onward, callerTrace); !strings.HasSuffix(onward, "-00") || sameTrace != (parent != "" && !public) {
				t.Errorf("parent %q, public %v: sent on as %q", parent, public, onward)
			}
		}
	}
}

// TestARequestOnTheWay of another operation has a span of its own, one of the
// same operation is the request that is observed already.
func TestARequestOnTheWay(t *testing.T) {
	b := newBed(t)
	engine := serve(t, canned(200, "application/json", testdata(t, "vllm-embeddings.json")))
	client := plain(t)
	client.Transport = NewTransport(client.Transport, b.inst)
	h := NewHandler(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		for _, path := range []string{"/v1/embeddings", chatPath} {
			in, _ := http.NewRequestWithContext(r.Context(), http.MethodPost, engine.URL+path, strings.NewReader(`{"model":"bge-m3"}`))
			resp, err := client.Do(in)
			if err != nil {
				t.Error(err)
				return
			}
			_, _ = io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		}
	}), b.inst)
	post(t, plain(t), serve(t, h).URL+chatPath, chatStream)
	spans := b.spans(2)
	if spans[0].Name != "embeddings bge-m3" || spans[1].Name != "chat m" || spans[0].ParentID != spans[1].SpanID {
		t.Errorf("spans are %q under %q and %q", spans[0].Name, spans[0].ParentID, spans[1].Name)
	}
}

// TestIdentifiersOfBodyAndHeaders: the body comes first.
func TestIdentifiersOfBodyAndHeaders(t *testing.T) {
	for _, c := range []struct {
		body             string
		session, request any // session.id on vLLM, gen_ai.request.id on SGLang
	}{
		{`{"stream":true,"request_id":"body-r","session_id":"body-s"}`, "body-s", "body-r"},
		{`{"stream":true,"rid":"body-rid"}`, "header-s", "body-rid"},
		{`{"stream":true,"rid":"b","request_id":"a"}`, "header-s", "a"},
		{`{"stream":true,"request_id":"a","rid":"b"}`, "header-s", "a"},
		{`{"stream":true,"request_id":"a","rid":""}`, "header-s", "a"},
		{`{"stream":true}`, "header-s", "header-r"},
	} {
		for engine, want := range map[genai.Engine]any{genai.EngineVLLM: c.session, genai.EngineSGLang: c.request} {
			b := newBed(t, genai.WithEngine(engine))
			h := NewHandler(streaming(nil, chunk("a")+finish), b.inst)
			post(t, plain(t), serve(t, h).URL+chatPath, []byte(c.body), "X-Request-Id", "header-r", "X-Session-ID", "header-s")
			key := map[genai.Engine]string{genai.EngineVLLM: "session.id", genai.EngineSGLang: "gen_ai.request.id"}[engine]
			if s := b.spans(1)[0]; s.Attrs[key] != want {
				t.Errorf("%v, %s: %s is %v, want %v", engine, c.body, key, s.Attrs[key], want)
			}
		}
	}
}

// TestFirstTokenTime: neither the role frame nor a comment is a token.
func TestFirstTokenTime(t *testing.T) {
	b := newBed(t)
	ticks := make(chan struct{})
	role := `data: {"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}` + "\n\n"
	server := serve(t, NewHandler(streaming(ticks, role, ": ping\n\n", chunk("a"), chunk("b"), finish), b.inst))
	var seen []int64 // nanoseconds at which the client asked for more
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 4 {
			seen = append(seen, now())
			ticks <- struct{}{}
		}
	}()
	post(t, plain(t), server.URL+chatPath, chatStream)
	<-done
	f := <-b.ends
	if at := f.FirstTokenTime.UnixNano(); at < seen[1] || f.TimeToFirstToken != f.FirstTokenTime.Sub(f.StartTime) {
		t.Errorf("the first token came at %d, before it was sent at %d", at, seen[1])
	}
}

// TestTenThousandAbortedStreams leave no span open and no goroutine behind;
// what goroutines are left is looked at when the tests are through.
func TestTenThousandAbortedStreams(t *testing.T) {
	b := newBed(t)
	const n = 10_000
	h := NewHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		streaming(nil, chunk("a"))(w, r)
		w.Header().Set("Content-Encoding", "gzip")
	}), b.inst)
	for i := range n {
		ctx, cancel := context.WithCancel(context.Background())
		r := httptest.NewRequest(http.MethodPost, chatPath, bytes.NewReader(chatStream)).WithContext(ctx)
		if i%2 == 0 {
			r.Header.Set("Content-Encoding", "gzip")
		}
		cancel()
		h.ServeHTTP(httptest.NewRecorder(), r)
	}
	for range n {
		if f := <-b.ends; f.Outcome != genai.OutcomeDisconnected {
			t.Fatal(fmt.Sprint("outcome is ", f.Outcome))
		}
	}
	b.Flush()
	if got := len(b.Receiver.Spans()); got != n {
		t.Errorf("%d spans arrived, want %d", got, n)
	}
}
