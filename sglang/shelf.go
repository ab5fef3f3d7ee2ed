package sglang

import (
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
)

// shelf is where a thread puts what it holds back. It passes from a thread that
// has ended to one that starts, so that it is seldom allocated.
type shelf struct {
	open    []*stage // innermost last
	held    []*stage // ended, a ring once it is full
	oldest  int      // index of the oldest in the ring
	spare   []*stage // for the stages to come
	events  []event  // in time order from index waiting on
	waiting int
	options options
}

// options are what is handed to the SDK with each call, which copies them.
type options struct {
	start [2]trace.SpanStartOption
	end   [1]trace.SpanEndOption
	event [2]trace.EventOption
	stage [2]attribute.KeyValue
	batch [3]attribute.KeyValue
	// The options that hold the first two and all of batch.
	batchOption [2]trace.SpanStartEventOption

	// A stage often ends where the next one starts, so each time is used twice.
	at   int64
	time trace.SpanEventOption
}

func newShelf() any {
	s := &shelf{}
	for i := range s.options.batchOption {
		s.options.batchOption[i] = trace.WithAttributes(s.options.batch[:i+2]...)
	}
	return s
}

// reset prepares the shelf for another thread. The stages still held are not
// referred to any more.
func (s *shelf) reset() {
	for _, n := range s.held {
		s.putStage(n)
	}
	clear(s.events[s.waiting:])
	clear(s.options.batch[:])
	s.open, s.held, s.oldest = s.open[:0], s.held[:0], 0
	s.events, s.waiting = s.events[:0], 0
}

func (s *shelf) takeStage() *stage {
	last := len(s.spare) - 1
	if last < 0 {
		return &stage{}
	}
	n := s.spare[last]
	s.spare = s.spare[:last]
	return n
}

// putStage takes back a stage that nothing refers to.
func (s *shelf) putStage(n *stage) {
	*n = stage{}
	if len(s.spare) < maxHeldStages {
		s.spare = append(s.spare, n)
	}
}

func (s *shelf) timestamp(at int64) trace.SpanEventOption {
	o := &s.options
	if o.time == nil || o.at != at {
		o.time, o.at = trace.WithTimestamp(time.Unix(0, at)), at
	}
	return o.time
}
