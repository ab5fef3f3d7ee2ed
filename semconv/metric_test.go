package semconv_test

import (
	"context"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/infertel/infertel-go/semconv"
)

// descriptors has every generated descriptor.
var descriptors = []interface{ Name() string }{
	semconv.MetricGenAILLMUsageTokens,
	semconv.MetricVLLMIterCount,
	semconv.MetricGenAIVLLMRequestSuccess,
	semconv.MetricGenAILLMFirstTokenSeconds,
	semconv.MetricGenAIServerTimePerOutputToken,
	semconv.MetricGenAIServerRequestDuration,
	semconv.MetricGPUCacheUsageSys,
	semconv.MetricCPUCacheUsageSys,
	semconv.MetricNumRunningSys,
	semconv.MetricNumWaitingSys,
	semconv.MetricNumSwappedSys,
	semconv.MetricNumPromptTokensIter,
	semconv.MetricNumGenerationTokensIter,
	semconv.MetricNumTokensIter,
	semconv.MetricNumPreemptionIter,
	semconv.MetricGenAIVLLMNumRequestsRunning,
	semconv.MetricGenAIVLLMNumRequestsWaiting,
	semconv.MetricGenAIVLLMKVCacheUsagePerc,
	semconv.MetricGenAIVLLMPrefixCacheQueries,
	semconv.MetricGenAIVLLMPrefixCacheHits,
	semconv.MetricGenAIVLLMNumPreemptions,
	semconv.MetricGenAIVLLMPromptTokens,
	semconv.MetricGenAIVLLMGenerationTokens,
	semconv.MetricGenAIVLLMRequestParamsN,
	semconv.MetricGenAIVLLMRequestParamsMaxTokens,
	semconv.MetricGenAIVLLMRequestQueueTimeSeconds,
	semconv.MetricGenAIVLLMRequestPrefillTimeSeconds,
	semconv.MetricGenAIVLLMRequestDecodeTimeSeconds,
	semconv.MetricGenAIVLLMRequestInferenceTimeSeconds,
	semconv.MetricSGLangNumRunningReqs,
	semconv.MetricSGLangNumQueueReqs,
	semconv.MetricSGLangNumUsedTokens,
	semconv.MetricSGLangTokenUsage,
	semconv.MetricSGLangGenThroughput,
	semconv.MetricGenAISGLangCacheHitRate,
	semconv.MetricSGLangSpecAcceptLength,
	semconv.MetricSGLangLogCount,
	semconv.MetricPromptTokensTotal,
	semconv.MetricGenerationTokensTotal,
	semconv.MetricGenAISGLangCachedTokensTotal,
	semconv.MetricNumRequestsTotal,
	semconv.MetricGenAIServerTimeToFirstToken,
	semconv.MetricSGLangInterTokenLatencySeconds,
}

// TestDescriptors makes every instrument with the SDK, records once, and
// compares what is collected with the table.
func TestDescriptors(t *testing.T) {
	ctx := context.Background()
	reader := sdkmetric.NewManualReader()
	meter := sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)).Meter("test")
	for _, d := range descriptors {
		var err error
		switch d := d.(type) {
		case semconv.Int64Counter:
			var i metric.Int64Counter
			if i, err = d.New(meter); err == nil {
				i.Add(ctx, 1)
			}
		case semconv.Float64Counter:
			var i metric.Float64Counter
			if i, err = d.New(meter); err == nil {
				i.Add(ctx, 1)
			}
		case semconv.Int64Gauge:
			_, err = d.NewObservable(meter, metric.WithInt64Callback(func(_ context.Context, o metric.Int64Observer) error {
				o.Observe(1)
				return nil
			}))
		case semconv.Float64Gauge:
			_, err = d.NewObservable(meter, metric.WithFloat64Callback(func(_ context.Context, o metric.Float64Observer) error {
				o.Observe(1)
				return nil
			}))
		}
		if err != nil {
			t.Errorf("%s: %v", d.Name(), err)
		}
	}
	got := collect(t, reader)
	for _, m := range semconv.Metrics() {
		c, ok := got[m.Name]
		delete(got, m.Name)
		switch {
		case !ok:
			t.Errorf("%s: no descriptor", m.Name)
		case c.unit != m.Unit || c.description != m.Brief || c.instrument != m.Instrument || c.value != m.Value:
			t.Errorf("%s: collected %+v, documented %+v", m.Name, c, m)
		}
	}
	for name := range got {
		t.Errorf("%s: not documented", name)
	}
}

