package otlp

import (
	"context"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// metricExporter counts the exports that failed. Of its queue it uses the
// counting of exports only, as the reader has none.
type metricExporter struct {
	sdkmetric.Exporter
	*queue
}

func (e *metricExporter) Export(ctx context.Context, rm *metricdata.ResourceMetrics) error {
	if len(rm.ScopeMetrics) == 0 {
		return nil // nothing to send is nothing to lose
	}
	validateMetrics(rm)
	// The reader cancels an export that is under way when it is shut down. It may
	// finish, within its time and until the queue is aborted.
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(context.WithoutCancel(ctx), deadline)
		defer cancel()
	}
	e.export(ctx, 1, func(ctx context.Context) error { return e.Exporter.Export(ctx, rm) })
	return nil
}

func (e *metricExporter) ForceFlush(ctx context.Context) error { return e.Exporter.ForceFlush(ctx) }
func (e *metricExporter) Shutdown(ctx context.Context) error   { return e.Exporter.Shutdown(ctx) }
