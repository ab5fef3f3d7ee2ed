package jsonstream

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzReader holds a document in pieces, and byte by byte, against the same at once,
// where members are read whole, and that against encoding/json. It does so with the
// bytes as they are and with the document that they choose the parts of.
func FuzzReader(f *testing.F) {
	for i, d := range documents {
		f.Add([]byte(d), uint64(i))
	}
	f.Fuzz(func(t *testing.T, b []byte, seed uint64) {
		checkReader(t, b, seed)
		if len(b) < 500 {
			checkReader(t, document(b), seed)
		}
	})
}

func checkReader(t *testing.T, doc []byte, seed uint64) {
	t.Helper()
	got, whole := read(t, everything, doc)
	rnd := rand.New(rand.NewPCG(seed, 1))
	for _, longest := range []int{1, 9, 60} {
		var pieces [][]byte
		for rest := doc; len(rest) > 0; {
			n := 1 + rnd.IntN(min(len(rest), longest))
			pieces, rest = append(pieces, rest[:n]), rest[n:]
		}
		if again, whole2 := read(t, everything, pieces...); whole2 != whole || !slices.Equal(got, again) {
			t.Fatalf("%q in pieces of up to %d:\n got %q %v\nwant %q %v", doc, longest, again, whole2, got, whole)
		}
	}
	valid := json.Valid(doc)
	if whole && !valid {
		t.Fatalf("accepted what is not JSON: %q", doc)
	}
	if valid && !whole && depth(doc) <= maxDepth {
		t.Fatalf("valid document refused: %q", doc)
	}
	if !utf8.Valid(doc) || !whole {
		return // encoding/json mends such text, the reader passes it on
	}
	want, err := reference(doc)
	if err != nil {
		t.Fatalf("%q: %v", doc, err)
	}
	if !slices.Equal(got, want) {
		t.Fatalf("%q:\n got %q\nwant %q", doc, got, want)
	}
}

// tokens are what documents are made of, the usual ones first.
var tokens = []string{
	`,"a":`, `,"d":`, `,"b": `, `, "c": `, `{"a":`, `{"d":`, `{`, `[`, `}`, `]`, `,`, `:`, `{}`, `[]`, `}}`, `"text"`, `""`, `12`, `-0.5e+10`, `0`, `true`, `false`, `null`,
	`"a b c d e f g h"`, `"\n\"\\"`, `"\u00e9"`, `"\ud83d\ude00"`, `"\ud83d"`, `"好"`, ` `, "\n", "\t", `"\u0061":`, `"dd":`, `"` + strings.Repeat("k", 40) + `":`, strings.Repeat("7", 41),
	`01`, `1.`, `-`, `1e5`, `tru`, `nulL`, "\"\x01\"", `"\x"`, `"`, `\`, "\xff", `"` + "\xe5" + `"`, `{"a" :`, `{ "a":`, `{"":`,
}

// document chooses tokens by b. Where that says so, what is open is closed in the end.
func document(b []byte) []byte {
	var out, open []byte
	for _, c := range b {
		tok := tokens[int(c)%len(tokens)]
		switch { // most of the time a value, then a comma
		case c > 128 && len(out) > 0 && out[len(out)-1] == ':' && tok[0] == ',', c > 128 && len(open) == 0 && tok[0] == ',':
			continue
		}
		out = append(out, tok...)
		for _, x := range []byte(tok) {
			switch {
			case x == '{' || x == '[':
				open = append(open, x+2)
			case (x == '}' || x == ']') && len(open) > 0:
				open = open[:len(open)-1]
			}
		}
	}
	slices.Reverse(open)
	return append(out, open...)
}

// depth counts brackets and so never understates how deep a document is.
func depth(doc []byte) int { return bytes.Count(doc, []byte("[")) + bytes.Count(doc, []byte("{")) }
