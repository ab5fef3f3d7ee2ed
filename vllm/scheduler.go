package vllm

import (
	"context"
	"fmt"
	"sync"

	"go.opentelemetry.io/otel/metric"

	"github.com/infertel/infertel-go/semconv"
)

// reading is one field of a scheduler's report on its way to an instrument.
type reading struct {
	field   string
	count   int     // one of the two
	ratio   float64 // one of the two, from 0 to 1
	isRatio bool
	set     bool
}

func countOf(field string, n *int) reading {
	if n == nil {
		return reading{field: field}
	}
	return reading{field: field, count: *n, set: true}
}

func ratioOf(field string, r *float64) reading {
	if r == nil {
		return reading{field: field}
	}
	return reading{field: field, ratio: *r, isRatio: true, set: true}
}

func (r *reading) check(of string) error {
	switch {
	case !r.set:
	case r.isRatio && !(r.ratio >= 0 && r.ratio <= 1): // so that NaN fails too
		return fmt.Errorf("vllm: %s.%s is %v, want a number from 0 to 1", of, r.field, r.ratio)
	case r.count < 0:
		return fmt.Errorf("vllm: %s.%s is %d, want 0 or more", of, r.field, r.count)
	}
	return nil
}

// The places of the counters in a report, the same for both versions.
const (
	counterIterations = iota
	counterPrompt
	counterGeneration
	counterPreemptions
	counterQueries
	counterHits
	counters
)

// gauges is the number of gauges that a report can have.
const gauges = 5

// report is what the scheduler statistics of both versions come down to.
type report struct {
	name     string // of their type, for messages
	gauges   [gauges]reading
	counters [counters]reading
}

func (r *report) check() error {
	for i := range r.gauges {
		if err := r.gauges[i].check(r.name); err != nil {
			return err
		}
	}
	for i := range r.counters {
		if err := r.counters[i].check(r.name); err != nil {
			return err
		}
	}
	return nil
}

// gauge is the last reading of a gauge.
type gauge struct {
	asInt    metric.Int64Observable   // one of the two
	asFloat  metric.Float64Observable // one of the two
	value    float64
	reported bool
}

// scheduler turns reports into measurements. The gauges are observable: one that
// is set would repeat its last value after the engine is gone.
type scheduler struct {
	dims     dimensions
	counters [counters]metric.Int64Counter // nil where a counter has no instrument
	tokens   metric.Int64Counter           // of prompt and generation together, or nil

	registration metric.Registration
	mu           sync.Mutex
	gauges       []gauge
	observe      func(context.Context) report // at each collection, instead of gauges
	last         [counters]total
}

// total is the last cumulative reading of an engine's counter.
type total struct {
	value int
	known bool
}

// init registers the gauges, which report nothing until there is a reading.
func (s *scheduler) init(meter metric.Meter, dims dimensions, failed func(error), ints []semconv.Int64Gauge, floats []semconv.Float64Gauge) error {
	s.dims = dims
	s.gauges = make([]gauge, 0, len(ints)+len(floats))
	observables := make([]metric.Observable, 0, cap(s.gauges))
	for _, d := range ints {
		g, err := d.NewObservable(meter)
		if err != nil {
			return err
		}
		s.gauges = append(s.gauges, gauge{asInt: g})
		observables = append(observables, g)
	}
	for _, d := range floats {
		g, err := d.NewObservable(meter)
		if err != nil {
			return err
		}
		s.gauges = append(s.gauges, gauge{asFloat: g})
		observables = append(observables, g)
	}
	var err error
	s.registration, err = meter.RegisterCallback(func(ctx context.Context, o metric.Observer) error {
		s.collect(ctx, o, failed)
		return nil
	}, observables...)
	return err
}

