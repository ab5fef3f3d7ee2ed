package genai

import (
	"context"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/log"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/infertel/infertel-go/internal/boundedtext"
	"github.com/infertel/infertel-go/internal/reportonce"
	"github.com/infertel/infertel-go/internal/version"
	"github.com/infertel/infertel-go/semconv"
)

// ScopeName is the name of the instrumentation scope.
const ScopeName = "github.com/infertel/infertel-go/genai"

// Version is the version of the instrumentation scope.
const Version = version.Version

// Instrumentation makes entry spans, token measurements and log events. It is
// safe for concurrent use; a nil *Instrumentation emits nothing. Make it with
// [New], once per process and engine.
type Instrumentation struct {
	config
	tracer        trace.Tracer
	logger        log.Logger
	tokens        *tokenCounter
	content       ContentMode
	contentLength int
	misuse        reportonce.Reporter
	unnamed       *model // of requests whose model is not known yet
}

// New returns an [Instrumentation]. It reads the environment variables of the
// content mode; one with a value that is not understood is reported to
// [otel.Handle] and taken for its default. It returns an error for an option
// with a value out of range, naming each.
func New(opts ...Option) (*Instrumentation, error) {
	c, err := newConfig(opts)
	if err != nil {
		return nil, err
	}
	i := &Instrumentation{config: c}
	i.tracer = c.tracerProvider.Tracer(ScopeName, trace.WithInstrumentationVersion(Version))
	i.logger = c.loggerProvider.Logger(ScopeName, log.WithInstrumentationVersion(Version))
	meter := c.meterProvider.Meter(ScopeName, metric.WithInstrumentationVersion(Version))
	if i.tokens, err = newTokenCounter(meter, c.engine, c.modelLimit); err != nil {
		return nil, err
	}

	if c.content != nil {
		i.content = *c.content
	} else {
		var errs []error
		i.content, errs = contentFromEnv()
		for _, err := range errs {
			otel.Handle(err)
		}
	}
	if c.contentLength != nil {
		i.contentLength = *c.contentLength
	} else {
		i.contentLength, err = contentLengthFromEnv()
		if err != nil {
			otel.Handle(err)
		}
	}
	i.contentLength = min(i.contentLength, maxContentLength)
	i.unnamed = i.tokens.newModel("")
	return i, nil
}

// Propagator returns how trace context enters and leaves the process.
func (i *Instrumentation) Propagator() propagation.TextMapPropagator {
	if i == nil {
		return propagation.NewCompositeTextMapPropagator()
	}
	return i.propagator
}

// ContentMaxLength returns the length in bytes to which each recorded text is
// cut. Longer texts need not be kept.
func (i *Instrumentation) ContentMaxLength() int {
	if i == nil {
		return 0
	}
	return i.contentLength
}

func startOptions(op Operation, model string) []trace.SpanStartOption {
	kind := semconv.GenAISpanKindLLM
	name := semconv.GenAIOperationNameChat
	switch op {
	case OperationTextCompletion:
		name = semconv.GenAIOperationNameTextCompletion
	case OperationEmbeddings:
		kind, name = semconv.GenAISpanKindEmbedding, semconv.GenAIOperationNameEmbeddings
	case OperationRerank:
		kind, name = semconv.GenAISpanKindReranker, semconv.GenAIOperationNameRerank
	}
	attributes := trace.WithAttributes(kind, name)
	if model != "" {
		attributes = trace.WithAttributes(kind, name, semconv.GenAIRequestModel(model))
	}
	return []trace.SpanStartOption{trace.WithSpanKind(trace.SpanKindInternal), attributes}
}

// Start begins the entry span of a request. The context it returns carries the
// span, so that what is sent on with it becomes part of the trace, and the call
// itself (see [CallFromContext]). What is not known yet can be told later with
// [Call.SetRequest]; a sampler sees the span kind, the operation and the model
// given here.
//
// The caller must end the call with [Call.End]. Source: vllm.entry, sglang.entry.
func (i *Instrumentation) Start(ctx context.Context, r Request) (context.Context, *Call) {
	if i == nil {
		return ctx, nil
	}
	if ctx == nil {
		ctx = context.Background()
	}
	if r.Operation > OperationRerank {
		r.Operation = OperationChat
	}
	r.Model = boundedtext.Cut(r.Model, boundedtext.MaxName)
	start := i.spanStart(r.Operation, r.Model)
	opts := start.options
	explicit := !r.StartTime.IsZero()
	if explicit {
		opts = append(opts[:len(opts):len(opts)], trace.WithTimestamp(r.StartTime))
	}
	if i.publicEndpoint {
		if parent := trace.SpanContextFromContext(ctx); parent.IsValid() && parent.IsRemote() {
			opts = append(opts[:len(opts):len(opts)], trace.WithNewRoot(), trace.WithLinks(trace.Link{SpanContext: parent}))
		}
	}
	ctx, span := i.tracer.Start(ctx, start.name, opts...)
	if !explicit {
		// Not before the span's own start, so that no end given later lies before it.
		r.StartTime = time.Now()
	}
	c := &Call{inst: i, span: span, request: r, explicit: explicit, named: r.Model != ""}
	c.recording = c.span.IsRecording()
	c.ctx = scope{ctx, c}
	return &c.ctx, c
}

// spanStart returns how a span starts: made ready for the models that are known,
// else made for this request.
func (i *Instrumentation) spanStart(op Operation, name string) spanStart {
	m := i.unnamed
	if name != "" {
		m = i.tokens.known(name)
	}
	if m == nil {
		return spanStart{spanName(op, name), startOptions(op, name)}
	}
	return m.spans[op]
}

func spanName(op Operation, model string) string {
	if model == "" {
		return op.String()
	}
	return op.String() + " " + model
}

type callKey struct{}

// scope is the context of a call. It is a part of the call, so that it needs no
// allocation of its own.
type scope struct {
	context.Context
	call *Call
}

func (s *scope) Value(key any) any {
	if key == (callKey{}) {
		return s.call
	}
	return s.Context.Value(key)
}

// CallFromContext returns the call that ctx carries, or nil. A client below a
// handler that already observes the request must not observe it again; one that
// makes a request of another operation on the way, such as an embedding, may.
func CallFromContext(ctx context.Context) *Call {
	if ctx == nil {
		return nil
	}
	c, _ := ctx.Value(callKey{}).(*Call)
	return c
}
