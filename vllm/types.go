package vllm

import (
	"fmt"
	"time"

	"go.opentelemetry.io/otel/attribute"

	"github.com/infertel/infertel-go/semconv"
)

// PDRole is the part that an engine plays where prefill and decode run on
// different nodes. It is the value of gen_ai.pd_role.
type PDRole uint8

const (
	// PDRoleNone is an engine that does both. It is the zero value.
	PDRoleNone PDRole = iota
	// PDRoleProducer is a Prefill node: it has no decode span and its
	// time_in_model_decode is 0.
	PDRoleProducer
	// PDRoleConsumer is a Decode node: it has no prefill span and its
	// time_in_model_prefill is 0.
	PDRoleConsumer
)

// String returns the value of gen_ai.pd_role.
func (r PDRole) String() string { return r.attribute().Value.AsString() }

func (r PDRole) attribute() attribute.KeyValue {
	switch r {
	case PDRoleProducer:
		return semconv.GenAIPDRoleProducer
	case PDRoleConsumer:
		return semconv.GenAIPDRoleConsumer
	}
	return semconv.GenAIPDRoleNone
}

// ParsePDRole returns the role named producer, consumer or none.
func ParsePDRole(name string) (PDRole, error) {
	for _, r := range []PDRole{PDRoleNone, PDRoleProducer, PDRoleConsumer} {
		if name == r.String() {
			return r, nil
		}
	}
	return PDRoleNone, fmt.Errorf("vllm: PD role is %q, want producer, consumer or none", name)
}

// FinishReason is why a request finished, as the engine names it. It is the
// dimension finished_reason of gen_ai_vllm_request_success, which tells 16
// reasons apart; further ones are counted together as [FinishReasonOther].
type FinishReason string

// The reasons of vLLM. Others may be used.
const (
	FinishReasonStop   FinishReason = "stop"
	FinishReasonLength FinishReason = "length"
	FinishReasonAbort  FinishReason = "abort"
	FinishReasonError  FinishReason = "error"
	// FinishReasonOther stands for a reason that was not told, and for those
	// beyond the bound.
	FinishReasonOther FinishReason = "_OTHER"
)

// Request is what is known of a request when it arrives. A nil pointer means
// that the caller did not set the value; zero and -1 are values.
type Request struct {
	// ID is the engine's internal request id (gen_ai.request.id). Of a longer one
	// 256 bytes are recorded.
	ID string
	// Temperature is gen_ai.request.temperature.
	Temperature *float64
	// TopP is gen_ai.request.top_p.
	TopP *float64
	// MaxTokens is gen_ai.request.max_tokens.
	MaxTokens *int
	// N is gen_ai.request.n: the number of candidates asked for, in the request
	// that this span stands for.
	N *int
	// PromptTokens is gen_ai.usage.prompt_tokens.
	PromptTokens int
	// PDRole overrides the role of the engine. One that there is not is reported
	// once, and that of the engine is used. V1 only.
	PDRole *PDRole
	// Granularity overrides that of the engine. As PDRole otherwise. V1 only.
	Granularity *Granularity
}

// Iteration is one scheduling iteration that worked on a request. It makes the
// event PREFILL or DECODE at [GranularityEvents], with those of its attributes
// that are not nil. Slices are copied. What tells how many tokens it put out is
// TokenCount, else the longest of the slices; without any of them it is at least
// one.
type Iteration struct {
	// At is when the iteration's output was there.
	At time.Time
	// TokenIDs is gen_ai.token.ids. With the model's tokenizer they are text of the
	// answer; see [GranularityEvents].
	TokenIDs []int
	// TokenTexts is gen_ai.token.texts. It is text of the answer; see
	// [GranularityEvents].
	TokenTexts []string
	// TokenCount is gen_ai.token.count.
	TokenCount *int
	// LogProbs is gen_ai.token.logprobs.
	LogProbs []float64
	// NoToken marks an iteration that put out no token, as all but the last chunk
	// of a chunked prefill: it makes its event but is not the first token.
	NoToken bool
}

// tokens returns how many tokens came out, and whether that was told. If not, one
// did at least.
func (it *Iteration) tokens() (n int, told bool) {
	switch {
	case it.TokenCount != nil:
		return max(*it.TokenCount, 0), true
	case it.TokenIDs != nil || it.TokenTexts != nil || it.LogProbs != nil:
		return max(len(it.TokenIDs), len(it.TokenTexts), len(it.LogProbs)), true
	}
	return 1, false
}

// KVTransfer is how a transfer of KV cache from a remote engine ended.
type KVTransfer struct {
	// CachedTokens is gen_ai.kv_transfer.cached_tokens: the tokens that the
	// connector found on the remote side.
	CachedTokens int
	// Failed is gen_ai.kv_transfer.failed: whether the connector reported that
	// loading failed for the request.
	Failed bool
}

// OutcomeV1 is what is known of a V1 request when it finishes.
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
	// Detokenize is gen_ai.latency.time_in_detokenize, summed over the request.
	// Nil: unknown.
	Detokenize *time.Duration
	// FrontendFirstToken is when the frontend saw the first token, the end of
	// gen_ai.latency.time_to_first_token. Zero: when the engine put it out. Where
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
