package vllm

import "time"

// FinishReason is why a request finished, as the engine names it. It is the
// dimension finished_reason of gen_ai_vllm_request_success, which tells 16
// reasons apart; further ones are counted together as [FinishReasonOther].
// Source: vllm.v0.metrics, vllm.v1.metrics.
type FinishReason string

// The reasons of vLLM. Others may be used.
const (
	// FinishReasonStop is a request that came to its end.
	FinishReasonStop FinishReason = "stop"
	// FinishReasonLength is one that reached a bound on its tokens.
	FinishReasonLength FinishReason = "length"
	// FinishReasonAbort is one that was taken back, as by a client that went away.
	FinishReasonAbort FinishReason = "abort"
	// FinishReasonError is one that failed.
	FinishReasonError FinishReason = "error"
	// FinishReasonOther stands for a reason that was not told, and for those
	// beyond the bound.
	FinishReasonOther FinishReason = "_OTHER"
)

// OutcomeV1 is what is known of a V1 request when it finishes.
// Source: vllm.v1.llm_request.
type OutcomeV1 struct {
	// At is when the request finished, as the frontend saw it.
	At time.Time
	// FinishReason is why it finished.
	FinishReason FinishReason
	// CompletionTokens is gen_ai.usage.completion_tokens. Nil: as many as the
	// iterations put out. The attribute is required, so where one of them did not
	// tell how many, it counts as one there; gen_ai_vllm_generation_tokens takes
	// none of such a request.
	CompletionTokens *int
	// CachedTokens is gen_ai.usage.cache_read.input_tokens, local and remote. The
	// engine's -1 for unknown is recorded as 0.
	CachedTokens int
	// Detokenize is gen_ai.latency.time_in_detokenize (int, ns), summed over the
	// request. Nil: unknown.
	Detokenize *time.Duration
	// FrontendFirstToken is when the frontend saw the first token, the end of
	// gen_ai.latency.time_to_first_token (int, ns) and of
	// genai_llm_first_token_seconds. Zero: when the engine put it out. Where
	// no iteration was told it stands for the engine's first token as well.
	FrontendFirstToken time.Time
	// LastToken is when the engine put out the last token, the end of decode.
	// Zero: the time of the latest iteration, if those told can have put out all of
	// CompletionTokens; else it is not known.
	LastToken time.Time
	// Err makes the status of llm_request ERROR. Only an [Error] is told in words;
	// of any other only the Go type is, since its text may quote a prompt. Nil
	// leaves the status UNSET, also for an aborted request.
	Err error
}

// aborted reports whether the request ended early, so that it may lack points
// that a whole one has.
func aborted(reason FinishReason, failure *Error) bool {
	return failure != nil || reason == FinishReasonAbort || reason == FinishReasonError
}
