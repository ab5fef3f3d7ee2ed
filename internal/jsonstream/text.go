package jsonstream

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// plainLength returns the length of the text at the start of p that stands for
// itself: up to a quote, a backslash or a control character. It looks at eight
// bytes at a time: of those that are zero, or below another, subtraction sets the
// highest bit. It sets some above such a byte too, never below. With its second
// bit turned the quote is the one that comes after the control characters.
func plainLength(p []byte) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	n, rest := 0, p
	for ; len(rest) >= 8; n, rest = n+8, rest[8:] {
		v := binary.LittleEndian.Uint64(rest)
		backslash := v ^ ones*'\\'
		if found := ((v^ones*2-ones*('"'^2+1))&^v | (backslash-ones)&^backslash) & highs; found != 0 {
			return n + bits.TrailingZeros64(found)/8
		}
	}
	for n < len(p) && p[n] != '"' && p[n] != '\\' && p[n] >= ' ' {
		n++
	}
	return n
}

// readString reads up to the end of the string, of the piece, or to the next
// escape, and returns how far it came.
func (r *Reader) readString(p []byte) int {
	n := plainLength(p)
	if n > 0 {
		r.text(p[:n])
	}
	if n == len(p) {
		return n
	}
	switch p[n] {
	case '"':
		r.flushHigh()
		if r.inKey {
			r.endKey(r.key[:min(r.keyLen, maxKey)])
		} else {
			r.close(String, nil)
		}
	case '\\':
		r.state = stEscape
	default: // a bare control character
		r.state = stFail
	}
	return n + 1
}

func (r *Reader) endKey(name []byte) {
	if r.keyLen > maxKey {
		r.node = nil // too long to be one that is watched
	} else {
		r.node = r.parent().member(name)
	}
	r.state = stColon
}

// text hands on decoded text of the string being read.
func (r *Reader) text(p []byte) {
	r.flushHigh()
	r.emit(p)
}

func (r *Reader) emit(p []byte) {
	if r.inKey {
		if r.keyLen < maxKey {
			copy(r.key[r.keyLen:], p)
		}
		r.keyLen += len(p)
		return
	}
	if r.node != nil && r.node.ID != 0 {
		r.handler.Text(r.node.ID, p)
	}
}

func (r *Reader) emitRune(c rune) {
	r.emit(utf8.AppendRune(r.buf[:0], c))
}

// flushHigh writes the replacement character for half a surrogate pair whose
// other half did not come.
func (r *Reader) flushHigh() {
	if r.high != 0 {
		r.high = 0
		r.emitRune(utf8.RuneError)
	}
}
