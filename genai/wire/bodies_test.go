package wire

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/infertel/infertel-go/genai"
)

// expectation is what a body must be read as.
type expectation struct {
	RequestFile string  `json:"request_file"`
	Span        string  `json:"span"`
	HTTPStatus  int     `json:"http_status"`
	ResponseID  string  `json:"response_id"`
	Model       string  `json:"response_model"`
	Finish      []any   `json:"finish"`
	Usage       *counts `json:"usage"`
	Content     []any   `json:"content"`
	Reasoning   []any   `json:"reasoning"`
	Tools       [][]any `json:"tools"`
	Increments  *int    `json:"delta_events"`
	Error       any     `json:"error"`
}

type counts struct{ Input, Output, Total, Cached *int }

// exchanged is everything that came out of one exchange.
type exchanged struct {
	Request  genai.Request
	Response genai.Response
	Outcome  genai.Outcome
	Error    string
	Complete bool
}

type input struct {
	engine      genai.Engine
	op          genai.Operation
	request     [][]byte
	status      int
	contentType string
	encoding    string
	response    [][]byte
	err         error
	noContent   bool

	contentLength int  // to which texts are cut; 0: 1 MiB
	forget        bool // what is the same in the events of a stream
}

func exchange(t testing.TB, in input) exchanged {
	t.Helper()
	var out exchanged
	ctx := context.WithValue(context.Background(), outKey{}, &out)
	_, x := Start(ctx, instrumentationFor(t, in), RequestHead{Operation: in.op})
	for _, p := range in.request {
		q := slices.Clone(p)
		x.RequestBody(q)
		clear(q) // nothing may be kept of what was handed in
	}
	x.ResponseHead(ResponseHead{Status: in.status, ContentType: in.contentType, ContentEncoding: in.encoding})
	for _, p := range in.response {
		q := slices.Clone(p)
		if in.forget {
			writeForgetting(x, q)
		} else {
			x.ResponseBody(q)
		}
		clear(q)
	}
	out.Complete = x.complete()
	x.End(in.err)
	out.Request, out.Response = x.Request(), x.Response()
	out.Request.StartTime = out.Response.EndTime
	return out
}

// writeForgetting writes a stream line by line with nothing remembered of the
// lines before, so that each is read in full.
func writeForgetting(x *Exchange, stream []byte) {
	for line := range bytes.Lines(stream) {
		x.response.alike = nil
		x.ResponseBody(line)
	}
}

type outKey struct{}

type kindOfInput struct {
	engine        genai.Engine
	noContent     bool
	contentLength int
}

var instrumentations sync.Map // by kindOfInput: making one costs more than an exchange

func instrumentationFor(t testing.TB, in input) *genai.Instrumentation {
	t.Helper()
	key := kindOfInput{in.engine, in.noContent, in.contentLength}
	if inst, ok := instrumentations.Load(key); ok {
		return inst.(*genai.Instrumentation)
	}
	length := 1 << 20
	if in.contentLength > 0 {
		length = in.contentLength
	}
	mode := genai.ContentSpan
	if in.noContent {
		mode = genai.ContentNone
	}
	inst, err := genai.New(
		genai.WithTracerProvider(recording), genai.WithEngine(in.engine), genai.WithContent(mode), genai.WithContentMaxLength(length),
		genai.WithOnEnd(func(ctx context.Context, f genai.Finished) {
			out := ctx.Value(outKey{}).(*exchanged)
			out.Outcome = f.Outcome
			if f.Err != nil {
				out.Error = f.Err.Error()
			}
		}))
	if err != nil {
		t.Fatal(err)
	}
	instrumentations.Store(key, inst)
	return inst
}

// recording is the real SDK without an exporter: what is exported is tested in
// package genaihttp.
var recording = sdktrace.NewTracerProvider()

