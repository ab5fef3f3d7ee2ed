package otlp

import (
	"context"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// spanProcessor is the batch processor between the two sides of a queue.
type spanProcessor struct {
	*queue
	batch sdktrace.SpanProcessor
}

func newSpanProcessor(q *queue, e sdktrace.SpanExporter, opts ...sdktrace.BatchSpanProcessorOption) *spanProcessor {
	// One place more than are admitted, for the mark of a flush.
	opts = append(opts, sdktrace.WithMaxQueueSize(int(q.maxItems)+1))
	return &spanProcessor{q, sdktrace.NewBatchSpanProcessor(&spanExporter{q, &SplitSpanExporter{Exporter: e}}, opts...)}
}

func (p *spanProcessor) OnStart(_ context.Context, s sdktrace.ReadWriteSpan) {
	if s.SpanContext().IsSampled() {
		p.open.Add(1)
	}
}

func (p *spanProcessor) OnEnd(s sdktrace.ReadOnlySpan) {
	// The batch processor does not take unsampled spans. After Shutdown a span
	// counts as lost because it is still open.
	if !s.SpanContext().IsSampled() || p.closed.Load() {
		return
	}
	p.open.Add(-1)
	if p.admit(int64(spanWeight(s))) {
		p.batch.OnEnd(s)
	}
}

func (p *spanProcessor) ForceFlush(ctx context.Context) error {
	return p.flush(ctx, p.batch.ForceFlush)
}

func (p *spanProcessor) Shutdown(ctx context.Context) error {
	// The processor itself gets no deadline, so that it returns when all is done.
	return p.shutdown(ctx, func() error { return p.batch.Shutdown(context.WithoutCancel(ctx)) })
}

type spanExporter struct {
	*queue
	next sdktrace.SpanExporter
}

func (e *spanExporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	bytes := 0
	for _, s := range spans {
		bytes += spanWeight(s)
	}
	e.export(ctx, len(spans), func(ctx context.Context) error { return e.next.ExportSpans(ctx, spans) })
	e.release(len(spans), int64(bytes))
	return nil
}

func (e *spanExporter) Shutdown(ctx context.Context) error { return e.next.Shutdown(ctx) }
