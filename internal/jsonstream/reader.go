// Package jsonstream reads JSON that arrives in pieces and tells a handler
// about the few places of the document it was asked to watch.
//
// It exists for bodies of any size: nothing is kept but a bit per open
// container, so memory does not grow with the document, a document may be cut
// at any byte, and what is not watched is checked and skipped in place.
package jsonstream

import "unicode/utf8"

const (
	maxDepth  = 1024 // containers open at once; deeper is refused
	maxWatch  = 8    // values nested deeper than this are not watched
	maxKey    = 32   // longest member name that can be watched
	maxNumber = 40   // longest number whose text is handed on
)

type state uint8

const (
	stValue    state = iota // a value must follow
	stElem                  // first element or ']'
	stFirstKey              // first member name or '}'
	stKey                   // a member name
	stColon
	stAfter // ',' or the end of the container
	stString
	stEscape
	stHex
	stNumber
	stLiteral
	stDone // one whole value has been read
	stFail
)

// Reader reads one JSON document. The zero value is not ready: call Reset.
type Reader struct {
	root    *Node
	handler Handler

	state   state
	inKey   bool // the string being read is a member name
	hexLeft uint8
	kind    Kind // of the literal being read
	num     numberState
	depth   int
	hex     rune
	high    rune   // first half of a surrogate pair that waits for its second
	literal string // what is left of the literal being read
	node    *Node  // of the value being read
	keyLen  int
	rawLen  int
	offset  int // see Offset

	nodes  [maxWatch]*Node
	object [maxDepth / 64]uint64 // a bit per open container: object or array
	key    [maxKey]byte
	buf    [utf8.UTFMax]byte // decoded escapes; a local array would escape to the heap
	raw    [maxNumber]byte
}

// Reset makes r ready for a new document.
func (r *Reader) Reset(root *Node, h Handler) {
	r.root, r.handler, r.node = root, h, root
	r.state, r.depth, r.high, r.keyLen, r.rawLen = stValue, 0, 0, 0, 0
	r.inKey = false
}

// Done reports whether a whole value has been read and nothing but white
// space followed it.
func (r *Reader) Done() bool { return r.state == stDone }

// Failed reports whether what was written is not JSON.
func (r *Reader) Failed() bool { return r.state == stFail }

// Finish tells r that the input has ended and reports whether it was one whole
// document. Only a bare number needs it: nothing else tells its last digit.
func (r *Reader) Finish() bool {
	if r.state == stNumber && r.depth == 0 {
		r.endNumber()
	}
	return r.state == stDone
}

// Offset is for [Handler.Open]: where in the piece that is being written the
// value goes on after its first byte.
func (r *Reader) Offset() int { return r.offset }

// Write reads the next piece of the document. It keeps no reference to p.
func (r *Reader) Write(p []byte) {
	for i := 0; i < len(p); {
		switch r.state {
		case stString:
			i += r.readString(p[i:])
			continue
		case stNumber:
			i += r.readNumber(p[i:])
			continue
		case stLiteral:
			i += r.readLiteral(p[i:])
			continue
		case stEscape:
			r.readEscape(p[i])
			i++
			continue
		case stHex:
			r.readHex(p[i])
			i++
			continue
		case stFail:
			return
		}
		c := p[i]
		i++
		if c == ' ' || c == '\n' || c == '\r' || c == '\t' {
			continue
		}
		switch r.state {
		case stValue:
			i = r.value(p, i-1)
		case stElem:
			if c == ']' {
				r.closeContainer()
			} else {
				i = r.value(p, i-1)
			}
		case stFirstKey:
			if c == '}' {
				r.closeContainer()
				break
			}
			fallthrough
		case stKey:
			if c != '"' {
				r.state = stFail
				break
			}
			if end := r.members(p, i-1); end >= i {
				i = end
				break
			}
			r.inKey, r.keyLen, r.high = true, 0, 0
			r.state = stString
		case stColon:
			if c != ':' {
				r.state = stFail
				break
			}
			r.state = stValue
		case stAfter:
			switch {
			case c == ',' && r.inObject():
				r.state = stKey
			case c == ',':
				r.node = r.elem()
				r.state = stValue
			case c == '}' && r.inObject(), c == ']' && !r.inObject():
				r.closeContainer()
			default:
				r.state = stFail
			}
		default: // stDone: a second value
			r.state = stFail
		}
	}
}

func (r *Reader) inObject() bool {
	d := r.depth - 1
	return r.object[d>>6]&(1<<(d&63)) != 0
}

// parent is the node of the innermost open container.
func (r *Reader) parent() *Node {
	if r.depth >= maxWatch {
		return nil
	}
	return r.nodes[r.depth-1]
}

func (r *Reader) elem() *Node {
	if n := r.parent(); n != nil {
		return n.Elem
	}
	return nil
}

// value reads the value that begins at p[at], whole if it can be, and returns where
// it stopped.
func (r *Reader) value(p []byte, at int) int {
	if end := r.scalar(p, at); end > 0 {
		r.state = stAfter
		if r.depth == 0 {
			r.state = stDone
		}
		return end
	}
	r.offset = at + 1
	switch p[at] {
	case '"':
		r.inKey, r.high = false, 0
		r.state = stString
		r.open(String)
	case '{':
		r.openContainer(Object)
	case '[':
		r.openContainer(Array)
	case 't':
		r.beginLiteral(True, "true"[1:])
	case 'f':
		r.beginLiteral(False, "false"[1:])
	case 'n':
		r.beginLiteral(Null, "null"[1:])
	default:
		r.beginNumber(p[at])
	}
	return at + 1
}

func (r *Reader) open(k Kind) {
	if r.node != nil && r.node.ID != 0 {
		r.handler.Open(r.node.ID, k)
	}
}

// close ends the value that was being read.
func (r *Reader) close(k Kind, raw []byte) {
	r.state = stAfter
	if r.depth == 0 {
		r.state = stDone
	}
	if r.node != nil && r.node.ID != 0 {
		r.handler.Close(r.node.ID, k, raw)
	}
}

func (r *Reader) openContainer(k Kind) {
	if r.depth == maxDepth {
		r.state = stFail
		return
	}
	r.open(k)
	if r.depth < maxWatch {
		r.nodes[r.depth] = r.node
	}
	d := r.depth
	r.depth++
	if k == Object {
		r.object[d>>6] |= 1 << (d & 63)
		r.state = stFirstKey
		return
	}
	r.object[d>>6] &^= 1 << (d & 63)
	r.node = r.elem()
	r.state = stElem
}

func (r *Reader) closeContainer() {
	k := Array
	if r.inObject() {
		k = Object
	}
	r.depth--
	r.node = nil
	if r.depth < maxWatch {
		r.node = r.nodes[r.depth]
	}
	r.close(k, nil)
}

// beginLiteral begins a literal that goes on with want.
func (r *Reader) beginLiteral(k Kind, want string) {
	r.open(k)
	r.kind, r.literal, r.state = k, want, stLiteral
}

func (r *Reader) readLiteral(p []byte) int {
	for i, c := range p {
		if c != r.literal[0] {
			r.state = stFail
			return i
		}
		if r.literal = r.literal[1:]; r.literal == "" {
			r.close(r.kind, nil)
			return i + 1
		}
	}
	return len(p)
}
