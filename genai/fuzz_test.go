package genai_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/infertel/infertel-go/genai"
)

// FuzzCall calls the methods of calls in any order, from two goroutines, after
// their end and on nil, with values and times that cannot be. Nothing panics;
// each call makes one span, ends it once, tells its end once, and what it records
// is bounded.
func FuzzCall(f *testing.F) {
	for _, program := range []string{
		"", "\x00", "\x07\x00", "\x01\x02\x03\x04\x05\x06\x07\x08\x09",
		"\x02\xff\x02\xfe\x03\xfd\x04\xfc\x07\xfb", "\x07\x07\x07\x01\x02\x03\x04", "\x04\x80\x04\x81\x04\x82\x04\x83\x07\x84",
	} {
		f.Add([]byte(program), "a\xff\x00b", uint8(0))
		f.Add([]byte(program), strings.Repeat("好", 100), uint8(93))
		f.Add([]byte(program+"\x05\x05\x06\x06\x07"), `{"a":[1,`, uint8(255))
	}
	f.Fuzz(func(t *testing.T, program []byte, text string, mode uint8) {
		spans := tracetest.NewSpanRecorder()
		tp := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans))
		var told atomic.Int32
		opts := []genai.Option{
			nil, genai.WithTracerProvider(tp), genai.WithEngine(genai.Engine(mode % 2)), genai.WithContent(genai.ContentMode(mode / 2 % 4)),
			genai.WithContentMaxLength(int(mode)), genai.WithStreamInterval(1 + int(mode)),
			genai.WithOnEnd(func(context.Context, genai.Finished) { told.Add(1) }),
		}
		if mode%5 == 0 {
			opts = append(opts, genai.WithErrorType(), genai.WithPublicEndpoint())
		}
		if mode%3 != 0 {
			opts = append(opts, genai.WithoutToolCallArguments())
		}
		inst, err := genai.New(opts...)
		if err != nil {
			t.Fatal(err)
		}
		if mode == 255 {
			inst = nil
		}
		v := values{program: program, text: text}
		ctx, call := inst.Start(context.Background(), v.request())
		var both sync.WaitGroup
		for _, half := range [][]byte{program[:len(program)/2], program[len(program)/2:]} {
			both.Go(func() { (&values{program: half, text: text}).run(ctx, inst, call) })
		}
		both.Wait()
		call.End(v.response(), v.err())
		started, ended := spans.Started(), spans.Ended()
		if inst == nil {
			return
		}
		if len(started) != len(ended) || int(told.Load()) != len(ended) || len(ended) == 0 {
			t.Fatalf("%d spans were started, %d ended, %d ends were told", len(started), len(ended), told.Load())
		}
		for _, s := range ended {
			sound(t, s)
		}
	})
}

// values takes what is called and told from a program.
type values struct {
	program []byte
	text    string
}

func (v *values) next() byte {
	if len(v.program) == 0 {
		return 0
	}
	b := v.program[0]
	v.program = v.program[1:]
	return b
}

func (v *values) number() int {
	return [...]int{0, 1, -1, 7, math.MaxInt, math.MinInt, 1 << 53, 1 << 31}[v.next()%8]
}

func (v *values) time() time.Time {
	return [...]time.Time{
		{}, time.Now(), time.Unix(0, 0), time.Unix(1<<40, 0), time.Unix(-1<<40, 0), time.Unix(math.MaxInt64, 0), time.Unix(math.MinInt64, 0), time.Now().Add(-time.Hour),
	}[v.next()%8]
}

func (v *values) string() string {
	return [...]string{"", v.text, "m", strings.Repeat(v.text+"x", 300), "stop", "abort", "\xff", "two words"}[v.next()%8]
}

func optional[T any](set bool, x T) *T {
	if !set {
		return nil
	}
	return &x
}

func (v *values) request() genai.Request {
	b := v.next()
	float := [...]float64{0, math.NaN(), math.Inf(1), -1}[b%4]
	return genai.Request{
		Operation: genai.Operation(b % 6), Model: v.string(), ID: v.string(), SessionID: v.string(), UserID: v.string(), Stream: b&8 == 0, HasTools: b&16 == 0,
		ChoiceCount: optional(b&1 == 0, v.number()), Temperature: optional(b&2 == 0, float), TopK: optional(b&4 == 0, float), MaxTokens: optional(b&32 == 0, v.number()),
		Messages: v.messages(), StartTime: v.time(),
	}
}

