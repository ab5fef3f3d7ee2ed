package cleantext_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/infertel/infertel-go/internal/cleantext"
)

func TestCut(t *testing.T) {
	for _, tc := range []struct {
		in   string
		max  int
		want string
	}{
		{"", 4, ""},
		{"abcd", 4, "abcd"},
		{"abcde", 4, "abcd"},
		{"ab好", 4, "ab"},
		{"ab好", 5, "ab好"},
		{"a\xffb", 8, "a\uFFFDb"},
		{"a\xffb", 3, "a"},
		{"\x80\x80\x80\x80\x80\x80", 5, "\uFFFD"},
	} {
		if got := cleantext.Cut(tc.in, tc.max); got != tc.want {
			t.Errorf("Cut(%q, %d) = %q, want %q", tc.in, tc.max, got, tc.want)
		}
	}
	if n := testing.AllocsPerRun(100, func() { cleantext.Cut("5f2c9a7be1d34c0f", 8) }); n != 0 {
		t.Errorf("%v allocations for text that only needs cutting", n)
	}
}

func TestFirst(t *testing.T) {
	for _, tc := range []struct {
		in   string
		n    int
		want string
	}{
		{"5f2c9a7be1d3", 8, "5f2c9a7b"}, {"short", 8, "short"}, {"好好好", 2, "好好"}, {"abc", 0, ""}, {"", 8, ""},
	} {
		if got := cleantext.First(tc.in, tc.n); got != tc.want {
			t.Errorf("First(%q, %d) = %q, want %q", tc.in, tc.n, got, tc.want)
		}
	}
}

func FuzzCut(f *testing.F) {
	f.Add("a\xff好", 3)
	f.Fuzz(func(t *testing.T, s string, max int) {
		max = max & 0xff
		got := cleantext.Cut(s, max)
		if len(got) > max || !utf8.ValidString(got) {
			t.Errorf("Cut(%q, %d) = %q", s, max, got)
		}
		if utf8.ValidString(s) && !strings.HasPrefix(s, got) {
			t.Errorf("Cut(%q, %d) = %q changes the text", s, max, got)
		}
	})
}
