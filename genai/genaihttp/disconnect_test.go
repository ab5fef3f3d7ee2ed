package genaihttp

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/infertel/infertel-go/genai"
)

// whole is a stream with everything in it.
const role = `data: {"id":"c1","model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}` + "\n\n"

var whole = role + chunk("a") + chunk("b") + finish + usage + endMark

// points are the places at which a stream can break off, in bytes of its body.
var points = func() map[string]int {
	at := func(s string) int { return strings.Index(whole, s) }
	return map[string]int{
		"before the head":            -1,
		"before the body":            0,
		"within the first event":     20,
		"after the role":             len(role),
		"within a text":              at(`"a"`) + 1,
		"between the line feeds":     at(chunk("b")) - 1,
		"between events":             at(chunk("b")),
		"within the finish":          at(finish) + 60,
		"after the finish":           at(usage),
		"within the usage":           at(usage) + 80,
		"after the usage":            at(endMark),
		"within the mark":            at(endMark) + 9,
		"after the mark":             len(whole),
		"before its last line feeds": len(whole) - 2,
	}
}()

// leaving are the ways in which a client goes.
var leaving = map[string]func(cancel context.CancelFunc, resp *http.Response, conn *net.TCPConn){
	"cancels": func(cancel context.CancelFunc, _ *http.Response, _ *net.TCPConn) { cancel() },
	"closes": func(cancel context.CancelFunc, resp *http.Response, _ *net.TCPConn) {
		if resp != nil {
			resp.Body.Close()
		}
		cancel() // there is nothing else to close before the head
	},
	"hangs up": func(_ context.CancelFunc, _ *http.Response, conn *net.TCPConn) { conn.Close() },
	"resets": func(_ context.CancelFunc, _ *http.Response, conn *net.TCPConn) {
		_ = conn.SetLinger(0)
		conn.Close()
	},
	"closes its half": func(_ context.CancelFunc, _ *http.Response, conn *net.TCPConn) { _ = conn.CloseWrite() },
}

// TestTheClientLeavesAtEveryPoint, in every way, over HTTP/1.1 and HTTP/2, seen
// as a handler, as one before a proxy and as a transport.
func TestTheClientLeavesAtEveryPoint(t *testing.T) {
	for _, protocol := range []string{"HTTP/1.1", "h2", "h2c"} {
		for _, where := range []string{"handler", "proxy", "transport"} {
			t.Run(protocol+" "+where, func(t *testing.T) {
				b := newBed(t)
				plan := make(chan int, 1) // how far the stream goes
				arrived := make(chan struct{}, 1)
				var h http.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					_, _ = io.Copy(io.Discard, r.Body)
					n := <-plan
					if n >= 0 {
						w.Header().Set("Content-Type", "text/event-stream")
						w.WriteHeader(http.StatusOK)
						_ = http.NewResponseController(w).Flush()
						_, _ = io.WriteString(w, whole[:n])
						_ = http.NewResponseController(w).Flush()
					}
					arrived <- struct{}{}
					<-r.Context().Done()
					panic(http.ErrAbortHandler)
				})
				switch where {
				case "handler":
					h = NewHandler(h, b.inst)
				case "proxy":
					h = NewHandler(proxy(t, serve(t, h).URL), b.inst)
				}
				server := start(t, protocol, h)
				for point, n := range points {
					for way, leave := range leaving {
						d := dialer{}
						client := d.client(t, protocol, server)
						if where == "transport" {
							client.Transport = NewTransport(client.Transport, b.inst)
						}
						plan <- n
						d.use(t, client, server.URL, n, arrived, leave)
						f := b.end()
						if done := n >= points["after the finish"]; done != (f.Outcome == genai.OutcomeSuccess) {
							t.Errorf("the client %s %s: outcome %v", way, point, f.Outcome)
						}
						if counted := n >= points["after the usage"]; counted != (f.Usage.InputTokens != nil) {
							t.Errorf("the client %s %s: usage %v", way, point, f.Usage)
						}
					}
				}
				b.Flush()
				if got, want := len(b.Receiver.Spans()), len(points)*len(leaving); got != want {
					t.Errorf("%d spans arrived, want %d", got, want)
				}
			})
		}
	}
}

// start serves h by a protocol.
func start(t testing.TB, protocol string, h http.Handler) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	s.Config.ErrorLog = quiet
	t.Cleanup(s.Close)
	switch protocol {
	case "h2":
		s.EnableHTTP2 = true
		s.StartTLS()
	case "h2c":
		s.Config.Protocols = new(http.Protocols)
		s.Config.Protocols.SetUnencryptedHTTP2(true)
		s.Start()
	default:
		s.Start()
	}
	return s
}

// dialer keeps the connection that a client makes.
type dialer struct{ conn *net.TCPConn }

func (d *dialer) client(t testing.TB, protocol string, s *httptest.Server) *http.Client {
	tr := &http.Transport{DisableCompression: true, ForceAttemptHTTP2: protocol == "h2"}
	tr.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := (&net.Dialer{}).DialContext(ctx, network, addr)
		if err == nil {
			d.conn = c.(*net.TCPConn)
		}
		return c, err
	}
	switch protocol {
	case "h2":
		tr.TLSClientConfig = s.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
	case "h2c":
		tr.Protocols = new(http.Protocols)
		tr.Protocols.SetUnencryptedHTTP2(true)
	}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr}
}

// use makes a request, reads n bytes of the answer, none of its head for -1, and
// leaves.
func (d *dialer) use(t testing.TB, client *http.Client, url string, n int, arrived chan struct{}, leave func(context.CancelFunc, *http.Response, *net.TCPConn)) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url+chatPath, bytes.NewReader(chatStream))
	if err != nil {
		t.Fatal(err)
	}
	answered := make(chan *http.Response, 1)
	go func() {
		resp, err := client.Do(r)
		if err != nil {
			resp = nil
		}
		answered <- resp
	}()
	var resp *http.Response
	if n >= 0 {
		if resp = <-answered; resp == nil {
			t.Fatal("no answer")
		}
		if _, err := io.ReadFull(resp.Body, make([]byte, n)); err != nil {
			t.Fatal(err)
		}
	}
	<-arrived
	leave(cancel, resp, d.conn)
	if n < 0 {
		// The server never answers: one that has only heard half of it is left too.
		select {
		case resp = <-answered:
		case <-time.After(50 * time.Millisecond):
			cancel()
			resp = <-answered
		}
	}
	if resp != nil {
		_, _ = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}
}

// end waits for a call to end.
func (b *bed) end() genai.Finished {
	b.t.Helper()
	select {
	case f := <-b.ends:
		return f
	case <-time.After(10 * time.Second):
		b.t.Fatal("a call did not end")
		panic("unreachable")
	}
}
