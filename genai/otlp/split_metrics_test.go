package otlp

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetricgrpc"
	"go.opentelemetry.io/otel/metric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/infertel/infertel-go/internal/otlpreceiver"
	"github.com/infertel/infertel-go/internal/otlpreceiver/otlptest"
)

func metricExporterTo(t testing.TB, r *otlptest.Receiver) sdkmetric.Exporter {
	t.Helper()
	e, err := otlpmetricgrpc.New(t.Context(), otlpmetricgrpc.WithEndpointURL(r.Endpoint()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Shutdown(context.Background()) })
	return e
}

// record fills one counter and one histogram with series of long attributes.
func recordSeries(t testing.TB, mp metric.MeterProvider, series, bytes int) {
	t.Helper()
	m := mp.Meter("test")
	c, err := m.Int64Counter("count")
	if err != nil {
		t.Fatal(err)
	}
	h, err := m.Float64Histogram("duration")
	if err != nil {
		t.Fatal(err)
	}
	for i := range series {
		set := metric.WithAttributeSet(attribute.NewSet(attribute.String("model", fmt.Sprintf("%s-%d", strings.Repeat("m", bytes), i))))
		c.Add(context.Background(), 1, set)
		h.Record(context.Background(), 1, set)
	}
}

// Few points with long attributes are too much for one message as well: 1,800 of
// 3,000 bytes. By their number alone the SDK does not split them.
func TestLongSeries(t *testing.T) {
	const series, bytes = 900, 3000
	h := handleErrors(t)
	plain := otlptest.New(t)
	mp := sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewPeriodicReader(metricExporterTo(t, plain), sdkmetric.WithMaxExportBatchSize(2000))))
	recordSeries(t, mp, series, bytes)
	if err := mp.Shutdown(t.Context()); err == nil || !strings.Contains(err.Error(), "ResourceExhausted") || len(plain.Metrics()) != 0 {
		t.Errorf("the exporter alone delivers %d metrics, %v: is there need to split?", len(plain.Metrics()), err)
	}

	r := otlptest.New(t)
	p := setup(t, WithEndpoint(r.Endpoint()))
	recordSeries(t, p.MeterProvider(), series, bytes)
	if err := p.Shutdown(t.Context()); err != nil || p.Losses().Total() != 0 {
		t.Errorf("%v, lost %+v", err, p.Losses())
	}
	checkMessages(t, r, MaxMessageBytes, 2)
	models := map[any]int{}
	for _, pt := range r.Points() {
		models[pt.Attrs["model"]]++
	}
	if len(models) != series || len(r.Points()) != 2*series {
		t.Errorf("%d points of %d series arrived", len(r.Points()), len(models))
	}
	if n := len(h.all()); n != 0 {
		t.Errorf("reported %.300q", h.all())
	}
}

// checkMessages holds the messages of metrics against a limit that only single
// points may exceed.
func checkMessages(t testing.TB, r *otlptest.Receiver, limit, least int) {
	t.Helper()
	messages := r.MetricRequests()
	if len(messages) < least {
		t.Errorf("%d messages", len(messages))
	}
	for _, m := range messages {
		n := 0
		for _, rm := range m.GetResourceMetrics() {
			for _, sm := range rm.GetScopeMetrics() {
				for _, mt := range sm.GetMetrics() {
					n += max(1, len(mt.GetGauge().GetDataPoints()), len(mt.GetSum().GetDataPoints()), len(mt.GetHistogram().GetDataPoints()),
						len(mt.GetExponentialHistogram().GetDataPoints()), len(mt.GetSummary().GetDataPoints()))
				}
			}
		}
		if size := proto.Size(m); size > limit && n > 1 {
			t.Errorf("%d points in a message of %d bytes", n, size)
		}
	}
}

