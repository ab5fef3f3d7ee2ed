package vllm

import (
	"context"
	"errors"
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
	var errs []error
	for i := range r.gauges {
		if err := r.gauges[i].check(r.name); err != nil {
			errs = append(errs, err)
		}
	}
	for i := range r.counters {
		in := &r.counters[i]
		if err := in.check(r.name); err != nil {
			errs = append(errs, err)
		} else if int64(in.count) > maxCount {
			errs = append(errs, fmt.Errorf("vllm: %s.%s is %d, want at most %d", r.name, in.field, in.count, int64(maxCount)))
		}
	}
	return errors.Join(errs...)
}

// gauge is the last reading of a gauge that was reported.
type gauge struct {
	asInt   metric.Int64Observable   // one of the two
	asFloat metric.Float64Observable // one of the two
	last    reading
}

// scheduler turns reports into measurements. The gauges are observable: one that
// is set would repeat its last value after the engine is gone.
type scheduler struct {
	dims     dimensions
	counters [counters]*counter // nil where a counter has no instrument
	tokens   *counter           // of prompt and generation together, or nil

	registration metric.Registration
	mu           sync.Mutex
	gauges       []gauge
	last         [counters]total
}

// total is the last cumulative reading of an engine's counter.
type total struct {
	value int
	known bool
}

// init registers the gauges, which report nothing until there is a reading.
func (s *scheduler) init(meter metric.Meter, dims dimensions, ints []semconv.Int64Gauge, floats []semconv.Float64Gauge) error {
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
	s.registration, err = meter.RegisterCallback(s.collect, observables...)
	return err
}

func (s *scheduler) collect(_ context.Context, o metric.Observer) error {
	var readings [gauges]reading
	s.mu.Lock()
	for i := range s.gauges {
		readings[i] = s.gauges[i].last
	}
	s.mu.Unlock()
	for i := range s.gauges {
		switch g, r := &s.gauges[i], &readings[i]; {
		case !r.set:
		case g.asInt != nil:
			o.ObserveInt64(g.asInt, int64(r.count), s.dims.observe...)
		default:
			o.ObserveFloat64(g.asFloat, r.ratio, s.dims.observe...)
		}
	}
	return nil
}

// set takes the readings of the gauges. The caller holds mu.
func (s *scheduler) set(r *report) {
	for i := range s.gauges {
		if in := &r.gauges[i]; in.set {
			s.gauges[i].last = *in
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
			s.add(ctx, i, int64(in.count))
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
			s.add(ctx, i, int64(n))
		}
	}
	return nil
}

func (s *scheduler) add(ctx context.Context, counter int, n int64) {
	if c := s.counters[counter]; c != nil {
		c.add(ctx, n, s.dims.add)
	}
	if s.tokens != nil && (counter == counterPrompt || counter == counterGeneration) {
		s.tokens.add(ctx, n, s.dims.add)
	}
}

// close takes the gauges away. It may be called again.
func (s *scheduler) close() error {
	if s.registration == nil {
		return nil
	}
	return s.registration.Unregister()
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

func (e *engine) close() error {
	if e.closed.Swap(true) {
		return nil
	}
	return e.scheduler.close()
}
