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
//
// Most often the first difference is the text that the model wrote, and what
// follows it is the same again. Then the state at the end is remembered too, and
// of an event that differs in its text alone nothing but the text is read.
type prefix struct {
	last  []byte // how the event before began
	bytes []byte // what begin comes after
	begin readerState

	tail   []byte // what follows the text; empty if nothing is known of it
	finish readerState
}

// readerState is everything in a responseReader that an event changes before it
// is committed.
type readerState struct {
	json                jsonstream.Reader
	event               event
	position            int
	text                []byte
	eventID, eventModel string
}

func (s *readerState) save(r *responseReader) {
	s.json = r.json
	s.event.copy(&r.event)
	s.position, s.eventID, s.eventModel = r.position, r.eventID, r.eventModel
	s.text = append(s.text[:0], r.text...)
}

func (s *readerState) restore(r *responseReader) {
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

// readStart reads the first piece of an event.
func (r *responseReader) readStart(p []byte) {
	s := r.prefix
	if s == nil {
		// The first event has nothing to be compared with.
		r.prefix = &prefix{last: bytes.Clone(p[:min(len(p), maxPrefix)])}
		r.json.Write(p)
		return
	}
	if len(s.bytes) > 0 && bytes.HasPrefix(p, s.bytes) {
		s.readRest(r, p[len(s.bytes):])
		return
	}
	n := common(s.last, p)
	s.last = append(s.last[:0], p[:min(len(p), maxPrefix)]...)
	if n < minPrefix {
		r.json.Write(p)
		return
	}
	r.json.Write(p[:n])
	s.bytes = append(s.bytes[:0], p[:n]...)
	s.begin.save(r)
	s.tail = s.tail[:0]
	r.json.Write(p[n:])
}

func common(a, b []byte) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// readRest reads what follows the remembered beginning.
func (s *prefix) readRest(r *responseReader, p []byte) {
	text := s.textOf(p)
	if text < 0 {
		s.begin.restore(r)
		r.json.Write(p)
		return
	}
	tail := p[text+1:]
	if len(s.tail) > 0 && bytes.Equal(tail, s.tail) {
		s.finish.restore(r)
		r.event.replaceText(r, s.begin.event.deltas[0].text, p[:text])
		return
	}
	s.begin.restore(r)
	r.json.Write(p)
	s.tail = s.tail[:0]
	// The text is told apart from the rest only where it is all of the event.
	if e := &r.event; r.json.Done() && len(tail) <= maxPrefix && len(e.deltas) == 1 && e.deltas[0].text.to == len(e.buf) {
		s.tail = append(s.tail, tail...)
		s.finish.save(r)
	}
}

// textOf returns the length of a text that p goes on with and ends: plain text
// of the choice, without escapes, to the end of the string. It returns -1 if the
// event differs from the one before in anything else.
func (s *prefix) textOf(p []byte) int {
	if id, ok := s.begin.json.InString(); !ok || id != resText || len(s.begin.event.deltas) != 1 {
		return -1
	}
	for i, c := range p {
		switch {
		case c == '"' && i > 0:
			return i
		case c == '"', c == '\\', c < ' ':
			return -1
		}
	}
	return -1
}

// replaceText puts p in the place of the text of the only choice, which begins
// with what is at s already.
func (e *event) replaceText(r *responseReader, s span, p []byte) {
	e.buf = e.buf[:s.to]
	d := &e.deltas[0]
	d.text = s
	d.text.to = r.capture(s, p, r.contentLimit)
}
