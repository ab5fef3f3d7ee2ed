package wire

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/infertel/infertel-go/genai"
)

func answered(t testing.TB, in input) exchanged {
	t.Helper()
	if in.status == 0 {
		in.status = 200
	}
	if in.request == nil {
		in.request = [][]byte{[]byte(`{"model":"m"}`)}
	}
	return exchange(t, in)
}

func document(t testing.TB, op genai.Operation, status int, body string) exchanged {
	t.Helper()
	return answered(t, input{op: op, status: status, contentType: "application/json", response: [][]byte{[]byte(body)}, noContent: true})
}

func events(t testing.TB, body string) exchanged {
	t.Helper()
	return answered(t, input{engine: genai.EngineSGLang, request: [][]byte{[]byte(`{"model":"m","stream":true}`)}, contentType: "text/event-stream", response: [][]byte{[]byte(body)}})
}

func TestErrorEnvelopes(t *testing.T) {
	for _, c := range []struct {
		status  int
		body    string
		outcome genai.Outcome
		message string
	}{
		{400, `{"error":{"message":"your prompt: secret","type":"BadRequestError","param":null,"code":400}}`, genai.OutcomeHTTPError, "BadRequestError"},
		{400, `{"object":"error","message":"secret","type":"BadRequestError","param":null,"code":400}`, genai.OutcomeHTTPError, "BadRequestError"},
		{404, `{"detail":"Not Found"}`, genai.OutcomeHTTPError, "HTTP 404"},
		{400, `{"error":{"message":"m","type":"a long text that quotes the secret","code":"400"}}`, genai.OutcomeHTTPError, "HTTP 400"},
		{500, `{"error":"secret"}`, genai.OutcomeHTTPError, "HTTP 500"},
		{502, `<html>secret</html>`, genai.OutcomeHTTPError, "HTTP 502"},
		{503, ``, genai.OutcomeHTTPError, "HTTP 503"},
		{200, `{"error":{"message":"secret","type":"overloaded_error"}}`, genai.OutcomeStreamError, "the server reported an error in its answer: overloaded_error"},
		{200, `{"object":"error","message":"secret","type":"InternalServerError","code":500}`, genai.OutcomeStreamError, "the server reported an error in its answer: InternalServerError"},
		{200, `{"error":"secret"}`, genai.OutcomeStreamError, "the server reported an error in its answer"},
		{200, `{"error":null,"id":"x"}`, genai.OutcomeSuccess, ""},
		{200, `{"id":"x","object":"chat.completion"`, genai.OutcomeTruncated, "the answer was cut off before it was complete"},
		{200, `<html>`, genai.OutcomeSuccess, ""},
		{204, ``, genai.OutcomeSuccess, ""},
	} {
		got := document(t, genai.OperationChat, c.status, c.body)
		if got.Outcome != c.outcome || got.Error != c.message {
			t.Errorf("%d %s: %v %q, want %v %q", c.status, c.body, got.Outcome, got.Error, c.outcome, c.message)
		}
		if got.Request.Model != "m" {
			t.Errorf("%d %s: the request is lost", c.status, c.body)
		}
	}
}

func TestBareArrays(t *testing.T) {
	for body, want := range map[string]any{
		`[]`: nil,
		`[{"score":0.5,"meta_info":{"prompt_tokens":5}}]`:                                   5,
		`[{"score":0.5,"meta_info":{"prompt_tokens":5}},{"meta_info":{"prompt_tokens":7}}]`: 12,
		`[{"score":0.5,"meta_info":{"prompt_tokens":5}},{"meta_info":null}]`:                nil,
		`[{"score":0.5}]`: nil,
		`[1,"x",null,[{"meta_info":{"prompt_tokens":5}}]]`: nil,
	} {
		got := document(t, genai.OperationRerank, 200, body)
		tokens := any(nil)
		if p := got.Response.Usage.InputTokens; p != nil {
			tokens = *p
		}
		if tokens != want || got.Outcome != genai.OutcomeSuccess || got.Response.Usage.OutputTokens != nil {
			t.Errorf("%s: input tokens %v, outcome %v, want %v", body, tokens, got.Outcome, want)
		}
	}
}

