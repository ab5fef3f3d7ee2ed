// Package cleantext bounds text that comes from outside before it becomes part
// of telemetry.
package cleantext

import (
	"strings"
	"unicode/utf8"
)

// Cut returns s cut to max bytes at the boundary of a character, as valid UTF-8:
// one invalid byte would make an exporter lose the whole batch. Text that is
// fine already is returned as it is.
func Cut(s string, max int) string {
	if len(s) > max {
		cut := max
		for cut > 0 && cut > max-utf8.UTFMax && !utf8.RuneStart(s[cut]) {
			cut--
		}
		s = s[:cut]
	}
	if utf8.ValidString(s) {
		return s
	}
	// The replacement is longer than what it replaces.
	return Cut(strings.ToValidUTF8(s, "\uFFFD"), max)
}

// First returns the first n characters of s.
func First(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}
