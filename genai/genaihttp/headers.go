package genaihttp

import (
	"net/http"

	"go.opentelemetry.io/otel/propagation"
)

// headers carries trace context as propagation.HeaderCarrier does, which would
// make the canonical form of each W3C name anew for every request.
type headers struct{ propagation.HeaderCarrier }

func carrier(h http.Header) headers { return headers{propagation.HeaderCarrier(h)} }

// Get implements propagation.TextMapCarrier.
func (h headers) Get(key string) string { return h.HeaderCarrier.Get(canonical(key)) }

// Set implements propagation.TextMapCarrier.
func (h headers) Set(key, value string) { h.HeaderCarrier.Set(canonical(key), value) }

// Values implements propagation.ValuesGetter.
func (h headers) Values(key string) []string { return h.HeaderCarrier.Values(canonical(key)) }

func canonical(key string) string {
	switch key {
	case "traceparent":
		return "Traceparent"
	case "tracestate":
		return "Tracestate"
	case "baggage":
		return baggageHeader
	}
	return http.CanonicalHeaderKey(key)
}
