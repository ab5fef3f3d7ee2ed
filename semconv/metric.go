package semconv

import (
	"slices"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// Int64Counter describes a counter of integers.
type Int64Counter struct{ name, unit, description string }

// Name returns the instrument's name, exactly as documented.
func (d Int64Counter) Name() string { return d.name }

// Unit returns the instrument's UCUM unit.
func (d Int64Counter) Unit() string { return d.unit }

// Description returns the instrument's description.
func (d Int64Counter) Description() string { return d.description }

// New returns the counter of m. Options in opts give way to the documented unit
// and description.
func (d Int64Counter) New(m metric.Meter, opts ...metric.Int64CounterOption) (metric.Int64Counter, error) {
	return m.Int64Counter(d.name, append(slices.Clip(opts), metric.WithUnit(d.unit), metric.WithDescription(d.description))...)
}

// Float64Counter describes a counter of floating-point numbers.
type Float64Counter struct{ name, unit, description string }

// Name returns the instrument's name, exactly as documented.
func (d Float64Counter) Name() string { return d.name }

// Unit returns the instrument's UCUM unit.
func (d Float64Counter) Unit() string { return d.unit }

// Description returns the instrument's description.
func (d Float64Counter) Description() string { return d.description }

// New returns the counter of m. Options in opts give way to the documented unit
// and description.
func (d Float64Counter) New(m metric.Meter, opts ...metric.Float64CounterOption) (metric.Float64Counter, error) {
	return m.Float64Counter(d.name, append(slices.Clip(opts), metric.WithUnit(d.unit), metric.WithDescription(d.description))...)
}

// Int64Gauge describes a gauge of integers.
type Int64Gauge struct{ name, unit, description string }

// Name returns the instrument's name, exactly as documented.
func (d Int64Gauge) Name() string { return d.name }

// Unit returns the instrument's UCUM unit.
func (d Int64Gauge) Unit() string { return d.unit }

// Description returns the instrument's description.
func (d Int64Gauge) Description() string { return d.description }

// New returns the gauge of m, recorded to when a value changes.
func (d Int64Gauge) New(m metric.Meter, opts ...metric.Int64GaugeOption) (metric.Int64Gauge, error) {
	return m.Int64Gauge(d.name, append(slices.Clip(opts), metric.WithUnit(d.unit), metric.WithDescription(d.description))...)
}

// NewObservable returns the gauge of m, asked for its value at each collection.
func (d Int64Gauge) NewObservable(m metric.Meter, opts ...metric.Int64ObservableGaugeOption) (metric.Int64ObservableGauge, error) {
	return m.Int64ObservableGauge(d.name, append(slices.Clip(opts), metric.WithUnit(d.unit), metric.WithDescription(d.description))...)
}

// Float64Gauge describes a gauge of floating-point numbers.
type Float64Gauge struct{ name, unit, description string }

// Name returns the instrument's name, exactly as documented.
func (d Float64Gauge) Name() string { return d.name }

// Unit returns the instrument's UCUM unit.
func (d Float64Gauge) Unit() string { return d.unit }

// Description returns the instrument's description.
func (d Float64Gauge) Description() string { return d.description }

// New returns the gauge of m, recorded to when a value changes.
func (d Float64Gauge) New(m metric.Meter, opts ...metric.Float64GaugeOption) (metric.Float64Gauge, error) {
	return m.Float64Gauge(d.name, append(slices.Clip(opts), metric.WithUnit(d.unit), metric.WithDescription(d.description))...)
}

// NewObservable returns the gauge of m, asked for its value at each collection.
func (d Float64Gauge) NewObservable(m metric.Meter, opts ...metric.Float64ObservableGaugeOption) (metric.Float64ObservableGauge, error) {
	return m.Float64ObservableGauge(d.name, append(slices.Clip(opts), metric.WithUnit(d.unit), metric.WithDescription(d.description))...)
}

// FinishedReasonDimensions returns the engine dimensions together with the reason why
// a request finished, as [MetricGenAIVLLMRequestSuccess] has them:
//
//	FinishedReasonDimensions(VLLMEngineV1Dimensions(0, "qwen3-8b"), "stop")
func FinishedReasonDimensions(engine attribute.Set, reason string) attribute.Set {
	return attribute.NewSet(append(engine.ToSlice(), FinishedReason(reason))...)
}