func TestBodies(t *testing.T) {
	for name, want := range expectations(t, "testdata/expected.json") {
		if want.RequestFile == "" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			in := input{
				engine: genai.EngineVLLM, op: operations[strings.Split(strings.TrimSuffix(want.RequestFile, ".request.json"), "-")[1]],
				request: [][]byte{file(t, want.RequestFile)}, status: max(want.HTTPStatus, 200), contentType: "application/json", response: [][]byte{file(t, name)},
			}
			if strings.HasPrefix(name, "sglang") {
				in.engine = genai.EngineSGLang
			}
			if strings.HasSuffix(name, ".sse") {
				in.contentType = "text/event-stream; charset=utf-8"
			}
			got := exchange(t, in)
			compare(t, got, want)
			checkRequest(t, got.Request, in.request[0])
			sameInPieces(t, in, got)
		})
	}
}

func TestReportedCases(t *testing.T) {
	for name, want := range expectations(t, "testdata/cases/expected.json") {
		t.Run(name, func(t *testing.T) {
			in := input{engine: genai.EngineSGLang, op: genai.OperationChat, request: [][]byte{[]byte(`{"model":"m","stream":true}`)}, status: 200, contentType: "text/event-stream"}
			if name == "A13.sse" {
				in.request = [][]byte{[]byte(`{"model":"m","stream":true,"n":2}`)}
			}
			b := file(t, "cases/"+name)
			in.response = [][]byte{b}
			if strings.HasSuffix(name, ".writes.json") {
				in.response = nil
				var w struct {
					Writes []string `json:"writes_hex"`
				}
				if err := json.Unmarshal(b, &w); err != nil {
					t.Fatal(err)
				}
				for _, s := range w.Writes {
					p, err := hex.DecodeString(s)
					if err != nil {
						t.Fatal(err)
					}
					in.response = append(in.response, p)
				}
			}
			if want.ResponseID == "" {
				want.ResponseID, want.Model = "c1", "m"
			}
			got := exchange(t, in)
			compare(t, got, want)
			if len(b) < 10_000 {
				sameInPieces(t, in, got)
			}
		})
	}
}

var operations = map[string]genai.Operation{
	"chat": genai.OperationChat, "completions": genai.OperationTextCompletion,
	"embeddings": genai.OperationEmbeddings, "rerank": genai.OperationRerank, "score": genai.OperationRerank,
}

func expectations(t *testing.T, path string) map[string]expectation {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]expectation
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	if len(m) < 10 {
		t.Fatalf("%s has only %d bodies", path, len(m))
	}
	return m
}

func file(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func compare(t *testing.T, got exchanged, want expectation) {
	t.Helper()
	r := got.Response
	equal(t, "id", r.ID, want.ResponseID)
	equal(t, "model", r.Model, want.Model)
	var finish []string
	for _, f := range want.Finish {
		s, _ := f.(string)
		finish = append(finish, s)
	}
	equal(t, "finish reasons", r.FinishReasons, finish)
	if want.Usage == nil {
		want.Usage = &counts{}
	}
	equal(t, "input tokens", r.Usage.InputTokens, want.Usage.Input)
	equal(t, "output tokens", r.Usage.OutputTokens, want.Usage.Output)
	equal(t, "cached tokens", r.Usage.CacheReadInputTokens, want.Usage.Cached)
	if r.Usage.TotalTokens != nil {
		equal(t, "total tokens", r.Usage.TotalTokens, want.Usage.Total)
	}
	if want.Increments != nil {
		equal(t, "increments", r.Increments, *want.Increments)
	}
	for i := range want.Content {
		equal(t, "content", joined(r.Messages, i, genai.PartText), text(want.Content[i]))
	}
	for i := range want.Reasoning {
		equal(t, "reasoning", joined(r.Messages, i, genai.PartReasoning), text(want.Reasoning[i]))
	}
	for i := range want.Tools {
		var tools []genai.ToolCall
		for _, w := range want.Tools[i] {
			w := w.([]any)
			tools = append(tools, genai.ToolCall{ID: text(w[0]), Name: text(w[1]), Arguments: text(w[2])})
		}
		var calls []genai.ToolCall
		if i < len(r.ToolCalls) {
			calls = r.ToolCalls[i]
		}
		equal(t, "tool calls", calls, tools)
	}
	if failed := got.Outcome != genai.OutcomeSuccess; failed != (want.Error != nil) {
		t.Errorf("outcome is %v (%s), want an error: %v", got.Outcome, got.Error, want.Error)
	}
	switch e := want.Error.(type) {
	case string:
		if e == "truncated" {
			equal(t, "outcome", got.Outcome, genai.OutcomeTruncated)
		} else if !strings.Contains(got.Error, e) {
			t.Errorf("error is %q, want it to name %q", got.Error, e)
		}
	case map[string]any:
		if !strings.Contains(got.Error, e["type"].(string)) {
			t.Errorf("error is %q, want it to name %q", got.Error, e["type"])
		}
	}
}

func text(v any) string {
	s, _ := v.(string)
	return s
}

func joined(messages []genai.Message, i int, kind string) string {
	if i >= len(messages) {
		return ""
	}
	var b strings.Builder
	for _, p := range messages[i].Parts {
		if p.Type == kind {
			b.WriteString(p.Content)
		}
	}
	return b.String()
}

func equal(t *testing.T, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s: got %v, want %v", what, deref(got), deref(want))
	}
}

