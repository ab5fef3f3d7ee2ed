package vllm

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// CallRecord is what a gateway knows of a finished call to an engine beside which
// no shim runs. Source: vllm.v0.metrics, vllm.v1.metrics.
type CallRecord struct {
	// Start is when the call began and End when it was over.
	Start, End time.Time
	// FirstToken is when the first generated fragment was seen. Zero: there was
	// none, or the answer was not streamed.
	FirstToken time.Time
	// InputTokens and OutputTokens are the usage that the server reported. Nil:
	// unknown.
	InputTokens, OutputTokens *int
	// FinishReason is why the engine finished. Empty counts as
	// [FinishReasonOther]; use [FinishReasonAbort] where the client went away and
	// [FinishReasonError] where the call failed.
	FinishReason FinishReason
}

func (c *CallRecord) check() error {
	var errs []error
	for _, f := range []struct {
		name  string
		value *int
	}{{"InputTokens", c.InputTokens}, {"OutputTokens", c.OutputTokens}} {
		switch {
		case f.value == nil:
		case *f.value < 0:
			errs = append(errs, fmt.Errorf("vllm: CallRecord.%s is %d, want 0 or more", f.name, *f.value))
		case int64(*f.value) > maxCount:
			errs = append(errs, fmt.Errorf("vllm: CallRecord.%s is %d, want at most %d", f.name, *f.value, int64(maxCount)))
		}
	}
	if !isKnown(c.Start) {
		errs = append(errs, errors.New("vllm: CallRecord.Start is not set, want the time when the call began"))
	} else if !isKnown(c.End) || c.End.Sub(c.Start) < 0 {
		errs = append(errs, fmt.Errorf("vllm: CallRecord.End is %v, want a time from Start on", c.End))
	} else if isKnown(c.FirstToken) && (c.FirstToken.Sub(c.Start) < 0 || c.End.Sub(c.FirstToken) < 0) {
		errs = append(errs, fmt.Errorf("vllm: CallRecord.FirstToken is %v, want a time between Start and End", c.FirstToken))
	}
	return errors.Join(errs...)
}

// RecordCall feeds the counters of latency, tokens and success from a finished
// call, for a gateway in front of an engine beside which no shim runs; do not use
// both for one engine. It makes no span. The latencies are those that the gateway
// saw: gen_ai_server_request_duration, genai_llm_first_token_seconds where there
// is a first token, and then, where more than one output token is known of,
// gen_ai_server_time_per_output_token from it to the end. The tokens are
// gen_ai_vllm_prompt_tokens and gen_ai_vllm_generation_tokens where they are
// known. The error names every field that is out of range, and then nothing
// counts.
//
// A gateway calls it in its function for
// [github.com/infertel/infertel-go/genai.WithOnEnd].
func (e *EngineV1) RecordCall(ctx context.Context, c CallRecord) error {
	if e == nil {
		return nil
	}
	if err := e.recordCall(ctx, &c); err != nil {
		return err
	}
	if c.InputTokens != nil {
		e.v1.promptTokens.add(ctx, int64(*c.InputTokens), e.common.add)
	}
	if c.OutputTokens != nil {
		e.v1.generationTokens.add(ctx, int64(*c.OutputTokens), e.common.add)
	}
	return nil
}

// RecordCall feeds the counters of latency, tokens and success from a finished
// call; see [EngineV1.RecordCall]. The tokens are num_prompt_tokens_iter,
// num_generation_tokens_iter and num_tokens_iter.
func (e *EngineV0) RecordCall(ctx context.Context, c CallRecord) error {
	if e == nil {
		return nil
	}
	if err := e.recordCall(ctx, &c); err != nil {
		return err
	}
	if c.InputTokens != nil {
		e.scheduler.add(ctx, counterPrompt, int64(*c.InputTokens))
	}
	if c.OutputTokens != nil {
		e.scheduler.add(ctx, counterGeneration, int64(*c.OutputTokens))
	}
	return nil
}

func (e *engine) recordCall(ctx context.Context, c *CallRecord) error {
	if err := c.check(); err != nil {
		return err
	}
	ttft, perToken := unknown, unknown
	if isKnown(c.FirstToken) {
		ttft = c.FirstToken.Sub(c.Start)
		if c.OutputTokens != nil && *c.OutputTokens > 1 {
			perToken = c.End.Sub(c.FirstToken)
		}
	}
	e.common.finished(ctx, c.FinishReason, ttft, perToken, c.End.Sub(c.Start))
	return nil
}
