package genai_test

import (
	"context"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/infertel/infertel-go/genai"
)

// BenchmarkCall compares an entry span made by hand with the same span and the
// same measurements made with the SDK alone.
func BenchmarkCall(b *testing.B) {
	ctx := context.Background()
	model, id := "qwen3-8b", "chatcmpl-9f0c2a7be1d34455"
	b.Run("raw", func(b *testing.B) {
		tracer := sdktrace.NewTracerProvider().Tracer("raw")
		tokens, err := sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewManualReader())).Meter("raw").Int64Counter("genai_llm_usage_tokens")
		if err != nil {
			b.Fatal(err)
		}
		dims := func(usage string) []metric.AddOption {
			return []metric.AddOption{metric.WithAttributeSet(attribute.NewSet(
				attribute.String("callType", "gen_ai"), attribute.String("callKind", "custom_entry"), attribute.Int("rpcType", 2100),
				attribute.String("modelName", model), attribute.String("spanKind", "LLM"), attribute.String("usageType", usage)))}
		}
		in, out := dims("input"), dims("output")
		b.ReportAllocs()
		for b.Loop() {
			ctx, span := tracer.Start(ctx, "chat "+model, trace.WithSpanKind(trace.SpanKindInternal), trace.WithAttributes(
				attribute.String("gen_ai.span.kind", "LLM"), attribute.String("gen_ai.operation.name", "chat"), attribute.String("gen_ai.request.model", model)))
			span.SetAttributes(
				attribute.Int("gen_ai.usage.input_tokens", 26), attribute.Int("gen_ai.usage.output_tokens", 6), attribute.Int("gen_ai.usage.total_tokens", 32),
				attribute.StringSlice("gen_ai.response.finish_reasons", []string{"stop"}), attribute.Bool("gen_ai.request.is_stream", false),
				attribute.Float64("gen_ai.request.temperature", 0.7), attribute.Int("gen_ai.request.max_tokens", 64),
				attribute.String("gen_ai.response.id", id), attribute.String("gen_ai.response.model", model))
			span.End()
			tokens.Add(ctx, 26, in...)
			tokens.Add(ctx, 6, out...)
		}
	})
	request := genai.Request{Model: model, Temperature: new(0.7), MaxTokens: new(64)}
	response := genai.Response{ID: id, Model: model, FinishReasons: []string{"stop"}, Usage: genai.Usage{InputTokens: new(int64(26)), OutputTokens: new(int64(6)), TotalTokens: new(int64(32))}}
	for name, sampler := range map[string]sdktrace.Sampler{"infertel": sdktrace.AlwaysSample(), "infertel unsampled": sdktrace.NeverSample()} {
		b.Run(name, func(b *testing.B) {
			inst, err := genai.New(
				genai.WithTracerProvider(sdktrace.NewTracerProvider(sdktrace.WithSampler(sampler))),
				genai.WithMeterProvider(sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewManualReader()))))
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				_, call := inst.Start(ctx, request)
				call.End(response, nil)
			}
		})
	}
}
