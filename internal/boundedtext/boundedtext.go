// Package boundedtext makes text that others chose fit for telemetry: bounded in
// length, and valid UTF-8, without which a whole OTLP message is refused.
package boundedtext

import (
	"strings"
	"unicode/utf8"
)

// MaxName is how many bytes are kept of a name or an id.
const MaxName = 256

// Cut returns at most the first limit bytes of s, cut at the boundary of a
// character, with what is not UTF-8 replaced by U+FFFD. What it returns never
// keeps a longer s in memory.
func Cut(s string, limit int) string {
	short := cut(s, limit)
	if !utf8.ValidString(short) {
		long := Valid(short)
		if short = cut(long, limit); len(short) < len(long) {
			return strings.Clone(short) // the replacements are longer than what they replace
		}
		return short
	}
	if len(short) < len(s) {
		return strings.Clone(short)
	}
	return s
}

func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	n := limit
	// A character has at most three bytes after its first; what goes back further
	// is not UTF-8 and has no boundaries.
	for n > 0 && limit-n < utf8.UTFMax-1 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// Valid returns s with what is not UTF-8 replaced by U+FFFD.
func Valid(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

const maxWord = 64

// IsWord reports whether s can be the name of a class, such as a kind of error
// or the reason why a model stopped: one short word. Anything longer could quote
// what a user typed.
func IsWord(s string) bool {
	if s == "" || len(s) > maxWord {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && c != '-' && c != '.' {
			return false
		}
	}
	return true
}
