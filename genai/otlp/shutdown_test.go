package otlp

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/infertel/infertel-go/internal/otlpreceiver/otlptest"
)

// Spans that end while Shutdown runs arrive or are counted, unless the provider
// has let go of them.
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