func TestUsagePlaces(t *testing.T) {
	for body, want := range map[string]string{
		`{"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3,"prompt_tokens_details":{"cached_tokens":4}}}`: "1 2 3 4",
		`{"choices":[{"index":0,"usage":{"prompt_tokens":1,"completion_tokens":2}}]}`:                                      "1 2 - -",
		`{"usage":{"prompt_tokens":1,"completion_tokens":null,"prompt_tokens_details":null}}`:                              "1 - - -",
		`{"usage":{"prompt_tokens":-1,"completion_tokens":1.5,"total_tokens":"3"}}`:                                        "- - - -",
		`{"usage":null}`: "- - - -",
		`{"other":{"usage":{"prompt_tokens":1}}}`: "- - - -",
	} {
		u := document(t, genai.OperationChat, 200, body).Response.Usage
		var got []string
		for _, p := range []*int{u.InputTokens, u.OutputTokens, u.TotalTokens, u.CacheReadInputTokens} {
			if p == nil {
				got = append(got, "-")
			} else {
				got = append(got, fmt.Sprint(*p))
			}
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%s: %s, want %s", body, s, want)
		}
	}
}

const (
	one  = `data: {"id":"c","choices":[{"index":0,"delta":{"content":"a"}}]}`
	stop = `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`
)

// TestFraming holds the lines of a stream against what they mean.
func TestFraming(t *testing.T) {
	for name, c := range map[string]struct {
		stream     string
		increments int
		outcome    genai.Outcome
	}{
		"line feeds":            {one + "\n\n" + stop + "\n\n", 1, genai.OutcomeSuccess},
		"both":                  {one + "\r\n\r\n" + stop + "\r\n\r\n", 1, genai.OutcomeSuccess},
		"carriage returns":      {one + "\r\r" + stop + "\r\r", 1, genai.OutcomeSuccess},
		"a byte order mark":     {"\xEF\xBB\xBF" + one + "\n\n" + stop + "\n\n", 1, genai.OutcomeSuccess},
		"half a mark":           {"\xEF\xBB" + one + "\n\n" + one + "\n\n" + stop + "\n\n", 1, genai.OutcomeSuccess},
		"no space":              {strings.Replace(one, ": ", ":", 1) + "\n\n" + stop + "\n\n", 1, genai.OutcomeSuccess},
		"other fields":          {"id: 1\nevent: x\n" + one + "\nretry: 5\n\n" + stop + "\n\n", 1, genai.OutcomeSuccess},
		"data without a colon":  {"data\n\n" + one + "\n\n" + stop + "\n\n", 1, genai.OutcomeSuccess},
		"a longer name":         {"datax: {}\n\n" + one + "\n\n" + stop + "\n\n", 1, genai.OutcomeSuccess},
		"several lines":         {`data: {"choices":[{"index":0,` + "\n" + `data: "delta":{"content":"a"}}]}` + "\n\n" + stop + "\n\n", 1, genai.OutcomeSuccess},
		"no empty lines":        {one + "\n" + one + "\n" + stop + "\ndata: [DONE]\n", 2, genai.OutcomeSuccess},
		"no last empty line":    {one + "\n\n" + stop, 1, genai.OutcomeSuccess},
		"the mark alone":        {one + "\n\ndata: [DONE]", 1, genai.OutcomeSuccess},
		"the mark with spaces":  {one + "\n\ndata:  [DONE] \n\n", 1, genai.OutcomeSuccess},
		"the mark is more":      {one + "\n\ndata: [DONE]x\n\n", 1, genai.OutcomeTruncated},
		"no end":                {one + "\n\n", 1, genai.OutcomeTruncated},
		"cut within an event":   {one + "\n\n" + stop[:len(stop)-3], 1, genai.OutcomeTruncated},
		"nothing":               {"", 0, genai.OutcomeTruncated},
		"an event of two":       {"data: {}{}\n\n" + one + "\n\n" + stop + "\n\n", 1, genai.OutcomeSuccess},
		"a broken event":        {strings.Replace(one, "}}]}", "}}]", 1) + "\n\n" + stop + "\n\n", 0, genai.OutcomeSuccess},
		"a broken event's text": {`data: {"choices":[{"index":0,"delta":{"content":"a"}}],}` + "\n\n" + stop + "\n\n", 0, genai.OutcomeSuccess},
	} {
		t.Run(name, func(t *testing.T) {
			got := events(t, c.stream)
			if got.Response.Increments != c.increments || got.Outcome != c.outcome {
				t.Errorf("%d increments, %v, want %d, %v", got.Response.Increments, got.Outcome, c.increments, c.outcome)
			}
			sameInPieces(t, input{engine: genai.EngineSGLang, request: [][]byte{[]byte(`{"model":"m","stream":true}`)}, status: 200, contentType: "text/event-stream", response: [][]byte{[]byte(c.stream)}}, got)
		})
	}
}

