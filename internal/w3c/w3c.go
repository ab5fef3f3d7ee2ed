// Package w3c has the propagator of the W3C headers traceparent, tracestate and
// baggage.
package w3c

import (
	"context"
	"strings"

	"go.opentelemetry.io/otel/baggage"
	"go.opentelemetry.io/otel/propagation"
)

// Propagator returns the propagator of trace context and baggage.
func Propagator() propagation.TextMapPropagator {
	return propagation.NewCompositeTextMapPropagator(propagation.TraceContext{}, quietBaggage{})
}

// quietBaggage is propagation.Baggage, but says nothing of a header that cannot
// be read: the report of OpenTelemetry quotes it, and any caller can send one.
type quietBaggage struct{ propagation.Baggage }

// Extract implements propagation.TextMapPropagator.
func (quietBaggage) Extract(ctx context.Context, carrier propagation.TextMapCarrier) context.Context {
	const name = "baggage"
	header := carrier.Get(name)
	if all, ok := carrier.(propagation.ValuesGetter); ok {
		header = strings.Join(all.Values(name), ",")
	}
	b, _ := baggage.Parse(header) // what can be read of it
	if b.Len() == 0 {
		return ctx
	}
	return baggage.ContextWithBaggage(ctx, b)
}
