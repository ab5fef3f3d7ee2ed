package otlp

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/infertel/infertel-go/internal/otlpreceiver/otlptest"
)

// Shutdown under load loses by the queue and by itself only.
func TestShutdownUnderLoad(t *testing.T) {
	handleErrors(t)
	r := otlptest.New(t)
	p := setup(t, WithEndpoint(r.Endpoint()))
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				case <-time.After(50 * time.Microsecond): // leave the exporters some time
					endSpans(p, 1)
					emitLogs(p, 1, 10)
				}
			}
		})
	}
	eventually(t, "something is exported", func() bool { return len(r.LogRequests()) > 0 })
	for range 3 {
		wg.Go(func() { _ = p.Shutdown(t.Context()) })
	}
	_ = p.Shutdown(t.Context())
	close(stop)
	wg.Wait()
	l := p.Losses()
	if l.Spans.Total() != l.Spans.Shutdown+l.Spans.QueueFull || l.LogRecords.Total() != l.LogRecords.Shutdown+l.LogRecords.QueueFull {
		t.Errorf("lost %+v", l)
	}
}

// Shutdown with a context that has ended does what is left to do: nothing stays.
func TestShutdownWithoutTime(t *testing.T) {
	handleErrors(t)
	p := setup(t, WithEndpoint(silent(t)))
	count(t, p)
	endSpans(p, 10)
	emitLogs(p, 10, 10)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := p.Shutdown(ctx); err == nil {
		t.Error("no error")
	}
	if l := p.Losses(); l.Spans.Total() != 10 || l.LogRecords.Total() != 10 {
		t.Errorf("lost %+v", l)
	}
}

// A callback of the program's that hangs must not hang the program's end.
func TestShutdownWithHangingCallback(t *testing.T) {
	handleErrors(t)
	r := otlptest.New(t)
	p := setup(t, WithEndpoint(r.Endpoint()))
	release := make(chan struct{})
	_, err := p.MeterProvider().Meter("test").Int64ObservableGauge("gauge", hangingCallback(release))
	if err != nil {
		t.Fatal(err)
	}
	endSpans(p, 1)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	ended := make(chan error)
	go func() { ended <- p.Shutdown(ctx) }()
	r.WaitSpans(1, 10*time.Second) // not held up by the metric
	cancel()
	if err := <-ended; err == nil {
		t.Error("no error")
	}
	close(release)
	<-p.done
}

// A span that has not ended by Shutdown is lost, whether it ends later or never.
func TestShutdownWithOpenSpans(t *testing.T) {
	h := handleErrors(t)
	r := otlptest.New(t)
	p := setup(t, WithEndpoint(r.Endpoint()))
	tracer := p.TracerProvider().Tracer("test")
	start := func() trace.Span {
		_, s := tracer.Start(context.Background(), "open")
		return s
	}
	start().End()
	later, never := start(), start()
	if n := p.Losses().Total(); n != 0 {
		t.Errorf("%d lost before Shutdown", n)
	}
	if err := p.Shutdown(t.Context()); err == nil || !strings.Contains(err.Error(), "lost 2 spans") {
		t.Errorf("error %v", err)
	}
	later.End()
	start().End() // began after Shutdown
	if l := p.Losses(); l != (Losses{Spans: Causes{Shutdown: 2}}) || len(r.Spans()) != 1 {
		t.Errorf("lost %+v, %d arrived", l, len(r.Spans()))
	}
	h.want(t, "2 spans lost", "not ended when Shutdown was called")
	if n := len(h.all()); n != 1 {
		t.Errorf("reported %q", h.all())
	}
	never.End()
}

// Of spans that end while Shutdown runs, each arrives or is counted.
func TestShutdownWhileSpansEnd(t *testing.T) {
	handleErrors(t)
	for range rounds(20) {
		r := otlptest.New(t)
		p := setup(t, WithEndpoint(r.Endpoint()))
		spans := make([]trace.Span, 2000)
		for i := range spans {
			_, spans[i] = p.TracerProvider().Tracer("test").Start(context.Background(), "open")
		}
		var wg sync.WaitGroup
		for half := range slices.Chunk(spans, 1000) {
			wg.Go(func() {
				for _, s := range half {
					s.End()
				}
			})
		}
		_ = p.Shutdown(t.Context())
		wg.Wait()
		if n := int64(len(r.Spans())) + p.Losses().Spans.Total(); n != 2000 {
			t.Fatalf("%d arrived + %+v lost, want 2000", len(r.Spans()), p.Losses().Spans)
		}
	}
}

// Unsampled spans are nobody's loss.
func TestShutdownWithUnsampledSpans(t *testing.T) {
	h := handleErrors(t)
	t.Setenv("OTEL_TRACES_SAMPLER", "always_off")
	p := setup(t, WithEndpoint(otlptest.New(t).Endpoint()))
	_, s := p.TracerProvider().Tracer("test").Start(context.Background(), "open")
	if err := p.Shutdown(t.Context()); err != nil || len(h.all()) != 0 {
		t.Errorf("%v, reported %q", err, h.all())
	}
	s.End()
}
