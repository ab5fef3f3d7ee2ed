package vllm

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/infertel/infertel-go/internal/version"
)

// ScopeName is the name of the instrumentation scope.
const ScopeName = "github.com/infertel/infertel-go/vllm"

// Version is the version of the instrumentation scope.
const Version = version.Version

// envEventLimit is read as the SDK reads it, since it tells what the SDK does.
const envEventLimit = "OTEL_SPAN_EVENT_COUNT_LIMIT"

const defaultEventLimit = 128

type config struct {
	tracerProvider    trace.TracerProvider
	meterProvider     metric.MeterProvider
	granularity       *Granularity
	eventLimit        *int
	coalesce          bool
	schedulerCounters bool
}

// OptionV1 configures an [EngineV1].
type OptionV1 interface{ apply(*config) }

// Option configures an [EngineV0] or an [EngineV1].
type Option interface {
	OptionV1
	both()
}

type optionV1 func(*config)

func (f optionV1) apply(c *config) { f(c) }

type option struct{ optionV1 }

func (option) both() {}

// WithTracerProvider sets the provider of spans. Default: the global one.
func WithTracerProvider(p trace.TracerProvider) Option {
	return option{func(c *config) { c.tracerProvider = p }}
}

// WithMeterProvider sets the provider of metrics. Default: the global one.
func WithMeterProvider(p metric.MeterProvider) Option {
	return option{func(c *config) { c.meterProvider = p }}
}

// WithGranularity sets how much is recorded of each request. Default: the
// environment variable [EnvGranularity], else [GranularityStages].
func WithGranularity(g Granularity) OptionV1 {
	return optionV1(func(c *config) { c.granularity = &g })
}

// WithEventLimit tells how many events the SDK keeps on a span, for a
// TracerProvider that was built with limits of its own: -1 is no limit, 0 keeps
// none. Default: what the SDK takes from OTEL_SPAN_EVENT_COUNT_LIMIT, else 128.
//
// It changes nothing in the SDK. It is needed to warn when events are dropped and
// to know what [WithEventCoalescing] must fit in.
func WithEventLimit(events int) OptionV1 {
	return optionV1(func(c *config) { c.eventLimit = &events })
}

// WithEventCoalescing merges runs of DECODE events where a request has more
// events than the span keeps, so that all fit and no token is lost: ids, texts
// and log probabilities follow one another, counts are summed, and a merged
// event has the time of its first iteration. Without it each event is added, the
// SDK keeps the newest and counts the others as dropped, which is reported once
// through [otel.Handle].
//
// A merged event has the lists that each of its iterations has, and a count where
// each has one or has tokens to count, so that they tell of the same tokens; so
// iterations that were told with the same fields are merged first. Where they have
// no list in common it has the ids alone of those that have any.
//
// Where the PREFILL, PREEMPTED and WAIT events alone do not fit, the last event
// that does takes the tokens of all that follow. The tokens of one request are
// bounded by about 3 MiB on the wire, since receivers refuse more than 4 MiB by
// default; its events go on without. Both are reported once.
func WithEventCoalescing() OptionV1 {
	return optionV1(func(c *config) { c.coalesce = true })
}

// WithSchedulerCounters says that the token and preemption counters of V1 are
// fed by the scheduler's reports ([SchedulerStatsV1.PromptTokens] and so on) and no
// longer by finished requests, so that they move while requests run and nothing
// counts twice.
func WithSchedulerCounters() OptionV1 {
	return optionV1(func(c *config) { c.schedulerCounters = true })
}

func newConfig(opts []OptionV1) (config, error) {
	var c config
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
	if c.granularity != nil && *c.granularity > GranularityEvents {
		return c, fmt.Errorf("vllm: WithGranularity is %d, want 0, 1 or 2", *c.granularity)
	}
	return c, nil
}

// eventLimitFromEnv reports nothing: the SDK warns of a bad value itself.
func eventLimitFromEnv() int {
	n, err := strconv.Atoi(os.Getenv(envEventLimit))
	if err != nil { // unset, empty or no integer
		return defaultEventLimit
	}
	return n
}

var errClosed = errors.New("vllm: the engine is closed")
