package frameworks

import (
	"errors"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/infertel/infertel-go/genai/genaihttp"
)

const chatPath = "/v1/chat/completions"

// proxies are the ways to tell a ReverseProxy where to.
var proxies = map[string]func(*httputil.ReverseProxy, *url.URL){
	"Rewrite": func(p *httputil.ReverseProxy, to *url.URL) {
		p.Rewrite = func(r *httputil.ProxyRequest) { r.SetURL(to); r.SetXForwarded() }
	},
	"Director": func(p *httputil.ReverseProxy, to *url.URL) {
		//nolint:staticcheck // many gateways still have it
		p.Director = func(r *http.Request) { r.URL.Scheme, r.URL.Host = to.Scheme, to.Host }
	},
}

// places are where the observation can stand.
var places = map[string]func(*bed, *httputil.ReverseProxy) http.Handler{
	"handler": func(b *bed, p *httputil.ReverseProxy) http.Handler { return genaihttp.NewHandler(p, b.inst) },
	"transport": func(b *bed, p *httputil.ReverseProxy) http.Handler {
		p.Transport = genaihttp.NewTransport(p.Transport, b.inst)
		return p
	},
	"both": func(b *bed, p *httputil.ReverseProxy) http.Handler {
		p.Transport = genaihttp.NewTransport(p.Transport, b.inst)
		return genaihttp.NewHandler(p, b.inst)
	},
}

// eachProxy runs f for each way to build a proxy before a server.
func eachProxy(t *testing.T, f func(t *testing.T, b *bed, at func(target string, change func(*httputil.ReverseProxy)) string)) {
	for way, direct := range proxies {
		for place, observe := range places {
			t.Run(way+"/"+place, func(t *testing.T) {
				b := newBed(t)
				f(t, b, func(target string, change func(*httputil.ReverseProxy)) string {
					to, err := url.Parse(target)
					if err != nil {
						t.Fatal(err)
					}
					transport := &http.Transport{DisableCompression: true}
					t.Cleanup(transport.CloseIdleConnections)
					p := &httputil.ReverseProxy{Transport: transport, ErrorLog: quiet}
					direct(p, to)
					if change != nil {
						change(p)
					}
					return serve(t, recovering(observe(b, p))).URL
				})
			})
		}
	}
}

// TestProxyStreams: each piece passes at once, also without a flush interval,
// and the server below gets the context of the span.
func TestProxyStreams(t *testing.T) {
	eachProxy(t, func(t *testing.T, b *bed, at func(string, func(*httputil.ReverseProxy)) string) {
		ticks := make(chan struct{})
		var onward string
		server := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			onward = r.Header.Get("traceparent")
			streaming(ticks)(w, r)
		}))
		readPieces(t, send(t, http.MethodPost, at(server.URL, nil)+chatPath), ticks)
		s := b.entry()
		isWhole(t, s)
		if onward != "00-"+s.TraceID+"-"+s.SpanID+"-01" {
			t.Errorf("the server got traceparent %q, the span is %s in %s", onward, s.SpanID, s.TraceID)
		}
	})
}

// TestProxyModifiesTheAnswer: a handler looks at what goes to the client, a
// transport at what the server sent.
func TestProxyModifiesTheAnswer(t *testing.T) {
	answer := func(id string) string {
		return `{"id":"` + id + `","model":"m","choices":[{"index":0,"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":2}}`
	}
	eachProxy(t, func(t *testing.T, b *bed, at func(string, func(*httputil.ReverseProxy)) string) {
		server := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, answer("server"))
		}))
		resp := send(t, http.MethodPost, at(server.URL, func(p *httputil.ReverseProxy) {
			p.ModifyResponse = func(r *http.Response) error {
				// It reads to the end, as rewriting proxies do.
				if _, err := io.ReadAll(r.Body); err != nil {
					return err
				}
				r.Body.Close()
				r.Body = io.NopCloser(strings.NewReader(answer("proxy")))
				r.ContentLength = int64(len(answer("proxy")))
				r.Header.Set("Content-Length", strconv.Itoa(len(answer("proxy"))))
				return nil
			}
		})+chatPath)
		if got, _ := io.ReadAll(resp.Body); string(got) != answer("proxy") {
			t.Errorf("the client got %q", got)
		}
		want := "proxy"
		if strings.HasSuffix(t.Name(), "transport") {
			want = "server"
		}
		if s := b.entry(); s.Attrs["gen_ai.response.id"] != want || s.Status != "UNSET" || s.Name != "chat m" {
			t.Errorf("the span is %q, %s, of the answer %v", s.Name, s.Status, s.Attrs["gen_ai.response.id"])
		}
	})
}

// TestProxyFails: the proxy's own answer to a failure is the one observed.
func TestProxyFails(t *testing.T) {
	eachProxy(t, func(t *testing.T, b *bed, at func(string, func(*httputil.ReverseProxy)) string) {
		healthy := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, "{}") }))
		own := func(w http.ResponseWriter, _ *http.Request, _ error) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = io.WriteString(w, `{"error":{"type":"no_engine"}}`)
		}
		refuse := func(*http.Response) error { return errors.New("refused") }
		for name, c := range map[string]struct {
			target string
			change func(*httputil.ReverseProxy)
			status int
			says   string // of a handler's span
		}{
			"unreachable":                  {"http://127.0.0.1:1", nil, 502, "HTTP 502"},
			"unreachable, ErrorHandler":    {"http://127.0.0.1:1", func(p *httputil.ReverseProxy) { p.ErrorHandler = own }, 503, "no_engine"},
			"ModifyResponse":               {healthy.URL, func(p *httputil.ReverseProxy) { p.ModifyResponse = refuse }, 502, "HTTP 502"},
			"ModifyResponse, ErrorHandler": {healthy.URL, func(p *httputil.ReverseProxy) { p.ModifyResponse, p.ErrorHandler = refuse, own }, 503, "no_engine"},
		} {
			resp := send(t, http.MethodPost, at(c.target, c.change)+chatPath)
			_, _ = io.Copy(io.Discard, resp.Body)
			s := b.entry()
			if strings.HasSuffix(t.Name(), "transport") {
				c.says = "could not be reached"
				if c.target == healthy.URL {
					c.says = "closed the answer"
				}
			}
			if resp.StatusCode != c.status || s.Status != "ERROR" || !strings.Contains(s.StatusMessage, c.says) {
				t.Errorf("%s: status %d, the span is %s %q", name, resp.StatusCode, s.Status, s.StatusMessage)
			}
		}
	})
}

// TestProxyBreaksOff: a server that goes within a stream cuts the client off as
// it would without the observation.
func TestProxyBreaksOff(t *testing.T) {
	eachProxy(t, func(t *testing.T, b *bed, at func(string, func(*httputil.ReverseProxy)) string) {
		ticks := make(chan struct{})
		server := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, pieces[0])
			w.(http.Flusher).Flush()
			<-ticks
			panic(http.ErrAbortHandler)
		}))
		resp := send(t, http.MethodPost, at(server.URL, func(p *httputil.ReverseProxy) { p.FlushInterval = -1 })+chatPath)
		close(ticks)
		if got, err := io.ReadAll(resp.Body); err == nil {
			t.Errorf("the client takes %q for whole", got)
		}
		if s := b.entry(); s.Status != "ERROR" || s.Name != "chat m" {
			t.Errorf("the span is %q, %s %q", s.Name, s.Status, s.StatusMessage)
		}
	})
}
