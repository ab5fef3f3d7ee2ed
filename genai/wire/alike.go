package wire

import (
	"bytes"

	"github.com/infertel/infertel-go/internal/jsonstream"
)

const (
	minHead  = 48  // a shorter one is not worth the copy
	maxAlike = 512 // bytes of an event that are compared with the next
)

// alike remembers in what the events of a stream are the same, since an engine
// repeats nearly all of an event in the next.
//
// Reading the same bytes leads to the same state. So the state of the reader is
// remembered after the bytes with which events begin alike, at most up to the
// text that the model wrote, and an event that begins with them is read from
// there on. Of an event that differs in its text alone nothing but the text is
// read: what follows the text is remembered with what the event tells.
type alike struct {
	last   []byte // how the latest event began that was read
	textAt int    // where its first text begins, or unseen

	head  []byte // what begin comes after
	begin readerState

	tail      []byte // what follows the text, to the end of the event; empty if nothing is known of it
	index     int    // of the choice that has the text
	reasoning bool   // the text is reasoning
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
	a := r.alike
	if a == nil {
		// The first event has nothing to be compared with.
		a = &alike{}
		r.alike = a
	}
	from := 0
	if len(a.head) > 0 && bytes.HasPrefix(p, a.head) {
		from = len(a.head)
		a.begin.restore(r)
	}
	r.event.base = 0
	n := from
	if a.textAt != from { // else no more can be the same
		n = common(a.last, p)
		if a.textAt != unseen {
			n = min(n, a.textAt)
		}
	}
	if n >= minHead && n > from {
		r.event.base = from
		r.json.Write(p[from:n])
		from = n
		a.head = append(a.head[:0], p[:n]...)
		a.tail = a.tail[:0]
		a.begin.save(r)
	}
	r.event.base = from
	r.json.Write(p[from:])
	a.last = append(a.last[:0], p[:min(len(p), maxAlike)]...)
	a.textAt = r.event.textAt
	if len(a.head) > 0 && a.textAt == len(a.head) && from == len(a.head) {
		a.learn(r, p[from:])
	}
}

func common(a, b []byte) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// learn remembers what follows the text with which p begins, if the event tells
// nothing but that text.
func (a *alike) learn(r *responseReader, p []byte) {
	e := &r.event
	n, plain := textLength(p)
	if n <= 0 || !plain || e.written != n || !r.json.Done() || len(p)-n > maxAlike || !e.isText() {
		return
	}
	d := &e.deltas[0]
	kept := d.text
	switch {
	case d.hasReasoning:
		kept = d.reasoning
	case d.hasReasoningContent:
		kept = d.reasoningContent
	}
	if kept.to-kept.from != min(n, r.contentLimit, maxEvent) {
		return // a member that stands there twice
	}
	a.index, a.reasoning = d.index, !d.hasText
	a.tail = append(append(a.tail[:0], p[n:]...), "\n\n"...)
}

// isText reports whether the event tells nothing but a text of one choice.
func (e *event) isText() bool {
	return e.output && len(e.deltas) == 1 && e.deltas[0].finish == "" && len(e.tools) == 0 &&
		e.usage == usage{} && !e.isError && e.errorType == ""
}

// textLength returns the length of the text with which p begins, to the end of
// its string, and whether it stands there as it is, without escapes. It returns
// -1 if p does not show the end, or what needs to be read to be understood.
func textLength(p []byte) (n int, plain bool) {
	plain = true
	for i := 0; i < len(p); i++ {
		switch c := p[i]; {
		case c == '"':
			return i, plain
		case c < ' ':
			return -1, false
		case c == '\\':
			plain = false
			if i++; i == len(p) || jsonstream.Unescape(p[i]) == 0 {
				return -1, false
			}
		}
	}
	return -1, false
}

const dataField = "data: "

// skim takes the events with which p begins that differ from those before in
// their text alone, and returns what is left.
func (r *responseReader) skim(p []byte) []byte {
	a := r.alike
	// What the first event says of itself must have been taken.
	if a == nil || len(a.tail) == 0 || r.id == "" || r.model == "" || !r.sse.betweenEvents() {
		return p
	}
	before := len(dataField) + len(a.head)
	for len(p) > before+len(a.tail) && string(p[:len(dataField)]) == dataField && bytes.HasPrefix(p[len(dataField):], a.head) {
		rest := p[before:]
		n, plain := textLength(rest)
		if n <= 0 || !bytes.HasPrefix(rest[n:], a.tail) {
			return p
		}
		r.increments++
		if c := r.choice(a.index); c != nil && r.contentLimit > 0 {
			to := &c.text
			if a.reasoning {
				to = &c.reasoning
			}
			*to = r.keepText(*to, rest[:n], plain)
		}
		p = rest[n+len(a.tail):]
	}
	return p
}

// keepText is keep for text that stands in a string of the event.
func (r *responseReader) keepText(kept, p []byte, plain bool) []byte {
	for !plain {
		i := bytes.IndexByte(p, '\\')
		if i < 0 {
			break
		}
		kept = r.keep(kept, p[:i], r.contentLimit)
		kept = r.keep(kept, []byte{jsonstream.Unescape(p[i+1])}, r.contentLimit)
		p = p[i+2:]
	}
	return r.keep(kept, p, r.contentLimit)
}
