package conformance_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
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

func ExampleCheckMetrics() {
	reader := sdkmetric.NewManualReader()
	meter := sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)).Meter("mine")
	// Without dimensions, and with a unit of its own.
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

func ExampleRule_Brief() {
	fmt.Println(conformance.RuleLinkForbidden.Brief())
	// Output: Only first-level stages of SGLang have a link, and an entry span that starts a trace.
}
