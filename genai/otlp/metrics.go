package otlp

import (
	"context"

	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// metricExporter counts the messages that failed. Of its queue it uses the
// counting only, as the reader has none.
type metricExporter struct {
	*SplitMetricExporter
	*queue
}

func (e *metricExporter) Export(ctx context.Context, rm *metricdata.ResourceMetrics) error {
	if len(rm.ScopeMetrics) == 0 {
		return nil // nothing to send is nothing to lose
	}
	// The reader cancels an export that is under way when it is shut down. It may
	// finish, within its time and until the queue is aborted.
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(context.WithoutCancel(ctx), deadline)
		defer cancel()
	}
	messages := e.messages(rm)
	e.export(ctx, len(messages), func(ctx context.Context) error { return e.send(ctx, messages) })
	return nil
}

func (e *metricExporter) ForceFlush(ctx context.Context) error {
	return e.SplitMetricExporter.ForceFlush(ctx)
}

func (e *metricExporter) Shutdown(ctx context.Context) error {
	return e.SplitMetricExporter.Shutdown(ctx)
}
