package genaihttp

import (
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/baggage"
	"go.opentelemetry.io/otel/propagation"

	"github.com/infertel/infertel-go/internal/sdktest"
)

// TestBaggagePasses: it is the caller's, goes on as it came, and is neither
// recorded nor reported.
func TestBaggagePasses(t *testing.T) {
	errs := sdktest.HandleErrors(t)
	many := strings.TrimSuffix(strings.Repeat("a=1,", 100), ",")
	for _, header := range [][]string{
		nil, {"b=2,a=1;p"}, {"b=2", "a=1"}, {"the secret prompt, not baggage"}, {many}, {strings.Repeat("x", 1<<20)}, {"a=" + strings.Repeat("x", 9000)},
	} {
		for _, where := range []string{"handler", "transport", "both"} {
			b := newBed(t)
			var got []string
			base := roundTripper(func(r *http.Request) (*http.Response, error) {
				got = r.Header["Baggage"]
				return &http.Response{StatusCode: 200, Header: http.Header{}, Body: http.NoBody, Request: r}, nil
			})
			p := proxy(t, "http://server")
			p.Transport = base
			if where != "handler" {
				p.Transport = NewTransport(base, b.inst)
			}
			var h http.Handler = p
			if where != "transport" {
				h = NewHandler(h, b.inst)
			}
			r := httptest.NewRequest(http.MethodPost, chatPath, nil)
			if header != nil {
				r.Header["Baggage"] = header
			}
			h.ServeHTTP(httptest.NewRecorder(), r)
			// A transport sends on what the context holds, in a form of its own.
			parsed := where == "both" && len(header) > 0 && strings.Contains(header[0], "=")
			if !parsed && !reflect.DeepEqual(got, header) {
				t.Errorf("%s: baggage %.60q became %.60q", where, header, got)
			}
			if s := b.spans(1)[0]; strings.Contains(s.Name+s.StatusMessage, "secret") {
				t.Errorf("span is %+v", s)
			}
		}
	}
	if reported := errs.Take(); len(reported) > 0 {
		t.Errorf("reported %.200v", reported)
	}
}

// TestBaggageIsInTheContext: for the wrapped handler, as with otelhttp.
func TestBaggageIsInTheContext(t *testing.T) {
	b := newBed(t)
	var tenant, onward string
	base := roundTripper(func(r *http.Request) (*http.Response, error) {
		onward = r.Header.Get("Baggage")
		return &http.Response{StatusCode: 200, Body: http.NoBody}, nil
	})
	h := NewHandler(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		tenant = baggage.FromContext(r.Context()).Member("tenant").Value()
		out, _ := http.NewRequestWithContext(r.Context(), http.MethodPost, "http://server"+chatPath, nil)
		_, _ = NewTransport(base, b.inst).RoundTrip(out)
	}), b.inst)
	r := httptest.NewRequest(http.MethodPost, chatPath, nil)
	propagation.HeaderCarrier(r.Header).Set("baggage", "tenant=a")
	h.ServeHTTP(httptest.NewRecorder(), r)
	if tenant != "a" || onward != "tenant=a" {
		t.Errorf("the context has tenant %q, sent on is %q", tenant, onward)
	}
	b.spans(1)
}
