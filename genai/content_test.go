package genai_test

import (
	"context"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/infertel/infertel-go/genai"
	"github.com/infertel/infertel-go/internal/sdktest"
)

var (
	inputMessages = []genai.Message{
		{Role: "system", Parts: []genai.Part{genai.TextPart("Be \"brief\".\n")}},
		{Role: "user", Parts: []genai.Part{
			genai.TextPart("look"), genai.URIPart("image", "https://x/y.png"), genai.BlobPart("audio", "audio/wav", 1234),
			genai.FilePart("", "file-1"), {Type: "novel", Content: "payload"}, {Type: genai.PartTokenIDs, Size: 3},
		}},
		{Role: "tool", Parts: []genai.Part{genai.ToolCallResponsePart("i0", "7")}},
	}
	outputMessages = []genai.Message{{Role: "assistant", FinishReason: "tool_calls", Parts: []genai.Part{
		genai.ReasoningPart("think"), genai.TextPart("done <b>"), genai.ToolCallPart("i0", "add", `{"a": [1, 2.5, null, true], "b": {"c": "d"}}`), genai.ToolCallPart("", "cut", `{"a":`),
	}}}
)

const (
	inputJSON = `[{"role":"system","parts":[{"type":"text","content":"Be \"brief\".\n"}]},` +
		`{"role":"user","parts":[{"type":"text","content":"look"},{"type":"uri","modality":"image","uri":"https://x/y.png"},` +
		`{"type":"blob","modality":"audio","mime_type":"audio/wav","size":1234},{"type":"file","file_id":"file-1"},{"type":"novel"},{"type":"token_ids","size":3}]},` +
		`{"role":"tool","parts":[{"type":"tool_call_response","id":"i0","response":"7"}]}]`
	outputJSON = `[{"role":"assistant","parts":[{"type":"reasoning","content":"think"},{"type":"text","content":"done <b>"},` +
		`{"type":"tool_call","id":"i0","name":"add","arguments":{"a":[1,2.5,null,true],"b":{"c":"d"}}},{"type":"tool_call","name":"cut","arguments":"{\"a\":"}],"finish_reason":"tool_calls"}]`
)

// structure is what JSON looks like once it came over the wire as a value.
func structure(t *testing.T, text string) any {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	var convert func(v any) any
	convert = func(v any) any {
		switch v := v.(type) {
		case json.Number:
			if n, err := v.Int64(); err == nil {
				return n
			}
			f, _ := v.Float64()
			return f
		case []any:
			for i := range v {
				v[i] = convert(v[i])
			}
		case map[string]any:
			for k := range v {
				v[k] = convert(v[k])
			}
		}
		return v
	}
	return convert(v)
}

