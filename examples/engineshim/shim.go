package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/infertel/infertel-go/vllm"
)

// handler turns the lines of one kind of engine into telemetry. The shim calls
// it from one goroutine at a time.
type handler interface {
	// handle takes one line that names the handler's engine. The error says what
	// is wrong with the line; then nothing came of it.
	handle(context.Context, *line) error
	// close ends every request that is still open as aborted, at the given time and
	// pace. It leaves the engines open: their gauges are read once more at the end.
	close(p *pace, at time.Time)
}

// shim hands lines to the handlers of their engines. It is safe for concurrent
// use.
type shim struct {
	mu       sync.Mutex
	handlers map[string]handler
	tel      telemetry
	stderr   io.Writer
	newest   time.Time // the newest ts of a line that was taken
	bad      int
	closed   bool
}

func newShim(t telemetry, stderr io.Writer, options ...vllm.OptionV1) *shim {
	return &shim{
		tel:    t,
		stderr: stderr,
		handlers: map[string]handler{
			"vllm-v0": newVLLMV0(t),
			"vllm-v1": newVLLMV1(t, options...),
			"sglang":  newSGLang(t),
		},
	}
}

var errClosed = errors.New("the shim is closed")

// feed takes one line of the input that origin names. The error says that no
// more lines are taken; a bad line is reported and makes no error.
func (s *shim) feed(ctx context.Context, origin string, number int, text []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errClosed
	}
	if err := s.take(ctx, origin, text); err != nil {
		s.reject(origin, number, err)
	}
	return nil
}

func (s *shim) take(ctx context.Context, origin string, text []byte) error {
	l, err := parseLine(text)
	if err != nil || l == nil {
		return err
	}
	l.origin = origin
	h := s.handlers[l.engine]
	if h == nil {
		return fmt.Errorf("field %q is %s, want vllm-v0, vllm-v1 or sglang", "engine", shortened(l.fields["engine"]))
	}
	if err := h.handle(ctx, l); err != nil {
		return err
	}
	if l.at.After(s.newest) {
		s.newest = l.at
	}
	return nil
}

// skip reports a line that could not even be read.
func (s *shim) skip(origin string, number int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reject(origin, number, err)
}

func (s *shim) reject(origin string, number int, err error) {
	s.bad++
	fmt.Fprintf(s.stderr, "engineshim: %sline %d: %v\n", origin, number, err)
}

// close ends what is open. Lines that come later are not taken.
func (s *shim) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	s.closed = true
	p := newPace(s.tel)
	for _, h := range s.handlers {
		h.close(p, s.newest)
	}
}

func (s *shim) badLines() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bad
}
