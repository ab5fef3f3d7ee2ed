package genaihttp

import (
	"bytes"
	"compress/gzip"
	"slices"
	"testing"
)

func zip(t testing.TB, b []byte) []byte {
	t.Helper()
	return bytes.Join(zipPieces(t, b), nil)
}

// zipEvents is what a server sends that compresses a stream and flushes after
// each event.
func zipEvents(t testing.TB, stream []byte) [][]byte {
	t.Helper()
	return zipPieces(t, bytes.SplitAfter(stream, []byte("\n\n"))...)
}

func zipPieces(t testing.TB, pieces ...[]byte) [][]byte {
	t.Helper()
	var buf bytes.Buffer
	z := gzip.NewWriter(&buf)
	var out [][]byte
	take := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, slices.Clone(buf.Bytes()))
		buf.Reset()
	}
	for _, p := range pieces {
		_, _ = z.Write(p)
		take(z.Flush())
	}
	take(z.Close())
	return out
}

// damaged has a wrong byte in its third piece.
func damaged(pieces [][]byte) [][]byte {
	p := pieces[2]
	for i := range p {
		p[i] ^= 0xA5
	}
	return pieces
}
