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
func (h headers) Get(key string) string { return first(http.Header(h.HeaderCarrier), canonical(key)) }

// Set implements propagation.TextMapCarrier.
func (h headers) Set(key, value string) { h.HeaderCarrier[canonical(key)] = []string{value} }

// Values implements propagation.ValuesGetter.
func (h headers) Values(key string) []string { return h.HeaderCarrier[canonical(key)] }

// first is h.Get for a key in its canonical form.
func first(h http.Header, key string) string {
	if v := h[key]; len(v) > 0 {
		return v[0]
	}
	return ""
}

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
