package wire

import (
	"bytes"

	"github.com/infertel/infertel-go/internal/jsonstream"
)

const (
	minPrefix = 48  // a shorter one is not worth the copy
	maxPrefix = 512 // bytes of an event that are compared with the next
)

// prefix remembers the state of the reader after the bytes with which events of
// a stream begin alike: the identifier, the model and what else an engine
// repeats in every chunk. Reading the same bytes leads to the same state, so an
// event that begins with them is read from there on.
type prefix struct {
	last  []byte // how the event before began
	bytes []byte // what the state below comes after

	json                jsonstream.Reader
	event               event
	position            int
	text                []byte
	eventID, eventModel string
}

// readStart reads the first piece of an event.
func (r *responseReader) readStart(p []byte) {
	s := r.prefix
	if s == nil {
		// The first event alone has nothing to be compared with.
		r.prefix = &prefix{last: bytes.Clone(p[:min(len(p), maxPrefix)])}
		r.json.Write(p)
		return
	}
	if len(s.bytes) > 0 && bytes.HasPrefix(p, s.bytes) {
		s.restore(r)
		r.json.Write(p[len(s.bytes):])
		return
	}
	n := common(s.last, p)
	s.last = append(s.last[:0], p[:min(len(p), maxPrefix)]...)
	if n < minPrefix {
		r.json.Write(p)
		return
	}
	r.json.Write(p[:n])
	s.save(r, p[:n])
	r.json.Write(p[n:])
}

func common(a, b []byte) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

func (s *prefix) save(r *responseReader, p []byte) {
	s.bytes = append(s.bytes[:0], p...)
	s.json = r.json
	s.event.copy(&r.event)
	s.position, s.eventID, s.eventModel = r.position, r.eventID, r.eventModel
	s.text = append(s.text[:0], r.text...)
}

func (s *prefix) restore(r *responseReader) {
	r.json = s.json
	r.event.copy(&s.event)
	r.position, r.eventID, r.eventModel = s.position, s.eventID, s.eventModel
	r.text = append(r.text[:0], s.text...)
}

// copy makes e the same as o without sharing memory with it.
func (e *event) copy(o *event) {
	buf, deltas, tools := append(e.buf[:0], o.buf...), append(e.deltas[:0], o.deltas...), append(e.tools[:0], o.tools...)
	*e = *o
	e.buf, e.deltas, e.tools = buf, deltas, tools
}