// A part that is refused takes nothing else with it, and is counted.
func TestLongSeriesRefused(t *testing.T) {
	h := handleErrors(t)
	r := otlptest.New(t)
	calls := 0
	r.SetHook(otlpreceiver.Metrics, func(context.Context, int) otlpreceiver.Reply {
		if calls++; calls == 1 {
			return otlpreceiver.Reply{Err: status.Error(codes.InvalidArgument, "the first")}
		}
		return otlpreceiver.Reply{}
	})
	p := setup(t, WithEndpoint(r.Endpoint()))
	recordSeries(t, p.MeterProvider(), 900, 3000)
	if err := p.ForceFlush(t.Context()); err == nil || !strings.Contains(err.Error(), "lost 1 metric export") {
		t.Errorf("error %v", err)
	}
	if l := p.Losses(); l != (Losses{MetricExports: Causes{ExportFailed: 1}}) || len(r.MetricRequests()) == 0 {
		t.Errorf("lost %+v, %d messages arrived", l, len(r.MetricRequests()))
	}
	h.want(t, "1 metric export lost", "the first")
}

func (g generator) set() attribute.Set {
	kvs := g.attributes(g.IntN(4), 1)
	attrs, _ := validAttributes(kvs)
	return attribute.NewSet(attrs...)
}

func exemplars[N int64 | float64](g generator) []metricdata.Exemplar[N] {
	out := make([]metricdata.Exemplar[N], g.IntN(3))
	for i := range out {
		c := g.spanContext()
		id, span := c.TraceID(), c.SpanID()
		out[i] = metricdata.Exemplar[N]{FilteredAttributes: g.attributes(g.IntN(2), 1), Time: time.Now(), Value: 1, SpanID: span[:], TraceID: id[:]}
	}
	return out
}

func some[P any](g generator, point func() P) []P {
	out := make([]P, g.IntN(6))
	for i := range out {
		out[i] = point()
	}
	return out
}

func numbers[N int64 | float64](g generator) []metricdata.DataPoint[N] {
	return some(g, func() metricdata.DataPoint[N] {
		return metricdata.DataPoint[N]{Attributes: g.set(), StartTime: time.Now(), Time: time.Now(), Value: N(g.Int64()), Exemplars: exemplars[N](g)}
	})
}

func (g generator) counts() []uint64 {
	return some(g, func() uint64 { return g.Uint64() >> g.IntN(64) })
}

func histograms[N int64 | float64](g generator) []metricdata.HistogramDataPoint[N] {
	return some(g, func() metricdata.HistogramDataPoint[N] {
		counts := g.counts()
		return metricdata.HistogramDataPoint[N]{
			Attributes: g.set(), StartTime: time.Now(), Time: time.Now(), Count: g.Uint64(), Sum: 1, Exemplars: exemplars[N](g),
			Min: metricdata.NewExtrema[N](1), Max: metricdata.NewExtrema[N](2), BucketCounts: counts, Bounds: make([]float64, max(0, len(counts)-1)),
		}
	})
}

func exponentials[N int64 | float64](g generator) []metricdata.ExponentialHistogramDataPoint[N] {
	return some(g, func() metricdata.ExponentialHistogramDataPoint[N] {
		return metricdata.ExponentialHistogramDataPoint[N]{
			Attributes: g.set(), StartTime: time.Now(), Time: time.Now(), Count: g.Uint64(), Sum: 1, Exemplars: exemplars[N](g),
			Min: metricdata.NewExtrema[N](1), Max: metricdata.NewExtrema[N](2), Scale: math.MinInt32, ZeroCount: g.Uint64(), ZeroThreshold: 1,
			PositiveBucket: metricdata.ExponentialBucket{Offset: math.MaxInt32, Counts: g.counts()},
			NegativeBucket: metricdata.ExponentialBucket{Offset: math.MinInt32, Counts: g.counts()},
		}
	})
}

