package genaihttp

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/infertel/infertel-go/genai"
)

func dial(t testing.TB, s *httptest.Server) *net.TCPConn {
	t.Helper()
	c, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c.(*net.TCPConn)
}

// echo takes over the connection and sends back what comes.
func echo(w http.ResponseWriter, _ *http.Request) {
	conn, rw, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(err)
	}
	defer conn.Close()
	fmt.Fprint(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
	_, _ = io.Copy(conn, rw)
}

// TestAnUpgradedConnectionCarriesEveryByte both ways, through a handler, a proxy
// and a transport, and the span ends when the protocol changes.
func TestAnUpgradedConnectionCarriesEveryByte(t *testing.T) {
	frames := make([]byte, 300_000)
	for i := range frames {
		frames[i] = byte(i * 7)
	}
	for _, where := range []string{"handler", "proxy", "transport", "both"} {
		t.Run(where, func(t *testing.T) {
			b := newBed(t)
			h := http.Handler(http.HandlerFunc(echo))
			if where != "handler" {
				p := proxy(t, serve(t, h).URL)
				if where != "proxy" {
					p.Transport = NewTransport(p.Transport, b.inst, everyRequest)
				}
				h = p
			}
			if where != "transport" {
				h = NewHandler(h, b.inst, everyRequest)
			}
			conn := dial(t, serve(t, h))
			fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n", chatPath)
			in := bufio.NewReader(conn)
			resp, err := http.ReadResponse(in, nil)
			if err != nil || resp.StatusCode != http.StatusSwitchingProtocols {
				t.Fatal(resp, err)
			}
			// The connection is still open, the span is not.
			if f := b.end(); f.Outcome != genai.OutcomeSuccess {
				t.Errorf("outcome %v, %v", f.Outcome, f.Err)
			}
			go func() { _, _ = conn.Write(frames) }()
			got := make([]byte, len(frames))
			if _, err := io.ReadFull(in, got); err != nil || !bytes.Equal(got, frames) {
				t.Errorf("the bytes that came back differ: %v", err)
			}
			conn.Close()
			b.Flush()
			if s := b.Receiver.FlatSpans(); len(s) != 1 || s[0].Status != "UNSET" || strings.Contains(s[0].StatusMessage, "x") {
				t.Errorf("spans are %+v", s)
			}
		})
	}
}
