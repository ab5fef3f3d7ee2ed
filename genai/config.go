package genai

import (
	"context"
	"errors"
	"fmt"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/log"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/infertel/infertel-go/internal/w3c"
)

const (
	defaultStreamInterval = 1
	defaultModelLimit     = 64
)

type config struct {
	tracerProvider trace.TracerProvider
	meterProvider  metric.MeterProvider
	loggerProvider log.LoggerProvider
	propagator     propagation.TextMapPropagator

	engine         Engine
	content        *ContentMode
	contentLength  *int
	streamInterval int
	modelLimit     int
	publicEndpoint bool
	errorType      bool
	noArguments    bool
	onEnd          func(context.Context, Finished)
}

// Option configures an [Instrumentation].
type Option interface{ apply(*config) }

type optionFunc func(*config)

func (f optionFunc) apply(c *config) { f(c) }

// WithTracerProvider sets the provider of spans. Default: the global one.
func WithTracerProvider(p trace.TracerProvider) Option {
	return optionFunc(func(c *config) { c.tracerProvider = p })
}

// WithMeterProvider sets the provider of metrics. Default: the global one.
func WithMeterProvider(p metric.MeterProvider) Option {
	return optionFunc(func(c *config) { c.meterProvider = p })
}

// WithLoggerProvider sets the provider of log events. Default: the global one.
func WithLoggerProvider(p log.LoggerProvider) Option {
	return optionFunc(func(c *config) { c.loggerProvider = p })
}

// WithPropagators sets how trace context enters and leaves the process. Default:
// the global propagator if one was set by the time of [New], else the W3C
// headers traceparent, tracestate and baggage.
func WithPropagators(p propagation.TextMapPropagator) Option {
	return optionFunc(func(c *config) { c.propagator = p })
}

// WithEngine names the engine that serves the requests. Default: [EngineVLLM].
func WithEngine(e Engine) Option {
	return optionFunc(func(c *config) { c.engine = e })
}

// WithContent says where the messages of requests and answers are recorded. It
// beats the environment variables [EnvCaptureContent] and [EnvContentStrategy].
func WithContent(m ContentMode) Option {
	return optionFunc(func(c *config) { c.content = &m })
}

// WithContentMaxLength sets the length in bytes to which each recorded text is
// cut, at the boundary of a character. It beats the environment variable
// [EnvContentMaxLength]. Default: 8192. At most 1 MiB is kept.
func WithContentMaxLength(bytes int) Option {
	return optionFunc(func(c *config) { c.contentLength = &bytes })
}

// WithStreamInterval tells how many tokens SGLang puts into one streamed
// increment (its option --stream-interval), for the estimate
// gen_ai.response.tokens_streamed. Default: 1.
func WithStreamInterval(tokens int) Option {
	return optionFunc(func(c *config) { c.streamInterval = tokens })
}

// WithModelLimit bounds how many model names genai_llm_usage_tokens tells apart.
// Clients choose the name, so without a bound each invented name would make new
// series for ever. A name is admitted when a request for it succeeds; the names
// beyond the bound are counted together as [OtherModel]. Default: 64.
// Source: vllm.token, sglang.token.
func WithModelLimit(names int) Option {
	return optionFunc(func(c *config) { c.modelLimit = names })
}

// WithPublicEndpoint says that callers are not trusted: a remote parent does not
// become the parent of the entry span, which starts a trace of its own and links
// to it.
func WithPublicEndpoint() Option {
	return optionFunc(func(c *config) { c.publicEndpoint = true })
}

// WithErrorType adds the OpenTelemetry attribute error.type to the spans of
// failed calls. ARMS does not document it, so it is off by default.
func WithErrorType() Option {
	return optionFunc(func(c *config) { c.errorType = true })
}

// WithoutToolCallArguments leaves out the arguments of tool calls, which are
// otherwise recorded on the chat streams of SGLang, whatever the content mode
// (gen_ai.completions.{i}.tool_calls.{j}.arguments).
func WithoutToolCallArguments() Option {
	return optionFunc(func(c *config) { c.noArguments = true })
}

// WithOnEnd sets a function that is told of every call when it has ended,
// whether its span was sampled or not, for hosts that feed more from it. It is
// called on the goroutine that ended the call and should return quickly.
func WithOnEnd(f func(context.Context, Finished)) Option {
	return optionFunc(func(c *config) { c.onEnd = f })
}

func newConfig(opts []Option) (config, error) {
	c := config{streamInterval: defaultStreamInterval, modelLimit: defaultModelLimit}
	for _, o := range opts {
		if o != nil {
			o.apply(&c)
		}
	}
	if c.tracerProvider == nil {
		c.tracerProvider = otel.GetTracerProvider()
	}
	if c.meterProvider == nil {
		c.meterProvider = otel.GetMeterProvider()
	}
	if c.loggerProvider == nil {
		c.loggerProvider = otel.GetLoggerProvider()
	}
	if c.propagator == nil {
		c.propagator = otel.GetTextMapPropagator()
		// Without a propagator the trace would silently break in two here.
		if len(c.propagator.Fields()) == 0 {
			c.propagator = w3c.Propagator()
		}
	}
	var errs []error
	if c.engine > EngineSGLang {
		errs = append(errs, fmt.Errorf("genai: WithEngine is %d, want EngineVLLM or EngineSGLang", c.engine))
	}
	if c.content != nil && *c.content > ContentSpanAndEvent {
		errs = append(errs, fmt.Errorf("genai: WithContent is %d, want ContentNone, ContentSpan, ContentEvent or ContentSpanAndEvent", *c.content))
	}
	if c.contentLength != nil && *c.contentLength < 0 {
		errs = append(errs, fmt.Errorf("genai: WithContentMaxLength is %d bytes, want 0 or more", *c.contentLength))
	}
	if c.streamInterval < 1 {
		errs = append(errs, fmt.Errorf("genai: WithStreamInterval is %d tokens, want 1 or more", c.streamInterval))
	}
	if c.modelLimit < 0 {
		errs = append(errs, fmt.Errorf("genai: WithModelLimit is %d names, want 0 or more", c.modelLimit))
	}
	return c, errors.Join(errs...)
}