// TestSynchronousGauges makes each gauge of V0 and V1 the other way.
func TestSynchronousGauges(t *testing.T) {
	reader := sdkmetric.NewManualReader()
	meter := sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)).Meter("test")
	i, err := semconv.MetricNumRunningSys.New(meter)
	if err != nil {
		t.Fatal(err)
	}
	f, err := semconv.MetricGPUCacheUsageSys.New(meter)
	if err != nil {
		t.Fatal(err)
	}
	i.Record(context.Background(), 1)
	f.Record(context.Background(), 0.5)
	got := collect(t, reader)
	if c := got["num_running_sys"]; c.instrument != semconv.InstrumentGauge || c.unit != "{sequence}" || c.value != semconv.TypeInt {
		t.Errorf("num_running_sys: %+v", c)
	}
	if c := got["gpu_cache_usage_sys"]; c.instrument != semconv.InstrumentGauge || c.unit != "1" || c.value != semconv.TypeDouble {
		t.Errorf("gpu_cache_usage_sys: %+v", c)
	}
}

// TestOptions checks that a caller's options reach the instrument, but cannot
// change the documented unit.
func TestOptions(t *testing.T) {
	reader := sdkmetric.NewManualReader()
	meter := sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)).Meter("test")
	c, err := semconv.MetricSGLangLogCount.New(meter, metric.WithUnit("By"))
	if err != nil {
		t.Fatal(err)
	}
	c.Add(context.Background(), 1)
	if got := collect(t, reader)["sglang_log_count"]; got.unit != "{report}" {
		t.Errorf("unit %q", got.unit)
	}
}

type collected struct {
	unit, description string
	instrument        semconv.Instrument
	value             semconv.ValueType
}

func collect(t *testing.T, reader sdkmetric.Reader) map[string]collected {
	t.Helper()
	var data metricdata.ResourceMetrics
	if err := reader.Collect(context.Background(), &data); err != nil {
		t.Fatal(err)
	}
	got := map[string]collected{}
	for _, scope := range data.ScopeMetrics {
		for _, m := range scope.Metrics {
			c := collected{unit: m.Unit, description: m.Description}
			switch d := m.Data.(type) {
			case metricdata.Sum[int64]:
				c.value = semconv.TypeInt
				if d.IsMonotonic {
					c.instrument = semconv.InstrumentCounter
				}
			case metricdata.Sum[float64]:
				c.value = semconv.TypeDouble
				if d.IsMonotonic {
					c.instrument = semconv.InstrumentCounter
				}
			case metricdata.Gauge[int64]:
				c.instrument, c.value = semconv.InstrumentGauge, semconv.TypeInt
			case metricdata.Gauge[float64]:
				c.instrument, c.value = semconv.InstrumentGauge, semconv.TypeDouble
			}
			got[m.Name] = c
		}
	}
	return got
}

func TestDimensions(t *testing.T) {
	for id, set := range map[string]attribute.Set{
		"vllm.engine.v0": semconv.VLLMEngineV0Dimensions(),
		"vllm.engine.v1": semconv.VLLMEngineV1Dimensions(3, "qwen3-8b"),
		"vllm.token":     semconv.VLLMTokenDimensions("qwen3-8b", semconv.SpanKindLLM, semconv.UsageTypeInput),
		"sglang.engine":  semconv.SGLangEngineDimensions(),
		"sglang.token":   semconv.SGLangTokenDimensions("qwen3-8b", semconv.SpanKindEmbedding, semconv.UsageTypeOutput),
	} {
		found := false
		for _, d := range semconv.DimensionSets() {
			if d.ID != id {
				continue
			}
			found = true
			if set.Len() != len(d.Attributes) {
				t.Errorf("%s: %d dimensions, documented %d", id, set.Len(), len(d.Attributes))
			}
			for _, a := range d.Attributes {
				v, ok := set.Value(a.Key)
				if !ok || v.Type() != a.Type.AttributeType() || !a.Allows(v) {
					t.Errorf("%s: %s = %v", id, a.Key, v)
				}
			}
		}
		if !found {
			t.Errorf("%s: no such set", id)
		}
	}
	v1 := semconv.VLLMEngineV1Dimensions(3, "qwen3-8b")
	with := semconv.FinishedReasonDimensions(v1, "stop")
	if with.Len() != v1.Len()+1 {
		t.Errorf("WithFinishedReason: %v", with.ToSlice())
	}
	if v, _ := with.Value(semconv.FinishedReasonKey); v.AsString() != "stop" {
		t.Errorf("finished_reason = %v", v)
	}
	if v, _ := with.Value(semconv.EngineIndexKey); v.AsInt64() != 3 {
		t.Errorf("engine_index = %v", v)
	}
}
