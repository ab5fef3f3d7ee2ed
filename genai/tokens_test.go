package genai_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"testing"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/infertel/infertel-go/genai"
	"github.com/infertel/infertel-go/internal/sdktest"
)

var neverSample = sdktrace.WithSampler(sdktrace.NeverSample())

func TestTokenMetric(t *testing.T) {
	for _, engine := range []genai.Engine{genai.EngineVLLM, genai.EngineSGLang} {
		b := sdktest.New(t)
		inst := newInstrumentation(t, b, genai.WithEngine(engine))
		record := func(op genai.Operation, model string, u genai.Usage, err error) {
			_, call := inst.Start(context.Background(), genai.Request{Operation: op, Model: model})
			call.End(genai.Response{Usage: u, Model: "answered"}, err)
		}
		both := genai.Usage{InputTokens: new(10), OutputTokens: new(3)}
		record(genai.OperationChat, "m", both, nil)
		record(genai.OperationTextCompletion, "m", both, nil)
		record(genai.OperationEmbeddings, "e", genai.Usage{InputTokens: new(8)}, nil)
		record(genai.OperationRerank, "r", both, nil)
		record(genai.OperationChat, "nothing", genai.Usage{}, nil)
		record(genai.OperationChat, "negative", genai.Usage{InputTokens: new(-5)}, nil)
		record(genai.OperationChat, "", genai.Usage{OutputTokens: new(1)}, nil)
		record(genai.OperationChat, "m", both, errors.New("cut off"))
		b.Flush()

		dims := func(model, kind, usage string) map[string]any {
			return map[string]any{"callType": "gen_ai", "callKind": "custom_entry", "rpcType": int64(2100), "modelName": model, "spanKind": kind, "usageType": usage}
		}
		want := map[string]int64{}
		for _, p := range []struct {
			d map[string]any
			n int64
		}{
			{dims("m", "LLM", "input"), 30}, {dims("m", "LLM", "output"), 9},
			{dims("e", "EMBEDDING", "input"), 8}, {dims("answered", "LLM", "output"), 1},
		} {
			want[fmt.Sprint(p.d)] = p.n
		}
		got := map[string]int64{}
		for _, p := range b.Receiver.LastPoints() {
			if p.Name != "genai_llm_usage_tokens" || p.Type != "sum" || !p.Monotonic || p.Number != "int" || p.Unit != "{token}" {
				t.Errorf("point is %+v", p)
			}
			got[fmt.Sprint(p.Attrs)] = p.Value.(int64)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%v: points are\n%v, want\n%v", engine, got, want)
		}
	}
}

// TestModelNamesAreBounded: clients choose them.
func TestModelNamesAreBounded(t *testing.T) {
	b := sdktest.New(t)
	inst := newInstrumentation(t, b, genai.WithModelLimit(3))
	u := genai.Usage{InputTokens: new(1)}
	end := func(model string, err error) {
		_, call := inst.Start(context.Background(), genai.Request{Model: model})
		call.End(genai.Response{Usage: u}, err)
	}
	for i := range 5000 {
		end(fmt.Sprint("refused-", i), errors.New("no such model"))
	}
	for i := range 5000 {
		end(fmt.Sprint("accepted-", i), nil)
	}
	end("accepted-1", errors.New("known before"))
	b.Flush()
	got := map[any]any{}
	for _, p := range b.Receiver.LastPoints() {
		got[p.Attrs["modelName"]] = p.Value
	}
	want := map[any]any{"accepted-0": int64(1), "accepted-1": int64(2), "accepted-2": int64(1), genai.OtherModel: int64(9997)}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("series are %v, want %v", got, want)
	}
}

func TestUnsampledCallsCountTokens(t *testing.T) {
	b := sdktest.New(t, neverSample)
	_, call := newInstrumentation(t, b).Start(context.Background(), genai.Request{Model: "m"})
	if call.Recording() || !call.Wanted() {
		t.Errorf("recording %v, wanted %v; want false, true", call.Recording(), call.Wanted())
	}
	call.End(genai.Response{Usage: genai.Usage{InputTokens: new(4)}}, nil)
	b.Flush()
	if p := b.Receiver.LastPoints(); len(p) != 1 || p[0].Value != int64(4) {
		t.Errorf("points are %+v", p)
	}
}
