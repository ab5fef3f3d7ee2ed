package otlp

import (
	"context"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	otel.SetLogger(logr.Discard()) // the SDK's own words about bad variables
	goleak.VerifyTestMain(m)
}

// handled is what went to otel.Handle.
type handled struct {
	mu   sync.Mutex
	errs []string
}

// handleErrors clears the environment of OTEL_ variables and collects what goes
// to otel.Handle until the test ends.
func handleErrors(t testing.TB) *handled {
	t.Helper()
	for _, kv := range os.Environ() {
		if name, _, _ := strings.Cut(kv, "="); strings.HasPrefix(name, "OTEL_") {
			t.Setenv(name, "")
		}
	}
	h := &handled{}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.errs = append(h.errs, err.Error())
	}))
	t.Cleanup(func() { otel.SetErrorHandler(otel.ErrorHandlerFunc(func(error) {})) })
	return h
}

func (h *handled) all() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]string(nil), h.errs...)
}

// want fails the test unless exactly one error holds all of parts, and returns it.
func (h *handled) want(t testing.TB, parts ...string) {
	t.Helper()
	n := 0
next:
	for _, e := range h.all() {
		for _, p := range parts {
			if !strings.Contains(e, p) {
				continue next
			}
		}
		n++
	}
	if n != 1 {
		t.Errorf("%d errors with %q, want 1; all:\n%s", n, parts, strings.Join(h.all(), "\n"))
	}
}

func setup(t testing.TB, opts ...Option) *Providers {
	t.Helper()
	p, err := Setup(t.Context(), opts...)
	if err != nil {
		t.Fatal(err)
	}
	// Whatever a test does, it leaves nothing running.
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		_ = p.Shutdown(ctx)
	})
	return p
}

// shutdown shuts down within d.
func shutdown(t testing.TB, p *Providers, d time.Duration) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	return p.Shutdown(ctx)
}

func endSpans(p *Providers, n int) {
	tracer := p.TracerProvider().Tracer("test")
	for range n {
		_, s := tracer.Start(context.Background(), "span", trace.WithSpanKind(trace.SpanKindServer))
		s.End()
	}
}

// eventually waits for a condition that other goroutines bring about.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("did not happen: ", what)
		}
	}
}

// hangingCallback makes a collection of metrics wait for release.
func hangingCallback(release <-chan struct{}) metric.Int64ObservableGaugeOption {
	return metric.WithInt64Callback(func(context.Context, metric.Int64Observer) error {
		<-release
		return nil
	})
}

// rounds returns how often a test repeats itself: less with the race detector.
func rounds(n int) int {
	if raceEnabled {
		return n / 5
	}
	return n
}
