package conformance_test

import (
	"math"
	"slices"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/trace"

	"github.com/infertel/infertel-go/semconv"
	"github.com/infertel/infertel-go/semconv/conformance"
)

// metric returns a metric of the fixture.
func (f *fixture) metric(name string) *metricdata.Metrics {
	f.t.Helper()
	for _, sm := range f.metrics.ScopeMetrics {
		for i := range sm.Metrics {
			if sm.Metrics[i].Name == name {
				return &sm.Metrics[i]
			}
		}
	}
	f.t.Fatalf("no metric %q", name)
	return nil
}

// dimensions sets dimensions of the first data point of a metric and takes away
// those with no value.
func (f *fixture) dimensions(name string, kvs ...attribute.KeyValue) {
	f.t.Helper()
	change := func(set *attribute.Set) {
		list := with(set.ToSlice(), kvs...)
		*set = attribute.NewSet(slices.DeleteFunc(list, func(kv attribute.KeyValue) bool { return kv.Value.Type() == attribute.EMPTY })...)
	}
	switch d := f.metric(name).Data.(type) {
	case metricdata.Sum[int64]:
		change(&d.DataPoints[0].Attributes)
	case metricdata.Sum[float64]:
		change(&d.DataPoints[0].Attributes)
	case metricdata.Gauge[int64]:
		change(&d.DataPoints[0].Attributes)
	default:
		f.t.Fatalf("%s is a %T", name, d)
	}
}

func metricMutations() map[conformance.Rule][]mutation {
	const tokens, running, usage = "genai_llm_usage_tokens", "gen_ai_vllm_num_requests_running", "gen_ai_vllm_kv_cache_usage_perc"
	const duration, success, queue = "gen_ai_server_request_duration", "gen_ai_vllm_request_success", "gen_ai_vllm_request_queue_time_seconds"
	floats := func(v float64) []metricdata.DataPoint[float64] {
		return []metricdata.DataPoint[float64]{{Value: v, Attributes: semconv.VLLMEngineV1Dimensions(0, "m")}}
	}
	ints := func(v int64) []metricdata.DataPoint[int64] {
		return []metricdata.DataPoint[int64]{{Value: v, Attributes: semconv.VLLMEngineV1Dimensions(0, "m")}}
	}
	return map[conformance.Rule][]mutation{
		conformance.RuleMetricUndocumented: {
			{"OpenTelemetry's", "metrics", func(f *fixture) { f.metric(tokens).Name = "gen_ai.client.token.usage" }},
			{"Prometheus's", "metrics", func(f *fixture) { f.metric(success).Name = success + "_total" }},
		},
		conformance.RuleMetricInstrument: {
			{"histogram", "metrics", func(f *fixture) { f.metric(duration).Data = metricdata.Histogram[float64]{} }},
			{"exponential histogram", "metrics", func(f *fixture) { f.metric(duration).Data = metricdata.ExponentialHistogram[float64]{} }},
			{"summary", "metrics", func(f *fixture) { f.metric(duration).Data = metricdata.Summary{} }},
			{"gauge for a counter", "metrics", func(f *fixture) { f.metric(queue).Data = metricdata.Gauge[float64]{DataPoints: floats(1)} }},
			{"counter for a gauge", "metrics", func(f *fixture) {
				f.metric(usage).Data = metricdata.Sum[float64]{DataPoints: floats(1), IsMonotonic: true}
			}},
			{"up and down", "metrics", func(f *fixture) { f.metric(queue).Data = metricdata.Sum[float64]{DataPoints: floats(1)} }},
			{"nothing", "metrics", func(f *fixture) { f.metric(queue).Data = nil }},
		},
		conformance.RuleMetricUnit: {
			{"milliseconds", "metrics", func(f *fixture) { f.metric(duration).Unit = "ms" }},
			{"none", "metrics", func(f *fixture) { f.metric(tokens).Unit = "" }},
			{"a number for requests", "metrics", func(f *fixture) { f.metric(running).Unit = "1" }},
		},
		conformance.RuleMetricValueType: {
			{"int", "metrics", func(f *fixture) { f.metric(queue).Data = metricdata.Sum[int64]{DataPoints: ints(1), IsMonotonic: true} }},
			{"double", "metrics", func(f *fixture) { f.metric(running).Data = metricdata.Gauge[float64]{DataPoints: floats(1)} }},
		},
		conformance.RuleMetricRange: {
			{"per cent", "metrics", func(f *fixture) { f.metric(usage).Data = metricdata.Gauge[float64]{DataPoints: floats(25)} }},
			{"negative", "metrics", func(f *fixture) { f.metric(running).Data = metricdata.Gauge[int64]{DataPoints: ints(-1)} }},
			{"no number", "metrics", func(f *fixture) {
				f.metric(queue).Data = metricdata.Sum[float64]{DataPoints: floats(math.NaN()), IsMonotonic: true}
			}},
		},
		conformance.RuleMetricDuplicate: {
			{"metric", "metrics", func(f *fixture) {
				sm := &f.metrics.ScopeMetrics[1]
				sm.Metrics = append(sm.Metrics, sm.Metrics[0])
			}},
			{"data point", "metrics", func(f *fixture) {
				f.metric(running).Data = metricdata.Gauge[int64]{DataPoints: append(ints(1), ints(2)...)}
			}},
		},
		conformance.RuleMetricSnapshot: {
			{"no reports", "metrics", func(f *fixture) {
				sm := &f.metrics.ScopeMetrics[2]
				sm.Metrics = slices.DeleteFunc(sm.Metrics, func(m metricdata.Metrics) bool { return m.Name == "sglang_log_count" })
			}},
		},
		conformance.RuleDimensionMissing: {
			{"engine_index", "metrics", func(f *fixture) { f.dimensions(running, attribute.KeyValue{Key: semconv.EngineIndexKey}) }},
			{"finished_reason", "metrics", func(f *fixture) { f.dimensions(success, attribute.KeyValue{Key: semconv.FinishedReasonKey}) }},
			{"usageType", "metrics", func(f *fixture) { f.dimensions(tokens, attribute.KeyValue{Key: semconv.UsageTypeKey}) }},
			{"callKind", "metrics", func(f *fixture) {
				f.dimensions("sglang_num_running_reqs", attribute.KeyValue{Key: semconv.CallKindKey})
			}},
		},
		conformance.RuleDimensionUndocumented: {
			{"user", "metrics", func(f *fixture) { f.dimensions(tokens, attribute.String("user", "u")) }},
			{"those of another engine", "metrics", func(f *fixture) {
				f.dimensions(duration, semconv.CallKindCustomEntry, attribute.KeyValue{Key: semconv.EngineIndexKey}, attribute.KeyValue{Key: semconv.EngineModelNameKey})
			}},
			{"model of SGLang", "metrics", func(f *fixture) { f.dimensions("sglang_log_count", attribute.String("modelName", "m")) }},
		},
		conformance.RuleDimensionType: {
			{"rpcType", "metrics", func(f *fixture) { f.dimensions(tokens, semconv.RPCTypeKey.String("2100")) }},
			{"engine_index", "metrics", func(f *fixture) { f.dimensions(running, semconv.EngineIndexKey.String("0")) }},
			{"model_name", "metrics", func(f *fixture) { f.dimensions(queue, semconv.EngineModelNameKey.Int(3)) }},
		},
		conformance.RuleDimensionValue: {
			{"rpcType", "metrics", func(f *fixture) { f.dimensions(tokens, semconv.RPCTypeKey.Int(2101)) }},
			{"spanKind", "metrics", func(f *fixture) { f.dimensions(tokens, semconv.SpanKindKey.String("RERANKER")) }},
			{"usageType", "metrics", func(f *fixture) { f.dimensions(tokens, semconv.UsageTypeKey.String("total")) }},
			{"engine_index", "metrics", func(f *fixture) { f.dimensions(running, semconv.EngineIndexKey.Int(-1)) }},
		},
	}
}

