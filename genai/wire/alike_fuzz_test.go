package wire

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/infertel/infertel-go/genai"
)

// FuzzAlikeEvents builds streams whose events are nearly the same, and holds what
// is read of one at once, where events are skimmed, against the same byte by byte,
// with nothing remembered from one event to the next, in random pieces, and against
// what the plain way makes of it.
func FuzzAlikeEvents(f *testing.F) {
	for i := range 40 {
		b := make([]byte, 200)
		rnd := rand.New(rand.NewPCG(uint64(i), 3))
		for j := range b {
			b[j] = byte(rnd.Uint32())
		}
		f.Add(b, uint64(i), uint8(i))
	}
	f.Fuzz(func(t *testing.T, b []byte, seed uint64, mode uint8) {
		if len(b) > 2000 {
			return
		}
		checkAlike(t, alikeStream(b), seed, mode)
	})
}

func checkAlike(t *testing.T, stream string, seed uint64, mode uint8) {
	t.Helper()
	in := input{
		engine: genai.Engine(mode & 1), noContent: mode&2 != 0, contentLength: int(mode&4) * 5,
		request: [][]byte{[]byte(`{"stream":true,"n":2}`)}, status: 200, contentType: "text/event-stream", response: [][]byte{[]byte(stream)},
	}
	whole := exchange(t, in)
	rnd := rand.New(rand.NewPCG(seed, 4))
	for how, cut := range map[string][][]byte{
		"byte by byte": cutInBytes(stream), "in pieces": pieces(rnd, []byte(stream)), "in long pieces": longPieces(rnd, []byte(stream)),
		"at ends": endPieces(rnd, stream),
	} {
		in.response = cut
		if got := exchange(t, in); !reflect.DeepEqual(got, whole) {
			t.Fatalf("%q\n%s %+v\nat once %+v", stream, how, got, whole)
		}
	}
	in.response, in.forget = [][]byte{[]byte(stream)}, true
	if got := exchange(t, in); !reflect.DeepEqual(got, whole) {
		t.Fatalf("%q\nwith nothing remembered %+v\nat once %+v", stream, got, whole)
	}
	if got, want := summaryOf(whole, in), readPlainly(stream).summary(in); got != want {
		t.Fatalf("%q\n%s\nthe plain way\n%s", stream, got, want)
	}
}

func longPieces(rnd *rand.Rand, b []byte) (out [][]byte) {
	for len(b) > 0 {
		n := 1 + rnd.IntN(min(len(b), 1500))
		out, b = append(out, b[:n]), b[n:]
	}
	return out
}

// endPieces cuts where lines and objects end.
func endPieces(rnd *rand.Rand, s string) (out [][]byte) {
	from := 0
	for i := range len(s) {
		if (s[i] == '\n' || s[i] == '}') && rnd.IntN(3) > 0 {
			out, from = append(out, []byte(s[from:i+1])), i+1
		}
	}
	return append(out, []byte(s[from:]))
}

// summaryOf writes down what both ways know.
func summaryOf(x exchanged, in input) string {
	var b strings.Builder
	u := x.Response.Usage
	fmt.Fprintf(&b, "%q %q %d failed %v", x.Response.ID, x.Response.Model, x.Response.Increments, x.Outcome == genai.OutcomeStreamError)
	for _, p := range []*int{u.InputTokens, u.OutputTokens, u.TotalTokens, u.CacheReadInputTokens} {
		if p == nil {
			b.WriteString(" -")
		} else {
			fmt.Fprintf(&b, " %d", *p)
		}
	}
	for i, finish := range x.Response.FinishReasons {
		fmt.Fprintf(&b, "\n%q", finish)
		if !in.noContent {
			var text, reasoning string
			for _, p := range x.Response.Messages[i].Parts {
				switch p.Type {
				case genai.PartText:
					text = p.Content
				case genai.PartReasoning:
					reasoning = p.Content
				}
			}
			fmt.Fprintf(&b, " %q %q", text, reasoning)
		}
	}
	return b.String()
}