// TestContentGoesWhereTheModeSays runs every mode, set by option and by each of
// the environment's ways to say it.
func TestContentGoesWhereTheModeSays(t *testing.T) {
	none, span, event, both := [2]bool{}, [2]bool{true, false}, [2]bool{false, true}, [2]bool{true, true}
	for _, c := range []struct {
		capture, strategy string
		option            []genai.Option
		want              [2]bool // on the span, in the log event
		reported          string
	}{
		{"", "", nil, none, ""},
		{"NO_CONTENT", "", nil, none, ""},
		{"SPAN_ONLY", "", nil, span, ""},
		{"EVENT_ONLY", "", nil, event, ""},
		{"SPAN_AND_EVENT", "", nil, both, ""},
		{"span_and_event", "", nil, both, ""},
		{"false", "event", nil, none, ""},
		{"true", "", nil, span, ""},
		{"true", "span-attributes", nil, span, ""},
		{"true", "event", nil, event, ""},
		{"TRUE", "Event", nil, event, ""},
		{"SPAN_ONLY", "event", nil, span, ""},
		{"yes", "", nil, none, genai.EnvCaptureContent + ` is "yes"`},
		{"true", "logs", nil, none, genai.EnvContentStrategy + ` is "logs"`},
		{"SPAN_AND_EVENT", "", []genai.Option{genai.WithContent(genai.ContentNone)}, none, ""},
		{"", "", []genai.Option{genai.WithContent(genai.ContentSpan)}, span, ""},
		{"NO_CONTENT", "", []genai.Option{genai.WithContent(genai.ContentEvent)}, event, ""},
		{"nonsense", "", []genai.Option{genai.WithContent(genai.ContentSpanAndEvent)}, both, ""},
	} {
		t.Run(c.capture+" "+c.strategy, func(t *testing.T) {
			t.Setenv(genai.EnvCaptureContent, c.capture)
			t.Setenv(genai.EnvContentStrategy, c.strategy)
			errs := sdktest.HandleErrors(t)
			b := sdktest.New(t)
			inst := newInstrumentation(t, b, c.option...)
			for range 2 {
				_, call := inst.Start(context.Background(), genai.Request{Messages: inputMessages})
				if call.WantsContent() != (c.want != none) {
					t.Errorf("WantsContent is %v", call.WantsContent())
				}
				call.End(genai.Response{Messages: outputMessages}, nil)
			}
			b.Flush()
			var in, out any
			if c.want[0] {
				in, out = inputJSON, outputJSON
			}
			for _, s := range b.Receiver.FlatSpans() {
				if s.Attrs["gen_ai.input.messages"] != in || s.Attrs["gen_ai.output.messages"] != out {
					t.Errorf("on the span:\n%v\n%v\nwant\n%v\n%v", s.Attrs["gen_ai.input.messages"], s.Attrs["gen_ai.output.messages"], in, out)
				}
			}
			logs := b.Receiver.FlatLogs()
			if len(logs) > 0 != c.want[1] {
				t.Fatalf("%d log events, want some: %v", len(logs), c.want[1])
			}
			for i, l := range logs {
				want := map[string]any{"gen_ai.input.messages": structure(t, inputJSON), "gen_ai.output.messages": structure(t, outputJSON)}
				if l.EventName != "gen_ai.client.inference.operation.details" || !reflect.DeepEqual(l.Attrs, want) {
					t.Errorf("log event %q is\n%#v, want\n%#v", l.EventName, l.Attrs, want)
				}
				if s := b.Receiver.FlatSpans()[i]; l.TraceID != s.TraceID || l.SpanID != s.SpanID {
					t.Error("the log event is not tied to its span")
				}
			}
			reported := errs.Take()
			switch {
			case c.reported == "" && len(reported) > 0, c.reported != "" && len(reported) != 1:
				t.Errorf("reported %v", reported)
			case c.reported != "" && !strings.Contains(reported[0].Error(), c.reported):
				t.Errorf("reported %v, want %q", reported, c.reported)
			}
		})
	}
}

func TestContentOfAnUnsampledCallGoesNowhere(t *testing.T) {
	b := sdktest.New(t, neverSample)
	_, call := newInstrumentation(t, b, genai.WithContent(genai.ContentSpanAndEvent)).Start(context.Background(), genai.Request{Messages: inputMessages})
	if call.WantsContent() || call.Recording() {
		t.Error("an unsampled call wants content")
	}
	call.End(genai.Response{Messages: outputMessages}, nil)
	b.Flush()
	if n, m := len(b.Receiver.FlatSpans()), len(b.Receiver.FlatLogs()); n+m != 0 {
		t.Errorf("%d spans and %d log events", n, m)
	}
}

