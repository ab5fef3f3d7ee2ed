package wire

import "bytes"

// sniffer tells a stream from a document by how the body begins, since servers
// and proxies mislabel both. It holds back the few bytes that it takes.
type sniffer struct {
	claimed bool // the head says that it is a stream
	stream  bool
	done    bool
	held    [8]byte
	n       int
}

// starts are the ways in which a stream of events can begin.
var starts = [][]byte{[]byte("data:"), []byte("event:"), []byte("id:"), []byte("retry:"), []byte(":"), []byte(byteOrderMark)}

// write looks at the next piece until it knows, and then returns what it held
// back and what is left of the piece.
func (s *sniffer) write(p []byte) (head, rest []byte) {
	for i, c := range p {
		if s.n == 0 && (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
			continue // means nothing at the start of either
		}
		s.held[s.n] = c
		s.n++
		if s.decide(); s.done {
			return s.held[:s.n], p[i+1:]
		}
	}
	return nil, nil
}

func (s *sniffer) decide() {
	held := s.held[:s.n]
	switch {
	case held[0] == '{' || held[0] == '[': // no line of a stream begins so
		s.done = true
	case s.claimed:
		s.stream, s.done = true, true
	default:
		possible := false
		for _, start := range starts {
			if bytes.HasPrefix(held, start) {
				s.stream, s.done = true, true
				return
			}
			possible = possible || bytes.HasPrefix(start, held)
		}
		s.done = !possible
	}
}

// rest returns what is held back of a body that ended before it could be told.
func (s *sniffer) rest() []byte {
	if s.done {
		return nil
	}
	s.done = true
	return s.held[:s.n]
}