func (a *plainAnswer) summary(in input) string {
	x := exchanged{Response: genai.Response{
		ID: a.id, Model: a.model, Increments: a.increments,
		Usage: genai.Usage{
			InputTokens: a.usage.input.pointer(), OutputTokens: a.usage.output.pointer(),
			TotalTokens: a.usage.total.pointer(), CacheReadInputTokens: a.usage.cached.pointer(),
		},
	}}
	if a.failed {
		x.Outcome = genai.OutcomeStreamError
	}
	limit := 1 << 20
	if in.contentLength > 0 {
		limit = in.contentLength
	}
	cut := func(s string) string { return s[:min(len(s), limit+4)] }
	for _, c := range a.choices {
		x.Response.FinishReasons = append(x.Response.FinishReasons, c.finish)
		x.Response.Messages = append(x.Response.Messages, genai.Message{Parts: []genai.Part{genai.TextPart(cut(c.text)), genai.ReasoningPart(cut(c.reasoning))}})
	}
	return summaryOf(x, in)
}

// alikeParts are the parts of an event in their order. The first of each is what
// nearly all events have; the text goes between the two halves.
var alikeParts = [...][]string{
	{"data: ", "data:", "data:  ", "event: x\ndata: ", ": c\ndata: ", "id: 1\r\ndata: ", "data:\ndata: ", "data: [DONE]\n\ndata: ", "data: [DONE]\ndata: ", "data : x\ndata: ", "data\ndata: ", "data: {\n\ndata: "},
	{
		`{"id":"chatcmpl-71aa5e0f3c2b4d68","object":"chat.completion.chunk","created":1790000000,"model":"qwen3-8b","choices":[`,
		`{"id":"chatcmpl-71aa5e0f3c2b4d68","object":"chat.completion.chunk","created":1790000001,"model":"qwen3-8b","choices":[`,
		`{"id":"chatcmpl-71aa5e0f3c2b4d69","object":"chat.completion.chunk","created":1790000000,"model":"qwen3-8b","choices":[`,
		`{"object":"chat.completion.chunk","created":1790000000,"model":"qwen3-8b-and-more-of-a-name","choices":[`,
		`{"id":"chatcmpl-71aa5e0f3c2b4d68","object":"chat.completion.chunk","usage":{"prompt_tokens":7},"choices":[`,
		`{"id":"chatcmpl-71aa5e0f3c2b4d68","object":"chat.completion.chunk","usage":{"prompt_tokens":71},"choices":[`,
		`{"id": "chatcmpl-71aa5e0f3c2b4d68", "object": "chat.completion.chunk", "model": "qwen3-8b", "choices": [`,
		`{"object":"chat.completion.chunk","created":1790000000,"choices":[{"index":1},`, `{"choices":[`,
		`{"object":"chat.completion.chunk","created":1790000000,"x":{"text":"a"},"choices":[{"text":""}],"choices":[`,
		`{"object":"chat.completion.chunk","created":1790000000,"error":null,"model":"","choices":[null,`,
	},
	{`{"index":0,`, `{"index":1,`, `{"index":0,"logprobs":null,`, `{"index":0,"finish_reason":"stop",`, `{"index":0,"finish_reason":null,`, `{"index":1,"index":0,`, `{`, `{"index":2000,`, `{"index":-1,`, `{"index":1.0,`, `{ "index" : 0 , `},
	{`"delta":{`, `"message":{`, `"delta":{"role":"assistant",`, `"delta":{"content":"",`, `"delta":{"content":"x",`, `"delta":{"reasoning":"r",`, `"delta":{"reasoning_content":null,`, `"text":"","delta":{`, `"text":"t","delta":{`,
		`"delta":{"tool_calls":[{"index":0,"id":"i","function":{"name":"f","arguments":"{\"a\""}}],`, `"delta":{},"x":{`, "\"delta\":\t{ "},
	{`"content":"`, `"reasoning":"`, `"reasoning_content":"`, `"refusal":"`, `"content": "`, `"Content":"`, `"content":[{"text":"`, `"content":"a","content":"`, `"cont\u0065nt":"`, `"content":{"text":"`, `"tool_calls":[{"function":{"arguments":"`, `"text":"`},
	{`"`, `"}]`, `","content":null`, `","content":"q"`, `","reasoning":"z"`, `","reasoning":""`, `","refusal":"no"`, `","reasoning_content":null`, `","tool_calls":[{"index":0,"function":{"arguments":"1"}}]`, `","tool_calls":[]`, `","x":"\u00e9"`, `" `, ``, `"}}]`, `"}`, `"x`},
	{`},"logprobs":null,"finish_reason":null}`, `}}`, `},"finish_reason":"stop"}`, `},"finish_reason":"length"}`, `},"finish_reason":""}`, `},"index":1}`, `},"text":"more"}`, `},"usage":{"prompt_tokens":3,"completion_tokens":4}}`, `},"delta":{"content":"d"}}`, ` } , "finish_reason" : null } `, `}`},
	{`]}`, `],"usage":null}`, `],"usage":{"prompt_tokens":1,"completion_tokens":2}}`, `],"usage":{"prompt_tokens":1,"completion_tokens":3,"total_tokens":9,"prompt_tokens_details":{"cached_tokens":1}}}`, `],"error":{"type":"x"}}`, `],"error":null}`, `],"object":"error"}`,
		`],"message":"m","code":400}`, `],"id":"other","model":"other"}`, `,{"index":1,"delta":{"content":"two"}}]}`, `,{"index":1,"finish_reason":"stop"}]}`, `]} `, `]}x`, `]`, `],"x":` + strings.Repeat("[", 1023) + strings.Repeat("]", 1023) + `}`, `],"x":` + strings.Repeat("[", 1024) + strings.Repeat("]", 1024) + `}`, `],"x":1.5}`, `],"x":01}`, `],"choices":[]}`},
	{"\n\n", "\r\n\r\n", "\r\r", "\n", "\n\n\n", "\n: comment\n\n", "\ndata: more\n\n", "\ndata:\n\n", "\n\r\n", "\r\n\n", "", "\ndata: [DONE]\n\n", "\n\ndata:  [DONE] \n\n", "\n\ndata: [DONE]x\n\n"},
}

