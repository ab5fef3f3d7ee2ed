package boundedtext

import "testing"

func TestCut(t *testing.T) {
	for _, c := range []struct {
		in   string
		max  int
		want string
	}{
		{"", 4, ""},
		{"abcd", 4, "abcd"},
		{"abcde", 4, "abcd"},
		{"abcé", 4, "abc"},
		{"🌍🌍", 7, "🌍"},
		{"a\xffb", 5, "a\uFFFDb"},
		{"a\xffb", 4, "a\uFFFD"},
		{"\x80\x80\x80\x80\x80\x80", 4, "\uFFFD"},
		{"\xffa\xffb\xffc", 8, "\uFFFDa\uFFFDb"},
		{"abc", 0, ""},
	} {
		if got := Cut(c.in, c.max); got != c.want {
			t.Errorf("Cut(%q, %d) = %q, want %q", c.in, c.max, got, c.want)
		}
	}
}
