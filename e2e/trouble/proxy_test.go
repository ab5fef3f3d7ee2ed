package trouble

import (
	"io"
	"net"
	"sync"
	"testing"
)

// proxy passes connections on to a server.
type proxy struct {
	net.Listener
	to string

	mu    sync.Mutex
	dark  []chan struct{} // one for each connection, closed when nothing passes
	conns []net.Conn
}

func newProxy(t *testing.T, to string) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{Listener: l, to: to}
	t.Cleanup(func() {
		_ = l.Close()
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, c := range p.conns {
			_ = c.Close()
		}
	})
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", to)
			if err != nil {
				_ = in.Close()
				continue
			}
			dark := make(chan struct{})
			p.mu.Lock()
			p.dark, p.conns = append(p.dark, dark), append(p.conns, in, out)
			p.mu.Unlock()
			go pass(in, out, dark)
			go pass(out, in, dark)
		}
	}()
	return p
}

func (p *proxy) addr() string { return p.Listener.Addr().String() }

// swallow lets nothing pass any more on the connections that there are.
func (p *proxy) swallow() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, d := range p.dark {
		close(d)
	}
	p.dark = nil
}

// pass copies until an end is closed. In the dark it reads and forgets.
func pass(to, from net.Conn, dark <-chan struct{}) {
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		select {
		case <-dark:
			if err != nil {
				return
			}
			continue
		default:
		}
		if n > 0 {
			if _, err := to.Write(buf[:n]); err != nil {
				break
			}
		}
		if err != nil {
			break
		}
	}
	_ = to.Close()
	_, _ = io.Copy(io.Discard, from)
}
