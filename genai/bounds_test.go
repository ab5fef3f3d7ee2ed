package genai_test

import (
	"context"
	"math"
	"reflect"
	"strings"
	"testing"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/infertel/infertel-go/genai"
	"github.com/infertel/infertel-go/internal/sdktest"
)

// TestReasonsThatAreNoWord: a server may put any text there.
func TestReasonsThatAreNoWord(t *testing.T) {
	long := strings.Repeat("x", 65)
	s := one(t, genai.Request{}, genai.Response{FinishReasons: []string{"stop", "matched: the user's own words", "", long, long[:64], "a\nb"}}, nil)
	want := []string{"stop", "_OTHER", "error", "_OTHER", long[:64], "_OTHER"}
	if got := s.Attrs["gen_ai.response.finish_reasons"]; !reflect.DeepEqual(got, want) {
		t.Errorf("finish reasons are %v, want %v", got, want)
	}
}

// TestCountsThatCannotBe: a broken server makes no sum and no counter overflow.
func TestCountsThatCannotBe(t *testing.T) {
	for _, c := range []struct {
		input, output, total       int
		wantIn, wantOut, wantTotal any
	}{
		{math.MaxInt, 1, 0, nil, int64(1), int64(0)},
		{1 << 53, 1 << 53, -1, int64(1 << 53), int64(1 << 53), int64(1 << 54)},
		{1<<53 + 1, math.MinInt, math.MaxInt, nil, nil, nil},
	} {
		s := one(t, genai.Request{}, genai.Response{Usage: genai.Usage{InputTokens: &c.input, OutputTokens: &c.output, TotalTokens: &c.total}}, nil)
		got := [3]any{s.Attrs["gen_ai.usage.input_tokens"], s.Attrs["gen_ai.usage.output_tokens"], s.Attrs["gen_ai.usage.total_tokens"]}
		if got != [3]any{c.wantIn, c.wantOut, c.wantTotal} {
			t.Errorf("%d and %d: tokens are %v", c.input, c.output, got)
		}
	}
	for _, increments := range []int{math.MinInt, math.MaxInt} {
		s := one(t, genai.Request{Stream: true}, genai.Response{Increments: increments}, nil, genai.WithEngine(genai.EngineSGLang), genai.WithStreamInterval(3))
		if n := s.Attrs["gen_ai.response.tokens_streamed"].(int64); n < 0 || increments < 0 && n != 0 {
			t.Errorf("%d increments are %d tokens", increments, n)
		}
	}
}

// TestNoContext: a nil context is none.
func TestNoContext(t *testing.T) {
	var none context.Context
	for _, opts := range [][]genai.Option{{genai.WithTracerProvider(sdktrace.NewTracerProvider())}, {genai.WithTracerProvider(noop.NewTracerProvider()), genai.WithPublicEndpoint()}} {
		inst, err := genai.New(opts...)
		if err != nil {
			t.Fatal(err)
		}
		ctx, call := inst.Start(none, genai.Request{})
		if genai.CallFromContext(none) != nil || genai.CallFromContext(ctx) != call {
			t.Error("the context does not carry the call")
		}
		call.End(genai.Response{}, nil)
	}
}

// TestAFunctionThatPanics at the end of a call does not take part in the request,
// and is reported once, without what it said.
func TestAFunctionThatPanics(t *testing.T) {
	errs := sdktest.HandleErrors(t)
	inst, err := genai.New(genai.WithTracerProvider(sdktrace.NewTracerProvider()), genai.WithOnEnd(func(context.Context, genai.Finished) { panic("the prompt") }))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		func() {
			defer func() {
				if v := recover(); v != "of the host" {
					t.Errorf("the panic became %v", v)
				}
			}()
			_, call := inst.Start(context.Background(), genai.Request{})
			defer call.End(genai.Response{}, nil)
			panic("of the host")
		}()
	}
	if got := errs.Take(); len(got) != 1 || strings.Contains(got[0].Error(), "prompt") || !strings.Contains(got[0].Error(), "string") {
		t.Errorf("reported %v", got)
	}
}
