package main

import (
	"context"
	"io"

	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/infertel/infertel-go/genai/otlp"
)

// telemetry is where the telemetry goes.
type telemetry interface {
	TracerProvider() trace.TracerProvider
	MeterProvider() metric.MeterProvider
	// Close sends everything and returns an error if something was lost.
	Close(context.Context) error
}

type exported struct{ *otlp.Providers }

func (e exported) Close(ctx context.Context) error { return e.Shutdown(ctx) }

func startTelemetry(ctx context.Context, _ io.Writer) (telemetry, error) {
	p, err := otlp.Setup(ctx, otlp.WithServiceName("engineshim"))
	if err != nil {
		return nil, err
	}
	return exported{p}, nil
}
