package genai

import (
	"cmp"
	"time"
)

// Usage is the token usage that the server reported, of which
// genai_llm_usage_tokens counts input and output. A nil pointer means it
// reported none; a value that cannot be one, below 0 or above 2^53, is ignored.
// Source: vllm.entry, vllm.token, sglang.entry, sglang.token.
type Usage struct {
	// InputTokens is gen_ai.usage.input_tokens.
	InputTokens *int
	// OutputTokens is gen_ai.usage.output_tokens.
	OutputTokens *int
	// TotalTokens is the server's own sum (gen_ai.usage.total_tokens). Without one
	// the span carries input plus output if both are known.
	TotalTokens *int
	// CacheReadInputTokens is the part of the input that came from the cache
	// (gen_ai.usage.cache_read.input_tokens, SGLang only).
	CacheReadInputTokens *int
}

// ToolCall is a tool call in the answer, which becomes attributes on the chat
// streams of SGLang. Source: sglang.entry.
type ToolCall struct {
	// ID is recorded within messages only, see [ToolCallPart].
	ID string
	// Name is gen_ai.completions.{i}.tool_calls.{j}.name.
	Name string
	// Arguments is JSON text, as the model wrote it
	// (gen_ai.completions.{i}.tool_calls.{j}.arguments).
	Arguments string
}

// Response is what is known of an answer. The zero value knows nothing.
// Source: vllm.entry, sglang.entry.
type Response struct {
	// ID is gen_ai.response.id.
	ID string
	// Model is the model name in the answer (gen_ai.response.model; SGLang:
	// only when not streaming).
	Model string
	// FinishReasons has one entry per choice, in the order of the choices; ""
	// stands for a choice that has not finished. It becomes
	// gen_ai.response.finish_reasons, with "error" for such a choice, unless no
	// choice has finished. A reason that is not one short word is recorded as
	// "_OTHER". The reason "abort" makes the call an error.
	FinishReasons []string
	// Usage is gen_ai.usage.*. An SGLang stream whose server reported none has
	// gen_ai.response.tokens_streamed for its output tokens.
	Usage Usage
	// Increments is the number of streamed chunks that carried new output, for
	// gen_ai.response.tokens_streamed (SGLang streams only).
	Increments int
	// ToolCalls holds the tool calls by choice
	// (gen_ai.completions.{i}.tool_calls.{j}.*, gen_ai.request.tool_call_detected
	// and gen_ai.request.tool_calls_count, SGLang chat streams only). At most 64
	// of them are recorded, with 16 KiB of arguments each.
	ToolCalls [][]ToolCall
	// ToolCallCount is the number of tool calls if ToolCalls holds only some of
	// them. 0: as many as ToolCalls holds.
	ToolCallCount int
	// Messages is the output, one message per choice (gen_ai.output.messages),
	// recorded like Request.Messages.
	Messages []Message
	// EndTime is when the last byte of the answer was seen, and with it the end of
	// gen_ai.latency.e2e (double, s, SGLang only). Zero: now.
	EndTime time.Time
}

// merge takes over what o knows.
func (r *Response) merge(o *Response) {
	r.ID = cmp.Or(o.ID, r.ID)
	r.Model = cmp.Or(o.Model, r.Model)
	r.Usage.InputTokens = cmp.Or(o.Usage.InputTokens, r.Usage.InputTokens)
	r.Usage.OutputTokens = cmp.Or(o.Usage.OutputTokens, r.Usage.OutputTokens)
	r.Usage.TotalTokens = cmp.Or(o.Usage.TotalTokens, r.Usage.TotalTokens)
	r.Usage.CacheReadInputTokens = cmp.Or(o.Usage.CacheReadInputTokens, r.Usage.CacheReadInputTokens)
	r.Increments = cmp.Or(o.Increments, r.Increments)
	r.ToolCallCount = cmp.Or(o.ToolCallCount, r.ToolCallCount)
	if o.FinishReasons != nil {
		r.FinishReasons = o.FinishReasons
	}
	if o.ToolCalls != nil {
		r.ToolCalls = o.ToolCalls
	}
	if o.Messages != nil {
		r.Messages = o.Messages
	}
	if !o.EndTime.IsZero() {
		r.EndTime = o.EndTime
	}
}
