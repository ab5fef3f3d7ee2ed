package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"log"
	"os/exec"
	"time"

	"github.com/infertel/infertel-go/e2e/internal/process"
	"github.com/infertel/infertel-go/internal/otlpreceiver"
)

const (
	// maxOpen is how many requests of an engine the shim keeps open.
	maxOpen = 1 << 15
	// batch is how many requests are told before it is waited for their spans: who
	// writes faster than spans can be exported has them dropped.
	batch = 400
)

// feed is a shim that is fed, and what arrives of it.
type feed struct {
	config
	lines
	logger   *log.Logger
	shim     *process.Process
	receiver *otlpreceiver.Receiver
	stdin    io.WriteCloser
	buffer   *bufio.Writer
	taken    []process.Stats
	give     time.Time // up

	ended, open, arrived int // requests
}

// run does it and returns what was wrong.
func run(c config, out io.Writer) (err error) {
	program, err := process.Build("engineshim", false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, program.Remove()) }()
	f := &feed{config: c, logger: log.New(out, "", 0), give: time.Now().Add(c.timeout)}
	if f.receiver, err = otlpreceiver.Start(); err != nil {
		return err
	}
	defer f.receiver.Stop()
	env := []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + f.receiver.Endpoint(), "OTEL_BSP_SCHEDULE_DELAY=50", "OTEL_METRIC_EXPORT_INTERVAL=1000"}
	var pipeErr error
	f.shim, err = program.Start(nil, env, func(cmd *exec.Cmd) { f.stdin, pipeErr = cmd.StdinPipe() })
	if err := errors.Join(pipeErr, err); err != nil {
		return err
	}
	defer f.shim.Kill()
	f.buffer = bufio.NewWriterSize(f.stdin, 64<<10)
	f.lines = lines{Writer: f.buffer, at: time.Now().UnixNano()}
	if err := errors.Join(f.all(), f.check()); err != nil {
		return fmt.Errorf("%w\nthe shim said:\n%s", err, f.shim.Stderr())
	}
	return f.end()
}

// all tells of all requests.
func (f *feed) all() error {
	f.declare()
	if f.full {
		for i := range engines * maxOpen {
			f.request(i%engines, fmt.Sprint("left-", i), false)
		}
		f.open = engines * maxOpen
	}
	if err := f.sample("before"); err != nil {
		return err
	}
	began := time.Now()
	for i := range f.requests {
		ends := i%f.abandon != 0
		f.request(i%engines, fmt.Sprint("r-", i), ends)
		if ends || f.full { // a new one that does not end ends the oldest
			f.ended++
		} else {
			f.open++
		}
		if i%batch == batch-1 {
			f.stats()
			if err := f.wait(); err != nil {
				return err
			}
		}
		if i%max(1, f.requests/f.samples) == 0 && i > 0 {
			if err := f.sample(fmt.Sprintf("%4.0fs", time.Since(began).Seconds())); err != nil {
				return err
			}
		}
	}
	return f.sample("after")
}

// wait returns when all requests that ended have arrived.
func (f *feed) wait() error {
	if err := errors.Join(f.buffer.Flush(), f.err); err != nil {
		return err
	}
	for f.take(); f.arrived < f.ended; f.take() {
		if time.Now().After(f.give) {
			return fmt.Errorf("%d of %d requests arrived within %v", f.arrived, f.ended, f.timeout)
		}
		time.Sleep(2 * time.Millisecond)
	}
	return nil
}

// take takes over what arrived.
func (f *feed) take() {
	spans, _, _ := f.receiver.Take()
	for _, s := range spans {
		if isRequest(s.GetName()) {
			f.arrived++
		}
	}
}

func (f *feed) sample(when string) error {
	if err := f.wait(); err != nil {
		return err
	}
	s, err := f.shim.Stats()
	f.logger.Printf("%s: %d requests ended, %d open: %v", when, f.ended, f.open, s)
	f.taken = append(f.taken, s)
	return err
}

// check compares the second quarter of the run with its end, beside what was left
// open meanwhile.
func (f *feed) check() error {
	early, late := f.taken[len(f.taken)/4], f.taken[len(f.taken)-1]
	slack := int64(8 << 20)
	if !f.full {
		const perOpen = 16 << 10 // bytes of a request of this run
		slack += int64(f.open) * perOpen
	}
	var errs []error
	if late.Heap > early.Heap+early.Heap/10+slack {
		errs = append(errs, fmt.Errorf("the live heap grows from %d to %d", early.Heap, late.Heap))
	}
	if late.Goroutines > early.Goroutines+10 {
		errs = append(errs, fmt.Errorf("goroutines grow from %d to %d", early.Goroutines, late.Goroutines))
	}
	return errors.Join(errs...)
}

// end ends the input, and with it what is open.
func (f *feed) end() error {
	if err := f.stdin.Close(); err != nil {
		return err
	}
	code, err := f.shim.Wait(time.Minute)
	if err != nil {
		return err
	}
	f.take()
	f.logger.Printf("%d of %d requests arrived; the shim took %v of processor time", f.arrived, f.ended+f.open, f.shim.CPU().Round(10*time.Millisecond))
	if code != 0 || f.arrived != f.ended+f.open {
		return fmt.Errorf("exit status %d, %d of %d requests arrived; the shim said:\n%s", code, f.arrived, f.ended+f.open, f.shim.Stderr())
	}
	return nil
}
