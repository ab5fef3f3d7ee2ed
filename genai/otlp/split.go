package otlp

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel/sdk/instrumentation"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

var errNoExporter = errors.New("otlp: nothing exported: the Exporter field is nil")

// SplitSpanExporter passes spans on to an OTLP exporter in messages that a
// collector accepts. Use it with a provider of your own; [Setup] has it built in.
//
//	exporter, err := otlptracegrpc.New(ctx)
//	...
//	sdktrace.WithBatcher(&otlp.SplitSpanExporter{Exporter: exporter},
//		sdktrace.WithMaxQueueSize(otlp.SpanQueueSize),
//		sdktrace.WithMaxExportBatchSize(otlp.SpanBatchSize))
//
// It is needed when spans carry many events: 512 spans of 128 events are 8 MiB,
// a collector accepts 4 MiB unless told otherwise, and the exporter neither
// splits a batch nor tries it again. It also replaces invalid UTF-8 in names,
// attributes and status by U+FFFD, because protobuf refuses a whole message for
// one such string.
type SplitSpanExporter struct {
	// Exporter sends the messages.
	Exporter sdktrace.SpanExporter
	// MaxBytes is the largest message sent, in bytes of protobuf before
	// compression. Zero or less means [MaxMessageBytes].
	MaxBytes int
}

var _ sdktrace.SpanExporter = (*SplitSpanExporter)(nil)

// ExportSpans exports spans in as many messages as needed. A span that is over
// the limit alone is sent alone. When a message fails the rest is still sent,
// until ctx ends; the errors are joined.
func (e *SplitSpanExporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	if e.Exporter == nil {
		return errNoExporter
	}
	p := pieces{max: e.MaxBytes}
	spans = validSpans(spans)
	return split(ctx, &p, spans, func(i int) bool {
		return p.fits(spanSize(spans[i]), spans[i].Resource(), spans[i].InstrumentationScope())
	}, e.Exporter.ExportSpans)
}

// Shutdown shuts the exporter down.
func (e *SplitSpanExporter) Shutdown(ctx context.Context) error {
	if e.Exporter == nil {
		return nil
	}
	return e.Exporter.Shutdown(ctx)
}

// SplitLogExporter is what [SplitSpanExporter] is, for log records: it matters when
// events carry prompts and answers.
type SplitLogExporter struct {
	// Exporter sends the messages.
	Exporter sdklog.Exporter
	// MaxBytes is the largest message sent, in bytes of protobuf before
	// compression. Zero or less means [MaxMessageBytes].
	MaxBytes int
}

var _ sdklog.Exporter = (*SplitLogExporter)(nil)

// Export exports records in as many messages as needed. A record that is over
// the limit alone is sent alone. When a message fails the rest is still sent,
// until ctx ends; the errors are joined.
func (e *SplitLogExporter) Export(ctx context.Context, records []sdklog.Record) error {
	if e.Exporter == nil {
		return errNoExporter
	}
	p := pieces{max: e.MaxBytes}
	records = validRecords(records)
	return split(ctx, &p, records, func(i int) bool {
		return p.fits(recordSize(&records[i]), records[i].Resource(), records[i].InstrumentationScope())
	}, e.Exporter.Export)
}

// ForceFlush flushes the exporter.
func (e *SplitLogExporter) ForceFlush(ctx context.Context) error {
	if e.Exporter == nil {
		return nil
	}
	return e.Exporter.ForceFlush(ctx)
}

// Shutdown shuts the exporter down.
func (e *SplitLogExporter) Shutdown(ctx context.Context) error {
	if e.Exporter == nil {
		return nil
	}
	return e.Exporter.Shutdown(ctx)
}

// split sends items in runs. fits says of each in turn whether it still fits
// into the run.
func split[T any](ctx context.Context, p *pieces, items []T, fits func(i int) bool, send func(context.Context, []T) error) error {
	var errs []error
	start := 0
	for i := range items {
		if fits(i) || i == start {
			continue
		}
		errs = append(errs, send(ctx, items[start:i]))
		if ctx.Err() != nil {
			return errors.Join(append(errs, ctx.Err())...)
		}
		start = i
		p.reset()
		fits(i)
	}
	if start < len(items) {
		errs = append(errs, send(ctx, items[start:]))
	}
	return errors.Join(errs...)
}

// pieces adds up the size of a message.
type pieces struct {
	max  int
	size int
	last origin
	seen map[origin]struct{}
}

type origin struct {
	resource *resource.Resource
	scope    instrumentation.Scope
}

// fits adds an item of n bytes and reports whether the message is still within
// the limit.
func (p *pieces) fits(n int, r *resource.Resource, s instrumentation.Scope) bool {
	p.size += n
	// Items are grouped by origin on the wire, so each counts once a message.
	if o := (origin{r, s}); p.seen == nil || o != p.last {
		if p.seen == nil {
			p.seen = make(map[origin]struct{}, 1)
		}
		if _, ok := p.seen[o]; !ok {
			p.seen[o] = struct{}{}
			p.size += originSize(r, s)
		}
		p.last = o
	}
	limit := p.max
	if limit <= 0 {
		limit = MaxMessageBytes
	}
	return p.size <= limit
}

func (p *pieces) reset() { p.size, p.seen, p.last = 0, nil, origin{} }