func logMutations() map[conformance.Rule][]mutation {
	messages := func(v attribute.Value) attribute.KeyValue {
		return attribute.KeyValue{Key: semconv.GenAIInputMessagesKey, Value: v}
	}
	return map[conformance.Rule][]mutation{
		conformance.RuleLogUndocumented: {
			{"another name", "entries", func(f *fixture) { f.logs[0].SetEventName("gen_ai.content") }},
			{"no name", "entries", func(f *fixture) { f.logs[0].SetEventName("") }},
		},
		conformance.RuleLogContent: {
			{"nothing", "entries", func(f *fixture) { f.logs[0].SetAttributes() }},
		},
		conformance.RuleLogTrace: {
			{"no span", "entries", func(f *fixture) { f.logs[0].SetSpanID(trace.SpanID{}) }},
			{"no trace", "entries", func(f *fixture) { f.logs[0].SetTraceID(trace.TraceID{}) }},
		},
		conformance.RuleAttributeType: {
			{"JSON in a log event", "entries", func(f *fixture) {
				f.logs[0].SetAttributes(semconv.GenAIInputMessages(`[{"role":"user","parts":[]}]`))
			}},
		},
		conformance.RuleAttributeUndocumented: {
			{"on a log event", "entries", func(f *fixture) { f.logs[0].AddAttributes(attribute.String("model", "m")) }},
		},
		conformance.RuleContentSchema: {
			{"log event without roles", "entries", func(f *fixture) {
				f.logs[0].SetAttributes(messages(attribute.SliceValue(attribute.MapValue(attribute.String("content", "x")))))
			}},
			{"log event without messages", "entries", func(f *fixture) {
				f.logs[0].SetAttributes(messages(attribute.MapValue(attribute.String("role", "user"))))
			}},
		},
	}
}
