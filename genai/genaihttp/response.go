package genaihttp

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/felixge/httpsnoop"

	"github.com/infertel/infertel-go/genai/wire"
)

func responseHead(status int, h http.Header) wire.ResponseHead {
	return wire.ResponseHead{
		Status:          status,
		ContentType:     first(h, "Content-Type"),
		ContentEncoding: first(h, "Content-Encoding"),
	}
}

// maxPending is how much of an answer waits to be looked at: until the handler
// flushes where the time of the first token is wanted, else until there is more.
const maxPending = 512

// responseObserver looks at an answer while a handler writes it.
type responseObserver struct {
	exchange *wire.Exchange
	filter   *usageFilter // nil: every byte passes
	prompt   bool         // look at each piece when it is flushed
	decided  atomic.Bool  // the status is known

	mu      sync.Mutex
	writer  http.ResponseWriter
	write   httpsnoop.WriteFunc
	broken  bool   // a write failed
	gone    bool   // the handler took the connection over
	duplex  bool   // the handler answers while the request is being sent
	pending []byte // written, but not looked at yet
}

// wrap returns a writer with the same optional interfaces as w.
func (o *responseObserver) wrap(w http.ResponseWriter) http.ResponseWriter {
	o.writer = w
	hooks := httpsnoop.Hooks{
		WriteHeader: func(next httpsnoop.WriteHeaderFunc) httpsnoop.WriteHeaderFunc {
			return func(status int) {
				o.head(status)
				next(status)
			}
		},
		Write: func(next httpsnoop.WriteFunc) httpsnoop.WriteFunc {
			o.write = next
			return o.passOn
		},
		ReadFrom: func(next httpsnoop.ReadFromFunc) httpsnoop.ReadFromFunc {
			// The writer's own way may move bytes within the kernel, where they
			// cannot be looked at.
			return func(src io.Reader) (int64, error) { return copyTo(o.passOn, src) }
		},
		EnableFullDuplex: func(next httpsnoop.EnableFullDuplexFunc) httpsnoop.EnableFullDuplexFunc {
			return func() error {
				o.mu.Lock()
				o.duplex = true
				o.mu.Unlock()
				return next()
			}
		},
		Hijack: func(next httpsnoop.HijackFunc) httpsnoop.HijackFunc {
			return func() (net.Conn, *bufio.ReadWriter, error) {
				conn, rw, err := next()
				if err == nil {
					o.hijacked()
				}
				return conn, rw, err
			}
		},
	}
	if o.prompt {
		hooks.Flush = func(next httpsnoop.FlushFunc) httpsnoop.FlushFunc {
			return func() {
				next()
				o.look()
			}
		}
	}
	return httpsnoop.Wrap(w, hooks)
}

// head takes the status of the answer. Informational ones come before it.
func (o *responseObserver) head(status int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.decided.Load() || status < 200 && status != http.StatusSwitchingProtocols {
		return
	}
	defer o.decided.Store(true)
	h := responseHead(status, o.writer.Header())
	o.exchange.ResponseHead(h)
	if !o.filter.applies(status, o.writer.Header()) {
		o.filter = nil
	}
}

func (o *responseObserver) passOn(p []byte) (int, error) {
	if !o.decided.Load() {
		o.head(http.StatusOK)
	}
	n, err := len(p), error(nil)
	if o.filter == nil {
		n, err = o.write(p)
	} else {
		_, err = o.write(o.filter.pass(p))
		if err != nil {
			n = 0
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.broken = o.broken || err != nil
	if o.gone || n <= 0 || n > len(p) {
		return n, err
	}
	if len(o.pending)+n > maxPending {
		o.lookLocked()
	}
	if n > maxPending {
		o.exchange.ResponseBody(p[:n])
	} else {
		o.wait(p[:n])
	}
	return n, err
}

// wait keeps a copy of p. A document comes in one piece, so that the first is
// given as much memory as it needs, and a second as much as all that wait.
func (o *responseObserver) wait(p []byte) {
	switch {
	case o.pending == nil:
		o.pending = make([]byte, 0, len(p))
	case cap(o.pending)-len(o.pending) < len(p):
		o.pending = append(make([]byte, 0, maxPending), o.pending...)
	}
	o.pending = append(o.pending, p...)
}

// release writes what the filter still holds of a stream that ended within an
// event.
func (o *responseObserver) release() {
	if o.filter != nil && len(o.filter.held) > 0 {
		_, _ = o.write(o.filter.held)
	}
}

// look hands what was written to the exchange.
func (o *responseObserver) look() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.lookLocked()
}

func (o *responseObserver) lookLocked() {
	if len(o.pending) > 0 {
		o.exchange.ResponseBody(o.pending)
		o.pending = o.pending[:0]
	}
}

func (o *responseObserver) hijacked() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.gone = true
	o.lookLocked()
	o.exchange.End(nil)
}

func (o *responseObserver) isFullDuplex() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.duplex || o.gone
}

func (o *responseObserver) failed() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.broken
}

var copyBuffers = sync.Pool{New: func() any { b := make([]byte, 32<<10); return &b }}

// copyTo is io.Copy to a write function.
func copyTo(write func([]byte) (int, error), src io.Reader) (written int64, err error) {
	buf := copyBuffers.Get().(*[]byte)
	defer copyBuffers.Put(buf)
	return io.CopyBuffer(writerFunc(write), struct{ io.Reader }{src}, *buf)
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
