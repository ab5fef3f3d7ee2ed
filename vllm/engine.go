package vllm

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/infertel/infertel-go/internal/boundedtext"
	"github.com/infertel/infertel-go/internal/reportonce"
	"github.com/infertel/infertel-go/semconv"
)

const maxDescription = 256 // bytes of a status description

// engine is what engines of both versions have.
type engine struct {
	tracer      trace.Tracer
	meter       metric.Meter
	granularity Granularity
	eventLimit  int // as the SDK understands it: 0 none, negative no limit
	coalesce    bool
	model       string

	common     commonCounters
	ofRequests []asker // the instruments that finished requests feed
	scheduler  scheduler
	misuse     reportonce.Reporter
	scratch    sync.Pool // of *scratch
	logs       sync.Pool // of *eventLog
	longLogs   sync.Pool // of *eventLog, with the memory of a long request
	closed     atomic.Bool
}

// init sets up the engine for the dimensions of its metrics.
func (e *engine) init(c *config, model string, dims attribute.Set) error {
	e.tracer = c.tracerProvider.Tracer(ScopeName, trace.WithInstrumentationVersion(Version))
	e.meter = c.meterProvider.Meter(ScopeName, metric.WithInstrumentationVersion(Version))
	e.coalesce = c.coalesce
	e.model = model
	if c.granularity != nil {
		e.granularity = *c.granularity
	} else {
		var err error
		if e.granularity, err = granularityFromEnv(); err != nil {
			otel.Handle(err)
		}
	}
	if c.eventLimit != nil {
		e.eventLimit = *c.eventLimit
	} else {
		e.eventLimit = eventLimitFromEnv()
	}
	e.scratch.New = func() any { return new(scratch) }
	e.logs.New = func() any { return new(eventLog) }
	m := e.instruments()
	e.common.init(&m, dims)
	e.ofRequests = []asker{e.common.success, e.common.duration, e.common.firstToken, e.common.perToken}
	return m.err
}

// instruments makes instruments of the engine.
func (e *engine) instruments() instruments { return instruments{meter: e.meter, full: e.counterFull} }

// start starts llm_request.
func (e *engine) start(ctx context.Context, at time.Time) (context.Context, trace.Span) {
	s := e.scratch.Get().(*scratch)
	defer e.scratch.Put(s)
	return e.tracer.Start(ctx, semconv.SpanLLMRequest, s.startAt(at)...)
}

// scratch holds what is handed to the SDK, which copies it, so that it is
// allocated once and not for each span.
type scratch struct {
	attrs  []attribute.KeyValue
	starts [1]trace.SpanStartOption
	ends   [1]trace.SpanEndOption
	events [2]trace.EventOption
	texts  []string

	// A stage ends where the next starts, so each option is used twice.
	at     time.Time
	option trace.SpanEventOption
}

func (s *scratch) timestamp(t time.Time) trace.SpanEventOption {
	if s.option == nil || t != s.at {
		s.at, s.option = t, trace.WithTimestamp(t)
	}
	return s.option
}

func (s *scratch) startAt(t time.Time) []trace.SpanStartOption {
	s.starts[0] = s.timestamp(t)
	return s.starts[:]
}

func (s *scratch) endAt(t time.Time) []trace.SpanEndOption {
	s.ends[0] = s.timestamp(t)
	return s.ends[:]
}

// end ends llm_request.
func (e *engine) end(s *scratch, span trace.Span, at time.Time, failure *Error) {
	if failure != nil {
		span.SetStatus(codes.Error, boundedtext.Cut(failure.Description, maxDescription))
	}
	span.End(s.endAt(at)...)
}

// appendSampling appends the optional values of a request.
func appendSampling(a []attribute.KeyValue, r *asked) []attribute.KeyValue {
	if r.temperature.set {
		a = append(a, semconv.GenAIRequestTemperature(r.temperature.value))
	}
	if r.topP.set {
		a = append(a, semconv.GenAIRequestTopP(r.topP.value))
	}
	if r.maxTokens.set {
		a = append(a, semconv.GenAIRequestMaxTokens(r.maxTokens.value))
	}
	if r.n.set {
		a = append(a, semconv.GenAIRequestN(r.n.value))
	}
	return a
}
