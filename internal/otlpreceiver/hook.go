package otlpreceiver

import (
	"context"
	"time"
)

// Reply is what a Hook wants done with a request. The zero Reply accepts it.
type Reply struct {
	// Delay is waited for first, or until the client gives up or Stop is called.
	Delay time.Duration
	// Err, if set, is returned to the client and nothing of the request is kept.
	// Make it with google.golang.org/grpc/status to choose the code.
	Err error
	// Rejected is answered as the partial success's number of rejected items
	// (spans, log records, metric data points). That many of the request's last
	// spans or log records are not kept; metrics are kept whole.
	Rejected int64
	// Message is answered as the partial success's error message. With Rejected 0
	// that is a warning.
	Message string
}

// Hook decides about one request of n items (spans, log records, metrics). It
// is called from several goroutines at once. The context is the request's: it
// holds the client's metadata (google.golang.org/grpc/metadata) and ends when
// the client gives up or the receiver stops, so a hook that waits must heed it.
type Hook func(ctx context.Context, n int) Reply

// SetHook makes h decide about the requests of one signal from now on. Nil
// accepts all, which is the default.
func (r *Receiver) SetHook(s Signal, h Hook) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hooks[s] = h
}

// Fail answers every request of every signal with err until it is called with
// nil. It replaces all hooks.
func (r *Receiver) Fail(err error) {
	var h Hook
	if err != nil {
		h = func(context.Context, int) Reply { return Reply{Err: err} }
	}
	for _, s := range []Signal{Traces, Metrics, Logs} {
		r.SetHook(s, h)
	}
}

func (r *Receiver) decide(ctx context.Context, s Signal, n int) (Reply, error) {
	r.mu.Lock()
	h := r.hooks[s]
	r.mu.Unlock()
	if h == nil {
		return Reply{}, nil
	}
	reply := h(ctx, n)
	if reply.Delay > 0 {
		t := time.NewTimer(reply.Delay)
		defer t.Stop()
		select {
		case <-t.C:
		case <-ctx.Done():
			return reply, ctx.Err()
		}
	}
	return reply, reply.Err
}
