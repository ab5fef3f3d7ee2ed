// Package sdktest gives tests the OpenTelemetry SDK, exporting over OTLP/gRPC
// to a receiver in the same process: what a test looks at has been on the wire.
package sdktest

import (
	"context"
	"testing"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/exporters/otlp/otlplog/otlploggrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetricgrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/infertel/infertel-go/internal/otlpreceiver/otlptest"
)

// Bed holds three providers and the receiver they export to.
type Bed struct {
	Receiver *otlptest.Receiver
	Traces   *sdktrace.TracerProvider
	Metrics  *sdkmetric.MeterProvider
	Logs     *sdklog.LoggerProvider
	t        testing.TB
}

// New starts a receiver and providers that export to it, and stops them when
// the test ends. opts add to the tracer provider.
func New(t testing.TB, opts ...sdktrace.TracerProviderOption) *Bed {
	t.Helper()
	ctx := context.Background()
	b := &Bed{Receiver: otlptest.New(t), t: t}
	addr := b.Receiver.Addr()
	spans, err := otlptracegrpc.New(ctx, otlptracegrpc.WithInsecure(), otlptracegrpc.WithEndpoint(addr))
	b.check(err)
	metrics, err := otlpmetricgrpc.New(ctx, otlpmetricgrpc.WithInsecure(), otlpmetricgrpc.WithEndpoint(addr))
	b.check(err)
	logs, err := otlploggrpc.New(ctx, otlploggrpc.WithInsecure(), otlploggrpc.WithEndpoint(addr))
	b.check(err)
	b.Traces = sdktrace.NewTracerProvider(append([]sdktrace.TracerProviderOption{
		sdktrace.WithBatcher(spans, sdktrace.WithMaxQueueSize(1<<16)),
	}, opts...)...)
	b.Metrics = sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewPeriodicReader(metrics, sdkmetric.WithInterval(time.Hour))))
	b.Logs = sdklog.NewLoggerProvider(sdklog.WithProcessor(sdklog.NewBatchProcessor(logs)))
	t.Cleanup(func() {
		_ = b.Traces.Shutdown(ctx)
		_ = b.Metrics.Shutdown(ctx)
		_ = b.Logs.Shutdown(ctx)
	})
	return b
}

// Flush sends everything that was recorded so far to the receiver.
func (b *Bed) Flush() {
	b.t.Helper()
	ctx := context.Background()
	b.check(b.Traces.ForceFlush(ctx))
	b.check(b.Metrics.ForceFlush(ctx))
	b.check(b.Logs.ForceFlush(ctx))
}

func (b *Bed) check(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

// Errors collects what is reported to otel.Handle while the test runs.
type Errors struct{ c chan error }

// HandleErrors takes over the global error handler for the rest of the test.
func HandleErrors(t testing.TB) *Errors {
	e := &Errors{make(chan error, 1000)}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) {
		select {
		case e.c <- err:
		default:
		}
	}))
	t.Cleanup(func() { otel.SetErrorHandler(otel.ErrorHandlerFunc(func(error) {})) })
	return e
}

// Take returns what was reported since the last call.
func (e *Errors) Take() []error {
	var out []error
	for {
		select {
		case err := <-e.c:
			out = append(out, err)
		default:
			return out
		}
	}
}