func TestWhatCountsAsOutput(t *testing.T) {
	for delta, want := range map[string]int{
		`"role":"assistant","content":""`:                           0,
		`"content":null,"reasoning_content":null,"tool_calls":null`: 0,
		`"content":"x"`:           1,
		`"reasoning":"x"`:         1,
		`"reasoning_content":"x"`: 1,
		`"refusal":"x"`:           1,
		`"tool_calls":[{"index":0,"id":"i","function":{"name":"f","arguments":""}}]`:   1,
		`"tool_calls":[{"index":0,"id":null,"function":{"name":null,"arguments":""}}]`: 0,
		`"tool_calls":[{"index":0,"function":{"arguments":"{"}}]`:                      1,
		`"tool_calls":[]`: 0,
	} {
		for _, noContent := range []bool{false, true} {
			got := answered(t, input{
				request: [][]byte{[]byte(`{"stream":true}`)}, contentType: "text/event-stream", noContent: noContent,
				response: [][]byte{[]byte(`data: {"choices":[{"index":0,"delta":{` + delta + `}}]}` + "\n\n")},
			})
			if got.Response.Increments != want {
				t.Errorf("%s counts as %d, want %d", delta, got.Response.Increments, want)
			}
		}
	}
}

func TestContentTypeIsGuessedFromTheBody(t *testing.T) {
	for _, contentType := range []string{"", "text/plain", "application/octet-stream"} {
		got := answered(t, input{request: [][]byte{[]byte(`{"stream":true}`)}, contentType: contentType, response: [][]byte{[]byte(" \n" + one), []byte("\n\n" + stop + "\n\n")}})
		if got.Response.Increments != 1 || got.Outcome != genai.OutcomeSuccess {
			t.Errorf("%q: a stream is read as %+v", contentType, got.Response)
		}
		got = answered(t, input{contentType: contentType, response: [][]byte{[]byte(` {"id":"x"}`)}})
		if got.Response.ID != "x" {
			t.Errorf("%q: a document is read as %+v", contentType, got.Response)
		}
	}
}

