package wire

import (
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
		`[{"score":0.5,"meta_info":{"prompt_tokens":5}}]`:                                   int64(5),
		`[{"score":0.5,"meta_info":{"prompt_tokens":5}},{"meta_info":{"prompt_tokens":7}}]`: int64(12),
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
		for _, p := range []*int64{u.InputTokens, u.OutputTokens, u.TotalTokens, u.CacheReadInputTokens} {
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