// data returns one metric's points, and how many they are.
func (g generator) data() (metricdata.Aggregation, int) {
	switch t := metricdata.CumulativeTemporality; g.IntN(9) {
	case 0:
		d := metricdata.Gauge[int64]{DataPoints: numbers[int64](g)}
		return d, len(d.DataPoints)
	case 1:
		d := metricdata.Gauge[float64]{DataPoints: numbers[float64](g)}
		return d, len(d.DataPoints)
	case 2:
		d := metricdata.Sum[int64]{DataPoints: numbers[int64](g), Temporality: t, IsMonotonic: true}
		return d, len(d.DataPoints)
	case 3:
		d := metricdata.Sum[float64]{DataPoints: numbers[float64](g), Temporality: t, IsMonotonic: true}
		return d, len(d.DataPoints)
	case 4:
		d := metricdata.Histogram[int64]{DataPoints: histograms[int64](g), Temporality: t}
		return d, len(d.DataPoints)
	case 5:
		d := metricdata.Histogram[float64]{DataPoints: histograms[float64](g), Temporality: t}
		return d, len(d.DataPoints)
	case 6:
		d := metricdata.ExponentialHistogram[int64]{DataPoints: exponentials[int64](g), Temporality: t}
		return d, len(d.DataPoints)
	case 7:
		d := metricdata.ExponentialHistogram[float64]{DataPoints: exponentials[float64](g), Temporality: t}
		return d, len(d.DataPoints)
	default:
		d := metricdata.Summary{DataPoints: some(g, func() metricdata.SummaryDataPoint {
			return metricdata.SummaryDataPoint{Attributes: g.set(), StartTime: time.Now(), Time: time.Now(), Count: g.Uint64(), Sum: 1, QuantileValues: make([]metricdata.QuantileValue, g.IntN(4))}
		})}
		return d, len(d.DataPoints)
	}
}

func (g generator) metrics() (rm *metricdata.ResourceMetrics, points int) {
	rm = &metricdata.ResourceMetrics{}
	for _, o := range g.origins()[:1+g.IntN(3)] {
		rm.Resource = o.resource
		sm := metricdata.ScopeMetrics{Scope: o.scope}
		for range 1 + g.IntN(6) {
			data, n := g.data()
			points += n
			sm.Metrics = append(sm.Metrics, metricdata.Metrics{Name: "m" + validString(g.text()), Description: validString(g.text()), Unit: "{x}", Data: data})
		}
		rm.ScopeMetrics = append(rm.ScopeMetrics, sm)
	}
	return rm, points
}

// Whatever the metrics are, a message is counted as large as it is or a little
// larger, none is over the limit unless it is one point, and each point arrives
// once, in its order.
func TestMetricMessages(t *testing.T) {
	r := otlptest.New(t, otlpreceiver.WithMaxMessageSize(64<<20))
	exp := metricExporterTo(t, r)
	g := generator{rand.New(rand.NewPCG(7, 8))}
	for range rounds(300) {
		rm, points := g.metrics()
		r.Reset()
		whole := SplitMetricExporter{Exporter: exp, MaxBytes: math.MaxInt}
		if err := whole.Export(t.Context(), rm); err != nil {
			t.Fatal(err)
		}
		if n := len(r.MetricRequests()); n != 1 {
			t.Fatalf("%d messages without a limit", n)
		}
		b := metricMessages{src: rm, p: pieces{max: math.MaxInt}}
		b.next()
		n := 0
		for i := range rm.ScopeMetrics {
			for j := range rm.ScopeMetrics[i].Metrics {
				b.add(&rm.ScopeMetrics[i].Scope, &rm.ScopeMetrics[i].Metrics[j])
				n++
			}
		}
		checkSize(t, b.p.size, r.MetricRequests()[0], 8*(n+points))
		want := r.Points()

		r.Reset()
		const limit = 32 << 10
		split := SplitMetricExporter{Exporter: exp, MaxBytes: limit}
		if err := split.Export(t.Context(), rm); err != nil {
			t.Fatal(err)
		}
		checkMessages(t, r, limit, 1)
		if got := r.Points(); !slices.EqualFunc(got, want, func(a, b otlptest.Point) bool {
			return a.Name == b.Name && a.Scope == b.Scope && a.Type == b.Type && fmt.Sprint(a.Attrs, a.Value) == fmt.Sprint(b.Attrs, b.Value)
		}) {
			t.Fatalf("%d points arrived in pieces, %d whole: not the same", len(got), len(want))
		}
	}
}

func TestZeroSplitMetricExporter(t *testing.T) {
	var e SplitMetricExporter
	if err := e.Export(t.Context(), &metricdata.ResourceMetrics{}); err == nil {
		t.Error("no error without an exporter")
	}
	if e.Temporality(sdkmetric.InstrumentKindCounter) != metricdata.CumulativeTemporality || e.Aggregation(sdkmetric.InstrumentKindCounter) == nil {
		t.Error("not the SDK's defaults")
	}
	if e.ForceFlush(t.Context()) != nil || e.Shutdown(t.Context()) != nil {
		t.Error("an error of nothing")
	}
}
