// Package otlptest shows tests what arrived on the OTLP wire as plain values
// that can be compared.
package otlptest

import (
	"testing"
	"time"

	"github.com/infertel/infertel-go/internal/otlpreceiver"
)

// Receiver is an otlpreceiver.Receiver with flat views of what it received.
type Receiver struct {
	*otlpreceiver.Receiver
	t testing.TB
}

// New starts a Receiver and stops it when the test ends.
func New(t testing.TB, opts ...otlpreceiver.Option) *Receiver {
	t.Helper()
	r, err := otlpreceiver.Start(opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Stop)
	return &Receiver{r, t}
}

// FlatSpans returns the received spans in the order of their arrival.
func (r *Receiver) FlatSpans() []Span { return flat(r.Spans(), flatSpan) }

// FlatLogs returns the received log records in the order of their arrival.
func (r *Receiver) FlatLogs() []Log { return flat(r.Logs(), flatLog) }

// Points returns the data points of every received metric in the order of
// their arrival: with several collections, the newest value is the last.
func (r *Receiver) Points() []Point {
	var out []Point
	for _, m := range r.Metrics() {
		out = append(out, points(m)...)
	}
	return out
}

// LastPoints returns the data points of the last request that carried metrics:
// one collection's.
func (r *Receiver) LastPoints() []Point {
	reqs := r.MetricRequests()
	if len(reqs) == 0 {
		return nil
	}
	var out []Point
	for _, rm := range reqs[len(reqs)-1].GetResourceMetrics() {
		for _, sm := range rm.GetScopeMetrics() {
			o := otlpreceiver.Origin{Resource: rm.GetResource(), Scope: sm.GetScope(), SchemaURL: sm.GetSchemaUrl()}
			for _, m := range sm.GetMetrics() {
				out = append(out, points(otlpreceiver.Metric{Origin: o, Metric: m})...)
			}
		}
	}
	return out
}

// WaitSpans returns the received spans as soon as there are n. After timeout it
// fails the test.
func (r *Receiver) WaitSpans(n int, timeout time.Duration) []Span {
	r.t.Helper()
	r.wait("spans", n, timeout, func() int { return len(r.Spans()) })
	return r.FlatSpans()
}

// WaitLogs returns the received log records as soon as there are n. After
// timeout it fails the test.
func (r *Receiver) WaitLogs(n int, timeout time.Duration) []Log {
	r.t.Helper()
	r.wait("log records", n, timeout, func() int { return len(r.Logs()) })
	return r.FlatLogs()
}

func (r *Receiver) wait(what string, n int, timeout time.Duration, have func() int) {
	r.t.Helper()
	for end := time.Now().Add(timeout); have() < n; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			r.t.Fatalf("%d of %d %s arrived within %v", have(), n, what, timeout)
		}
	}
}

func flat[T, U any](items []T, f func(T) U) []U {
	out := make([]U, len(items))
	for i, it := range items {
		out[i] = f(it)
	}
	return out
}
