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
	starts := []string{
		head, strings.Replace(head, `"index":0`, `"index":1`, 1), strings.Replace(head, `"id":"chatcmpl-71aa5e0f3c2b4d68",`, "", 1),
		strings.Replace(head, " ", "", 1), strings.Replace(head, "71", "72", 1), "event: x\n" + head, "data: [DONE]\n\n" + head,
	}
	ends := []string{"\n\n", "\r\n\r\n", "\n", "\n\n\n", "\n: comment\n\n", "\ndata: more\n\n"}
	tails := []string{
		`},"logprobs":null,"finish_reason":null}]}`, `},"logprobs":null,"finish_reason":null}],"usage":{"prompt_tokens":1,"completion_tokens":2}}`,
		`},"finish_reason":"stop"}]}`, `},"finish_reason":null},{"index":1,"delta":{"content":"two"}}]}`, `}}]} broken`, `}}]`, `},"error":{"type":"x"}}]}`,
	}
	deltas := []string{
		`"content":"a"`, `"content":"ab"`, `"content":"abc def"`, `"content":""`, `"content":"好"`, `"content":"\n"`, `"content":"a\"b"`, `"content":null`,
		`"reasoning":"why"`, `"content":"x","reasoning":"y"`, `"reasoning":"y","content":"x"`, `"reasoning":"y","content":"xz"`, `"reasoning":"y","content":"uv"`, `"role":"assistant","content":""`, `"content":"a` + "\x01" + `"`,
		`"tool_calls":[{"index":0,"id":"i","function":{"name":"f","arguments":"{}"}}]`, `"content":["a"]`, `"content":[{"text":"a"},{"text":"b"}]`, `"content":"a","refusal":"b"`, `"content":"c","refusal":"b"`, `"reasoning":"a","reasoning":""`, `"reasoning":"bc","reasoning":""`,
		`"reasoning_content":"r","content":null`, `"reasoning_content":"st","content":null`, `"content":"\u00e9"`, `"content":"\ud83d"`,
	}
	rnd := rand.New(rand.NewPCG(7, 7))
	for range 600 {
		// A few kinds at a time, so that events often repeat.
		some := func(all []string) func() string {
			n, shift := rnd.IntN(3)+1, rnd.IntN(len(all))
			return func() string { return all[(shift+rnd.IntN(n))%len(all)] }
		}
		usual := func(all []string) func() string {
			if rnd.IntN(4) > 0 {
				return func() string { return all[0] }
			}
			return some(all)
		}
		start, delta, tail, end := usual(starts), some(deltas), usual(tails), usual(ends)
		var b strings.Builder
		for range 12 {
			b.WriteString(start() + delta() + tail() + end())
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

// TestWhatElseAnEventTellsCounts: an event that differs from the one before in its
// text alone can still tell anew what another has changed in between.
func TestWhatElseAnEventTellsCounts(t *testing.T) {
	const head = `data: {"id":"chatcmpl-71aa5e0f3c2b4d68","object":"chat.completion.chunk","model":"qwen3-8b","choices":[{"index":0,"delta":{`
	event := func(text, rest string) string { return head + `"content":"` + text + `"` + rest + "\n\n" }
	rests := []string{
		`}}]}`, `},"finish_reason":"stop"}]}`, `},"finish_reason":"length"}]}`,
		`}}],"usage":{"prompt_tokens":1,"completion_tokens":2}}`, `}}],"usage":{"prompt_tokens":3,"completion_tokens":4}}`,
		`}}],"error":{"type":"x"}}`, `}}],"object":"error"}`, `}}],"type":"y"}`,
		`,"tool_calls":[{"index":0,"id":"i","function":{"name":"f","arguments":"1"}}]}}]}`,
		`}},{"index":1,"delta":{"content":"b"}}]}`, `}},{"index":1,"finish_reason":"abort"}]}`, `}},{"index":1,"finish_reason":"stop"}]}`, `},"index":3}]}`,
	}
	check := func(stream string) {
		t.Helper()
		in := input{
			engine: genai.EngineSGLang, request: [][]byte{[]byte(`{"stream":true,"n":2}`)}, status: 200, contentType: "text/event-stream",
			response: [][]byte{[]byte(stream)},
		}
		whole := exchange(t, in)
		in.response = cutInBytes(stream)
		if got := exchange(t, in); !reflect.DeepEqual(got, whole) {
			t.Errorf("%s\nbyte by byte %+v\nat once %+v", stream, got, whole)
		}
	}
	for _, rest := range rests {
		for _, other := range rests {
			check(event("a", rest) + event("bc", rest) + event("d", rest) + event(`\u00e9`, other) + event("e", rest) + event("f", rest))
		}
	}
	// Another choice.
	second := strings.NewReplacer(`"index":0`, `"index":1`).Replace
	check(event("a", rests[0]) + event("b", rests[0]) + event("c", rests[0]) +
		second(event("d", rests[0])+event(`\u00e9`, rests[0])+event("e", rests[0])))
}

// TestAnEventThatBreaksOffTellsNothing, not even what the next differs from it in.
func TestAnEventThatBreaksOffTellsNothing(t *testing.T) {
	r := &responseReader{stream: true}
	r.reset(genai.OperationChat, false, 0)
	event := func(text string) string {
		return `data: {"id":"chatcmpl-71aa5e0f3c2b4d68","model":"qwen3-8b","choices":[{"index":0,"delta":{"content":"` + text + `"}}]}`
	}
	write := func(pieces ...string) {
		for _, p := range pieces {
			r.write([]byte(p))
		}
	}
	write(event("a"), "x\n\n", event("b"), "x\n\n", event("c")+"\n\n")
	if r.id == "" || r.model == "" || r.increments != 1 {
		t.Errorf("id %q, model %q, %d increments", r.id, r.model, r.increments)
	}
	// What comes within an event is no event.
	write(event("d")+"\n\n", "data: {\n", event("e")+"\n\n", event("f")+"\n\n")
	if r.increments != 3 {
		t.Errorf("%d increments, want 3", r.increments)
	}
}

// TestArgumentsAreKeptOnceTheyAreWanted: a request can tell that they are when its
// answer has begun, and what was remembered of events before that lacks them.
func TestArgumentsAreKeptOnceTheyAreWanted(t *testing.T) {
	event := []byte(`data: {"id":"chatcmpl-71aa5e0f3c2b4d68","model":"qwen3-8b","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"i","function":{"name":"f","arguments":"{}"}}]}}]}` + "\n\n")
	x := observe(t, genai.EngineSGLang, genai.WithContent(genai.ContentNone))
	x.RequestBody([]byte(`{"model":"m",`))
	x.ResponseHead(ResponseHead{Status: 200, ContentType: "text/event-stream"})
	for range 3 {
		x.ResponseBody(event)
	}
	x.RequestBody([]byte(`"stream":true}`))
	x.ResponseBody(event)
	want := [][]genai.ToolCall{{{ID: "i", Name: "f", Arguments: "{}"}}}
	if got := x.Response().ToolCalls; !reflect.DeepEqual(got, want) {
		t.Errorf("tool calls %+v, want %+v", got, want)
	}
	x.End(nil)
}

func cutInBytes(s string) [][]byte {
	out := make([][]byte, len(s))
	for i := range out {
		out[i] = []byte(s[i : i+1])
	}
	return out
}

// TestEventsThatDifferInTheirTextAreNotParsed: an engine begins a stream with the
// role, and some number the second in which an event was made. After that only
// the text is looked at.
func TestEventsThatDifferInTheirTextAreNotParsed(t *testing.T) {
	const role = `{"role":"assistant","content":""}`
	for name, deltas := range map[string][]string{
		"content":   {role, `{"content":"The"}`, `{"content":" end"}`, `{"content":" of"}`, `{"content":"\n\""}`, `{"content":" it"}`},
		"the same":  {`{"content":"a"}`, `{"content":"a"}`, `{"content":"a"}`, `{"content":"a"}`},
		"reasoning": {role, `{"reasoning_content":"So","content":null}`, `{"reasoning_content":" it","content":null}`, `{"reasoning_content":" is","content":null}`},
	} {
		r := &responseReader{stream: true}
		r.reset(genai.OperationChat, false, 0)
		increments := 0
		for _, created := range []string{"1790000000", "1790000001"} {
			for i, delta := range deltas {
				b := []byte(`data: {"id":"chatcmpl-71aa5e0f3c2b4d68","created":` + created + `,"model":"qwen3-8b","choices":[{"index":0,"delta":` + delta + `,"finish_reason":null}]}` + "\n\n")
				if delta != role {
					increments++
				}
				if i < 3 {
					r.write(b)
				} else if rest := r.skim(b); len(rest) > 0 {
					t.Errorf("%s: event %d of those made at %s is parsed", name, i, created)
				}
			}
		}
		if r.increments != increments {
			t.Errorf("%s: %d increments, want %d", name, r.increments, increments)
		}
	}
}
