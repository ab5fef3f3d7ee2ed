package vllm_test

import (
	"context"
	"testing"
	"time"

	"github.com/infertel/infertel-go/vllm"
)

// A gateway without a shim feeds the counters from its calls, and no span.
func TestRecordCall(t *testing.T) {
	ctx := context.Background()
	b := newBed(t)
	e, e0 := b.v1(vllm.EngineConfig{}), b.v0()
	for _, c := range []vllm.CallRecord{
		{Start: at(0), FirstToken: at(31), End: at(126), InputTokens: new(48), OutputTokens: new(6), FinishReason: vllm.FinishReasonLength},
		{Start: at(0), FirstToken: at(5), End: at(10), OutputTokens: new(1), FinishReason: vllm.FinishReasonStop}, // one token: no time between tokens
		{Start: at(0), End: at(10), InputTokens: new(8), FinishReason: vllm.FinishReasonStop},
		{Start: at(0), End: at(10), FinishReason: vllm.FinishReasonError},
	} {
		if err := e.RecordCall(ctx, c); err != nil {
			t.Error(err)
		}
		if err := e0.RecordCall(ctx, c); err != nil {
			t.Error(err)
		}
	}
	near(t, b.points(), map[string]float64{
		"gen_ai_vllm_request_success{engine_index=0,finished_reason=length,model_name=qwen3-8b}": 1,
		"gen_ai_vllm_request_success{engine_index=0,finished_reason=stop,model_name=qwen3-8b}":   2,
		"gen_ai_vllm_request_success{engine_index=0,finished_reason=error,model_name=qwen3-8b}":  1,
		"genai_llm_first_token_seconds" + dims:                                                   0.036,
		"gen_ai_server_time_per_output_token" + dims:                                             0.095,
		"gen_ai_server_request_duration" + dims:                                                  0.156,
		"gen_ai_vllm_prompt_tokens" + dims:                                                       56,
		"gen_ai_vllm_generation_tokens" + dims:                                                   7,
		"gen_ai_vllm_request_success{finished_reason=length}":                                    1,
		"gen_ai_vllm_request_success{finished_reason=stop}":                                      2,
		"gen_ai_vllm_request_success{finished_reason=error}":                                     1,
		"genai_llm_first_token_seconds{}":                                                        0.036,
		"gen_ai_server_time_per_output_token{}":                                                  0.095,
		"gen_ai_server_request_duration{}":                                                       0.156,
		"num_prompt_tokens_iter{}":                                                               56,
		"num_generation_tokens_iter{}":                                                           7,
		"num_tokens_iter{}":                                                                      63,
	})
	if s := b.spans(); len(s) > 0 {
		t.Errorf("spans %v", s)
	}
}

func TestRecordCallRefuses(t *testing.T) {
	b := newBed(t)
	e := b.v1(vllm.EngineConfig{})
	for want, c := range map[string]vllm.CallRecord{
		"CallRecord.Start is not set":         {End: at(1)},
		"CallRecord.End is 0001":              {Start: at(1)},
		"CallRecord.End is 2023":              {Start: at(1), End: at(0)},
		"CallRecord.FirstToken is 2023":       {Start: at(0), End: at(1), FirstToken: at(2)},
		"CallRecord.InputTokens is -1, want":  {Start: at(0), End: at(1), InputTokens: new(-1)},
		"CallRecord.OutputTokens is -2, want": {Start: at(0), End: at(1), OutputTokens: new(-2)},
	} {
		if err := e.RecordCall(context.Background(), c); err == nil || !containsAll(err.Error(), want) {
			t.Errorf("%+v: error %v, want %s", c, err, want)
		}
	}
	if p := b.points(); len(p) > 0 {
		t.Errorf("points %v", p)
	}
	// The zero time and the Unix epoch mean that there was no first token.
	if err := e.RecordCall(context.Background(), vllm.CallRecord{Start: at(0), End: at(1), FirstToken: time.Unix(0, 0)}); err != nil {
		t.Error(err)
	}
}
