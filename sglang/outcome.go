package sglang

import (
	"encoding/json"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"

	"github.com/infertel/infertel-go/internal/boundedtext"
	"github.com/infertel/infertel-go/semconv"
)

// Outcome is what is known of a request when it ends. The attributes are written
// to the request span after a normal end only. The attribute and the metric of a
// count that is nil are left out, since 0 would be a guess; after a normal end,
// for which all three are documented, that is reported once.
// Source: sglang.request.
type Outcome struct {
	// FinishReasons holds the reason of each choice: gen_ai.response.finish_reasons,
	// a JSON array as text.
	FinishReasons []string
	// PromptTokens is the number of input tokens: gen_ai.usage.prompt_tokens and the
	// metric prompt_tokens_total, {token}.
	PromptTokens *int
	// CompletionTokens is the number of output tokens:
	// gen_ai.usage.completion_tokens and the metric generation_tokens_total, {token}.
	// It is left out for embedding requests.
	CompletionTokens *int
	// CachedTokens is the number of input tokens served from the cache:
	// gen_ai.usage.cached_tokens and the metric gen_ai_sglang_cached_tokens_total,
	// {token}.
	CachedTokens *int
	// Temperature is gen_ai.request.temperature, TopP gen_ai.request.top_p, TopK
	// gen_ai.request.top_k (an int here), N gen_ai.request.n and MaxTokens
	// gen_ai.request.max_tokens. Nil: the caller of the engine did not set it.
	Temperature, TopP  *float64
	TopK, N, MaxTokens *int
}

// unknownCount stands for a count that is not known.
const unknownCount = -1

// counts are the token counts of an Outcome, each of which may be unknown. What
// its pointers lead to stays the caller's.
type counts struct{ prompt, completion, cached int }

// counts returns the counts that can be, and reports what is wrong with the
// others. All are documented for a normal end.
func (r *RequestSpan) counts(o *Outcome, normal bool) counts {
	if normal && (o.PromptTokens == nil || o.CachedTokens == nil || o.CompletionTokens == nil && !r.embedding) {
		r.engine.report(misuse(misuseNoCount, "request %q ended normally without all of its token counts, which are documented for it; what is unknown is left out", r.rid))
	}
	return counts{
		prompt:     r.count("PromptTokens", o.PromptTokens),
		completion: r.count("CompletionTokens", o.CompletionTokens),
		cached:     r.count("CachedTokens", o.CachedTokens),
	}
}

func (r *RequestSpan) count(field string, n *int) int {
	switch {
	case n == nil:
		return unknownCount
	case *n < 0:
		r.engine.report(misuse(misuseNegativeCount, "request %q ended with an Outcome.%s of %d, want 0 or more; it is left out", r.rid, field, *n))
		return unknownCount
	}
	return *n
}

// attributes are those of a request that ended normally at end, the zero time if
// that is not known, after e2e, which is less than 0 if that cannot be told.
func (r *RequestSpan) attributes(o *Outcome, n counts, e2e time.Duration, end time.Time) []attribute.KeyValue {
	a := append(make([]attribute.KeyValue, 0, 16),
		semconv.GenAIRequestID(r.rid),
		semconv.GenAIResponseFinishReasonsJSON(reasonsJSON(o.FinishReasons)))
	if r.engine.model != "" {
		a = append(a, semconv.GenAIResponseModel(r.engine.model))
	} else {
		r.engine.report(misuse(misuseNoModel, "EngineConfig.Model is empty, so request %q ended normally without gen_ai.response.model, which is documented for it", r.rid))
	}
	if n.prompt >= 0 {
		a = append(a, semconv.GenAIUsagePromptTokens(n.prompt))
	}
	if n.completion >= 0 && !r.embedding {
		a = append(a, semconv.GenAIUsageCompletionTokens(n.completion))
	}
	if n.cached >= 0 {
		a = append(a, semconv.GenAIUsageCachedTokens(n.cached))
	}
	if o.Temperature != nil {
		a = append(a, semconv.GenAIRequestTemperature(*o.Temperature))
	}
	if o.TopP != nil {
		a = append(a, semconv.GenAIRequestTopP(*o.TopP))
	}
	if o.TopK != nil {
		a = append(a, semconv.GenAIRequestTopKInt(*o.TopK))
	}
	if o.N != nil {
		a = append(a, semconv.GenAIRequestN(*o.N))
	}
	if o.MaxTokens != nil {
		a = append(a, semconv.GenAIRequestMaxTokens(*o.MaxTokens))
	}
	if e2e >= 0 {
		a = append(a, semconv.GenAILatencyE2ESeconds(e2e))
	}
	a = r.appendLatency(a, "the start to the first token", r.start, r.firstToken, semconv.GenAILatencyTimeToFirstTokenSeconds)
	a = r.appendLatency(a, "the end of dispatch to the first token", r.dispatched, r.firstToken, semconv.GenAILatencyTimeInModelPrefillSeconds)
	a = r.appendLatency(a, "the first token to the end", r.firstToken, end, semconv.GenAILatencyTimeInModelDecodeSeconds)
	a = r.appendLatency(a, "the end of dispatch to the end", r.dispatched, end, semconv.GenAILatencyTimeInModelInferenceSeconds)
	return a
}

// reasonsJSON is the form that finish reasons have on a request span.
func reasonsJSON(reasons []string) string {
	const most = 128
	if len(reasons) == 0 {
		return "[]"
	}
	kept := make([]string, min(len(reasons), most))
	for i := range kept {
		kept[i] = boundedtext.Cut(reasons[i], boundedtext.MaxName)
	}
	var text strings.Builder
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if err := e.Encode(kept); err != nil { // strings always have a JSON form
		return "[]"
	}
	return strings.TrimSuffix(text.String(), "\n")
}
