package wire

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/infertel/infertel-go/genai"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// observe starts an exchange with content recorded, whose span is the real
// SDK's.
func observe(t testing.TB, engine genai.Engine, opts ...genai.Option) *Exchange {
	t.Helper()
	inst, err := genai.New(append([]genai.Option{genai.WithTracerProvider(recording), genai.WithEngine(engine), genai.WithContent(genai.ContentSpan)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	_, x := Start(context.Background(), inst, RequestHead{})
	return x
}

// held is how many bytes of heap f leaves in use beside what it returns none
// of.
func held(f func()) int64 {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	f()
	runtime.GC()
	runtime.ReadMemStats(&after)
	return int64(after.HeapAlloc) - int64(before.HeapAlloc)
}

const bound = 4 << 20 // of one exchange with content recorded, whatever comes

// TestMemoryIsBoundedWhateverThePeerSends feeds what no engine or client would
// send, in pieces, and looks at what is kept while the exchange is open.
func TestMemoryIsBoundedWhateverThePeerSends(t *testing.T) {
	const size = 12 << 20
	piece := bytes.Repeat([]byte("x"), 64<<10)
	text := func(x func([]byte), before, after string) {
		x([]byte(before))
		for range size / len(piece) {
			x(piece)
		}
		x([]byte(after))
	}
	repeat := func(x func([]byte), before, each, after string) {
		many := []byte(strings.Repeat(each, 1000))
		x([]byte(before))
		for n := 0; n < size; n += len(many) {
			x(many)
		}
		x([]byte(after))
	}
	for name, feed := range map[string]func(x *Exchange){
		"a long prompt": func(x *Exchange) {
			text(x.RequestBody, `{"messages":[{"role":"user","content":"`, `"}],"model":"m"}`)
		},
		"many messages": func(x *Exchange) {
			repeat(x.RequestBody, `{"messages":[`, `{"role":"user","content":""},`, `{}],"model":"m"}`)
		},
		"many parts": func(x *Exchange) {
			repeat(x.RequestBody, `{"messages":[{"role":"user","content":[`, `{"type":"text","text":"a"},`, `""]}],"model":"m"}`)
		},
		"many prompts":  func(x *Exchange) { repeat(x.RequestBody, `{"prompt":[`, `"a",[1],`, `""],"model":"m"}`) },
		"a long model":  func(x *Exchange) { text(x.RequestBody, `{"model":"`, `","model":"m"}`) },
		"a long number": func(x *Exchange) { repeat(x.RequestBody, `{"n":1`, `0`, `,"model":"m"}`) },
		"a long key":    func(x *Exchange) { text(x.RequestBody, `{"`, `":1,"model":"m"}`) },
		"many keys":     func(x *Exchange) { repeat(x.RequestBody, `{`, `"k":[{"a":[]}],`, `"model":"m"}`) },
		"many arguments": func(x *Exchange) {
			repeat(x.RequestBody, `{"messages":[{"tool_calls":[`, `{"id":"i","function":{"name":"f","arguments":"{}"}},`, `{}]}],"model":"m"}`)
		},
		"a long event": func(x *Exchange) {
			stream(x)
			text(x.ResponseBody, `data: {"id":"c","choices":[{"index":0,"delta":{"content":"`, `"}}]}`+"\n\n")
		},
		"many events": func(x *Exchange) {
			stream(x)
			repeat(x.ResponseBody, "", `data: {"id":"c","choices":[{"index":0,"delta":{"content":"a","reasoning":"b"}}]}`+"\n\n", "")
		},
		"many choices": func(x *Exchange) {
			stream(x)
			repeat(x.ResponseBody, `data: {"id":"c","choices":[`, `{"delta":{"content":"a","tool_calls":[{"function":{"name":"f"}}]}},`, `{}]}`+"\n\n")
		},
		"many tool calls": func(x *Exchange) {
			stream(x)
			repeat(x.ResponseBody, `data: {"id":"c","choices":[{"delta":{"tool_calls":[`, `{"id":"i","function":{"name":"f","arguments":"{}"}},`, `{}]}}]}`+"\n\n")
		},
		"an event without end": func(x *Exchange) { stream(x); text(x.ResponseBody, `data: {"id":"c"}`+"\n\n"+`data: {"x":"`, "") },
		"a line without end":   func(x *Exchange) { stream(x); text(x.ResponseBody, `data: {"id":"c"}`+"\n\n"+`: `, "") },
		"an endless document": func(x *Exchange) {
			x.ResponseHead(ResponseHead{Status: 200, ContentType: "application/json"})
			repeat(x.ResponseBody, `{"id":"c","data":[`, `{"embedding":[0.25,0.5]},`, "")
		},
		"arguments as long as they get": func(x *Exchange) {
			stream(x)
			for i := range 200 {
				text(func(p []byte) { x.ResponseBody(p[:min(len(p), 30<<10)]) }, fmt.Sprintf(`data: {"id":"c","choices":[{"index":0,"delta":{"tool_calls":[{"index":%d,"function":{"name":"f","arguments":"`, i), `"}}]}}]}`+"\n\n")
				if i > 8 {
					break
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			x := observe(t, genai.EngineSGLang)
			if n := held(func() { feed(x) }); n > bound {
				t.Errorf("%.1f MiB are held, want at most %d", float64(n)/(1<<20), bound>>20)
			}
			x.End(nil)
			if x.Request().Model != "m" && x.Response().ID != "c" {
				t.Error("what came beside it was not read")
			}
		})
	}
}

// complete reports whether the answer has been seen to its end.
func (x *Exchange) complete() bool { return x.response.complete(x.choices()) }

func stream(x *Exchange) {
	x.RequestBody([]byte(`{"stream":true}`))
	x.ResponseHead(ResponseHead{Status: 200, ContentType: "text/event-stream"})
}

// TestAnEventOfAnyLengthIsRead: what comes in it and after it counts.
func TestAnEventOfAnyLengthIsRead(t *testing.T) {
	x := observe(t, genai.EngineVLLM, genai.WithContentMaxLength(10))
	stream(x)
	x.ResponseBody([]byte(`data: {"id":"c","choices":[{"index":0,"delta":{"content":"start `))
	for range 16 << 10 {
		x.ResponseBody(bytes.Repeat([]byte("好"), 400))
	}
	x.ResponseBody([]byte(`"}}]}` + "\n\n" + stop + "\n\n" + `data: {"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2}}` + "\n\ndata: [DONE]\n\n"))
	r := x.Response()
	if !x.complete() || r.Increments != 1 || r.Usage.OutputTokens == nil || *r.Usage.OutputTokens != 2 || !strings.HasPrefix(r.Messages[0].Parts[0].Content, "start 好") {
		t.Errorf("response is %+v", r)
	}
	x.End(nil)
}

func TestToolCallsBeyondTheBoundAreCounted(t *testing.T) {
	x := observe(t, genai.EngineSGLang)
	stream(x)
	for i := range 100_000 {
		x.ResponseBody(fmt.Appendf(nil, `data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":%d,"function":{"name":"f","arguments":"{}"}}]}}]}`+"\n\n", i))
	}
	r := x.Response()
	if r.ToolCallCount != 100_000 || len(r.ToolCalls[0]) != maxToolCalls {
		t.Errorf("%d calls, %d kept", r.ToolCallCount, len(r.ToolCalls[0]))
	}
	x.End(nil)
}

func TestStrangeIndices(t *testing.T) {
	for _, index := range []string{"-1", "9223372036854775807", "1e99", "1024", "99999999999999999999", `"0"`, "null"} {
		got := events(t, `data: {"choices":[{"index":`+index+`,"delta":{"content":"a","tool_calls":[{"index":`+index+`,"function":{"name":"f"}},{"index":`+index+`,"function":{"name":"g"}}]},"finish_reason":"stop"}]}`+"\n\n"+endOfStream)
		if len(got.Response.FinishReasons) > maxChoices || got.Response.Increments != 1 || got.Outcome != genai.OutcomeSuccess {
			t.Errorf("index %s: %d places, %d increments, %v", index, len(got.Response.FinishReasons), got.Response.Increments, got.Outcome)
		}
	}
}

const endOfStream = "data: [DONE]\n\n"

// TestACompressedBombIsDefused: a body that unpacks to gigabytes is looked at
// only so far.
func TestACompressedBombIsDefused(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write([]byte(`{"id":"c","pad":"`))
	zeros := bytes.Repeat([]byte("0"), 1<<20)
	for range maxInflated/len(zeros) + 8 {
		_, _ = z.Write(zeros)
	}
	_, _ = z.Write([]byte(`","model":"late"}`))
	_ = z.Close()
	x := observe(t, genai.EngineVLLM)
	x.ResponseHead(ResponseHead{Status: 200, ContentType: "application/json", ContentEncoding: "gzip"})
	if n := held(func() { x.ResponseBody(packed.Bytes()) }); n > bound {
		t.Errorf("%d bytes are held", n)
	}
	if r := x.Response(); r.Model != "" {
		t.Error("the bomb was unpacked to its end")
	}
	x.End(nil)
}

// TestALongCompressedStreamIsNoFailure: it is we who do not look further.
func TestALongCompressedStreamIsNoFailure(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write([]byte(one + "\n\n: "))
	zeros := bytes.Repeat([]byte("0"), 1<<20)
	for range maxInflated/len(zeros) + 1 {
		_, _ = z.Write(zeros)
	}
	_ = z.Close()
	var f genai.Finished
	x := observe(t, genai.EngineVLLM, genai.WithOnEnd(func(_ context.Context, got genai.Finished) { f = got }))
	x.ResponseHead(ResponseHead{Status: 200, ContentType: "text/event-stream", ContentEncoding: "gzip"})
	x.ResponseBody(packed.Bytes())
	x.End(nil)
	if f.Outcome != genai.OutcomeSuccess || x.Response().Increments != 1 {
		t.Errorf("outcome %v, %d increments", f.Outcome, x.Response().Increments)
	}
}

// TestARunningStreamHoldsLittle: the figure that the package documentation
// gives.
func TestARunningStreamHoldsLittle(t *testing.T) {
	inst, err := genai.New(genai.WithTracerProvider(recording), genai.WithContent(genai.ContentNone))
	if err != nil {
		t.Fatal(err)
	}
	const n = 1000
	exchanges := make([]*Exchange, n)
	event := []byte(one + "\n\n")
	total := held(func() {
		for i := range exchanges {
			_, x := Start(context.Background(), inst, RequestHead{})
			stream(x)
			for range 100 {
				x.ResponseBody(event)
			}
			exchanges[i] = x
		}
	})
	if per := total / n; per > 8<<10 {
		t.Errorf("%d bytes are held for a running stream, want at most 8 KiB", per)
	} else {
		t.Logf("%d bytes are held for a running stream", per)
	}
	for _, x := range exchanges {
		x.End(nil)
	}
}

func TestAPieceOfAStreamCostsNoAllocation(t *testing.T) {
	for _, engine := range []genai.Engine{genai.EngineVLLM, genai.EngineSGLang} {
		inst, err := genai.New(genai.WithTracerProvider(recording), genai.WithEngine(engine), genai.WithContent(genai.ContentNone))
		if err != nil {
			t.Fatal(err)
		}
		_, x := Start(context.Background(), inst, RequestHead{})
		stream(x)
		event := []byte(one + "\n\n")
		x.ResponseBody(event)
		if n := testing.AllocsPerRun(1000, func() { x.ResponseBody(event) }); n != 0 {
			t.Errorf("%v: %v allocations for each piece, want 0", engine, n)
		}
		x.End(nil)
	}
}

func TestNothingAfterTheEnd(t *testing.T) {
	x := observe(t, genai.EngineVLLM)
	x.End(nil)
	x.RequestBody([]byte(`{"model":"late"}`))
	x.RequestRestart()
	x.ResponseHead(ResponseHead{Status: 500})
	x.ResponseBody([]byte(`{"id":"late"}`))
	x.End(context.Canceled)
	if x.Request().Model != "" || x.Response().ID != "" || x.complete() {
		t.Error("an exchange goes on after its end")
	}
	var none *Exchange
	none.RequestBody(nil)
	none.RequestRestart()
	none.ResponseHead(ResponseHead{})
	none.ResponseBody([]byte("x"))
	none.End(nil)
	if none.Request().Model != "" || none.Response().ID != "" {
		t.Error("a nil exchange knows something")
	}
}
