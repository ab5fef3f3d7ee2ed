package otlp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/otel/log"
	lognoop "go.opentelemetry.io/otel/log/noop"
	"go.opentelemetry.io/otel/metric"
	metricnoop "go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/trace"
	tracenoop "go.opentelemetry.io/otel/trace/noop"
)

const (
	// shutdownTimeout bounds a Shutdown whose context has no deadline. Programs
	// call it last, a dead collector must not keep them.
	shutdownTimeout = 10 * time.Second
	// shutdownGrace is waited for past the deadline, for what has been told to stop
	// to do so. It is needed only by a context that has ended already.
	shutdownGrace = 200 * time.Millisecond
)

// Providers are the providers of the three signals. The zero value and a nil
// *Providers do nothing. Its methods may be called concurrently.
type Providers struct {
	tracer trace.TracerProvider
	meter  metric.MeterProvider
	logger log.LoggerProvider

	traces, logs, metrics *pipeline // nil if not exported

	stop sync.Once
	done chan struct{} // closed when err is set
	err  error
}

// pipeline is what exports one signal.
type pipeline struct {
	signal          *signal
	flush, shutdown func(context.Context) error
}

// TracerProvider returns the provider of tracers. After Shutdown, and if traces
// are not exported, it does nothing.
func (p *Providers) TracerProvider() trace.TracerProvider {
	if p == nil || p.tracer == nil {
		return tracenoop.NewTracerProvider()
	}
	return p.tracer
}

// MeterProvider returns the provider of meters. After Shutdown, and if metrics
// are not exported, it does nothing.
func (p *Providers) MeterProvider() metric.MeterProvider {
	if p == nil || p.meter == nil {
		return metricnoop.NewMeterProvider()
	}
	return p.meter
}

// LoggerProvider returns the provider of loggers. After Shutdown, and if logs
// are not exported, it does nothing.
func (p *Providers) LoggerProvider() log.LoggerProvider {
	if p == nil || p.logger == nil {
		return lognoop.NewLoggerProvider()
	}
	return p.logger
}

// ForceFlush exports what has been recorded so far. It returns when that is
// done, or with an error when ctx ends; exporting then goes on. It also returns
// an error if something was lost meanwhile.
func (p *Providers) ForceFlush(ctx context.Context) error {
	before := p.Losses()
	err := concurrently(p.pipelines(), func(pl *pipeline) error { return pl.flush(ctx) })
	return errors.Join(err, p.lostSince(before))
}

// Shutdown exports what is left and ends the providers, with every goroutine and
// connection of theirs. It returns within the deadline of ctx, or within 10
// seconds if there is none, whatever the collector does: what could not be
// delivered by then is counted as lost. Traces and logs come first and have
// three quarters of the time, so that metrics, which go last and include the
// losses, have some too.
//
// It returns an error if something was lost meanwhile. Only the first call does
// the work, any other waits for it and returns the same.
func (p *Providers) Shutdown(ctx context.Context) error {
	if p == nil {
		return nil
	}
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, shutdownTimeout)
		defer cancel()
	}
	p.stop.Do(func() {
		p.done = make(chan struct{})
		go p.shutdown(ctx)
	})
	select {
	case <-p.done:
		return p.err
	case <-ctx.Done():
	}
	grace := time.NewTimer(shutdownGrace)
	defer grace.Stop()
	select {
	case <-p.done:
		return p.err
	case <-grace.C:
		return fmt.Errorf("otlp: shutdown goes on in the background: %w", context.Cause(ctx))
	}
}

func (p *Providers) shutdown(ctx context.Context) {
	defer close(p.done)
	before := p.Losses()
	deadline, _ := ctx.Deadline()
	left := time.Until(deadline)

	first, cancel := context.WithDeadline(ctx, deadline.Add(-left/4))
	defer cancel()
	err := concurrently([]*pipeline{p.traces, p.logs}, func(pl *pipeline) error { return pl.shutdown(first) })

	// The rest of the margin is for what has been given up to end.
	last, cancel := context.WithDeadline(ctx, deadline.Add(-left/20))
	defer cancel()
	err = errors.Join(err, concurrently([]*pipeline{p.metrics}, func(pl *pipeline) error { return pl.shutdown(last) }))

	p.err = errors.Join(err, p.lostSince(before))
}

// Losses returns what has been lost so far. After Shutdown it is final: what was
// recorded is what arrived and what is counted here. A message that the
// collector took but could not acknowledge in time is counted as lost.
//
// A span that has started and not ended by Shutdown is lost, and counted, whether
// it ends later or not.
//
// Not counted are what the SDK drops before it is recorded (unsampled spans,
// events and attributes over their limits, which each span counts itself), and
// spans, log records and measurements that begin after Shutdown.
func (p *Providers) Losses() Losses {
	var l Losses
	for _, s := range p.signals() {
		switch s.name {
		case "traces":
			l.Spans = s.causes()
		case "logs":
			l.LogRecords = s.causes()
		case "metrics":
			l.MetricExports = s.causes()
		}
	}
	return l
}

func (p *Providers) signals() []*signal {
	var out []*signal
	for _, pl := range p.pipelines() {
		if pl != nil {
			out = append(out, pl.signal)
		}
	}
	return out
}

func (p *Providers) pipelines() []*pipeline {
	if p == nil {
		return nil
	}
	return []*pipeline{p.traces, p.logs, p.metrics}
}

func (p *Providers) lostSince(before Losses) error {
	now := p.Losses()
	var parts []string
	for _, l := range []struct {
		items       string
		now, before Causes
	}{
		{"spans", now.Spans, before.Spans},
		{"log records", now.LogRecords, before.LogRecords},
		{"metric exports", now.MetricExports, before.MetricExports},
	} {
		if n := l.now.Total() - l.before.Total(); n > 0 {
			parts = append(parts, quantity(n, l.items))
		}
	}
	if parts == nil {
		return nil
	}
	return fmt.Errorf("otlp: lost %s", strings.Join(parts, ", "))
}

// concurrently runs f for each pipeline that is not nil and joins the errors.
func concurrently(pipelines []*pipeline, f func(*pipeline) error) error {
	errs := make([]error, len(pipelines))
	var wg sync.WaitGroup
	for i, pl := range pipelines {
		if pl != nil {
			wg.Go(func() { errs[i] = f(pl) })
		}
	}
	wg.Wait()
	return errors.Join(errs...)
}
