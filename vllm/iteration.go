package vllm

import "time"

// Iteration is one scheduling iteration that worked on a request. It makes the
// event PREFILL or DECODE at [GranularityEvents], with those of its attributes
// that are not nil. Slices are copied. What tells how many tokens it put out is
// TokenCount, else the longest of the slices; without any of them it is at least
// one. Source: events PREFILL and DECODE of vllm.v1.llm_request.
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
