package main

import (
	"context"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

var (
	sampled   = sdktrace.AlwaysSample()
	unsampled = sdktrace.NeverSample()
)

// spansOf returns a provider whose spans end in a processor that drops them, so
// that only their making counts.
func spansOf(sampler sdktrace.Sampler) *sdktrace.TracerProvider {
	return sdktrace.NewTracerProvider(sdktrace.WithSampler(sampler), sdktrace.WithSpanProcessor(dropping{}))
}

// metrics returns a provider that is never collected.
func metrics() *sdkmetric.MeterProvider {
	return sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewManualReader()))
}

type dropping struct{}

func (dropping) OnStart(context.Context, sdktrace.ReadWriteSpan) {}
func (dropping) OnEnd(sdktrace.ReadOnlySpan)                     {}
func (dropping) Shutdown(context.Context) error                  { return nil }
func (dropping) ForceFlush(context.Context) error                { return nil }

// must is for what fails only by a mistake in this program.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
