package vllm

import (
	"context"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/infertel/infertel-go/internal/boundedtext"
	"github.com/infertel/infertel-go/semconv"
)

// instruments makes instruments and keeps the first error.
type instruments struct {
	meter metric.Meter
	full  func(name string, n int64) // called when a number does not fit in a counter
	err   error
}

func (m *instruments) note(err error) {
	if m.err == nil {
		m.err = err
	}
}

func (m *instruments) int64(d semconv.Int64Counter) *counter {
	c, err := d.New(m.meter)
	m.note(err)
	return &counter{Int64Counter: c, name: d.Name(), full: m.full}
}

// maxCount is the most that an engine adds to a counter, and a reading of one may
// be. It is what a float64 counts exactly, and far enough from what an int64 holds
// that engines which share a counter do not turn it negative either.
const maxCount = 1 << 53

// counter is a counter that does not overflow.
type counter struct {
	metric.Int64Counter
	name string
	full func(name string, n int64)
	sum  atomic.Int64
}

// add adds a number of 0 or more. One that does not fit is left out: a huge number
// is a sentinel or a mistake, and must not take the place of all that follow.
func (c *counter) add(ctx context.Context, n int64, options []metric.AddOption) {
	for {
		sum := c.sum.Load()
		if n > maxCount-sum {
			c.full(c.name, n)
			return
		}
		if c.sum.CompareAndSwap(sum, sum+n) {
			c.Int64Counter.Add(ctx, n, options...)
			return
		}
	}
}

func (m *instruments) float64(d semconv.Float64Counter) metric.Float64Counter {
	c, err := d.New(m.meter)
	m.note(err)
	return c
}

// dimensions are the dimensions of an engine, each in the form in which an
// instrument takes it, so that measuring allocates nothing.
type dimensions struct {
	set     attribute.Set
	add     []metric.AddOption
	observe []metric.ObserveOption
}

func newDimensions(set attribute.Set) dimensions {
	option := metric.WithAttributeSet(set)
	return dimensions{set, []metric.AddOption{option}, []metric.ObserveOption{option}}
}

// commonCounters are the counters that both versions have.
type commonCounters struct {
	dimensions
	iterations *counter
	success    metric.Int64Counter
	firstToken metric.Float64Counter
	perToken   metric.Float64Counter
	duration   metric.Float64Counter
	reasons    reasons
}

func (c *commonCounters) init(m *instruments, set attribute.Set) {
	c.dimensions = newDimensions(set)
	c.iterations = m.int64(semconv.MetricVLLMIterCount)
	c.success = m.int64(semconv.MetricGenAIVLLMRequestSuccess).Int64Counter // grows by one
	c.firstToken = m.float64(semconv.MetricGenAILLMFirstTokenSeconds)
	c.perToken = m.float64(semconv.MetricGenAIServerTimePerOutputToken)
	c.duration = m.float64(semconv.MetricGenAIServerRequestDuration)
	c.reasons.init(set)
}

// asker is an instrument that is asked whether anything comes of measuring.
type asker interface{ Enabled(context.Context) bool }

// enabled reports whether anything comes of measuring a request. Each instrument
// is asked, since a View may drop any of them.
func (e *engine) enabled(ctx context.Context) bool {
	for _, i := range e.ofRequests {
		if i.Enabled(ctx) {
			return true
		}
	}
	return false
}

// finished counts a finished request. A negative duration is one that is not
// known.
func (c *commonCounters) finished(ctx context.Context, reason FinishReason, ttft, tokens, e2e time.Duration) {
	c.success.Add(ctx, 1, c.reasons.of(reason)...)
	c.seconds(ctx, c.firstToken, ttft)
	c.seconds(ctx, c.perToken, tokens)
	c.seconds(ctx, c.duration, e2e)
}

func (c *commonCounters) seconds(ctx context.Context, counter metric.Float64Counter, d time.Duration) {
	if d >= 0 {
		counter.Add(ctx, d.Seconds(), c.add...)
	}
}

// count adds a number that is not negative.
func (c *commonCounters) count(ctx context.Context, counter *counter, n int) {
	if n >= 0 {
		counter.add(ctx, int64(n), c.add)
	}
}

// unknown stands for a duration that is not known.
const unknown = time.Duration(-1)

const (
	maxReasons = 16 // values of finished_reason
	maxReason  = 64 // bytes of one
)

// reasons holds the dimensions of the success counter by reason. Engines name
// few, but what they name is not ours to know, so the number is bounded.
type reasons struct {
	set     attribute.Set
	mu      sync.Mutex
	options atomic.Pointer[map[FinishReason][]metric.AddOption] // replaced, never changed
}

func (r *reasons) init(set attribute.Set) {
	r.set = set
	m := map[FinishReason][]metric.AddOption{}
	for _, reason := range []FinishReason{FinishReasonStop, FinishReasonLength, FinishReasonAbort, FinishReasonError, FinishReasonOther} {
		m[reason] = r.option(reason)
	}
	r.options.Store(&m)
}

func (r *reasons) option(reason FinishReason) []metric.AddOption {
	return []metric.AddOption{metric.WithAttributeSet(semconv.FinishedReasonDimensions(r.set, string(reason)))}
}

func (r *reasons) of(reason FinishReason) []metric.AddOption {
	have := *r.options.Load()
	if o := have[reason]; o != nil {
		return o
	}
	if reason == "" || len(have) > maxReasons { // FinishReasonOther is one of them
		return have[FinishReasonOther]
	}
	reason = FinishReason(boundedtext.Cut(string(reason), maxReason))
	r.mu.Lock()
	defer r.mu.Unlock()
	have = *r.options.Load()
	if o := have[reason]; o != nil {
		return o
	}
	if len(have) > maxReasons {
		return have[FinishReasonOther]
	}
	more := maps.Clone(have)
	more[reason] = r.option(reason)
	r.options.Store(&more)
	return more[reason]
}
