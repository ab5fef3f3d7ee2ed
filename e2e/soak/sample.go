package main

import (
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/infertel/infertel-go/e2e/internal/process"
)

// samples are the gateway's figures over the time of a run.
type samples struct {
	process *process.Process
	say     *log.Logger
	taken   []process.Stats
	idle    process.Stats // after the last stream
	start   process.Stats // before the first
	errs    []error
}

// newSamples takes the figures before the first stream.
func newSamples(p *process.Process, say *log.Logger) *samples {
	s := &samples{process: p, say: say}
	s.start = s.take()
	s.say.Println("before:", s.start)
	return s
}

func (s *samples) take() process.Stats {
	st, err := s.process.Stats()
	if err != nil {
		s.errs = append(s.errs, err)
	}
	return st
}

// run takes the figures until stop is closed, and once more.
func (s *samples) run(c config, stop <-chan struct{}) {
	every := c.duration / time.Duration(c.samples)
	tick := time.NewTicker(every)
	defer tick.Stop()
	for running := true; running; {
		select {
		case <-stop:
			running = false
		case <-tick.C:
			if len(s.taken) == c.samples-1 {
				tick.Stop() // from here on streams end and none begin
			}
			st := s.take()
			s.taken = append(s.taken, st)
			s.say.Printf("%4.0fs: %v", float64(len(s.taken))*every.Seconds(), st)
		}
	}
	// Connections close, and the last spans are exported after five seconds.
	for end := time.Now().Add(rest); ; time.Sleep(time.Second) {
		s.idle = s.take()
		if s.atRest() == nil || time.Now().After(end) {
			break
		}
	}
	s.say.Println("after:", s.idle)
}

// rest is how long the gateway may take to come to rest.
const rest = 20 * time.Second

// check compares the second quarter of the run with the last: what grows with the
// streams that have passed is larger then. The rest is what the runtime makes of
// equal load.
func (s *samples) check(c config) error {
	n := len(s.taken) / 4
	early, late := mean(s.taken[n:2*n]), mean(s.taken[len(s.taken)-n:])
	if c.race { // the detector keeps much of its own, ever more at first
		early.RSS = late.RSS
	}
	return errors.Join(append(s.errs,
		grows("live heap", early.Heap, late.Heap, 8<<20),
		grows("memory", early.RSS, late.RSS, 48<<20),
		grows("the number of goroutines", int64(early.Goroutines), int64(late.Goroutines), 100),
		s.atRest())...)
}

// atRest compares the end with the beginning. What stays are connections to the
// server, which are kept for the next requests.
func (s *samples) atRest() error {
	return errors.Join(
		grows("the number of goroutines at rest", int64(s.start.Goroutines), int64(s.idle.Goroutines), 600),
		grows("live heap at rest", s.start.Heap, s.idle.Heap, 16<<20))
}

func grows(what string, from, to, slack int64) error {
	if to > from+from/4+slack {
		return fmt.Errorf("%s grows from %d to %d", what, from, to)
	}
	return nil
}

func mean(of []process.Stats) (m process.Stats) {
	for _, s := range of {
		m.Heap += s.Heap / int64(len(of))
		m.RSS += s.RSS / int64(len(of))
		m.Goroutines += s.Goroutines
	}
	m.Goroutines /= max(1, len(of))
	return m
}
