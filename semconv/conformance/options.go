package conformance

import (
	"slices"

	"go.opentelemetry.io/otel/attribute"

	"github.com/infertel/infertel-go/semconv"
)

// Scopes returns the names of infertel's instrumentation scopes.
func Scopes() []string {
	return []string{scopeGenAI, scopeVLLM, scopeSGLang}
}

// The scopes are spelled out, not imported, because the packages under test
// import this one in their tests.
const (
	scopeGenAI  = "github.com/infertel/infertel-go/genai"
	scopeVLLM   = "github.com/infertel/infertel-go/vllm"
	scopeSGLang = "github.com/infertel/infertel-go/sglang"
)

type config struct {
	traceLevel  *int
	granularity *int
	scopes      []string
	entry       semconv.Source
	nativeNames bool
	allowed     []attribute.Key
	tally       *Tally
}

// Option changes what is judged.
type Option interface{ apply(*config) }

type optionFunc func(*config)

func (f optionFunc) apply(c *config) { f(c) }

// WithTraceLevel says which trace level SGLang's requests had: stages and events
// of a higher level, and at 0 all its native spans, are then violations. Default:
// the level is not judged.
func WithTraceLevel(level int) Option {
	return optionFunc(func(c *config) { c.traceLevel = &level })
}

// WithGranularity says which collection granularity vLLM's engines had: stages
// below 1 and events below 2 are then violations. Default: it is not judged.
func WithGranularity(granularity int) Option {
	return optionFunc(func(c *config) { c.granularity = &granularity })
}

// WithScopes limits what is judged to the scopes named, and judges everything in
// them, whatever its name. Default: see the package documentation.
func WithScopes(names ...string) Option {
	return optionFunc(func(c *config) { c.scopes = append([]string{}, names...) })
}

// WithEntrySource says which entry spans the API layer makes:
// [semconv.SourceVLLMEntry] or [semconv.SourceSGLangEntry]. Default, also for
// another source: it is told from the attributes that only one of the two has and
// from the engine spans below; a span with neither counts as vLLM's. Embeddings and
// rerank are documented for vLLM only and keep that form.
func WithEntrySource(s semconv.Source) Option {
	return optionFunc(func(c *config) { c.entry = s })
}

// WithNativeNames accepts the names that SGLang itself gives request and thread
// spans, to the byte, such as " Req 5f2c9a7b", in place of the documented ones.
func WithNativeNames() Option {
	return optionFunc(func(c *config) { c.nativeNames = true })
}

// WithAllowedAttributes accepts attributes beyond the documented ones on any
// span, for those who add their own on purpose or opt in to error.type.
func WithAllowedAttributes(keys ...attribute.Key) Option {
	return optionFunc(func(c *config) { c.allowed = append(c.allowed, keys...) })
}

// Tally counts what was given and what of it was judged. Nothing judged means
// nothing found, so a program that reports should say how much it was.
type Tally struct {
	// Spans is the number of spans, SpansJudged of those that were judged.
	Spans, SpansJudged int
	// Metrics is the number of metrics, MetricsJudged of those that were judged.
	Metrics, MetricsJudged int
	// Logs is the number of log events, LogsJudged of those that were judged.
	Logs, LogsJudged int
}

// WithTally adds to t what is given and what of it is judged. A metric counts
// once for each collection.
func WithTally(t *Tally) Option {
	return optionFunc(func(c *config) { c.tally = t })
}

func newConfig(opts []Option) config {
	var c config
	for _, o := range opts {
		if o != nil {
			o.apply(&c)
		}
	}
	if c.tally == nil {
		c.tally = &Tally{}
	}
	return c
}

// ours reports whether everything in the scope is judged.
func (c *config) ours(scope string) bool {
	if c.scopes != nil {
		return slices.Contains(c.scopes, scope)
	}
	return scope == scopeGenAI || scope == scopeVLLM || scope == scopeSGLang
}

// foreign reports whether nothing in the scope is judged.
func (c *config) foreign(scope string) bool { return c.scopes != nil && !c.ours(scope) }
