package otlp

import (
	"context"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// discard acknowledges all spans, as a collector without a network would.
type discard struct{}

func (discard) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	if a, ok := ctx.Value(ackKey{}).(*ack); ok {
		a.add(len(spans), 0, "")
	}
	return nil
}
func (discard) Shutdown(context.Context) error { return nil }

// keep keeps the last ended span.
type keep struct{ span sdktrace.ReadOnlySpan }

func (*keep) OnStart(context.Context, sdktrace.ReadWriteSpan) {}
func (k *keep) OnEnd(s sdktrace.ReadOnlySpan)                 { k.span = s }
func (*keep) Shutdown(context.Context) error                  { return nil }
func (*keep) ForceFlush(context.Context) error                { return nil }

// endedSpan returns a span as processors get it.
func endedSpan(sampler sdktrace.Sampler) sdktrace.ReadOnlySpan {
	k := &keep{}
	tp := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(k), sdktrace.WithSampler(sampler))
	_, s := tp.Tracer("test").Start(context.Background(), "decode_loop", trace.WithAttributes(
		attribute.Int("i", 1), attribute.Int("batch", 8), attribute.String("p", "decode"), attribute.Float64("f", 1)))
	s.End()
	return k.span
}

// recordOnly records spans that are not sampled.
type recordOnly struct{}

func (recordOnly) Description() string { return "record only" }
func (recordOnly) ShouldSample(sdktrace.SamplingParameters) sdktrace.SamplingResult {
	return sdktrace.SamplingResult{Decision: sdktrace.RecordOnly}
}

// BenchmarkOnEnd compares ending a span with the queue's bookkeeping to the
// SDK's batch processor alone. Both drop what is over their queue.
func BenchmarkOnEnd(b *testing.B) {
	handleErrors(b)
	span, unsampled := endedSpan(sdktrace.AlwaysSample()), endedSpan(recordOnly{})
	for _, bb := range []struct {
		name string
		new  func() sdktrace.SpanProcessor
	}{
		{"sdk", func() sdktrace.SpanProcessor {
			return sdktrace.NewBatchSpanProcessor(discard{}, sdktrace.WithMaxQueueSize(SpanQueueSize), sdktrace.WithMaxExportBatchSize(SpanBatchSize))
		}},
		{"otlp", func() sdktrace.SpanProcessor {
			q := newQueue(&signal{name: "traces", items: "spans"}, SpanQueueSize, QueueBytes, "")
			return newSpanProcessor(q, discard{}, sdktrace.WithMaxExportBatchSize(SpanBatchSize))
		}},
	} {
		run := func(name string, s sdktrace.ReadOnlySpan) {
			b.Run(bb.name+"/"+name, func(b *testing.B) {
				p := bb.new()
				b.ReportAllocs()
				for b.Loop() {
					p.OnEnd(s)
				}
				b.StopTimer()
				_ = p.Shutdown(context.Background())
			})
		}
		run("span", span)
		run("unsampled", unsampled)
		b.Run(bb.name+"/parallel", func(b *testing.B) {
			p := bb.new()
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					p.OnEnd(span)
				}
			})
			b.StopTimer()
			_ = p.Shutdown(context.Background())
		})
	}
}

// BenchmarkSpanWeight is the part of OnEnd that depends on the span.
func BenchmarkSpanWeight(b *testing.B) {
	span := endedSpan(sdktrace.AlwaysSample())
	b.ReportAllocs()
	for b.Loop() {
		spanWeight(span)
	}
}

// OnEnd allocates nothing of its own.
func TestOnEndAllocations(t *testing.T) {
	q := newQueue(&signal{}, 1<<20, QueueBytes, "")
	p := newSpanProcessor(q, discard{})
	defer func() { _ = p.Shutdown(t.Context()) }()
	span := endedSpan(sdktrace.AlwaysSample())
	if n := testing.AllocsPerRun(1000, func() {
		if q.admit(int64(spanWeight(span))) {
			q.release(1, int64(spanWeight(span)))
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
