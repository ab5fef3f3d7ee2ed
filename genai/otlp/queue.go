package otlp

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
)

// queue stands before and behind one of the SDK's batch processors: it admits
// items before they are queued there and releases them when they were exported,
// so it knows at any time how many wait. The SDK's own queues drop silently.
type queue struct {
	signal   *signal
	maxItems int64
	maxBytes int64
	variable string // what sets maxItems

	items, bytes atomic.Int64
	open         atomic.Int64 // started, not ended
	closed       atomic.Bool  // admits nothing any more
	drained      atomic.Bool  // exports nothing any more

	// life ends when what is being sent shall be given up.
	life  context.Context
	abort context.CancelFunc
	// flushing holds a token while a flush runs.
	flushing chan struct{}
	stop     sync.Once
}

func newQueue(s *signal, maxItems int, maxBytes int64, variable string) *queue {
	q := &queue{signal: s, maxItems: int64(maxItems), maxBytes: maxBytes, variable: variable, flushing: make(chan struct{}, 1)}
	q.life, q.abort = context.WithCancel(context.Background())
	s.waiting = func() int64 {
		if !q.drained.Load() {
			return 0
		}
		return max(0, q.left())
	}
	return q
}

// admit reports whether an item of n bytes may be queued, and counts it as lost
// if not.
func (q *queue) admit(n int64) bool {
	items := q.items.Add(1)
	if q.closed.Load() {
		q.items.Add(-1)
		q.signal.lose(atShutdown, 1, errShutDown)
		return false
	}
	if items > q.maxItems {
		q.items.Add(-1)
		q.signal.lose(queueFull, 1, q.tooMany)
		return false
	}
	// A single item may be over the limit, or it could never be sent.
	if bytes := q.bytes.Add(n); bytes > q.maxBytes && bytes != n {
		q.bytes.Add(-n)
		q.items.Add(-1)
		q.signal.lose(queueFull, 1, q.tooBig)
		return false
	}
	return true
}

func (q *queue) release(items int, bytes int64) {
	q.items.Add(-int64(items))
	q.bytes.Add(-bytes)
}

// export runs one export of n items and counts what the collector did not
// acknowledge. Its errors go no further: the SDK would report every one.
func (q *queue) export(ctx context.Context, n int, send func(context.Context) error) {
	s := q.signal
	if q.life.Err() != nil {
		s.lose(atShutdown, int64(n), errDeadline)
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(q.life, cancel)()

	var a ack
	err := send(withAck(ctx, &a))
	if a.rejected > 0 {
		s.lose(rejected, a.rejected, func() error {
			return fmt.Errorf("the collector accepted the message but rejected a part: %s", a.message)
		})
	} else if a.message != "" {
		s.warn(a.message)
	}
	switch lost := int64(n) - a.accepted - a.rejected; {
	case lost <= 0:
	case q.life.Err() != nil:
		s.lose(atShutdown, lost, errDeadline)
	default:
		if a.err != nil { // shorter than the same error from several messages
			err = a.err
		}
		s.lose(exportFailed, lost, func() error { return s.failure(err) })
	}
}

// flush runs f with a context that only abort ends, and waits for it as long as
// ctx allows. The SDK's processors lose what they were exporting when the
// caller's context ends, and every flush waiting takes a place in their queue.
func (q *queue) flush(ctx context.Context, f func(context.Context) error) error {
	if q.closed.Load() {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case q.flushing <- struct{}{}:
	case <-q.life.Done():
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
	done := make(chan error, 1)
	go func() {
		defer func() { <-q.flushing }()
		done <- f(q.life)
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// shutdown closes the queue and runs f, which exports what waits until ctx ends.
// From then on exports return at once, so f does. Only the first call runs f.
func (q *queue) shutdown(ctx context.Context, f func() error) (err error) {
	q.stop.Do(func() {
		q.closed.Store(true)
		defer context.AfterFunc(ctx, q.abort)()
		err = f()
		q.abort()
		q.drained.Store(true)
		// What ended while the processor closed was admitted and never queued. It
		// stays in items, and in open what the provider will not tell the end of.
		// There waiting finds them.
		if n := q.left(); n > 0 && q.signal.lost[atShutdown].Load() == 0 {
			q.signal.report(n, errShutDown())
		}
	})
	return err
}

func (q *queue) left() int64 { return q.items.Load() + q.open.Load() }

func (q *queue) tooMany() error {
	return fmt.Errorf("%d are waiting to be exported; raise %s, or see why the collector is slow", q.maxItems, q.variable)
}

func (q *queue) tooBig() error {
	return fmt.Errorf("%d bytes are waiting to be exported; raise that by WithQueueBytes, emit fewer events or less content, or see why the collector is slow", q.maxBytes)
}

func errShutDown() error {
	return errors.New("not ended when Shutdown was called; end what is under way before")
}

func errDeadline() error {
	return errors.New("the deadline of Shutdown came first; allow it more time, or see why the collector is slow or gone")
}
