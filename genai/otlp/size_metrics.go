package otlp

import (
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// The functions of this file are for metrics what those of size.go are for spans
// and log records.

const (
	fixedMetric      = 2 + 2 + 6 + 6                        // temporality, monotonic, tags and lengths of metric and data
	fixedPoint       = 9 + 9 + 9                            // times, value
	fixedHistogram   = 9 + 9 + 4*9                          // times, count, sum, min, max
	fixedExponential = fixedHistogram + 6 + 9 + 9 + 2*(6+6) // and scale, zero count, threshold, offsets
	fixedExemplar    = 9 + 9                                // time, value
)

// metricSize returns the bytes of a metric without its points.
func metricSize(m *metricdata.Metrics) int {
	return fixedMetric + field(len(m.Name)) + field(len(m.Description)) + field(len(m.Unit))
}

func pointSize[N int64 | float64](p *metricdata.DataPoint[N]) int {
	return field(fixedPoint + setSize(&p.Attributes) + exemplarsSize(p.Exemplars))
}

func histogramSize[N int64 | float64](p *metricdata.HistogramDataPoint[N]) int {
	return field(fixedHistogram + setSize(&p.Attributes) + exemplarsSize(p.Exemplars) +
		field(8*len(p.BucketCounts)) + field(8*len(p.Bounds)))
}

func exponentialSize[N int64 | float64](p *metricdata.ExponentialHistogramDataPoint[N]) int {
	return field(fixedExponential + setSize(&p.Attributes) + exemplarsSize(p.Exemplars) +
		countsSize(p.PositiveBucket.Counts) + countsSize(p.NegativeBucket.Counts))
}

func summarySize(p *metricdata.SummaryDataPoint) int {
	return field(fixedHistogram + setSize(&p.Attributes) + len(p.QuantileValues)*field(9+9))
}

func exemplarsSize[N int64 | float64](es []metricdata.Exemplar[N]) int {
	n := 0
	for i := range es {
		n += field(fixedExemplar + field(len(es[i].SpanID)) + field(len(es[i].TraceID)) + attributesSize(es[i].FilteredAttributes))
	}
	return n
}

func countsSize(counts []uint64) int {
	n := 0
	for _, c := range counts {
		n += varint(c)
	}
	return field(n)
}
