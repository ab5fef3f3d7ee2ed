package e2e

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"
	"testing"
)

// wiretap stands between a client and a server and keeps the bytes of every
// connection, so that what a client sees needs no word of the client.
type wiretap struct {
	t        *testing.T
	url      string
	listener net.Listener
	running  sync.WaitGroup
	mu       sync.Mutex
	up, down []*bytes.Buffer // of each connection
}

func tapInto(t *testing.T, server string) *wiretap {
	t.Helper()
	target, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &wiretap{t: t, url: "http://" + listener.Addr().String(), listener: listener}
	t.Cleanup(func() { listener.Close() })
	w.running.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			up, down := &bytes.Buffer{}, &bytes.Buffer{}
			w.mu.Lock()
			w.up, w.down = append(w.up, up), append(w.down, down)
			w.mu.Unlock()
			w.running.Go(func() { w.join(client, target.Host, up, down) })
		}
	})
	return w
}

func (w *wiretap) join(client net.Conn, address string, up, down *bytes.Buffer) {
	defer client.Close()
	server, err := net.Dial("tcp", address)
	if err != nil {
		w.t.Error(err)
		return
	}
	var both sync.WaitGroup
	both.Go(func() {
		_, _ = io.Copy(server, io.TeeReader(client, up))
		server.Close() // the client is through
	})
	_, _ = io.Copy(client, io.TeeReader(server, down))
	client.Close()
	both.Wait()
}

// exchanged is one request and its answer as they were on the wire.
type exchanged struct {
	request, response http.Header
	sent, got         []byte // bodies
	status            string
	framing           []string // the transfer encoding
	length            int64
	trailer           http.Header
	cut               error // the answer was not read to its end
}

// exchanges returns what passed, by the header X-Call. The client must have
// closed its connections.
func (w *wiretap) exchanges() map[string]exchanged {
	w.t.Helper()
	w.listener.Close()
	w.running.Wait()
	out := map[string]exchanged{}
	for i := range w.up {
		up, down := bufio.NewReader(w.up[i]), bufio.NewReader(w.down[i])
		for {
			request, err := http.ReadRequest(up)
			if err != nil {
				break
			}
			var x exchanged
			x.request = request.Header
			if x.sent, err = io.ReadAll(request.Body); err != nil {
				w.t.Error(err)
			}
			response, err := http.ReadResponse(down, request)
			if err != nil {
				w.t.Errorf("call %s has no answer: %v", request.Header.Get("X-Call"), err)
				break
			}
			x.status, x.response, x.framing, x.length = response.Status, response.Header, response.TransferEncoding, response.ContentLength
			x.got, x.cut = io.ReadAll(response.Body)
			x.trailer = response.Trailer
			out[request.Header.Get("X-Call")] = x
		}
	}
	return out
}
