package genai_test

import (
	"context"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/infertel/infertel-go/genai"
	"github.com/infertel/infertel-go/internal/sdktest"
)

// TestAFirstTokenOutsideOfTheCallIsLeftOut and said once.
func TestAFirstTokenOutsideOfTheCallIsLeftOut(t *testing.T) {
	errs := sdktest.HandleErrors(t)
	var f genai.Finished
	inst := newInstrumentation(t, sdktest.New(t), genai.WithOnEnd(func(_ context.Context, got genai.Finished) { f = got }))
	start := time.Unix(1700000000, 0)
	for _, at := range []time.Time{start.Add(-time.Second), start.Add(10 * time.Second)} {
		_, call := inst.Start(context.Background(), genai.Request{StartTime: start})
		call.FirstToken(at)
		call.End(genai.Response{EndTime: start.Add(time.Second)}, nil)
		if !f.FirstTokenTime.IsZero() || f.TimeToFirstToken != 0 {
			t.Errorf("first token at %v after %v", f.FirstTokenTime, f.TimeToFirstToken)
		}
	}
	if got := errs.Take(); len(got) != 1 || !strings.Contains(got[0].Error(), "first token") {
		t.Errorf("reported %v, want it said once", got)
	}
}

func TestFirstTokenAndFacts(t *testing.T) {
	var f genai.Finished
	b := sdktest.New(t)
	inst := newInstrumentation(t, b, genai.WithOnEnd(func(_ context.Context, got genai.Finished) { f = got }))
	start := time.Unix(1700000000, 0)
	_, call := inst.Start(context.Background(), genai.Request{Model: "a", Stream: true, StartTime: start})
	call.FirstToken(start.Add(30 * time.Millisecond))
	call.FirstToken(start.Add(time.Hour))
	resp := genai.Response{Model: "b", FinishReasons: []string{"stop", ""}, Usage: genai.Usage{OutputTokens: new(9)}, EndTime: start.Add(time.Second)}
	call.End(resp, nil)
	want := genai.Finished{
		Operation: genai.OperationChat, RequestModel: "a", ResponseModel: "b", Stream: true, StartTime: start, EndTime: start.Add(time.Second), Duration: time.Second,
		FirstTokenTime: start.Add(30 * time.Millisecond), TimeToFirstToken: 30 * time.Millisecond, Usage: resp.Usage, FinishReasons: []string{"stop", "error"},
	}
	if !reflect.DeepEqual(f, want) {
		t.Errorf("facts are\n%+v, want\n%+v", f, want)
	}
}

// TestClockSteps: an end before the start makes no negative duration.
func TestClockSteps(t *testing.T) {
	errs := sdktest.HandleErrors(t)
	b := sdktest.New(t)
	inst := newInstrumentation(t, b, genai.WithEngine(genai.EngineSGLang))
	start := time.Unix(1700000000, 0)
	for range 2 {
		_, call := inst.Start(context.Background(), genai.Request{StartTime: start})
		call.End(genai.Response{EndTime: start.Add(-time.Second)}, nil)
	}
	b.Flush()
	for _, s := range b.Receiver.FlatSpans() {
		if s.End != s.Start || s.Attrs["gen_ai.latency.e2e"] != 0.0 {
			t.Errorf("span from %d to %d with latency %v, want no length", s.Start, s.End, s.Attrs["gen_ai.latency.e2e"])
		}
	}
	if got := errs.Take(); len(got) != 1 || !strings.Contains(got[0].Error(), "end before its start") {
		t.Errorf("reported %v, want it said once", got)
	}

	// An end before a start that we took ourselves is no different.
	for range 20 {
		b := sdktest.New(t)
		at := time.Now()
		_, call := newInstrumentation(t, b).Start(context.Background(), genai.Request{})
		call.End(genai.Response{EndTime: at}, nil)
		b.Flush()
		if s := b.Receiver.FlatSpans()[0]; s.End < s.Start {
			t.Fatalf("span ends %d ns before its start", s.Start-s.End)
		}
	}

	before := time.Now()
	after := before.Add(250 * time.Millisecond)
	s := one(t, genai.Request{StartTime: before}, genai.Response{EndTime: after}, nil, genai.WithEngine(genai.EngineSGLang))
	if s.Attrs["gen_ai.latency.e2e"] != 0.25 || s.End-s.Start != 250_000_000 {
		t.Errorf("latency %v, span length %d, want 250 ms", s.Attrs["gen_ai.latency.e2e"], s.End-s.Start)
	}
}
