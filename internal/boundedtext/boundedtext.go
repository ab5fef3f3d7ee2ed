// Package boundedtext makes text that others chose fit for telemetry: bounded in
// length, and valid UTF-8, without which a whole OTLP message is refused.
package boundedtext

import (
	"strings"
	"unicode/utf8"
)

// Cut returns at most the first limit bytes of s, cut at the boundary of a
// character, with what is not UTF-8 replaced by U+FFFD.
func Cut(s string, limit int) string {
	if len(s) > limit {
		cut := limit
		// A character has at most three bytes after its first; what goes back
		// further is not UTF-8 and has no boundaries.
		for cut > 0 && limit-cut < utf8.UTFMax-1 && !utf8.RuneStart(s[cut]) {
			cut--
		}
		s = s[:cut]
	}
	return Valid(s)
}

// Valid returns s with what is not UTF-8 replaced by U+FFFD.
func Valid(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}
