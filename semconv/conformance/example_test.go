package conformance_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/log"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/infertel/infertel-go/genai"
	"github.com/infertel/infertel-go/semconv"
	"github.com/infertel/infertel-go/semconv/conformance"
)

// A test of a gateway records its spans and asserts that they conform.
func ExampleAssert() {
	test := func(t *testing.T) {
		spans := tracetest.NewSpanRecorder()
		tp := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans))
		inst, err := genai.New(genai.WithTracerProvider(tp))
		if err != nil {
			t.Fatal(err)
		}
		_, call := inst.Start(context.Background(), genai.Request{Model: "qwen3-8b"})
		call.End(genai.Response{FinishReasons: []string{"stop"}}, nil)

		conformance.Assert(t, conformance.CheckSpans(spans.Ended()))
	}
	_ = test // go test runs it
}

// A span of one's own, with a kind and a type that are not the documented ones.
func ExampleCheckSpans() {
	spans := tracetest.NewSpanRecorder()
	tp := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans))
	at := time.Unix(1700000000, 0)
	_, span := tp.Tracer("mine").Start(context.Background(), "llm_request", trace.WithSpanKind(trace.SpanKindServer), trace.WithTimestamp(at))
	span.SetAttributes(
		semconv.GenAIRequestID("req-1"), semconv.GenAIRequestModelName("qwen3-8b"), semconv.GenAIEngineIndex(0), semconv.GenAIPDRoleNone,
		semconv.GenAIUsagePromptTokens(14), semconv.GenAIUsageCompletionTokens(0), semconv.GenAIUsageCacheReadInputTokens(0),
		semconv.GenAILatencyE2ESeconds(time.Second))
	span.End(trace.WithTimestamp(at.Add(time.Second)))

	for _, v := range conformance.CheckSpans(spans.Ended()) {
		fmt.Println(v.Rule, v.Name, v.Field, "is", v.Got, "and should be", v.Want)
	}
	// Output:
	// span.kind llm_request  is SERVER and should be INTERNAL
	// attribute.type llm_request gen_ai.latency.e2e is double 1 and should be int in ns
}

// A counter of one's own, without dimensions and unit.
func ExampleCheckMetrics() {
	reader := sdkmetric.NewManualReader()
	meter := sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)).Meter("mine")
	requests, err := meter.Int64Counter("num_requests_total")
	if err != nil {
		fmt.Println(err)
		return
	}
	requests.Add(context.Background(), 1)

	var rm metricdata.ResourceMetrics
	if err := reader.Collect(context.Background(), &rm); err != nil {
		fmt.Println(err)
		return
	}
	for _, v := range conformance.CheckMetrics(&rm) {
		fmt.Println(v)
	}
	// Output:
	// metric "num_requests_total": got "", want "{request}" [metric.unit; sglang.metrics]
	// metric "num_requests_total" {} callKind: got nothing, want a string [dimension.missing; sglang.engine]
	// metric "num_requests_total" {} callType: got nothing, want a string [dimension.missing; sglang.engine]
	// metric "num_requests_total" {} rpcType: got nothing, want an int [dimension.missing; sglang.engine]
}

// The log event of the API layer, without the messages that it is there to carry.
func ExampleCheckLogs() {
	records := &recorder{}
	logger := sdklog.NewLoggerProvider(sdklog.WithProcessor(sdklog.NewSimpleProcessor(records))).Logger("mine")
	var r log.Record
	r.SetEventName(semconv.EventInferenceOperationDetails)
	logger.Emit(context.Background(), r)

	for _, v := range conformance.CheckLogs(records.records) {
		fmt.Println(v)
	}
	// Output:
	// log event "gen_ai.client.inference.operation.details": got neither input nor output, want the input, the output or both [log.content; gen_ai.client.inference.operation.details]
	// log event "gen_ai.client.inference.operation.details": got no trace or span id, want those of the entry span [log.trace; gen_ai.client.inference.operation.details]
}

// A gauge on the wire where a counter is documented.
func ExampleCheckOTLPMetrics() {
	point := &metricspb.NumberDataPoint{Value: &metricspb.NumberDataPoint_AsInt{AsInt: 3}}
	dimensions := semconv.SGLangEngineDimensions()
	for _, d := range dimensions.ToSlice() {
		value := &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: d.Value.AsString()}}
		if d.Value.Type() == attribute.INT64 {
			value.Value = &commonpb.AnyValue_IntValue{IntValue: d.Value.AsInt64()}
		}
		point.Attributes = append(point.Attributes, &commonpb.KeyValue{Key: string(d.Key), Value: value})
	}
	received := []*metricspb.ResourceMetrics{{ScopeMetrics: []*metricspb.ScopeMetrics{{
		Scope: &commonpb.InstrumentationScope{Name: "mine"},
		Metrics: []*metricspb.Metric{{
			Name: "num_requests_total", Unit: "{request}",
			Data: &metricspb.Metric_Gauge{Gauge: &metricspb.Gauge{DataPoints: []*metricspb.NumberDataPoint{point}}},
		}},
	}}}}

	for _, v := range conformance.CheckOTLPMetrics(received) {
		fmt.Println(v)
	}
	// Output:
	// metric "num_requests_total": got gauge, want counter [metric.instrument; sglang.metrics]
}

// What has been on the wire is judged likewise, with a count of what was judged:
// spans of other instrumentation are left alone.
func ExampleCheckOTLPSpans() {
	received := []*tracepb.ResourceSpans{{ScopeSpans: []*tracepb.ScopeSpans{{
		Scope: &commonpb.InstrumentationScope{Name: "otelhttp"},
		Spans: []*tracepb.Span{{Name: "POST /v1/chat/completions", Kind: tracepb.Span_SPAN_KIND_SERVER}},
	}}}}

	var tally conformance.Tally
	violations := conformance.CheckOTLPSpans(received, conformance.WithTally(&tally))
	fmt.Printf("%d violations, judged %d of %d spans\n", len(violations), tally.SpansJudged, tally.Spans)
	// Output: 0 violations, judged 0 of 1 spans
}

// What a rule is about.
func ExampleRule_Brief() {
	fmt.Println(conformance.RuleLinkForbidden.Brief())
	// Output: Only first-level stages of SGLang have a link, and an entry span that starts a trace.
}
