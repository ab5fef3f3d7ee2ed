package boundedtext

import (
	"runtime"
	"strings"
	"testing"
)

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

// What was cut off does not stay in memory with what is kept.
func TestCutLetsGoOfTheRest(t *testing.T) {
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	for _, text := range []string{"a", "\xff", "a\xff"} {
		before := heap()
		var kept []string
		for range 16 {
			kept = append(kept, Cut(strings.Repeat(text, 1<<20), 256))
		}
		if after := heap(); after > before+1<<20 {
			t.Errorf("%q: %d texts keep %d bytes", text, len(kept), after-before)
		}
		runtime.KeepAlive(kept)
	}
}
