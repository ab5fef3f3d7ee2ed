package main

import (
	"context"

	"go.opentelemetry.io/otel/propagation"

	"github.com/infertel/infertel-go/vllm"
)

// parent returns the context of a request: a child of the traceparent that
// stands on its first event, or the root of a new trace without a valid one.
func (l *line) parent(ctx context.Context) context.Context {
	carrier := propagation.MapCarrier{"traceparent": l.text("traceparent"), "tracestate": l.text("tracestate")}
	return propagation.TraceContext{}.Extract(ctx, carrier)
}

// vllmRequest reads what is known of a request when it arrives.
func (l *line) vllmRequest() vllm.Request {
	return vllm.Request{
		ID:           l.request,
		Temperature:  l.float("temperature"),
		TopP:         l.float("top_p"),
		MaxTokens:    l.int("max_tokens"),
		N:            l.int("n"),
		PromptTokens: l.count("prompt_tokens"),
	}
}
