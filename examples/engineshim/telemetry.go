package main

import (
	"context"
	"io"

	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/infertel/infertel-go/examples/internal/session"
)

// telemetry is where the telemetry goes.
type telemetry interface {
	TracerProvider() trace.TracerProvider
	MeterProvider() metric.MeterProvider
	// Flush sends what there is.
	Flush(context.Context) error
	// Close sends everything and returns an error if something was lost.
	Close(context.Context) error
}

// startTelemetry exports to the collector that the environment names, or prints
// to out.
func startTelemetry(ctx context.Context, out io.Writer, live bool) (telemetry, error) {
	return session.Start(ctx, session.Config{Service: "engineshim", Out: out, Live: live, Verbose: true})
}