func (s *scheduler) collect(ctx context.Context, o metric.Observer, failed func(error)) {
	s.mu.Lock()
	observe := s.observe
	s.mu.Unlock()
	var r report
	if observe != nil {
		r = observe(ctx) // foreign code: no lock is held
		r.counters = [counters]reading{}
		if err := r.check(); err != nil {
			failed(err)
			return
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if observe != nil {
		for i := range s.gauges {
			s.gauges[i].reported = false
		}
		s.set(&r)
	}
	for i := range s.gauges {
		switch g := &s.gauges[i]; {
		case !g.reported:
		case g.asInt != nil:
			o.ObserveInt64(g.asInt, int64(g.value), s.dims.observe...)
		default:
			o.ObserveFloat64(g.asFloat, g.value, s.dims.observe...)
		}
	}
}

// set takes the readings of the gauges. The caller holds mu.
func (s *scheduler) set(r *report) {
	for i := range s.gauges {
		if in := &r.gauges[i]; in.set {
			// One of the two is zero.
			s.gauges[i].value, s.gauges[i].reported = float64(in.count)+in.ratio, true
		}
	}
}

// record takes a report whose counters are increments.
func (s *scheduler) record(ctx context.Context, r *report) error {
	if err := r.check(); err != nil {
		return err
	}
	s.mu.Lock()
	s.set(r)
	s.mu.Unlock()
	for i := range r.counters {
		if in := &r.counters[i]; in.set {
			s.add(ctx, i, in.count)
		}
	}
	return nil
}

// recordTotals takes a report whose counters are cumulative readings.
func (s *scheduler) recordTotals(ctx context.Context, r *report) error {
	if err := r.check(); err != nil {
		return err
	}
	var increments [counters]int
	s.mu.Lock()
	s.set(r)
	for i := range r.counters {
		if !r.counters[i].set {
			continue
		}
		now, last := r.counters[i].count, &s.last[i]
		// The first reading, and one below the last, only say where to count
		// from: what the engine did before it was watched, or since a restart,
		// would be a jump.
		if last.known && now >= last.value {
			increments[i] = now - last.value
		}
		*last = total{now, true}
	}
	s.mu.Unlock()
	for i, n := range increments {
		if r.counters[i].set {
			s.add(ctx, i, n)
		}
	}
	return nil
}

func (s *scheduler) add(ctx context.Context, counter, n int) {
	if c := s.counters[counter]; c != nil {
		c.Add(ctx, int64(n), s.dims.add...)
	}
	if s.tokens != nil && (counter == counterPrompt || counter == counterGeneration) {
		s.tokens.Add(ctx, int64(n), s.dims.add...)
	}
}

// close takes the gauges away. It may be called again.
func (s *scheduler) close() error {
	if s.registration == nil {
		return nil
	}
	return s.registration.Unregister()
}

// EngineIteration is one scheduling iteration of an engine over its whole batch.
// The numbers are 0 or more.
type EngineIteration struct {
	// PromptTokens is the number of tokens that prefill processed.
	PromptTokens int
	// GenerationTokens is the number of tokens generated.
	GenerationTokens int
	// Preemptions is the number of requests preempted.
	Preemptions int
}

func (it *EngineIteration) report() report {
	return report{
		name: "EngineIteration",
		counters: [counters]reading{
			counterIterations:  {field: "Iterations", count: 1, set: true},
			counterPrompt:      countOf("PromptTokens", &it.PromptTokens),
			counterGeneration:  countOf("GenerationTokens", &it.GenerationTokens),
			counterPreemptions: countOf("Preemptions", &it.Preemptions),
		},
	}
}

func (e *engine) record(ctx context.Context, r *report) error {
	if e.closed.Load() {
		return errClosed
	}
	return e.scheduler.record(ctx, r)
}

func (e *engine) recordTotals(ctx context.Context, r *report) error {
	if e.closed.Load() {
		return errClosed
	}
	return e.scheduler.recordTotals(ctx, r)
}

func (e *engine) observe(f func(context.Context) report) {
	e.scheduler.mu.Lock()
	defer e.scheduler.mu.Unlock()
	e.scheduler.observe = f
}

func (e *engine) close() error {
	if e.closed.Swap(true) {
		return nil
	}
	return e.scheduler.close()
}

// refused reports a report that a collection could not use.
func (e *engine) refused(err error) {
	e.misuse.Report(misuseObserved, func() error { return err })
}
