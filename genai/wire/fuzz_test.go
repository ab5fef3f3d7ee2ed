package wire

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/infertel/infertel-go/genai"
)

// bodies gives the handed bodies whose name ends in one of suffixes.
func bodies(f *testing.F, suffixes ...string) [][]byte {
	f.Helper()
	var out [][]byte
	for _, pattern := range []string{"testdata/*", "testdata/cases/*"} {
		names, err := filepath.Glob(pattern)
		if err != nil {
			f.Fatal(err)
		}
		for _, name := range names {
			for _, s := range suffixes {
				if b, err := os.ReadFile(name); err == nil && strings.HasSuffix(name, s) && len(b) < 5000 {
					out = append(out, b)
				}
			}
		}
	}
	if len(out) < 5 {
		f.Fatalf("only %d bodies", len(out))
	}
	return out
}

// FuzzEventStream holds a stream in pieces against the same stream at once.
func FuzzEventStream(f *testing.F) {
	for i, b := range bodies(f, ".sse") {
		f.Add(b, uint64(i), i%2 == 0)
	}
	f.Fuzz(func(t *testing.T, b []byte, seed uint64, sglang bool) {
		in := input{op: genai.OperationChat, request: [][]byte{[]byte(`{"stream":true,"n":2}`)}, status: 200, contentType: "text/event-stream", response: [][]byte{b}}
		if sglang {
			in.engine = genai.EngineSGLang
		}
		fuzzPieces(t, in, seed)
	})
}

// FuzzAnswer does so for answers of any kind, guessed from their bytes.
func FuzzAnswer(f *testing.F) {
	for i, b := range bodies(f, ".json", ".sse") {
		f.Add(b, uint64(i), uint8(i), 200+i)
	}
	f.Fuzz(func(t *testing.T, b []byte, seed uint64, op uint8, status int) {
		fuzzPieces(t, input{op: genai.Operation(op % 4), request: [][]byte{[]byte(`{}`)}, status: status, response: [][]byte{b}}, seed)
	})
}

// FuzzRequest does so for requests.
func FuzzRequest(f *testing.F) {
	for i, b := range bodies(f, ".request.json") {
		f.Add(b, uint64(i), uint8(i))
	}
	f.Fuzz(func(t *testing.T, b []byte, seed uint64, op uint8) {
		fuzzPieces(t, input{op: genai.Operation(op % 4), request: [][]byte{b}, status: 200, response: [][]byte{[]byte("{}")}}, seed)
	})
}

// FuzzCompressed feeds what claims to be gzip.
func FuzzCompressed(f *testing.F) {
	f.Add([]byte("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff\xaaV\xcaLQ\xb2RJV\xaa\x05\x04\x00\x00\xff\xff"), uint64(1))
	f.Add([]byte("not gzip"), uint64(2))
	f.Fuzz(func(t *testing.T, b []byte, seed uint64) {
		fuzzPieces(t, input{request: [][]byte{[]byte(`{}`)}, status: 200, contentType: "application/json", encoding: "gzip", response: [][]byte{b}}, seed)
	})
}

func fuzzPieces(t *testing.T, in input, seed uint64) {
	want := exchange(t, in)
	rnd := rand.New(rand.NewPCG(seed, 2))
	in.request, in.response = pieces(rnd, in.request[0]), pieces(rnd, in.response[0])
	if got := exchange(t, in); !reflect.DeepEqual(got, want) {
		t.Fatalf("in pieces:\n got %+v\nwant %+v", got, want)
	}
	for _, p := range []*int{want.Response.Usage.InputTokens, want.Response.Usage.OutputTokens, want.Response.Usage.TotalTokens} {
		if p != nil && *p < 0 {
			t.Fatalf("a negative count: %d", *p)
		}
	}
}
