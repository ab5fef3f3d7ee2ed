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
	"strings"
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
	// Service is the service name if the environment names none.
	Service string
	// Out is where what arrived is printed. Default: standard output.
	Out io.Writer
	// Live prints traces and log events as they arrive, for programs that run
	// until they are stopped.
	Live bool
	// Verbose prints attributes too.
	Verbose bool
	// HTML is a file to which what arrived is written as a page too. It needs the
	// receiver.
	HTML string
	// Inspect is told of everything that arrives at the receiver, before it is
	// shown. It is called by one goroutine at a time.
	Inspect func(spans []otlpreceiver.Span, metrics []otlpreceiver.Metric, logs []otlpreceiver.Log)
}

// Session is a program's running telemetry.
type Session struct {
	config    Config
	providers *otlp.Providers
	receiver  *otlpreceiver.Receiver // nil: a collector gets everything
	printer   *view.Printer

	taking sync.Mutex // one takes over at a time, in the order of arrival
	data   view.Data

	stop chan struct{}
	live sync.WaitGroup
}

// endpoints are the variables that name a collector.
var endpoints = []string{
	"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
	"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT",
}

// CollectorNamed reports whether the environment names a collector, so that
// nothing is received here.
func CollectorNamed() bool {
	for _, name := range endpoints {
		if os.Getenv(name) != "" {
			return true
		}
	}
	return false
}

// serviceNamed reports whether the environment names the service.
func serviceNamed() bool {
	return os.Getenv("OTEL_SERVICE_NAME") != "" || strings.Contains(os.Getenv("OTEL_RESOURCE_ATTRIBUTES"), "service.name=")
}

// Start sets the telemetry up. The caller ends it with Close.
func Start(ctx context.Context, c Config) (*Session, error) {
	if c.Out == nil {
		c.Out = os.Stdout
	}
	s := &Session{config: c, printer: view.NewPrinter(c.Out, c.Verbose), stop: make(chan struct{})}
	var opts []otlp.Option
	if !serviceNamed() {
		opts = append(opts, otlp.WithServiceName(c.Service))
	}
	if !CollectorNamed() {
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
	if s.receiver != nil {
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

// Flush sends what there is, and returns when it has been received and inspected.
// Who makes telemetry faster than that takes calls it now and then.
func (s *Session) Flush(ctx context.Context) error {
	err := s.providers.ForceFlush(ctx)
	if s.receiver != nil {
		s.take()
	}
	return err
}

const (
	showEvery  = 500 * time.Millisecond // live
	drainEvery = 20 * time.Millisecond  // else, so that the receiver does not fill the memory
)

// watch takes over what arrives. Live, it is sent on its way often, and printed.
func (s *Session) watch() {
	every := drainEvery
	if s.config.Live {
		every = showEvery
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-s.stop:
			return
		case <-tick.C:
			if s.config.Live {
				ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
				_ = s.providers.ForceFlush(ctx) // what fails is counted as a loss
				cancel()
			}
			s.take()
		}
	}
}

// take takes over what arrived since the last time.
func (s *Session) take() {
	s.taking.Lock()
	defer s.taking.Unlock()
	spans, metrics, logs := s.receiver.Take()
	if s.config.Inspect != nil {
		s.config.Inspect(spans, metrics, logs)
	}
	if !s.config.Live {
		s.data.Add(spans, metrics, logs)
		return
	}
	// Traces and log events are shown and forgotten; each export of metrics makes
	// the ones before obsolete.
	s.data.Add(nil, metrics, nil)
	var now view.Data
	now.Add(spans, nil, logs)
	s.printer.Traces(&now)
	s.printer.LogEvents(&now)
}

// Received returns what arrived at the receiver, after Close. It is empty where a
// collector got everything, and holds metrics only after a live session.
func (s *Session) Received() *view.Data { return &s.data }

// Close sends everything, shows what arrived if there is no collector, and
// returns an error that says what was lost.
func (s *Session) Close(ctx context.Context) error {
	err := s.providers.Shutdown(ctx)
	close(s.stop)
	s.live.Wait()
	if s.receiver != nil {
		s.take()
		s.receiver.Stop()
		err = errors.Join(err, s.show())
	}
	if l := s.providers.Losses(); l.Total() > 0 {
		err = errors.Join(err, fmt.Errorf("lost: %d spans, %d log records, %d metric exports", l.Spans.Total(), l.LogRecords.Total(), l.MetricExports.Total()))
	}
	return err
}

func (s *Session) show() error {
	if !s.config.Live {
		s.printer.Traces(&s.data)
	}
	s.printer.Metrics(&s.data)
	if !s.config.Live {
		s.printer.LogEvents(&s.data)
	}
	if s.config.HTML == "" {
		return nil
	}
	return view.WriteHTMLFile(s.config.HTML, s.config.Service, &s.data)
}
