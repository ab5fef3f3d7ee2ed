package genai

import (
	"context"
	"maps"
	"sync"
	"sync/atomic"

	"go.opentelemetry.io/otel/metric"

	"github.com/infertel/infertel-go/internal/boundedtext"
	"github.com/infertel/infertel-go/semconv"
)

// OtherModel stands in the dimension modelName for model names beyond the bound
// of [WithModelLimit].
const OtherModel = "_OTHER"

// tokenCounter is the metric genai_llm_usage_tokens.
type tokenCounter struct {
	counter metric.Int64Counter
	limit   int

	// options holds the ready-made dimensions by model. It is replaced, never
	// changed, so that reading it takes no lock.
	options atomic.Pointer[map[string]*tokenOptions]
	mu      sync.Mutex
}

// tokenOptions are the dimension sets of one model, each in the form in which
// the instrument takes it, by span kind and direction.
type tokenOptions [2][2][]metric.AddOption

func newTokenOptions(model string) *tokenOptions {
	var o tokenOptions
	for k, kind := range []semconv.SpanKindAttr{semconv.SpanKindLLM, semconv.SpanKindEmbedding} {
		for d, usage := range []semconv.UsageTypeAttr{semconv.UsageTypeInput, semconv.UsageTypeOutput} {
			set := semconv.VLLMTokenDimensions(model, kind, usage)
			o[k][d] = []metric.AddOption{metric.WithAttributeSet(set)}
		}
	}
	return &o
}

func newTokenCounter(meter metric.Meter, limit int) (*tokenCounter, error) {
	counter, err := semconv.MetricGenAILLMUsageTokens.New(meter)
	if err != nil {
		return nil, err
	}
	t := &tokenCounter{counter: counter, limit: limit}
	t.options.Store(&map[string]*tokenOptions{OtherModel: newTokenOptions(OtherModel)})
	return t, nil
}

// add counts the usage that the server reported; an estimate never gets here,
// and a direction that was not reported makes no data point. Rerank requests
// record none, since RERANKER is not a value of the dimension spanKind.
func (t *tokenCounter) add(ctx context.Context, r *Request, resp *Response, success bool) {
	input, hasInput := count(resp.Usage.InputTokens)
	output, hasOutput := count(resp.Usage.OutputTokens)
	if !hasInput && !hasOutput || r.Operation == OperationRerank || !t.counter.Enabled(ctx) {
		return
	}
	model := r.Model
	if model == "" {
		model = boundedtext.Cut(resp.Model, maxName)
	}
	kind := 0
	if r.Operation == OperationEmbeddings {
		kind = 1
	}
	o := t.of(model, success)
	if hasInput {
		t.counter.Add(ctx, int64(input), o[kind][0]...)
	}
	if hasOutput {
		t.counter.Add(ctx, int64(output), o[kind][1]...)
	}
}

// of returns the dimensions of a model. Only a call that succeeded brings in a
// new name, and only within the bound.
func (t *tokenCounter) of(model string, success bool) *tokenOptions {
	known := *t.options.Load()
	if o := known[model]; o != nil {
		return o
	}
	if !success || len(known) > t.limit {
		return known[OtherModel]
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	known = *t.options.Load()
	if o := known[model]; o != nil {
		return o
	}
	if len(known) > t.limit { // one of them is OtherModel
		return known[OtherModel]
	}
	more := maps.Clone(known)
	more[model] = newTokenOptions(model)
	t.options.Store(&more)
	return more[model]
}
