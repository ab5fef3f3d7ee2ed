package wire

import "bytes"

// eventReader splits a stream of server-sent events as bytes, so that a
// character cut in two is never decoded by halves, and hands on the data
// lines as they come. It keeps nothing but its place.
type eventReader struct {
	state   lineState
	matched int  // bytes of the field name "data", or of the byte order mark
	cr      bool // the last byte was a carriage return, so a line feed belongs to it
	started bool // past the place for a byte order mark
	event   bool // the event has a data line
	mark    markState
}

type lineState uint8

const (
	lineStart lineState = iota // in the field name, as far as it agrees with "data"
	lineSpace                  // after the colon: one space may follow
	lineData
	lineSkip // another field, or a comment
)

// markState is how far the data agrees with the mark that ends a stream.
type markState struct {
	n      int
	failed bool
}

const endMark = "[DONE]"

func (m *markState) write(p []byte) {
	for _, c := range p {
		if m.failed {
			return
		}
		switch {
		case m.n < len(endMark) && c == endMark[m.n]:
			m.n++
		case (m.n == 0 || m.n == len(endMark)) && (c == ' ' || c == '\t'):
		default:
			m.failed = true
		}
	}
}

func (m *markState) whole() bool { return !m.failed && m.n == len(endMark) }

// eventSink is told of the data of each event.
type eventSink interface {
	data(p []byte)
	// newLine comes before each data line of an event but the first, and
	// reports whether the line begins an event of its own.
	newLine() bool
	dispatch(done bool)
}

const (
	fieldName     = "data"
	byteOrderMark = "\xEF\xBB\xBF"
)

// betweenEvents reports whether the next byte begins an event.
func (r *eventReader) betweenEvents() bool {
	return r.started && !r.event && r.state == lineStart && r.matched == 0
}

func (r *eventReader) write(p []byte, sink eventSink) {
	feed := -1 // where the next line feed is, counted from the end of p
	for len(p) > 0 {
		c := p[0]
		if r.cr {
			r.cr = false
			if c == '\n' {
				p = p[1:]
				continue
			}
		}
		if !r.started {
			p = r.skipMark(c, p)
			continue
		}
		if r.state != lineData && r.state != lineSkip {
			p = r.startOfLine(c, p, sink)
			continue
		}
		// A line feed ends the line, and so does a carriage return before it. A
		// stream without line feeds must not be searched for one at each line.
		if feed < 0 || len(p) < feed {
			feed = 0
			if i := bytes.IndexByte(p, '\n'); i >= 0 {
				feed = len(p) - i
			}
		}
		end := len(p) - feed
		if i := bytes.IndexByte(p[:end], '\r'); i >= 0 {
			end = i
		}
		if r.state == lineData && end > 0 {
			r.mark.write(p[:end])
			sink.data(p[:end])
		}
		if end == len(p) {
			return
		}
		r.endLine(p[end], sink)
		p = p[end+1:]
	}
}

// skipMark reads the first bytes of a stream, which can be a byte order mark,
// and returns what is left to read.
func (r *eventReader) skipMark(c byte, p []byte) []byte {
	if c == byteOrderMark[r.matched] {
		if r.matched++; r.matched == len(byteOrderMark) {
			r.started, r.matched = true, 0
		}
		return p[1:]
	}
	if r.started = true; r.matched > 0 {
		r.state, r.matched = lineSkip, 0
	}
	return p
}

// startOfLine reads the byte c, the first of p, before the value of a field,
// and returns what is left to read.
func (r *eventReader) startOfLine(c byte, p []byte, sink eventSink) []byte {
	eol := c == '\n' || c == '\r'
	switch {
	case r.state == lineSpace:
		r.state = lineData
		if c == ' ' {
			return p[1:]
		}
		return p
	case eol && r.matched == 0: // an empty line ends the event
		if r.event {
			r.dispatch(sink)
		}
		r.cr = c == '\r'
	case eol:
		r.endLine(c, sink)
	case r.matched == 0 && len(p) > len(fieldName) && string(p[:len(fieldName)]) == fieldName:
		// The usual case: the name stands in one piece.
		r.matched = len(fieldName)
		return p[len(fieldName):]
	case r.matched < len(fieldName) && c == fieldName[r.matched]:
		r.matched++
	case r.matched == len(fieldName) && c == ':':
		r.state = lineSpace
		if !r.event || sink.newLine() {
			r.mark = markState{}
		} else {
			r.mark.failed = true // the mark stands alone
		}
		r.event = true
	default:
		r.state = lineSkip
	}
	return p[1:]
}

func (r *eventReader) endLine(c byte, sink eventSink) {
	r.cr = c == '\r'
	r.state, r.matched = lineStart, 0
	// The stream is over with the mark, even if its empty line never comes.
	if r.event && r.mark.whole() {
		r.dispatch(sink)
	}
}

func (r *eventReader) dispatch(sink eventSink) {
	done := r.mark.whole()
	r.event = false
	sink.dispatch(done)
}

// finish ends the stream. An event whose empty line did not come counts if its
// data is whole.
func (r *eventReader) finish(sink eventSink) {
	if r.event {
		r.dispatch(sink)
	}
}
