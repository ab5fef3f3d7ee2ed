package otlp

import (
	"context"

	sdklog "go.opentelemetry.io/otel/sdk/log"
)

// logProcessor is the batch processor between the two sides of a queue.
type logProcessor struct {
	*queue
	batch sdklog.Processor
}

func newLogProcessor(q *queue, e sdklog.Exporter, opts ...sdklog.BatchProcessorOption) *logProcessor {
	opts = append(opts, sdklog.WithMaxQueueSize(int(q.maxItems)))
	return &logProcessor{q, sdklog.NewBatchProcessor(&logExporter{q, &SplitLogExporter{Exporter: e}}, opts...)}
}

func (p *logProcessor) Enabled(context.Context, sdklog.EnabledParameters) bool {
	return !p.closed.Load()
}

func (p *logProcessor) OnEmit(ctx context.Context, r *sdklog.Record) error {
	if !p.admit(int64(recordSize(r))) {
		return nil
	}
	return p.batch.OnEmit(ctx, r)
}

func (p *logProcessor) ForceFlush(ctx context.Context) error {
	return p.flush(ctx, p.batch.ForceFlush)
}

func (p *logProcessor) Shutdown(ctx context.Context) error {
	// The processor itself gets no deadline, so that it returns when all is done.
	return p.shutdown(ctx, func() error { return p.batch.Shutdown(context.WithoutCancel(ctx)) })
}

type logExporter struct {
	*queue
	next sdklog.Exporter
}

func (e *logExporter) Export(ctx context.Context, records []sdklog.Record) error {
	bytes := 0
	for i := range records {
		bytes += recordSize(&records[i])
	}
	e.export(ctx, len(records), func(ctx context.Context) error { return e.next.Export(ctx, records) })
	e.release(len(records), int64(bytes))
	return nil
}

func (e *logExporter) ForceFlush(ctx context.Context) error { return e.next.ForceFlush(ctx) }
func (e *logExporter) Shutdown(ctx context.Context) error   { return e.next.Shutdown(ctx) }
