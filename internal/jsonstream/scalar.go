package jsonstream

import "unicode/utf16"

var escapes = [256]byte{
	'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t',
}

// Unescape returns the byte that a backslash and c stand for in a string, or 0 if
// they stand for none or begin a longer escape.
func Unescape(c byte) byte { return escapes[c] }

// readEscape reads the byte after a backslash.
func (r *Reader) readEscape(c byte) {
	if c == 'u' {
		r.hex, r.hexLeft, r.state = 0, 4, stHex
		return
	}
	if escapes[c] == 0 {
		r.state = stFail
		return
	}
	r.flushHigh()
	r.emit(append(r.buf[:0], escapes[c]))
	r.state = stString
}

// readHex reads one of the four digits of a \u escape.
func (r *Reader) readHex(c byte) {
	var d rune
	switch {
	case c >= '0' && c <= '9':
		d = rune(c - '0')
	case c >= 'a' && c <= 'f':
		d = rune(c-'a') + 10
	case c >= 'A' && c <= 'F':
		d = rune(c-'A') + 10
	default:
		r.state = stFail
		return
	}
	r.hex = r.hex<<4 | d
	if r.hexLeft--; r.hexLeft > 0 {
		return
	}
	r.state = stString
	u := r.hex
	if r.high != 0 {
		if pair := utf16.DecodeRune(r.high, u); pair != '\uFFFD' {
			r.high = 0
			r.emitRune(pair)
			return
		}
		r.flushHigh()
	}
	if u >= 0xD800 && u < 0xDC00 {
		r.high = u
		return
	}
	r.emitRune(u) // a lone second half becomes the replacement character
}

// numberState is how far a number has come, by the grammar of RFC 8259.
type numberState uint8

const (
	numSign     numberState = iota // after '-'
	numZero                        // after a leading 0
	numInt                         // in the integer part
	numDot                         // after '.'
	numFraction                    // in the fraction
	numE                           // after 'e'
	numESign                       // after the sign of the exponent
	numExponent                    // in the exponent
)

func (r *Reader) beginNumber(c byte) {
	switch {
	case c == '-':
		r.num = numSign
	case c == '0':
		r.num = numZero
	case c >= '1' && c <= '9':
		r.num = numInt
	default:
		r.state = stFail
		return
	}
	r.state = stNumber
	r.open(Number)
	r.raw[0], r.rawLen = c, 1
}

func (r *Reader) readNumber(p []byte) int {
	for i, c := range p {
		next, more := r.num.next(c)
		if !more {
			r.endNumber()
			return i // c belongs to what follows
		}
		r.num = next
		if r.rawLen < maxNumber {
			r.raw[r.rawLen] = c
		}
		r.rawLen++
	}
	return len(p)
}

func (r *Reader) endNumber() {
	switch r.num {
	case numZero, numInt, numFraction, numExponent:
	default:
		r.state = stFail
		return
	}
	if r.rawLen > maxNumber {
		r.close(Number, nil)
		return
	}
	r.close(Number, r.raw[:r.rawLen])
}

// next is the state after c, and whether c is part of the number at all.
func (s numberState) next(c byte) (numberState, bool) {
	digit := c >= '0' && c <= '9'
	switch s {
	case numSign:
		if c == '0' {
			return numZero, true
		}
		return numInt, digit
	case numZero, numInt:
		switch {
		case digit && s == numInt:
			return numInt, true
		case c == '.':
			return numDot, true
		case c == 'e', c == 'E':
			return numE, true
		}
	case numDot, numFraction:
		switch {
		case digit:
			return numFraction, true
		case s == numFraction && (c == 'e' || c == 'E'):
			return numE, true
		}
	case numE:
		if c == '+' || c == '-' {
			return numESign, true
		}
		return numExponent, digit
	case numESign, numExponent:
		return numExponent, digit
	}
	return s, false
}