// TestToolCallsInAnyOrder: a fragment belongs to its index, not to the call seen
// last.
func TestToolCallsInAnyOrder(t *testing.T) {
	delta := func(calls string) string {
		return `data: {"choices":[{"index":0,"delta":{"tool_calls":[` + calls + `]}}]}` + "\n\n"
	}
	document := func(calls string) string {
		return `{"choices":[{"index":0,"message":{"tool_calls":[` + calls + `]},"finish_reason":"tool_calls"}]}`
	}
	for name, c := range map[string]struct {
		stream bool
		body   string
		want   string
	}{
		"the second comes first": {true, delta(`{"index":1,"id":"i1","function":{"name":"mul","arguments":"{\"b\":"}}`) + delta(`{"index":0,"id":"i0","function":{"name":"add","arguments":"{}"}}`) + delta(`{"index":1,"function":{"arguments":"2}"}}`), `i0 add {} i1 mul {"b":2}`},
		"both in one, backwards": {true, delta(`{"index":1,"id":"i1","function":{"name":"mul"}},{"index":0,"id":"i0","function":{"name":"add"}}`), `i0 add  i1 mul `},
		"the index comes last":   {true, delta(`{"function":{"arguments":"{}","name":"mul"},"id":"i1","index":1}`) + delta(`{"function":{"name":"add"},"id":"i0","index":0}`), `i0 add  i1 mul {}`},
		"ids without an index":   {true, delta(`{"id":"i0","function":{"name":"add","arguments":"{\"a\":"}}`) + delta(`{"function":{"arguments":"1}"}}`) + delta(`{"id":"i1","function":{"name":"mul","arguments":"{}"}}`), `i0 add {"a":1} i1 mul {}`},
		"an id for each piece":   {true, delta(`{"index":0,"id":"x","function":{"name":"add","arguments":"{"}}`) + delta(`{"index":0,"id":"y","function":{"arguments":"}"}}`), `x add {}`},
		"a name after arguments": {true, delta(`{"index":0,"function":{"name":"add","arguments":"{"}}`) + delta(`{"index":0,"function":{"name":"more","arguments":"}"}}`), ` add {}`},
		"a document":             {false, document(`{"id":"i0","function":{"name":"add","arguments":"{}"}},{"id":"i1","function":{"name":"mul","arguments":"{}"}}`), `i0 add {} i1 mul {}`},
		"one index for all":      {false, document(`{"index":0,"id":"i0","function":{"name":"add","arguments":"{}"}},{"index":0,"id":"i1","function":{"name":"mul","arguments":"{}"}}`), `i0 add {} i1 mul {}`},
	} {
		in := input{engine: genai.EngineSGLang, request: [][]byte{[]byte(`{"stream":true}`)}, contentType: "application/json", response: [][]byte{[]byte(c.body)}}
		if c.stream {
			in.contentType, in.response[0] = "text/event-stream", []byte(c.body+endOfStream)
		}
		got := answered(t, in)
		var calls []string
		for _, c := range got.Response.ToolCalls[0] {
			calls = append(calls, c.ID, c.Name, c.Arguments)
		}
		if s := strings.Join(calls, " "); s != c.want || got.Response.ToolCallCount*3 != len(calls) {
			t.Errorf("%s: calls are %q, count %d, want %q", name, s, got.Response.ToolCallCount, c.want)
		}
	}
}

func TestWhichOfTwoCounts(t *testing.T) {
	got := events(t, `data: {"id":"first","model":"m1","choices":[{"index":0,"delta":{"reasoning":"new","reasoning_content":"old"}}],"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}}`+"\n\n"+
		`data: {"id":"second","model":"m2","choices":[],"usage":{"prompt_tokens":4.0,"completion_tokens":5}}`+"\n\n"+endOfStream).Response
	if got.ID != "first" || got.Model != "m1" || joined(got.Messages, 0, genai.PartReasoning) != "new" {
		t.Errorf("response is %+v", got)
	}
	if u := got.Usage; *u.InputTokens != 4 || *u.OutputTokens != 5 || u.TotalTokens != nil {
		t.Errorf("usage is %d %d %v, want the newest, without the total of the older", *u.InputTokens, *u.OutputTokens, u.TotalTokens)
	}
}

func TestChoicesThatNeverCameHavePlaces(t *testing.T) {
	var reasons []string
	x := observe(t, genai.EngineVLLM, genai.WithOnEnd(func(_ context.Context, f genai.Finished) { reasons = f.FinishReasons }))
	x.RequestBody([]byte(`{"stream":true,"n":3}`))
	x.ResponseHead(ResponseHead{Status: 200, ContentType: "text/event-stream"})
	x.ResponseBody([]byte(stop + "\n\n"))
	x.End(nil)
	if got := strings.Join(reasons, " "); got != "stop error error" {
		t.Errorf("reasons are %q", got)
	}
}