func (v *values) messages() []genai.Message {
	var out []genai.Message
	for range v.next() % 4 {
		m := genai.Message{Role: v.string(), FinishReason: v.string()}
		for range v.next() % 4 {
			m.Parts = append(m.Parts, genai.TextPart(v.string()), genai.ToolCallPart(v.string(), v.string(), v.string()), genai.Part{Type: v.string(), Size: v.number(), URI: v.string()})
		}
		out = append(out, m)
	}
	return out
}

func (v *values) response() genai.Response {
	count := func() *int { return optional(v.next()&1 == 0, v.number()) }
	r := genai.Response{
		ID: v.string(), Model: v.string(), Increments: v.number(), ToolCallCount: v.number(), Messages: v.messages(), EndTime: v.time(),
		Usage: genai.Usage{InputTokens: count(), OutputTokens: count(), TotalTokens: count(), CacheReadInputTokens: count()},
	}
	for range v.next() % 4 {
		r.FinishReasons = append(r.FinishReasons, v.string())
		r.ToolCalls = append(r.ToolCalls, make([]genai.ToolCall, v.next()), []genai.ToolCall{{ID: v.string(), Name: v.string(), Arguments: v.string()}})
	}
	return r
}

func (v *values) err() error {
	var none *genai.Error
	return [...]error{nil, context.Canceled, errors.New(v.text), &genai.Error{Description: v.string(), Type: v.string(), Outcome: genai.Outcome(v.next())}, none, fmt.Errorf("%w", none), &genai.Error{}, context.DeadlineExceeded}[v.next()%8]
}

// run calls methods until the program ends.
func (v *values) run(ctx context.Context, inst *genai.Instrumentation, call *genai.Call) {
	calls := []*genai.Call{call, nil, genai.CallFromContext(ctx)}
	for len(v.program) > 0 {
		c := calls[int(v.next())%len(calls)]
		switch v.next() % 9 {
		case 0:
			_, more := inst.Start(ctx, v.request())
			calls = append(calls, more)
		case 1:
			c.SetRequest(v.request())
		case 2, 3:
			c.SetResponse(v.response())
		case 4:
			c.FirstToken(v.time())
		case 5:
			_, _, _, _, _ = c.Recording(), c.Wanted(), c.WantsContent(), c.WantsToolCalls(), c.Operation()
		case 6:
			ctx = c.Context()
		default:
			c.End(v.response(), v.err())
		}
	}
	for _, c := range calls[1:] {
		if c != call {
			c.End(genai.Response{}, nil)
		}
	}
}

// sound holds an ended span against what every entry span keeps.
func sound(t *testing.T, s sdktrace.ReadOnlySpan) {
	t.Helper()
	if s.EndTime().Before(s.StartTime()) {
		t.Errorf("a span from %v to %v", s.StartTime(), s.EndTime())
	}
	if st := s.Status(); st.Code == codes.Ok || !utf8.ValidString(st.Description) || len(st.Description) > 256 {
		t.Errorf("status %v %q", st.Code, st.Description)
	}
	if len(s.Events()) > 0 || len(s.Name()) > 300 || !utf8.ValidString(s.Name()) || s.DroppedAttributes() > 64 {
		t.Errorf("span %q with %d events and %d lost attributes", s.Name(), len(s.Events()), s.DroppedAttributes())
	}
	for _, a := range s.Attributes() {
		key := string(a.Key)
		switch a.Value.Type() {
		case attribute.INT64:
			if n := a.Value.AsInt64(); n < 0 && !strings.HasPrefix(key, "gen_ai.request.") {
				t.Errorf("%s is %d", key, n)
			}
		case attribute.STRING:
			limit := 256
			if strings.HasSuffix(key, "arguments") {
				limit = 16 << 10
			} else if strings.HasSuffix(key, "messages") {
				limit = 1 << 20
			}
			if text := a.Value.AsString(); len(text) > limit || !utf8.ValidString(text) {
				t.Errorf("%s has %d bytes", key, len(text))
			}
		case attribute.STRINGSLICE:
			for _, reason := range a.Value.AsStringSlice() {
				if len(reason) > 64 || strings.ContainsAny(reason, " \n\x00\uFFFD") {
					t.Errorf("%s has %q", key, reason)
				}
			}
		}
	}
}