func deref(v any) any {
	if p, ok := v.(*int); ok && p != nil {
		return *p
	}
	return v
}

// checkRequest holds what was read of a request against encoding/json.
func checkRequest(t *testing.T, got genai.Request, body []byte) {
	t.Helper()
	var want struct {
		Model               string
		Stream              bool
		N                   *int
		Temperature         *float64
		TopP                *float64 `json:"top_p"`
		TopK                *float64 `json:"top_k"`
		MaxTokens           *int     `json:"max_tokens"`
		MaxCompletionTokens *int     `json:"max_completion_tokens"`
		User                string
		SessionID           string `json:"session_id"`
		RID                 string
		Tools               []any
	}
	if err := json.Unmarshal(body, &want); err != nil {
		t.Fatal(err)
	}
	if want.MaxCompletionTokens != nil {
		want.MaxTokens = want.MaxCompletionTokens
	}
	equal(t, "model", got.Model, want.Model)
	equal(t, "stream", got.Stream, want.Stream)
	equal(t, "n", got.ChoiceCount, want.N)
	equal(t, "temperature", got.Temperature, want.Temperature)
	equal(t, "top_p", got.TopP, want.TopP)
	equal(t, "top_k", got.TopK, want.TopK)
	equal(t, "max tokens", got.MaxTokens, want.MaxTokens)
	equal(t, "user", got.UserID, want.User)
	equal(t, "session", got.SessionID, want.SessionID)
	equal(t, "request id", got.ID, want.RID)
	equal(t, "tools", got.HasTools, len(want.Tools) > 0)
}

// sameInPieces cuts both bodies at every byte, and into random pieces, and
// expects the same of each.
func sameInPieces(t *testing.T, in input, want exchanged) {
	t.Helper()
	request, response := slices.Concat(in.request...), slices.Concat(in.response...)
	check := func(how string, request, response [][]byte) {
		t.Helper()
		in.request, in.response = request, response
		if got := exchange(t, in); !reflect.DeepEqual(got, want) {
			t.Fatalf("%s:\n got %+v\nwant %+v", how, got, want)
		}
	}
	for i := range request {
		check("request cut in two", [][]byte{request[:i], request[i:]}, [][]byte{response})
	}
	for i := range response {
		check("response cut in two", [][]byte{request}, [][]byte{response[:i], response[i:]})
	}
	rnd := rand.New(rand.NewPCG(1, uint64(len(response))))
	for range 20 {
		check("random pieces", pieces(rnd, request), pieces(rnd, response))
	}
	single := make([][]byte, len(response))
	for i := range response {
		single[i] = response[i : i+1]
	}
	check("byte by byte", [][]byte{request}, single)
}

func pieces(rnd *rand.Rand, b []byte) [][]byte {
	var out [][]byte
	for len(b) > 0 {
		n := 1 + rnd.IntN(min(len(b), 60))
		out = append(out, b[:n])
		b = b[n:]
	}
	return out
}
