package main

import "context"

// flushAfter is how many spans may wait for their export. Simulated time makes
// them faster than any exporter sends them, so the engines wait for it now and
// then; real ones have no need to.
const flushAfter = 8192

// spanBudget has what was made sent before there is more of it than the queue
// holds. The engines stand still meanwhile, so that a collection of metrics finds
// the same in every run.
type spanBudget struct {
	flush   func(context.Context) error
	failed  func(error)
	waiting int
	total   int
}

func (b *spanBudget) add(n int) {
	b.total += n
	if b.waiting += n; b.waiting >= flushAfter {
		b.send()
	}
}

func (b *spanBudget) send() {
	b.waiting = 0
	ctx, cancel := context.WithTimeout(context.Background(), flushTime)
	defer cancel()
	if err := b.flush(ctx); err != nil {
		b.failed(err)
	}
}