func TestTextsAreCutBetweenCharacters(t *testing.T) {
	long := strings.Repeat("好", 4000) // 12,000 bytes
	for _, c := range []struct {
		env    string
		option []genai.Option
		want   int
		report bool
	}{
		{"", nil, 8190, false},
		{"10", nil, 9, false},
		{"0", nil, 0, false},
		{"-1", nil, 8190, true},
		{"many", nil, 8190, true},
		{"10", []genai.Option{genai.WithContentMaxLength(31)}, 30, false},
	} {
		t.Setenv(genai.EnvContentMaxLength, c.env)
		errs := sdktest.HandleErrors(t)
		message := []genai.Message{{Role: "user", Parts: []genai.Part{genai.TextPart(long), genai.TextPart("ok")}}}
		s := one(t, genai.Request{Messages: message}, genai.Response{}, nil, append(c.option, genai.WithContent(genai.ContentSpan))...)
		var got []struct{ Parts []struct{ Content string } }
		if err := json.Unmarshal([]byte(s.Attrs["gen_ai.input.messages"].(string)), &got); err != nil {
			t.Fatal(err)
		}
		text := got[0].Parts[0].Content
		if len(text) != c.want || strings.ContainsRune(text, utf8.RuneError) || !strings.HasPrefix(long, text) {
			t.Errorf("%q: %d bytes are kept, want %d", c.env, len(text), c.want)
		}
		if reported := errs.Take(); len(reported) > 0 != c.report {
			t.Errorf("%q: reported %v", c.env, reported)
		}
	}
}

// TestBytesThatAreNotText: one invalid character would cost the whole batch.
func TestBytesThatAreNotText(t *testing.T) {
	bad := "a\xff\x00b"
	r := genai.Request{Model: bad, ID: bad, SessionID: bad, UserID: bad, Stream: true, Messages: []genai.Message{{Role: bad, Parts: []genai.Part{genai.TextPart(bad), {Type: bad}}}}}
	resp := genai.Response{
		ID: bad, Model: bad, FinishReasons: []string{bad},
		ToolCalls: [][]genai.ToolCall{{{ID: bad, Name: bad, Arguments: bad}}}, Messages: []genai.Message{{Role: bad, FinishReason: bad, Parts: []genai.Part{genai.ToolCallPart(bad, bad, bad)}}},
		Usage: genai.Usage{InputTokens: new(1)},
	}
	for _, engine := range []genai.Engine{genai.EngineVLLM, genai.EngineSGLang} {
		errs := sdktest.HandleErrors(t)
		b := sdktest.New(t)
		inst := newInstrumentation(t, b, genai.WithEngine(engine), genai.WithContent(genai.ContentSpanAndEvent))
		_, call := inst.Start(context.Background(), r)
		call.End(resp, &genai.Error{Description: bad})
		b.Flush()
		if len(b.Receiver.FlatSpans()) != 1 || len(b.Receiver.FlatLogs()) != 1 || len(b.Receiver.LastPoints()) != 1 {
			t.Errorf("%v: %d spans, %d logs, %d points arrived, want one each; reported %v", engine,
				len(b.Receiver.FlatSpans()), len(b.Receiver.FlatLogs()), len(b.Receiver.LastPoints()), errs.Take())
		}
	}
}

func TestDeepArgumentsStayWithinTheReceiversLimit(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 500) + "1" + strings.Repeat("}", 500)
	b := sdktest.New(t)
	_, call := newInstrumentation(t, b, genai.WithContent(genai.ContentEvent)).Start(context.Background(), genai.Request{})
	call.End(genai.Response{Messages: []genai.Message{{Role: "assistant", Parts: []genai.Part{genai.ToolCallPart("", "f", deep)}}}}, nil)
	b.Flush()
	if len(b.Receiver.FlatLogs()) != 1 {
		t.Fatal("the log event did not arrive")
	}
	depth := 0
	var walk func(v any, d int)
	walk = func(v any, d int) {
		depth = max(depth, d)
		switch v := v.(type) {
		case map[string]any:
			for _, m := range v {
				walk(m, d+1)
			}
		case []any:
			for _, m := range v {
				walk(m, d+1)
			}
		}
	}
	walk(b.Receiver.FlatLogs()[0].Attrs["gen_ai.output.messages"], 0)
	if depth < 5 || depth > 30 {
		t.Errorf("the value nests %d deep", depth)
	}
}
