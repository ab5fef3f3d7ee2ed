package genai

import "time"

// Operation is what a request asks for, the value of gen_ai.operation.name. It
// also decides gen_ai.span.kind: LLM, EMBEDDING or RERANKER.
// Source: vllm.entry, sglang.entry.
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
// Source: vllm.entry, sglang.entry.
type Request struct {
	// Operation is gen_ai.operation.name.
	Operation Operation
	// Model is the model name in the request (gen_ai.request.model).
	Model string
	// ID is the identifier that the caller gave the request. It comes from the
	// body field request_id or rid, else from the header X-Request-Id. It becomes
	// gen_ai.request.id on SGLang chat streams and session.id on vLLM streams
	// without a SessionID. Response.ID stands there where it is empty.
	ID string
	// SessionID is the session that the request names. It comes from the body
	// field session_id, else from the header X-Session-ID. It becomes session.id
	// on vLLM streams.
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
