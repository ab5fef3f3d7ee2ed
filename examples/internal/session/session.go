// Package session sets up the telemetry of an example program: it exports to
// the collector that the environment names, or else to a receiver in the same
// process, and then prints what arrived there.
package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"go.opentelemetry.io/otel/log"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/infertel/infertel-go/examples/internal/view"
	"github.com/infertel/infertel-go/genai/otlp"
	"github.com/infertel/infertel-go/internal/otlpreceiver"
)

// Config says how a program reports. The zero value prints to standard output
// when the session is closed.
type Config struct {
	// Service is the service name if OTEL_SERVICE_NAME names none.
	Service string
	// Out is where what arrived is printed. Default: standard output.
	Out io.Writer
	// Live prints traces and log events as they arrive, for programs that run
	// until they are stopped.
	Live bool
}

// Session is a program's running telemetry.
type Session struct {
	providers *otlp.Providers
	receiver  *otlpreceiver.Receiver // nil: a collector gets everything
	out       io.Writer

	stop chan struct{}
	live sync.WaitGroup
}

// endpoints are the variables that name a collector.
var endpoints = []string{
	"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
	"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT",
}

func collectorNamed() bool {
	for _, name := range endpoints {
		if os.Getenv(name) != "" {
			return true
		}
	}
	return false
}

// Start sets the telemetry up. The caller ends it with Close.
func Start(ctx context.Context, c Config) (*Session, error) {
	s := &Session{out: c.Out, stop: make(chan struct{})}
	if s.out == nil {
		s.out = os.Stdout
	}
	opts := []otlp.Option{otlp.WithServiceName(c.Service)}
	if !collectorNamed() {
		receiver, err := otlpreceiver.Start()
		if err != nil {
			return nil, err
		}
		s.receiver = receiver
		opts = append(opts, otlp.WithEndpoint(receiver.Endpoint()))
	}
	var err error
	if s.providers, err = otlp.Setup(ctx, opts...); err != nil {
		if s.receiver != nil {
			s.receiver.Stop()
		}
		return nil, err
	}
	if s.receiver != nil && c.Live {
		s.live.Go(s.watch)
	}
	return s, nil
}

// TracerProvider returns the provider of spans.
func (s *Session) TracerProvider() trace.TracerProvider { return s.providers.TracerProvider() }

// MeterProvider returns the provider of metrics.
func (s *Session) MeterProvider() metric.MeterProvider { return s.providers.MeterProvider() }

// LoggerProvider returns the provider of log events.
func (s *Session) LoggerProvider() log.LoggerProvider { return s.providers.LoggerProvider() }

// watch prints what arrives, and sends it on its way so that it arrives soon.
func (s *Session) watch() {
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-s.stop:
			return
		case <-tick.C:
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
			_ = s.providers.ForceFlush(ctx) // what fails is counted as a loss
			cancel()
			s.print()
		}
	}
}

// print shows what arrived since the last time, and returns the metrics: each
// export of them makes the ones before obsolete.
func (s *Session) print() []otlpreceiver.Metric {
	spans, metrics, logs := s.receiver.Take()
	view.Traces(s.out, spans)
	view.Logs(s.out, logs)
	return metrics
}

// Close sends everything, prints what arrived if there is no collector, and
// returns an error that says what was lost.
func (s *Session) Close(ctx context.Context) error {
	close(s.stop)
	s.live.Wait()
	err := s.providers.Shutdown(ctx)
	if s.receiver != nil {
		view.Metrics(s.out, s.print())
		s.receiver.Stop()
	}
	if l := s.providers.Losses(); l.Total() > 0 {
		err = errors.Join(err, fmt.Errorf("lost: %d spans, %d log records, %d metric exports", l.Spans.Total(), l.LogRecords.Total(), l.MetricExports.Total()))
	}
	return err
}
