package main

import (
	"context"
	"fmt"

	"go.opentelemetry.io/otel/propagation"

	"github.com/infertel/infertel-go/vllm"
)

// maxOpen bounds the requests that an engine may have open, for an engine that
// never tells how they end.
const maxOpen = 1 << 17

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

// openRequests holds the requests of one engine that are under way.
type openRequests[R any] map[string]R

// add takes a request that arrived.
func (o openRequests[R]) add(l *line, start func() R) error {
	if _, ok := o[l.request]; ok {
		return fmt.Errorf("request %s has arrived already", shortened(l.fields["request"]))
	}
	if len(o) >= maxOpen {
		return fmt.Errorf("request %s is one too many: %d are open", shortened(l.fields["request"]), len(o))
	}
	o[l.request] = start()
	return nil
}

func (o openRequests[R]) get(l *line) (R, error) {
	r, ok := o[l.request]
	if !ok {
		return r, fmt.Errorf("request %s is not open: it has not arrived, or has finished", shortened(l.fields["request"]))
	}
	return r, nil
}
