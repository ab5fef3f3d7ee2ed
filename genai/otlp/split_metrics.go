package otlp

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel/sdk/instrumentation"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// SplitMetricExporter is what [SplitSpanExporter] is, for metrics: it matters when
// there are many series with long attributes, and on machines with many
// processors, as each series carries up to an exemplar for each of them. The
// SDK splits by the number of points only (WithMaxExportBatchSize).
type SplitMetricExporter struct {
	// Exporter sends the messages.
	Exporter sdkmetric.Exporter
	// MaxBytes is the largest message sent, in bytes of protobuf before
	// compression. Zero or less means [MaxMessageBytes].
	MaxBytes int
}

var _ sdkmetric.Exporter = (*SplitMetricExporter)(nil)

// Temporality returns the exporter's temporality.
func (e *SplitMetricExporter) Temporality(k sdkmetric.InstrumentKind) metricdata.Temporality {
	if e.Exporter == nil {
		return sdkmetric.DefaultTemporalitySelector(k)
	}
	return e.Exporter.Temporality(k)
}

// Aggregation returns the exporter's aggregation.
func (e *SplitMetricExporter) Aggregation(k sdkmetric.InstrumentKind) sdkmetric.Aggregation {
	if e.Exporter == nil {
		return sdkmetric.DefaultAggregationSelector(k)
	}
	return e.Exporter.Aggregation(k)
}

// Export exports metrics in as many messages as needed. A data point that is
// over the limit alone is sent alone. When a message fails the rest is still
// sent, until ctx ends; the errors are joined.
func (e *SplitMetricExporter) Export(ctx context.Context, rm *metricdata.ResourceMetrics) error {
	if e.Exporter == nil {
		return errNoExporter
	}
	return e.send(ctx, e.messages(rm))
}

// messages returns the messages that rm is sent in.
func (e *SplitMetricExporter) messages(rm *metricdata.ResourceMetrics) []*metricdata.ResourceMetrics {
	validateMetrics(rm)
	return splitMetrics(rm, e.MaxBytes)
}

func (e *SplitMetricExporter) send(ctx context.Context, messages []*metricdata.ResourceMetrics) error {
	var errs []error
	for i, m := range messages {
		if err := ctx.Err(); i > 0 && err != nil {
			return errors.Join(append(errs, err)...)
		}
		errs = append(errs, e.Exporter.Export(ctx, m))
	}
	return errors.Join(errs...)
}

// ForceFlush flushes the exporter.
func (e *SplitMetricExporter) ForceFlush(ctx context.Context) error {
	if e.Exporter == nil {
		return nil
	}
	return e.Exporter.ForceFlush(ctx)
}

// Shutdown shuts the exporter down.
func (e *SplitMetricExporter) Shutdown(ctx context.Context) error {
	if e.Exporter == nil {
		return nil
	}
	return e.Exporter.Shutdown(ctx)
}

// metricMessages puts data points into messages, in their order and without
// copying them.
type metricMessages struct {
	src  *metricdata.ResourceMetrics
	out  []*metricdata.ResourceMetrics
	last *instrumentation.Scope // of the newest message
	p    pieces
}

// splitMetrics returns rm in messages of at most limit bytes, or of one point.
func splitMetrics(rm *metricdata.ResourceMetrics, limit int) []*metricdata.ResourceMetrics {
	b := metricMessages{src: rm, p: pieces{max: limit}}
	b.next()
	for i := range rm.ScopeMetrics {
		sm := &rm.ScopeMetrics[i]
		for j := range sm.Metrics {
			b.add(&sm.Scope, &sm.Metrics[j])
		}
	}
	return b.out
}

func (b *metricMessages) next() {
	b.out = append(b.out, &metricdata.ResourceMetrics{Resource: b.src.Resource})
	b.last = nil
	b.p.reset()
}

func (b *metricMessages) add(scope *instrumentation.Scope, m *metricdata.Metrics) {
	switch d := m.Data.(type) {
	case metricdata.Gauge[int64]:
		addPoints(b, scope, m, d.DataPoints, pointSize, func(p []metricdata.DataPoint[int64]) metricdata.Aggregation { d.DataPoints = p; return d })
	case metricdata.Gauge[float64]:
		addPoints(b, scope, m, d.DataPoints, pointSize, func(p []metricdata.DataPoint[float64]) metricdata.Aggregation { d.DataPoints = p; return d })
	case metricdata.Sum[int64]:
		addPoints(b, scope, m, d.DataPoints, pointSize, func(p []metricdata.DataPoint[int64]) metricdata.Aggregation { d.DataPoints = p; return d })
	case metricdata.Sum[float64]:
		addPoints(b, scope, m, d.DataPoints, pointSize, func(p []metricdata.DataPoint[float64]) metricdata.Aggregation { d.DataPoints = p; return d })
	case metricdata.Histogram[int64]:
		addPoints(b, scope, m, d.DataPoints, histogramSize, func(p []metricdata.HistogramDataPoint[int64]) metricdata.Aggregation { d.DataPoints = p; return d })
	case metricdata.Histogram[float64]:
		addPoints(b, scope, m, d.DataPoints, histogramSize, func(p []metricdata.HistogramDataPoint[float64]) metricdata.Aggregation { d.DataPoints = p; return d })
	case metricdata.ExponentialHistogram[int64]:
		addPoints(b, scope, m, d.DataPoints, exponentialSize, func(p []metricdata.ExponentialHistogramDataPoint[int64]) metricdata.Aggregation {
			d.DataPoints = p
			return d
		})
	case metricdata.ExponentialHistogram[float64]:
		addPoints(b, scope, m, d.DataPoints, exponentialSize, func(p []metricdata.ExponentialHistogramDataPoint[float64]) metricdata.Aggregation {
			d.DataPoints = p
			return d
		})
	case metricdata.Summary:
		addPoints(b, scope, m, d.DataPoints, summarySize, func(p []metricdata.SummaryDataPoint) metricdata.Aggregation { d.DataPoints = p; return d })
	default: // the exporter says what is wrong with it
		addPoints(b, scope, m, []struct{}(nil), nil, func([]struct{}) metricdata.Aggregation { return m.Data })
	}
}

// addPoints adds the points of a metric, in runs that fit. with makes data of a
// run.
func addPoints[P any](b *metricMessages, scope *instrumentation.Scope, m *metricdata.Metrics, points []P, size func(*P) int, with func([]P) metricdata.Aggregation) {
	fits := func(n int) bool { return b.p.fits(n, b.src.Resource, *scope) }
	header := metricSize(m)
	if !fits(header) && b.last != nil {
		b.next()
		fits(header)
	}
	start := 0
	for i := range points {
		n := size(&points[i])
		if fits(n) || i == start && b.last == nil {
			continue
		}
		if i > start {
			b.put(scope, m, with(points[start:i]))
		}
		b.next()
		start = i
		fits(header + n)
	}
	b.put(scope, m, with(points[start:]))
}

// put adds a metric to the newest message.
func (b *metricMessages) put(scope *instrumentation.Scope, m *metricdata.Metrics, data metricdata.Aggregation) {
	message := b.out[len(b.out)-1]
	if b.last != scope {
		message.ScopeMetrics = append(message.ScopeMetrics, metricdata.ScopeMetrics{Scope: *scope})
		b.last = scope
	}
	sm := &message.ScopeMetrics[len(message.ScopeMetrics)-1]
	sm.Metrics = append(sm.Metrics, metricdata.Metrics{Name: m.Name, Description: m.Description, Unit: m.Unit, Data: data})
}
