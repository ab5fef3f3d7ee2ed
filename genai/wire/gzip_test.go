package wire

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"testing"

	"github.com/infertel/infertel-go/genai"
)

// TestWorkOnACompressedBodyIsBounded by its bytes: of zeros no more is unpacked
// than a hundred times what came, of text all.
func TestWorkOnACompressedBodyIsBounded(t *testing.T) {
	pack := func(text []byte) []byte {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, _ = z.Write(text)
		_ = z.Close()
		return b.Bytes()
	}
	var stream bytes.Buffer
	for i := range 50_000 { // all alike but for the text, as engines write them
		fmt.Fprintf(&stream, `data: {"id":"chatcmpl-71aa5e0f3c2b4d68","object":"chat.completion.chunk","created":1790000000,"model":"qwen3-8b","choices":[{"index":0,"delta":{"content":" word%d"},"logprobs":null,"finish_reason":null,"token_ids":null}]}`+"\n\n", i*7919%50_000)
	}
	for name, c := range map[string]struct {
		text []byte
		all  bool
	}{
		"zeros":        {bytes.Repeat([]byte{'0'}, 30<<20), false},
		"a few zeros":  {bytes.Repeat([]byte{'0'}, 7<<20), true},
		"a stream":     {stream.Bytes(), true},
		"an empty one": {nil, true},
	} {
		packed := pack(c.text)
		for _, size := range []int{1, 1000, len(packed)} {
			got := 0
			f := newInflater(func(p []byte) { got += len(p) })
			for rest := packed; len(rest) > 0; {
				n := min(size, len(rest))
				f.write(rest[:n])
				rest = rest[n:]
			}
			f.stop()
			if all := got == len(c.text); all != c.all || f.curtailed == all || got > max(anyRatio, len(packed)*maxRatio)+4<<10 {
				t.Errorf("%s in pieces of %d: %d of %d bytes are unpacked out of %d, curtailed %v", name, size, got, len(c.text), len(packed), f.curtailed)
			}
		}
	}
}

// BenchmarkFloods shows that the time for a byte does not grow with the length
// of what comes, whatever comes: compare the speeds of 1 and 8.
func BenchmarkFloods(b *testing.B) {
	for name, c := range map[string]struct{ head, unit string }{
		"levels":     {`{"x":`, `[`},
		"text":       {`{"choices":[{"message":{"content":"`, "word "},
		"escapes":    {`{"choices":[{"message":{"content":"`, `\u00e9`},
		"members":    {`{`, `"usage":{"prompt_tokens":1},`},
		"choices":    {`{"choices":[`, `{"finish_reason":"stop"},`},
		"tool calls": {`data: {"choices":[{"delta":{"tool_calls":[`, `{"id":"i","function":{"name":"f","arguments":"{}"}},`},
		"events":     {"", one + "\n\n"},
		"no events":  {"", "data: {}\n\n"},
		"lines":      {"", "data:\n"},
		"returns":    {"data: {}", "\r"},
	} {
		for _, n := range []int{1, 8} {
			b.Run(fmt.Sprint(name, "/", n), func(b *testing.B) {
				piece := bytes.Repeat([]byte(c.unit), (32<<10)/len(c.unit))
				b.SetBytes(int64(n * 8 * len(piece)))
				for b.Loop() {
					x := observe(b, genai.EngineSGLang)
					x.RequestBody([]byte(`{"stream":true}`))
					x.ResponseHead(ResponseHead{Status: 200})
					x.ResponseBody([]byte(c.head))
					for range n * 8 {
						x.ResponseBody(piece)
					}
					x.End(io.ErrUnexpectedEOF)
				}
			})
		}
	}
}