func TestErrorsInStreamsOfOtherShapes(t *testing.T) {
	for _, data := range []string{
		`{"error":{"message":"m","type":"overloaded","code":503}}`, `{"object":"error","message":"m","type":"overloaded","code":503}`,
		`{"message":"m","type":"overloaded","code":503}`, `[{"error":{"message":"m","type":"overloaded"}}]`,
	} {
		got := events(t, one+"\n\nevent: error\ndata: "+data+"\n\n"+endOfStream)
		if got.Outcome != genai.OutcomeStreamError || !strings.HasSuffix(got.Error, "overloaded") || got.Response.Increments != 1 {
			t.Errorf("%s: %v %q", data, got.Outcome, got.Error)
		}
	}
}

// TestMislabelledBodies are read as what they are.
func TestMislabelledBodies(t *testing.T) {
	stream := one + "\n\n" + stop + "\n\n"
	for _, c := range []struct {
		contentType, body string
		increments        int
		outcome           genai.Outcome
	}{
		{"application/json", stream, 1, genai.OutcomeSuccess},
		{"application/json", "\n" + one + "\n\n", 1, genai.OutcomeTruncated},
		{"text/event-stream", `{"id":"c","choices":[{"index":0,"finish_reason":"stop"}]}`, 0, genai.OutcomeSuccess},
		{"text/event-stream", `{"error":{"type":"overloaded"}}`, 0, genai.OutcomeStreamError},
		{"text/plain", "it works", 0, genai.OutcomeSuccess},
		{"text/plain", "dat", 0, genai.OutcomeSuccess},
		{"text/plain", ": ping\n\n" + stream, 1, genai.OutcomeSuccess},
		{"text/plain", "event: x\n" + stream, 1, genai.OutcomeSuccess},
	} {
		in := input{request: [][]byte{[]byte(`{"stream":true}`)}, status: 200, contentType: c.contentType, response: [][]byte{[]byte(c.body)}}
		got := answered(t, in)
		if got.Response.Increments != c.increments || got.Outcome != c.outcome {
			t.Errorf("%s %.30q: %d increments, %v %q", c.contentType, c.body, got.Response.Increments, got.Outcome, got.Error)
		}
		sameInPieces(t, in, got)
	}
}

// TestToolCallsOfAnEarlyAnswer: the head of the answer may come before the
// request says that it is a stream.
func TestToolCallsOfAnEarlyAnswer(t *testing.T) {
	x := observe(t, genai.EngineSGLang)
	x.ResponseHead(ResponseHead{Status: 200, ContentType: "text/event-stream"})
	x.RequestBody([]byte(`{"stream":true}`))
	x.ResponseBody([]byte(`data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"name":"f","arguments":"{}"}}]}}]}` + "\n\n"))
	if r := x.Response(); len(r.ToolCalls) != 1 || r.ToolCalls[0][0].Arguments != "{}" {
		t.Errorf("tool calls are %+v", r.ToolCalls)
	}
	x.End(nil)
}

// TestWhatWasHandedOutDoesNotChange.
func TestWhatWasHandedOutDoesNotChange(t *testing.T) {
	x := observe(t, genai.EngineVLLM)
	x.RequestBody([]byte(`{"n":1,"temperature":0.5,"stream":true,`))
	request := x.Request()
	x.RequestBody([]byte(`"n":2,"temperature":1.5}`))
	x.ResponseHead(ResponseHead{Status: 200, ContentType: "text/event-stream"})
	x.ResponseBody([]byte(`data: {"choices":[],"usage":{"prompt_tokens":1}}` + "\n\n"))
	response := x.Response()
	x.ResponseBody([]byte(`data: {"choices":[],"usage":{"prompt_tokens":2}}` + "\n\n"))
	if *request.ChoiceCount != 1 || *request.Temperature != 0.5 || *response.Usage.InputTokens != 1 {
		t.Errorf("n %d, temperature %v, input tokens %d", *request.ChoiceCount, *request.Temperature, *response.Usage.InputTokens)
	}
	x.End(nil)
}
