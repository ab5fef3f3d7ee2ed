package genai

import (
	"context"
	"maps"
	"sync"
	"sync/atomic"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/infertel/infertel-go/internal/boundedtext"
	"github.com/infertel/infertel-go/semconv"
)

// OtherModel stands in the dimension modelName of genai_llm_usage_tokens for
// model names beyond the bound of [WithModelLimit].
// Source: vllm.token, sglang.token.
const OtherModel = "_OTHER"

// tokenCounter is the metric genai_llm_usage_tokens.
type tokenCounter struct {
	counter    metric.Int64Counter
	dimensions func(modelName string, spanKind semconv.SpanKindAttr, usageType semconv.UsageTypeAttr) attribute.Set
	limit      int

	// models holds what is made ready for each model. It is replaced, never
	// changed, so that reading it takes no lock.
	models atomic.Pointer[map[string]*model]
	mu     sync.Mutex
}

// model is what is made ready for the requests for a model.
type model struct {
	// tokens are the dimension sets, each in the form in which the instrument
	// takes it, by span kind and direction.
	tokens [2][2][]metric.AddOption
	// spans are the names of the spans and how they start, by operation.
	spans [OperationRerank + 1]spanStart
}

type spanStart struct {
	name    string
	options []trace.SpanStartOption
}

func (t *tokenCounter) newModel(name string) *model {
	m := &model{}
	for op := range m.spans {
		m.spans[op] = spanStart{spanName(Operation(op), name), startOptions(Operation(op), name)}
	}
	for k, kind := range []semconv.SpanKindAttr{semconv.SpanKindLLM, semconv.SpanKindEmbedding} {
		for d, usage := range []semconv.UsageTypeAttr{semconv.UsageTypeInput, semconv.UsageTypeOutput} {
			m.tokens[k][d] = []metric.AddOption{metric.WithAttributeSet(t.dimensions(name, kind, usage))}
		}
	}
	return m
}

func newTokenCounter(meter metric.Meter, engine Engine, limit int) (*tokenCounter, error) {
	counter, err := semconv.MetricGenAILLMUsageTokens.New(meter)
	if err != nil {
		return nil, err
	}
	t := &tokenCounter{counter: counter, dimensions: semconv.VLLMTokenDimensions, limit: limit}
	if engine == EngineSGLang {
		t.dimensions = semconv.SGLangTokenDimensions
	}
	t.models.Store(&map[string]*model{OtherModel: t.newModel(OtherModel)})
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
	name := r.Model
	if name == "" {
		name = boundedtext.Cut(resp.Model, boundedtext.MaxName)
	}
	kind := 0
	if r.Operation == OperationEmbeddings {
		kind = 1
	}
	m := t.of(name, success)
	if hasInput {
		t.counter.Add(ctx, int64(input), m.tokens[kind][0]...)
	}
	if hasOutput {
		t.counter.Add(ctx, int64(output), m.tokens[kind][1]...)
	}
}

// known returns what is made ready for a model, or nil.
func (t *tokenCounter) known(name string) *model { return (*t.models.Load())[name] }

// of returns the model whose dimensions count. Only a call that succeeded brings
// in a new name, and only within the bound.
func (t *tokenCounter) of(name string, success bool) *model {
	known := *t.models.Load()
	if m := known[name]; m != nil {
		return m
	}
	if !success || len(known) > t.limit {
		return known[OtherModel]
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	known = *t.models.Load()
	if m := known[name]; m != nil {
		return m
	}
	if len(known) > t.limit { // one of them is OtherModel
		return known[OtherModel]
	}
	more := maps.Clone(known)
	more[name] = t.newModel(name)
	t.models.Store(&more)
	return more[name]
}
