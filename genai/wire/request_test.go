package wire

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/infertel/infertel-go/genai"
)

// readRequest is what a request is read as, with content and without.
func readRequest(t testing.TB, op genai.Operation, body string, noContent bool) exchanged {
	t.Helper()
	return exchange(t, input{op: op, request: [][]byte{[]byte(body)}, status: 200, contentType: "application/json", response: [][]byte{[]byte("{}")}, noContent: noContent})
}

func TestMaxTokens(t *testing.T) {
	for body, want := range map[string]any{
		`{"max_tokens":16,"max_completion_tokens":64}`:   64,
		`{"max_completion_tokens":64,"max_tokens":16}`:   64,
		`{"max_tokens":null}`:                            nil,
		`{"max_completion_tokens":null,"max_tokens":16}`: 16,
		`{"max_completion_tokens":0,"max_tokens":16}`:    0,
		`{"max_tokens":16,"max_completion_tokens":null}`: 16,
		`{"max_tokens":-1}`:                              -1,
		`{"max_tokens":1e3}`:                             1000,
		`{"max_tokens":1.5}`:                             nil,
		`{"max_tokens":"16"}`:                            nil,
	} {
		got := readRequest(t, genai.OperationChat, body, true).Request.MaxTokens
		if got == nil && want == nil {
			continue
		}
		if got == nil || *got != want {
			t.Errorf("%s: got %v, want %v", body, got, want)
		}
	}
}

func TestSamplingValues(t *testing.T) {
	r := readRequest(t, genai.OperationChat, `{"temperature":0,"top_p":0.0,"top_k":-1,"n":0,"stream":false,"tools":[],"user":"","model":null}`, true).Request
	if *r.Temperature != 0 || *r.TopP != 0 || *r.TopK != -1 || *r.ChoiceCount != 0 || r.Stream || r.HasTools || r.Model != "" {
		t.Errorf("zero and -1 are values: %+v", r)
	}
	r = readRequest(t, genai.OperationChat, `{"temperature":null,"top_p":null,"top_k":null,"n":null,"stream":null,"tools":null}`, true).Request
	if r.Temperature != nil || r.TopP != nil || r.TopK != nil || r.ChoiceCount != nil || r.Stream || r.HasTools {
		t.Errorf("null is no value: %+v", r)
	}
	r = readRequest(t, genai.OperationChat, `{"model":"a","model":"b","n":1,"n":2,"functions":[{}],"nested":{"model":"c","n":3}}`, true).Request
	if r.Model != "b" || *r.ChoiceCount != 2 {
		t.Errorf("of a member that stands twice the last one counts, and only at the top: %+v", r)
	}
}

// TestAnUnreadableRequestTellsWhatItCan.
func TestAnUnreadableRequestTellsWhatItCan(t *testing.T) {
	for _, body := range []string{`{"model":"m","n":2,`, `{"model":"m","n":2}trailing`, `{"model":"m","n":2,oops`} {
		got := readRequest(t, genai.OperationChat, body, true)
		if r := got.Request; r.Model != "m" || r.ChoiceCount == nil || *r.ChoiceCount != 2 {
			t.Errorf("%s is read as %+v", body, r)
		}
	}
}

