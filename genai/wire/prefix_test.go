package wire

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/infertel/infertel-go/genai"
)

// TestEventsThatBeginAlike: what is remembered of one event must not show in the
// next. Random streams of events that share their beginnings and ends are read
// at once, where that counts, and byte by byte, where it cannot.
func TestEventsThatBeginAlike(t *testing.T) {
	const head = `data: {"id":"chatcmpl-71aa5e0f3c2b4d68","object":"chat.completion.chunk","model":"qwen3-8b","choices":[{"index":0,"delta":{`
	tails := []string{
		`},"logprobs":null,"finish_reason":null}]}`, `},"logprobs":null,"finish_reason":null}],"usage":{"prompt_tokens":1,"completion_tokens":2}}`,
		`},"finish_reason":"stop"}]}`, `},"finish_reason":null},{"index":1,"delta":{"content":"two"}}]}`, `}}]} broken`, `}}]`, `},"error":{"type":"x"}}]}`,
	}
	deltas := []string{
		`"content":"a"`, `"content":"ab"`, `"content":"abc def"`, `"content":""`, `"content":"好"`, `"content":"\n"`, `"content":"a\"b"`, `"content":null`,
		`"reasoning":"why"`, `"content":"x","reasoning":"y"`, `"reasoning":"y","content":"x"`, `"reasoning":"y","content":"xz"`, `"reasoning":"y","content":"uv"`, `"role":"assistant","content":""`, `"content":"a` + "\x01" + `"`,
		`"tool_calls":[{"index":0,"id":"i","function":{"name":"f","arguments":"{}"}}]`, `"content":["a"]`, `"content":[{"text":"a"},{"text":"b"}]`,
	}
	rnd := rand.New(rand.NewPCG(7, 7))
	for range 150 {
		// A few kinds at a time, so that events often repeat.
		someDeltas, someTails := rnd.IntN(len(deltas))+1, rnd.IntN(len(tails))+1
		shift := rnd.IntN(len(deltas))
		var b strings.Builder
		for range 25 {
			b.WriteString(head + deltas[(shift+rnd.IntN(someDeltas))%len(deltas)] + tails[rnd.IntN(someTails)] + "\n\n")
		}
		for _, noContent := range []bool{false, true} {
			in := input{
				engine: genai.EngineSGLang, request: [][]byte{[]byte(`{"stream":true,"n":2}`)}, status: 200, contentType: "text/event-stream",
				response: [][]byte{[]byte(b.String())}, noContent: noContent,
			}
			whole := exchange(t, in)
			in.response = cutInBytes(b.String())
			if got := exchange(t, in); !reflect.DeepEqual(got, whole) {
				t.Fatalf("%s\nbyte by byte %+v\nat once %+v", b.String(), got, whole)
			}
		}
	}
}

func cutInBytes(s string) [][]byte {
	out := make([][]byte, len(s))
	for i := range out {
		out[i] = []byte(s[i : i+1])
	}
	return out
}
