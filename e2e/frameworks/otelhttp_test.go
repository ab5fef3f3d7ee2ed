package frameworks

import (
	"net/http"
	"net/http/httputil"
	"net/url"
	"testing"
	"time"

	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel/propagation"

	"github.com/infertel/infertel-go/genai"
	"github.com/infertel/infertel-go/genai/genaihttp"
	"github.com/infertel/infertel-go/internal/otlpreceiver/otlptest"
)

// TestWithOtelhttp: around or inside of otelhttp's handler and transport, each
// span is the child of the next one out, and the server below continues the
// innermost.
func TestWithOtelhttp(t *testing.T) {
	for _, c := range []struct {
		name string
		// What stands around what, as scopes: the caller first, the server last.
		chain                              []string
		outside, inside, above, below, own bool
	}{
		{name: "otelhttp around the handler", chain: []string{otelhttp.ScopeName, genai.ScopeName}, outside: true},
		// Its handler alone does not put its span into the headers that go on.
		{name: "otelhttp inside of the handler and as the transport", chain: []string{genai.ScopeName, otelhttp.ScopeName, otelhttp.ScopeName}, inside: true, below: true},
		{name: "otelhttp around and as the transport", chain: []string{otelhttp.ScopeName, genai.ScopeName, otelhttp.ScopeName}, outside: true, below: true},
		{name: "otelhttp around, the transport over otelhttp's", chain: []string{otelhttp.ScopeName, genai.ScopeName, otelhttp.ScopeName}, outside: true, own: true, below: true},
		{name: "otelhttp around, the transport under otelhttp's", chain: []string{otelhttp.ScopeName, otelhttp.ScopeName, genai.ScopeName}, outside: true, own: true, above: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBed(t)
			opts := []otelhttp.Option{
				otelhttp.WithTracerProvider(b.Traces), otelhttp.WithMeterProvider(b.Metrics),
				otelhttp.WithPropagators(propagation.TraceContext{}),
			}
			ticks := make(chan struct{})
			var onward string
			server := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				onward = r.Header.Get("traceparent")
				streaming(ticks)(w, r)
			}))
			to, err := url.Parse(server.URL)
			if err != nil {
				t.Fatal(err)
			}
			plain := &http.Transport{}
			t.Cleanup(plain.CloseIdleConnections)
			var transport http.RoundTripper = plain
			if c.below {
				transport = otelhttp.NewTransport(transport, opts...)
			}
			if c.own {
				transport = genaihttp.NewTransport(transport, b.inst)
			}
			if c.above {
				transport = otelhttp.NewTransport(transport, opts...)
			}
			var h http.Handler = &httputil.ReverseProxy{Transport: transport, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }}
			if c.inside {
				h = otelhttp.NewHandler(h, "inner", opts...)
			}
			if !c.own {
				h = genaihttp.NewHandler(h, b.inst)
			}
			if c.outside {
				h = otelhttp.NewHandler(h, "outer", opts...)
			}
			readPieces(t, send(t, http.MethodPost, serve(t, h).URL+chatPath), ticks)
			<-b.ends

			// A span ends when its handler returns, which may be after the client
			// has the answer.
			var spans []otlptest.Span
			for deadline := time.Now().Add(10 * time.Second); len(spans) < len(c.chain) && time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
				spans = b.all()
			}
			if len(spans) != len(c.chain) {
				t.Fatalf("spans are %+v", spans)
			}
			children := map[string]otlptest.Span{}
			for _, s := range spans {
				children[s.ParentID] = s
				if s.TraceID != callerTrace {
					t.Errorf("%s is in the trace %s", s.Name, s.TraceID)
				}
				if s.Scope == genai.ScopeName {
					isWhole(t, s)
				}
			}
			parent := callerSpan
			for _, scope := range c.chain {
				s := children[parent]
				if s.Scope != scope {
					t.Fatalf("under %s is %q of %q, want one of %s", parent, s.Name, s.Scope, scope)
				}
				parent = s.SpanID
			}
			if onward != "00-"+callerTrace+"-"+parent+"-01" {
				t.Errorf("the server got %q, the innermost span is %s", onward, parent)
			}
		})
	}
}