func TestMessages(t *testing.T) {
	text, ids := genai.TextPart, func(n int) genai.Part { return genai.Part{Type: genai.PartTokenIDs, Size: n} }
	user := func(parts ...genai.Part) genai.Message { return genai.Message{Role: "user", Parts: parts} }
	for _, c := range []struct {
		name, body string
		op         genai.Operation
		want       []genai.Message
		prompts    int
	}{
		{"parts", `{"messages":[
			{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"https://x/y.png"}},{"type":"video_url","video_url":{"url":"data:video/mp4;base64,AAAAAA=="}},{"type":"novel","novel":"secret"},"bare"]},
			{"role":"assistant","content":null,"reasoning_content":"why","tool_calls":[{"id":"i0","type":"function","function":{"name":"add","arguments":"{\"a\":1}"}}]},
			{"role":"tool","tool_call_id":"i0","content":"7"}]}`, genai.OperationChat, []genai.Message{
			user(text("a"), genai.URIPart("image", "https://x/y.png"), genai.BlobPart("video", "video/mp4", 4), genai.Part{Type: "novel"}, text("bare")),
			{Role: "assistant", Parts: []genai.Part{genai.ReasoningPart("why"), genai.ToolCallPart("i0", "add", `{"a":1}`)}},
			{Role: "tool", Parts: []genai.Part{genai.ToolCallResponsePart("i0", "7")}},
		}, 1},
		{"media", `{"messages":[{"role":"user","content":[{"type":"image_url","image_url":"data:image/png,abc"},{"type":"input_audio","input_audio":{"data":"QUJD","format":"wav"}},
			{"type":"file","file":{"file_id":"f-1"}},{"type":"file","file":{"file_data":"data:application/pdf;base64,QUI="}},{"type":"refusal","refusal":"no"},{"type":"thinking","thinking":"hm"}]}]}`, genai.OperationChat, []genai.Message{
			user(genai.BlobPart("image", "image/png", 3), genai.BlobPart("audio", "audio/wav", 3), genai.FilePart("", "f-1"), genai.BlobPart("", "application/pdf", 2), text("no"), genai.ReasoningPart("hm")),
		}, 1},
		{"binary without an address", `{"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"QUJD"}},{"type":"image_url","image_url":{"url":" DATA:image/png;base64,QUI="}},{"text":"a"}]},{"role":"tool","tool_call_id":"i0","content":""}]}`, genai.OperationChat, []genai.Message{
			user(genai.BlobPart("image", "", 3), genai.BlobPart("image", "image/png", 2), text("a")), {Role: "tool", Parts: []genai.Part{genai.ToolCallResponsePart("i0", "")}},
		}, 1},
		{"tool result in parts", `{"messages":[{"content":[{"type":"text","text":"7"}],"role":"tool","tool_call_id":"i0"}]}`, genai.OperationChat, []genai.Message{
			{Role: "tool", Parts: []genai.Part{genai.ToolCallResponsePart("i0", "7")}},
		}, 1},
		{"one prompt", `{"prompt":"a"}`, genai.OperationTextCompletion, []genai.Message{user(text("a"))}, 1},
		{"an empty prompt", `{"prompt":""}`, genai.OperationTextCompletion, []genai.Message{user(text(""))}, 1},
		{"token ids", `{"prompt":[1,2,3]}`, genai.OperationTextCompletion, []genai.Message{user(ids(3))}, 1},
		{"lists of token ids", `{"prompt":[[1,2],[3]]}`, genai.OperationTextCompletion, []genai.Message{user(ids(2)), user(ids(1))}, 2},
		{"prompts", `{"prompt":["a","b"]}`, genai.OperationTextCompletion, []genai.Message{user(text("a")), user(text("b"))}, 2},
		{"mixed prompts", `{"prompt":["a",[1,2]],"n":2}`, genai.OperationTextCompletion, []genai.Message{user(text("a")), user(ids(2))}, 4},
		{"embedding inputs", `{"input":["a","b"]}`, genai.OperationEmbeddings, []genai.Message{user(text("a")), user(text("b"))}, 2},
		{"embedding token ids", `{"input":[[101,102],[101]]}`, genai.OperationEmbeddings, []genai.Message{user(ids(2)), user(ids(1))}, 2},
		{"rerank", `{"query":"q","documents":["a",{"text":"b"}]}`, genai.OperationRerank, []genai.Message{user(text("q"), text("a"), text("b"))}, 1},
		{"score", `{"text_1":"q","text_2":["a","b"]}`, genai.OperationRerank, []genai.Message{user(text("q"), text("a"), text("b"))}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := readRequest(t, c.op, c.body, false)
			if !reflect.DeepEqual(got.Request.Messages, c.want) {
				t.Errorf("messages are\n%+v, want\n%+v", got.Request.Messages, c.want)
			}
			var r requestReader
			r.reset(c.op, false, 0)
			r.json.Write([]byte(c.body))
			if r.choices() != c.prompts {
				t.Errorf("%d choices are expected, want %d", r.choices(), c.prompts)
			}
			off := readRequest(t, c.op, c.body, true)
			if off.Request.Messages != nil {
				t.Errorf("with the switch off messages are %+v", off.Request.Messages)
			}
			sameInPieces(t, input{op: c.op, request: [][]byte{[]byte(c.body)}, status: 200, contentType: "application/json", response: [][]byte{[]byte("{}")}}, got)
		})
	}
}

// TestChoicesOfABatchHavePlaces: prompts times n, in the order of the engines.
func TestChoicesOfABatchHavePlaces(t *testing.T) {
	in := input{
		op: genai.OperationTextCompletion, request: [][]byte{[]byte(`{"prompt":["a","b"],"n":2,"stream":true}`)}, status: 200, contentType: "text/event-stream",
		response: [][]byte{[]byte(`data: {"choices":[{"index":1,"text":"x","finish_reason":"stop"}]}` + "\n\n")},
	}
	got := exchange(t, in)
	if want := []string{"", "stop", "", ""}; !reflect.DeepEqual(got.Response.FinishReasons[:2], want[:2]) || got.Outcome != genai.OutcomeTruncated {
		t.Errorf("reasons %q, outcome %v", got.Response.FinishReasons, got.Outcome)
	}
	in.response[0] = []byte(strings.Repeat(`data: {"choices":[{"index":3,"finish_reason":"stop"},{"index":2,"finish_reason":"length"},{"index":0,"finish_reason":"stop"},{"index":1,"finish_reason":"stop"}]}`+"\n\n", 1))
	got = exchange(t, in)
	if want := "[stop stop length stop]"; fmt.Sprint(got.Response.FinishReasons) != want || got.Outcome != genai.OutcomeSuccess || !got.Complete {
		t.Errorf("reasons %v, outcome %v, complete %v", got.Response.FinishReasons, got.Outcome, got.Complete)
	}
}

func TestOperationOf(t *testing.T) {
	for path, want := range map[string]any{
		"/v1/chat/completions": genai.OperationChat, "/v1/completions": genai.OperationTextCompletion, "/v1/embeddings": genai.OperationEmbeddings,
		"/v1/rerank": genai.OperationRerank, "/v2/rerank": genai.OperationRerank, "/rerank": genai.OperationRerank, "/score": genai.OperationRerank, "/v1/score": genai.OperationRerank,
		"/team/v1/chat/completions": genai.OperationChat, "/v1/chat/completions/": genai.OperationChat,
		"/v1/models": nil, "/": nil, "": nil, "/v1/xcompletions": nil, "/completions/x": nil,
	} {
		op, ok := OperationOf(path)
		if ok != (want != nil) || ok && op != want {
			t.Errorf("%s is %v, %v, want %v", path, op, ok, want)
		}
	}
}
