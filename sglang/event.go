package sglang

import (
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/infertel/infertel-go/internal/boundedtext"
	"github.com/infertel/infertel-go/semconv"
)

// The levels of the events.
const (
	levelRetract  Level = 1
	levelSchedule Level = 3
)

// ForwardMode is what a batch computes, the attribute forward_mode.
type ForwardMode uint8

// The documented modes. The zero value, ForwardModeUnknown, stands for every
// other one and leaves the attribute out.
const (
	ForwardModeUnknown  ForwardMode = iota
	ForwardModeDecode               // a decode batch
	ForwardModePrefill              // a prefill batch
	ForwardModePrebuilt             // a batch whose prefill another node did
)

// Batch is the batch that a request is placed into.
type Batch struct {
	// ID is the attribute bid. 256 bytes of it are kept.
	ID string
	// Size is the attribute batch_size, in requests.
	Size int
	// Mode is the attribute forward_mode.
	Mode ForwardMode
}

func (b *Batch) attributes() []attribute.KeyValue {
	a := append(make([]attribute.KeyValue, 0, 3), semconv.BatchID(b.ID), semconv.BatchSize(b.Size))
	switch b.Mode {
	case ForwardModeDecode:
		a = append(a, semconv.ForwardModeDecode)
	case ForwardModePrefill:
		a = append(a, semconv.ForwardModePrefill)
	case ForwardModePrebuilt:
		a = append(a, semconv.ForwardModePrebuilt)
	}
	return a
}

// Retract records the event retract: the request is rolled back and queued again
// for want of resources. It has the level 1. It belongs to the deepest stage
// whose interval, from its start up to but not including its end, covers the
// time, and among those to the one that started last; else to the thread span.
// Source: sglang.stage.
func (t *ThreadSpan) Retract(at time.Time) {
	if t == nil || t.tl == nil || levelRetract > t.level {
		return
	}
	t.tl.mu.Lock()
	defer t.tl.unlock()
	t.tl.recordEvent(event{retract: true}, at)
}

// Schedule records the event schedule: the request is placed into a batch. It
// has the level 3, and belongs to a stage as [ThreadSpan.Retract] says.
func (t *ThreadSpan) Schedule(b Batch, at time.Time) {
	if t == nil || t.tl == nil || levelSchedule > t.level {
		return
	}
	b.ID = boundedtext.Cut(b.ID, maxID)
	t.tl.mu.Lock()
	defer t.tl.unlock()
	t.tl.recordEvent(event{batch: b}, at)
}

// event is an event that waits for its stage.
type event struct {
	at      int64 // Unix nanoseconds
	batch   Batch
	retract bool
	owner   *stage // the best of the stages that have ended so far
}

func (e *event) addTo(span trace.Span) {
	at := trace.WithTimestamp(time.Unix(0, e.at))
	if e.retract {
		span.AddEvent(semconv.EventRetract, at)
		return
	}
	span.AddEvent(semconv.EventSchedule, at, trace.WithAttributes(e.batch.attributes()...))
}