const textPlace = 5 // the part that follows the text

var alikeTexts = []string{
	"a", "bc", " the", "", "好", "é", "\xe5\xa5", "\xbd", "\xff", `\n`, `\"`, `\\`, `\/`, `\u00e9`, `\ud83d\ude00`, `\ud83d`, `\ude00`, `\u0000`, `\x`, "\x01", "\t", "\x7f",
	`\"usage\":{`, `"usage":{"prompt_tokens":5}`, `\"}]}`, `data: `, `\n\ndata: {}`, "\\", "{", "😀", strings.Repeat("long ", 30), strings.Repeat(`\\\"`, 20), strings.Repeat("x", 600), `\u`, "\n", "\r",
}

// dice are the choices that the fuzzer makes.
type dice []byte

func (d *dice) roll(n int) int {
	if len(*d) == 0 {
		return 0
	}
	c := int((*d)[0]) % n
	*d = (*d)[1:]
	return c
}

// alikeStream makes a stream of b: each event is like the one before it but for
// its text and, one time in four, some of its parts; now and then it is like the
// one before that again.
func alikeStream(b []byte) string {
	d := dice(b)
	var now, before [len(alikeParts)]int
	var out strings.Builder
	if d.roll(4) == 0 {
		out.WriteString(byteOrderMark)
	}
	out.WriteString(":\n")
	for n := 0; len(d) > 0 && n < 40; n++ {
		changes := max(d.roll(12)-8, 0)
		switch {
		case changes > 0:
			before = now
		case d.roll(3) == 0:
			now, before = before, now
		}
		for range changes {
			place := d.roll(len(now))
			if now[place] = 0; d.roll(3) > 0 {
				now[place] = d.roll(len(alikeParts[place]))
			}
		}
		var event strings.Builder
		for place, i := range now {
			if place == textPlace {
				for range d.roll(4) {
					text := alikeTexts[d.roll(len(alikeTexts))]
					if d.roll(2) == 0 {
						text = alikeTexts[len(text)%3] // a plain one
					}
					event.WriteString(text)
				}
			}
			event.WriteString(alikeParts[place][i])
		}
		s := event.String()
		switch d.roll(24) {
		case 1: // one byte is another
			at := (d.roll(256)*256 + d.roll(256)) % len(s)
			s = s[:at] + string(rune(' '+d.roll(95))) + s[at+1:]
		case 2: // it breaks off
			s = s[:d.roll(len(s))]
		case 3: // on two lines
			if at := strings.LastIndex(s, ","); at > 0 {
				s = s[:at+1] + "\ndata: " + s[at+1:]
			}
		case 4: // once more, as it is
			s += s
		}
		out.WriteString(s)
	}
	return out.String()
}
