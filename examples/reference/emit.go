package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"go.opentelemetry.io/otel"

	"github.com/infertel/infertel-go/examples/internal/session"
	"github.com/infertel/infertel-go/examples/internal/simengine"
)

const flushTime = 30 * time.Second

// faults gathers what went wrong. The library and the SDK report from other
// goroutines too.
type faults struct {
	mu   sync.Mutex
	errs []error
}

func (f *faults) add(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err != nil && len(f.errs) < 20 {
		f.errs = append(f.errs, err)
	}
}

func (f *faults) err() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return errors.Join(f.errs...)
}

// Handle takes the errors that OpenTelemetry reports.
func (f *faults) Handle(err error) { f.add(err) }

// emit runs the fleet and returns an error if anything was lost or refused.
func emit(ctx context.Context, f *flags, stdout, stderr io.Writer) error {
	problems := &faults{}
	otel.SetErrorHandler(problems)
	config := session.Config{Service: "reference", Out: stdout, Verbose: f.verbose, HTML: f.html}
	var check *checker
	if f.check {
		check = newChecker(f)
		config.Inspect = check.inspect
	}
	telemetry, err := session.Start(ctx, config)
	if err != nil {
		return err
	}
	fl := &fleet{flags: f, sim: simengine.NewSim(time.Now(), f.speed), session: telemetry, fault: problems.add}
	fl.spans = &spanBudget{flush: telemetry.Flush, failed: problems.add}
	if err := fl.build(); err != nil {
		problems.add(err)
	} else {
		fl.run(ctx, stderr)
	}
	flush, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTime)
	defer cancel()
	problems.add(telemetry.Close(flush))
	for _, c := range fl.closers {
		problems.add(c())
	}
	if check != nil {
		problems.add(check.finish())
		fmt.Fprintln(stdout, check)
	}
	if err := problems.err(); err != nil {
		return err
	}
	fmt.Fprintln(stdout, fl.summary(telemetry))
	return nil
}

// summary says what was done, when nothing was lost.
func (f *fleet) summary(s *session.Session) string {
	engines := 0
	for _, d := range f.deployments {
		engines += len(d.engines)
	}
	done := fmt.Sprintf("%d requests to %d engines", f.finished, engines)
	if session.CollectorNamed() {
		return done + ": all telemetry was sent to the collector, nothing was lost."
	}
	d := s.Received()
	return fmt.Sprintf("%s: %d spans in %d traces, %d series of metrics and %d log events arrived, nothing was lost.", done, d.Spans, d.Traces, d.Series(), d.Logs)
}

// run lets all engines serve their clients.
func (f *fleet) run(ctx context.Context, stderr io.Writer) {
	all := f.flags.requests * len(f.deployments)
	progress := newProgress(stderr, all)
	began := f.sim.Now()
	for _, d := range f.deployments {
		f.start(d, func() {
			f.finished++
			progress.show(f.finished, f.sim.Now().Sub(began))
			// Some collections on the way show how the metrics went.
			if f.finished%max(all/collections, 1) == 0 {
				f.spans.send()
			}
		})
	}
	err := f.sim.Run(ctx)
	for _, d := range f.deployments {
		for _, e := range d.engines {
			if err != nil {
				e.Close()
			}
			if !e.Idle() {
				f.fault(fmt.Errorf("the engine of %s is not idle at the end", d.name))
			}
		}
	}
	progress.clear()
	if err != nil {
		for _, d := range f.doors {
			d.close()
		}
		fmt.Fprintf(stderr, "reference: interrupted after %d of %d requests\n", f.finished, all)
	}
}

const collections = 24
