package genai

import (
	"cmp"
	"time"
)

// Operation is what a request asks for. It is the value of
// gen_ai.operation.name.
type Operation uint8

// The documented operations. The zero value is OperationChat.
const (
	OperationChat           Operation = iota // Chat Completions
	OperationTextCompletion                  // Completions
	OperationEmbeddings                      // embedding requests
	OperationRerank                          // rerank and score requests
)

// String returns the value of gen_ai.operation.name.
func (o Operation) String() string {
	switch o {
	case OperationTextCompletion:
		return "text_completion"
	case OperationEmbeddings:
		return "embeddings"
	case OperationRerank:
		return "rerank"
	}
	return "chat"
}

// generates reports whether the operation makes output tokens.
func (o Operation) generates() bool { return o == OperationChat || o == OperationTextCompletion }

// Request is what is known of a request. Only Operation is needed; a nil
// pointer means that the caller did not set the value, zero and -1 are values.
type Request struct {
	Operation Operation
	// Model is the model name in the request (gen_ai.request.model).
	Model string
	// ID is the identifier that the caller gave the request. Source: the body
	// field request_id or rid, else the header X-Request-Id. It becomes
	// gen_ai.request.id on SGLang chat streams and session.id on vLLM streams
	// without a SessionID.
	ID string
	// SessionID is the session that the request names. Source: the body field
	// session_id, else the header X-Session-ID. It becomes session.id on vLLM
	// streams.
	SessionID string
	// UserID is the body field user (gen_ai.user.id, vLLM only).
	UserID string
	// Stream is whether the answer is streamed (gen_ai.request.is_stream).
	Stream bool
	// ChoiceCount is n (gen_ai.request.choice.count).
	ChoiceCount *int
	// Temperature is gen_ai.request.temperature.
	Temperature *float64
	// TopP is gen_ai.request.top_p.
	TopP *float64
	// TopK is gen_ai.request.top_k; -1 switches it off in the engines and is
	// recorded like any value.
	TopK *float64
	// MaxTokens is gen_ai.request.max_tokens.
	MaxTokens *int
	// HasTools is whether the request declares tools
	// (gen_ai.request.has_tool_calls, SGLang chat streams only).
	HasTools bool
	// Messages is the input (gen_ai.input.messages). It is recorded only where
	// the content mode says so; ask [Call.WantsContent] before making it.
	Messages []Message
	// StartTime is when the request arrived. Zero: now.
	StartTime time.Time
}

// Usage is the token usage that the server reported. A nil pointer means it
// reported none; a value that cannot be one, below 0 or above 2^53, is ignored.
type Usage struct {
	InputTokens  *int
	OutputTokens *int
	// TotalTokens is the server's own sum. Without one the span carries input
	// plus output if both are known.
	TotalTokens *int
	// CacheReadInputTokens is the part of the input that came from the cache
	// (gen_ai.usage.cache_read.input_tokens, SGLang only).
	CacheReadInputTokens *int
}

// ToolCall is a tool call in the answer.
type ToolCall struct {
	ID        string
	Name      string
	Arguments string // JSON text, as the model wrote it
}

// Response is what is known of an answer. The zero value knows nothing.
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
	Usage         Usage
	// Increments is the number of streamed chunks that carried new output, for
	// gen_ai.response.tokens_streamed (SGLang streams only).
	Increments int
	// ToolCalls holds the tool calls by choice
	// (gen_ai.completions.{i}.tool_calls.{j}.*, SGLang chat streams only). At
	// most 64 of them are recorded, with 16 KiB of arguments each.
	ToolCalls [][]ToolCall
	// ToolCallCount is the number of tool calls if ToolCalls holds only some of
	// them. 0: as many as ToolCalls holds.
	ToolCallCount int
	// Messages is the output, one message per choice (gen_ai.output.messages),
	// recorded like Request.Messages.
	Messages []Message
	// EndTime is when the last byte of the answer was seen. Zero: now.
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

// Finished holds the facts of a call that has ended.
type Finished struct {
	Operation     Operation
	RequestModel  string
	ResponseModel string
	Stream        bool
	// StartTime and EndTime bound the call; Duration is the time between them.
	StartTime, EndTime time.Time
	Duration           time.Duration
	// FirstTokenTime is when the first generated fragment was seen, and
	// TimeToFirstToken the time from StartTime to it. Zero and 0: none was seen,
	// as is always so for answers that are not streamed.
	FirstTokenTime   time.Time
	TimeToFirstToken time.Duration
	// Usage is what the server reported, never an estimate.
	Usage         Usage
	FinishReasons []string
	// Outcome is how the call ended, Err the error if it failed.
	Outcome Outcome
	Err     error
}
