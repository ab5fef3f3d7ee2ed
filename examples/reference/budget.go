package main

import (
	"context"
	"sync"
	"time"
)

// flushAfter is how many spans may wait for their export. Simulated time makes
// them faster than any exporter sends them, so the engines wait for it now and
// then; real ones have no need to.
const flushAfter = 8192

// spanBudget has what was made sent before there is more of it than the queue
// holds. One lot is sent while the next is made.
type spanBudget struct {
	flush   func(context.Context) error
	failed  func(error)
	waiting int
	total   int
	sending sync.WaitGroup
}

func (b *spanBudget) add(n int) {
	b.total += n
	if b.waiting += n; b.waiting >= flushAfter {
		b.send()
	}
}

// send waits until what was sent before has arrived, and sends what is there.
func (b *spanBudget) send() {
	b.waiting = 0
	b.sending.Wait()
	b.sending.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		if err := b.flush(ctx); err != nil {
			b.failed(err)
		}
	})
}
