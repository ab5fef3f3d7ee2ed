package main

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/infertel/infertel-go/genai"
)

const (
	chatModel  = "qwen3-8b"
	responseID = "chatcmpl-9f0c2a7be1d34455"
)

var (
	chatRequest  = genai.Request{Model: chatModel, Temperature: new(0.7), MaxTokens: new(64)}
	chatResponse = genai.Response{ID: responseID, Model: chatModel, FinishReasons: []string{"stop"},
		Usage: genai.Usage{InputTokens: new(26), OutputTokens: new(6), TotalTokens: new(32)}}
)

func entryOurs(tp trace.TracerProvider, mp metric.MeterProvider) func() {
	inst := must(genai.New(genai.WithTracerProvider(tp), genai.WithMeterProvider(mp)))
	return func() {
		_, call := inst.Start(context.Background(), chatRequest)
		call.End(chatResponse, nil)
	}
}

// entryRaw makes the same span and the same measurements with the SDK alone.
// The dimensions of the metric are made once.
func entryRaw(tp trace.TracerProvider, mp metric.MeterProvider) func() {
	tracer := tp.Tracer("raw")
	tokens := must(mp.Meter("raw").Int64Counter("genai_llm_usage_tokens", metric.WithUnit("{token}")))
	dimensions := func(usage string) []metric.AddOption {
		return []metric.AddOption{metric.WithAttributeSet(attribute.NewSet(
			attribute.String("callType", "gen_ai"), attribute.String("callKind", "custom_entry"), attribute.Int("rpcType", 2100),
			attribute.String("modelName", chatModel), attribute.String("spanKind", "LLM"), attribute.String("usageType", usage)))}
	}
	input, output := dimensions("input"), dimensions("output")
	model := chatModel // known when the request comes
	return func() {
		ctx, span := tracer.Start(context.Background(), "chat "+model, trace.WithSpanKind(trace.SpanKindInternal), trace.WithAttributes(
			attribute.String("gen_ai.span.kind", "LLM"), attribute.String("gen_ai.operation.name", "chat"), attribute.String("gen_ai.request.model", model)))
		if span.IsRecording() {
			span.SetAttributes(
				attribute.Int("gen_ai.usage.input_tokens", 26), attribute.Int("gen_ai.usage.output_tokens", 6), attribute.Int("gen_ai.usage.total_tokens", 32),
				attribute.StringSlice("gen_ai.response.finish_reasons", []string{"stop"}), attribute.Bool("gen_ai.request.is_stream", false),
				attribute.Float64("gen_ai.request.temperature", 0.7), attribute.Int("gen_ai.request.max_tokens", 64),
				attribute.String("gen_ai.response.id", responseID), attribute.String("gen_ai.response.model", model))
		}
		span.End()
		tokens.Add(ctx, 26, input...)
		tokens.Add(ctx, 6, output...)
	}
}

func entryGroups() []group {
	return []group{
		{"entry", []subject{
			loop("raw", func() func() { return entryRaw(spansOf(sampled), metrics()) }),
			loop("ours", func() func() { return entryOurs(spansOf(sampled), metrics()) }),
		}},
		{"entry unsampled", []subject{
			loop("raw", func() func() { return entryRaw(spansOf(unsampled), metrics()) }),
			loop("ours", func() func() { return entryOurs(spansOf(unsampled), metrics()) }),
		}},
	}
}

func entryRows() []row {
	return []row{
		ratioRow("entry span and token metric by hand", "entry/raw", "entry/ours", 1.10, 0),
		ratioRow("the same, unsampled", "entry unsampled/raw", "entry unsampled/ours", 0, 0),
	}
}
