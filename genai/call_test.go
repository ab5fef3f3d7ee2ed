package genai_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/infertel/infertel-go/genai"
	"github.com/infertel/infertel-go/internal/otlpreceiver/otlptest"
	"github.com/infertel/infertel-go/internal/sdktest"
)

func newInstrumentation(t testing.TB, b *sdktest.Bed, opts ...genai.Option) *genai.Instrumentation {
	t.Helper()
	inst, err := genai.New(append([]genai.Option{
		genai.WithTracerProvider(b.Traces), genai.WithMeterProvider(b.Metrics), genai.WithLoggerProvider(b.Logs),
	}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	return inst
}

// one records a single call and returns its span as it arrived.
func one(t *testing.T, r genai.Request, resp genai.Response, err error, opts ...genai.Option) otlptest.Span {
	t.Helper()
	b := sdktest.New(t)
	_, call := newInstrumentation(t, b, opts...).Start(context.Background(), r)
	call.End(resp, err)
	b.Flush()
	spans := b.Receiver.FlatSpans()
	if len(spans) != 1 {
		t.Fatalf("%d spans arrived, want 1", len(spans))
	}
	return spans[0]
}

func checkAttributes(t *testing.T, got, want map[string]any) {
	t.Helper()
	for k, w := range want {
		if g, ok := got[k]; !ok {
			t.Errorf("%s is missing", k)
		} else if !reflect.DeepEqual(g, w) {
			t.Errorf("%s = %#v, want %#v", k, g, w)
		}
	}
	for k, g := range got {
		if _, ok := want[k]; !ok {
			t.Errorf("extra %s = %#v", k, g)
		}
	}
}

func fullRequest(op genai.Operation, stream bool) genai.Request {
	return genai.Request{
		Operation: op, Model: "m", ID: "req-1", UserID: "u", Stream: stream, HasTools: true,
		ChoiceCount: new(2), Temperature: new(0.0), TopP: new(0.9), TopK: new(-1.0), MaxTokens: new(64),
		StartTime: time.Unix(1700000000, 0),
	}
}

func fullResponse() genai.Response {
	return genai.Response{
		ID: "resp-1", Model: "m2", FinishReasons: []string{"stop", "length"}, Increments: 5,
		Usage:     genai.Usage{InputTokens: new(10), OutputTokens: new(4), TotalTokens: new(15), CacheReadInputTokens: new(8)},
		ToolCalls: [][]genai.ToolCall{{{ID: "a", Name: "f", Arguments: `{"x":1}`}}, {{Name: "g", Arguments: "{}"}, {Name: "h", Arguments: "{}"}}},
		EndTime:   time.Unix(1700000002, 500_000_000),
	}
}

// common is what every engine records of fullRequest and fullResponse.
func common(op, kind string, stream bool) map[string]any {
	return map[string]any{
		"gen_ai.span.kind": kind, "gen_ai.operation.name": op, "gen_ai.request.model": "m", "gen_ai.request.is_stream": stream,
		"gen_ai.request.choice.count": int64(2), "gen_ai.request.temperature": 0.0, "gen_ai.request.top_p": 0.9,
		"gen_ai.request.top_k": -1.0, "gen_ai.request.max_tokens": int64(64), "gen_ai.response.id": "resp-1",
		"gen_ai.response.finish_reasons": []string{"stop", "length"},
		"gen_ai.usage.input_tokens":      int64(10), "gen_ai.usage.output_tokens": int64(4), "gen_ai.usage.total_tokens": int64(15),
	}
}

func with(m map[string]any, more map[string]any) map[string]any {
	maps.Copy(m, more)
	return m
}

// TestAttributesFollowTheEngine pins the attribute sets of both engines, for
// every operation, streamed or not.
func TestAttributesFollowTheEngine(t *testing.T) {
	vllm := func(stream bool) map[string]any {
		m := map[string]any{"gen_ai.user.id": "u", "gen_ai.response.model": "m2"}
		if stream {
			m["session.id"] = "req-1"
		}
		return m
	}
	tools := map[string]any{
		"gen_ai.request.id": "req-1", "gen_ai.request.has_tool_calls": true, "gen_ai.request.tool_call_detected": true, "gen_ai.request.tool_calls_count": int64(3),
		"gen_ai.completions.0.tool_calls.0.name": "f", "gen_ai.completions.0.tool_calls.0.arguments": `{"x":1}`,
		"gen_ai.completions.1.tool_calls.0.name": "g", "gen_ai.completions.1.tool_calls.0.arguments": "{}",
		"gen_ai.completions.1.tool_calls.1.name": "h", "gen_ai.completions.1.tool_calls.1.arguments": "{}",
	}
	sglang := func(chat, stream bool) map[string]any {
		m := map[string]any{"gen_ai.usage.cache_read.input_tokens": int64(8), "gen_ai.latency.e2e": 2.5}
		if !stream {
			m["gen_ai.response.model"] = "m2"
			return m
		}
		m["gen_ai.response.tokens_streamed"] = int64(15)
		if chat {
			maps.Copy(m, tools)
		}
		return m
	}
	for _, c := range []struct {
		op         genai.Operation
		name, kind string
	}{
		{genai.OperationChat, "chat", "LLM"}, {genai.OperationTextCompletion, "text_completion", "LLM"},
		{genai.OperationEmbeddings, "embeddings", "EMBEDDING"}, {genai.OperationRerank, "rerank", "RERANKER"},
	} {
		for _, stream := range []bool{false, true} {
			for _, engine := range []genai.Engine{genai.EngineVLLM, genai.EngineSGLang} {
				t.Run(fmt.Sprint(engine, " ", c.name, " stream ", stream), func(t *testing.T) {
					s := one(t, fullRequest(c.op, stream), fullResponse(), nil, genai.WithEngine(engine), genai.WithStreamInterval(3))
					want := vllm(stream)
					if engine == genai.EngineSGLang && c.kind == "LLM" {
						want = sglang(c.op == genai.OperationChat, stream)
					}
					checkAttributes(t, s.Attrs, with(common(c.name, c.kind, stream), want))
					if s.Name != c.name+" m" || s.Kind != "INTERNAL" || s.Status != "UNSET" || len(s.Events) != 0 || len(s.Links) != 0 {
						t.Errorf("span is %q %s %s with %d events and %d links", s.Name, s.Kind, s.Status, len(s.Events), len(s.Links))
					}
					if s.Start != 1700000000_000000000 || s.End != 1700000002_500000000 {
						t.Errorf("span lasts from %d to %d", s.Start, s.End)
					}
				})
			}
		}
	}
}

func TestToolCallArgumentsCanBeLeftOut(t *testing.T) {
	s := one(t, fullRequest(genai.OperationChat, true), fullResponse(), nil, genai.WithEngine(genai.EngineSGLang), genai.WithoutToolCallArguments())
	names := 0
	for k := range s.Attrs {
		if strings.HasSuffix(k, ".arguments") {
			t.Errorf("%s is recorded", k)
		}
		if strings.HasSuffix(k, ".name") && strings.Contains(k, "tool_calls") {
			names++
		}
	}
	if names != 3 || s.Attrs["gen_ai.request.tool_calls_count"] != int64(3) {
		t.Errorf("%d names, count %v", names, s.Attrs["gen_ai.request.tool_calls_count"])
	}
}

// TestToolCallsAreBounded: what matters more comes first, since the SDK keeps
// only so many attributes.
func TestToolCallsAreBounded(t *testing.T) {
	calls := make([]genai.ToolCall, 500)
	for i := range calls {
		calls[i] = genai.ToolCall{Name: strings.Repeat("n", 300), Arguments: strings.Repeat("a", 20<<10)}
	}
	r := fullResponse()
	r.ToolCalls = [][]genai.ToolCall{calls}
	s := one(t, fullRequest(genai.OperationChat, true), r, &genai.Error{Description: "x"}, genai.WithEngine(genai.EngineSGLang))
	kept := 0
	for k, v := range s.Attrs {
		if strings.HasPrefix(k, "gen_ai.completions.") {
			kept++
			if n := len(v.(string)); n > 16<<10 || strings.HasSuffix(k, ".name") && n > 256 {
				t.Errorf("%s has %d bytes", k, n)
			}
		}
	}
	if kept == 0 || kept > 128 || s.Attrs["gen_ai.usage.input_tokens"] == nil || s.Attrs["gen_ai.response.finish_reasons"] == nil || s.Attrs["gen_ai.request.tool_calls_count"] != int64(500) || s.Status != "ERROR" {
		t.Errorf("%d attributes of tool calls, %d dropped, others %v", kept, s.DroppedAttrs, s.Attrs["gen_ai.request.tool_calls_count"])
	}
}

func TestUnsetValuesAreAbsent(t *testing.T) {
	for engine, more := range map[genai.Engine][]string{genai.EngineVLLM: nil, genai.EngineSGLang: {"gen_ai.latency.e2e"}} {
		s := one(t, genai.Request{}, genai.Response{}, nil, genai.WithEngine(engine))
		want := append([]string{"gen_ai.operation.name", "gen_ai.request.is_stream", "gen_ai.span.kind"}, more...)
		slices.Sort(want)
		if got := slices.Sorted(maps.Keys(s.Attrs)); !slices.Equal(got, want) {
			t.Errorf("%v: attributes are %v, want %v", engine, got, want)
		}
		if s.Name != "chat" {
			t.Errorf("name without a model is %q", s.Name)
		}
	}
}

func TestIdentifiers(t *testing.T) {
	for _, c := range []struct {
		name         string
		request      genai.Request
		response     string
		vllm, sglang any // session.id and gen_ai.request.id of a chat stream
	}{
		{"session first", genai.Request{SessionID: "s", ID: "r"}, "resp", "s", "r"},
		{"then the request", genai.Request{ID: "r"}, "resp", "r", "r"},
		{"then the answer", genai.Request{}, "resp", "resp", "resp"},
		{"or none", genai.Request{}, "", nil, nil},
	} {
		c.request.Stream = true
		s := one(t, c.request, genai.Response{ID: c.response}, nil)
		if got := s.Attrs["session.id"]; got != c.vllm {
			t.Errorf("%s: session.id is %v, want %v", c.name, got, c.vllm)
		}
		s = one(t, c.request, genai.Response{ID: c.response}, nil, genai.WithEngine(genai.EngineSGLang))
		if got := s.Attrs["gen_ai.request.id"]; got != c.sglang {
			t.Errorf("%s: gen_ai.request.id is %v, want %v", c.name, got, c.sglang)
		}
	}
}

func TestUsage(t *testing.T) {
	in, out := new(7), new(5)
	for _, c := range []struct {
		name     string
		op       genai.Operation
		usage    genai.Usage
		streamed int
		want     map[string]any
	}{
		{"the server's total wins", 0, genai.Usage{InputTokens: in, OutputTokens: out, TotalTokens: new(99)}, 0, map[string]any{"input": int64(7), "output": int64(5), "total": int64(99)}},
		{"else the sum", 0, genai.Usage{InputTokens: in, OutputTokens: out}, 0, map[string]any{"input": int64(7), "output": int64(5), "total": int64(12)}},
		{"but not of one", 0, genai.Usage{InputTokens: in}, 4, map[string]any{"input": int64(7)}},
		{"zero is a count", 0, genai.Usage{InputTokens: new(0), OutputTokens: new(0)}, 0, map[string]any{"input": int64(0), "output": int64(0), "total": int64(0)}},
		{"a negative one is not", 0, genai.Usage{InputTokens: new(-1), OutputTokens: out}, 0, map[string]any{"output": int64(5)}},
		{"embeddings have no output", genai.OperationEmbeddings, genai.Usage{InputTokens: in}, 0, map[string]any{"input": int64(7), "total": int64(7)}},
	} {
		for _, engine := range []genai.Engine{genai.EngineVLLM, genai.EngineSGLang} {
			s := one(t, genai.Request{Operation: c.op, Stream: true}, genai.Response{Usage: c.usage, Increments: c.streamed}, nil, genai.WithEngine(engine))
			for _, k := range []string{"input", "output", "total"} {
				if got := s.Attrs["gen_ai.usage."+k+"_tokens"]; got != c.want[k] {
					t.Errorf("%s, %v: %s is %v, want %v", c.name, engine, k, got, c.want[k])
				}
			}
		}
	}
}

// TestEstimatedTokens pins that the estimate of an SGLang stream stands in for
// missing usage on the span, and never in the metric.
func TestEstimatedTokens(t *testing.T) {
	b := sdktest.New(t)
	inst := newInstrumentation(t, b, genai.WithEngine(genai.EngineSGLang), genai.WithStreamInterval(4))
	for _, r := range []genai.Response{{Increments: 2}, {}, {Increments: 2, Usage: genai.Usage{OutputTokens: new(7)}}} {
		_, call := inst.Start(context.Background(), genai.Request{Model: "m", Stream: true})
		call.End(r, nil)
	}
	b.Flush()
	want := [][2]any{{int64(8), int64(8)}, {int64(0), nil}, {int64(8), int64(7)}}
	for i, s := range b.Receiver.FlatSpans() {
		if got := [2]any{s.Attrs["gen_ai.response.tokens_streamed"], s.Attrs["gen_ai.usage.output_tokens"]}; got != want[i] {
			t.Errorf("call %d: tokens streamed and output tokens are %v, want %v", i, got, want[i])
		}
	}
	points := b.Receiver.LastPoints()
	if len(points) != 1 || points[0].Value != int64(7) {
		t.Errorf("token metric is %+v, want 7 output tokens alone", points)
	}
	s := one(t, genai.Request{Stream: true}, genai.Response{Increments: 2}, nil)
	if s.Attrs["gen_ai.usage.output_tokens"] != nil || s.Attrs["gen_ai.response.tokens_streamed"] != nil {
		t.Errorf("a vLLM span carries an estimate: %v", s.Attrs)
	}
}

func TestFinishReasons(t *testing.T) {
	for _, c := range []struct {
		given  []string
		want   any
		status string
	}{
		{[]string{"stop", "stop"}, []string{"stop", "stop"}, "UNSET"},
		{[]string{"", "stop"}, []string{"error", "stop"}, "UNSET"},
		{[]string{"", ""}, nil, "UNSET"},
		{nil, nil, "UNSET"},
		{[]string{"abort"}, []string{"abort"}, "ERROR"},
	} {
		s := one(t, genai.Request{}, genai.Response{FinishReasons: c.given}, nil)
		if got := s.Attrs["gen_ai.response.finish_reasons"]; !reflect.DeepEqual(got, c.want) || s.Status != c.status {
			t.Errorf("%q: got %v %s, want %v %s", c.given, got, s.Status, c.want, c.status)
		}
	}
}

func TestEndDecidesOnce(t *testing.T) {
	b := sdktest.New(t)
	ends := 0
	inst := newInstrumentation(t, b, genai.WithOnEnd(func(context.Context, genai.Finished) { ends++ }))
	_, call := inst.Start(context.Background(), genai.Request{Model: "m"})
	call.SetResponse(genai.Response{ID: "first", Usage: genai.Usage{OutputTokens: new(1)}})
	call.SetResponse(genai.Response{Usage: genai.Usage{InputTokens: new(2), OutputTokens: new(3)}})
	call.End(genai.Response{Model: "m2"}, nil)
	call.End(genai.Response{ID: "late"}, errors.New("late"))
	call.SetRequest(genai.Request{Model: "late"})
	call.SetResponse(genai.Response{ID: "late"})
	call.FirstToken(time.Now())
	b.Flush()
	spans := b.Receiver.FlatSpans()
	if len(spans) != 1 || ends != 1 {
		t.Fatalf("%d spans and %d ends, want 1 and 1", len(spans), ends)
	}
	s := spans[0]
	if s.Status != "UNSET" || s.Name != "chat m" {
		t.Errorf("the second End changed the span: %s %q", s.Status, s.Name)
	}
	for k, want := range map[string]any{"gen_ai.response.id": "first", "gen_ai.response.model": "m2", "gen_ai.usage.input_tokens": int64(2), "gen_ai.usage.output_tokens": int64(3)} {
		if s.Attrs[k] != want {
			t.Errorf("%s is %v, want %v", k, s.Attrs[k], want)
		}
	}
}

// TestDeferredEndLeavesAPanicAlone: the SDK would turn it into an event.
func TestDeferredEndLeavesAPanicAlone(t *testing.T) {
	b := sdktest.New(t)
	inst := newInstrumentation(t, b)
	func() {
		defer func() {
			if r := recover(); r != "boom" {
				t.Errorf("the panic passed on as %v", r)
			}
		}()
		_, call := inst.Start(context.Background(), genai.Request{})
		defer call.End(genai.Response{}, nil)
		panic("boom")
	}()
	b.Flush()
	if s := b.Receiver.FlatSpans(); len(s) != 1 || len(s[0].Events) != 0 {
		t.Errorf("spans are %+v, want one without events", s)
	}
}

func TestNilAndForeignValues(t *testing.T) {
	var inst *genai.Instrumentation
	ctx, call := inst.Start(context.Background(), genai.Request{})
	call.SetRequest(genai.Request{})
	call.FirstToken(time.Time{})
	call.SetResponse(genai.Response{})
	call.End(genai.Response{}, nil)
	if call.Recording() || call.Wanted() || call.WantsContent() || call.WantsToolCalls() || genai.CallFromContext(ctx) != nil || call.Context() == nil {
		t.Error("a nil call wants something")
	}
	s := one(t, genai.Request{Operation: 77, Temperature: new(math.NaN())}, genai.Response{}, nil)
	if s.Name != "chat" {
		t.Errorf("an unknown operation is named %q", s.Name)
	}
}
