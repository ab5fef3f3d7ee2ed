package simengine

import (
	"container/heap"
	"context"
	"time"
)

// Sim is a clock with things to do. Engines that share one run side by side. It
// is used by one goroutine.
type Sim struct {
	now   time.Time
	speed float64
	todo  agenda
	count int

	simStart, wallStart time.Time
}

// NewSim returns a clock that stands at start. At speed 0 it jumps from one thing
// to the next; at speed 1 it keeps pace with the wall clock, at 2 it is twice as
// fast.
func NewSim(start time.Time, speed float64) *Sim {
	// Simulated time has no monotonic reading, or it would be compared with real
	// ones.
	start = start.Round(0)
	return &Sim{now: start, speed: speed, simStart: start}
}

// Now returns the simulated time.
func (s *Sim) Now() time.Time { return s.now }

// After has f called when d has passed. What is due at the same time is called
// in the order in which it was asked for.
func (s *Sim) After(d time.Duration, f func()) {
	s.count++
	heap.Push(&s.todo, &task{at: s.now.Add(max(d, 0)), order: s.count, run: f})
}

// Run does what is to do until nothing is left or ctx ends, and then returns its
// error.
func (s *Sim) Run(ctx context.Context) error {
	s.wallStart = time.Now()
	for len(s.todo) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		t := heap.Pop(&s.todo).(*task)
		if err := s.wait(ctx, t.at); err != nil {
			return err
		}
		s.now = t.at
		t.run()
	}
	return nil
}

// wait lets as much real time pass as the speed asks for.
func (s *Sim) wait(ctx context.Context, until time.Time) error {
	if s.speed <= 0 {
		return nil
	}
	due := s.wallStart.Add(time.Duration(float64(until.Sub(s.simStart)) / s.speed))
	d := time.Until(due)
	if d <= 0 {
		return nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

type task struct {
	at    time.Time
	order int
	run   func()
}

// agenda is a heap of tasks by time.
type agenda []*task

func (a agenda) Len() int { return len(a) }

func (a agenda) Less(i, j int) bool {
	if a[i].at.Equal(a[j].at) {
		return a[i].order < a[j].order
	}
	return a[i].at.Before(a[j].at)
}

func (a agenda) Swap(i, j int) { a[i], a[j] = a[j], a[i] }

func (a *agenda) Push(x any) { *a = append(*a, x.(*task)) }

func (a *agenda) Pop() any {
	old := *a
	t := old[len(old)-1]
	old[len(old)-1] = nil
	*a = old[:len(old)-1]
	return t
}
