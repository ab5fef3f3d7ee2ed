package sglang

import (
	"time"

	"go.opentelemetry.io/otel/attribute"

	"github.com/infertel/infertel-go/internal/boundedtext"
	"github.com/infertel/infertel-go/semconv"
)

// The levels of the events.
const (
	levelRetract  Level = 1
	levelSchedule Level = 3
)

// ForwardMode is what a batch computes, the attribute forward_mode.
// Source: event schedule of sglang.stage.
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
// Source: event schedule of sglang.stage.
type Batch struct {
	// ID is the attribute bid. 256 bytes of it are kept.
	ID string
	// Size is the attribute batch_size, in requests.
	Size int
	// Mode is the attribute forward_mode.
	Mode ForwardMode
}

// put writes the attributes of the batch to a, and returns how many they are.
func (b *Batch) put(a *[3]attribute.KeyValue) int {
	a[0], a[1] = semconv.BatchID(b.ID), semconv.BatchSize(b.Size)
	switch b.Mode {
	case ForwardModeDecode:
		a[2] = semconv.ForwardModeDecode
	case ForwardModePrefill:
		a[2] = semconv.ForwardModePrefill
	case ForwardModePrebuilt:
		a[2] = semconv.ForwardModePrebuilt
	default:
		return 2
	}
	return 3
}

// Retract records the event retract: the request is rolled back and queued again
// for want of resources. It has the level 1. It belongs to the deepest stage
// whose interval, from its start up to but not including its end, covers the
// time, and among those to the one that started last; else to the thread span.
// Source: event retract of sglang.stage.
func (t *ThreadSpan) Retract(at time.Time) {
	if !t.off() && t.level >= levelRetract {
		t.tl.recordEvent(event{retract: true}, at)
	}
}

// Schedule records the event schedule: the request is placed into a batch. It
// has the level 3, and belongs to a stage as [ThreadSpan.Retract] says.
// Source: event schedule of sglang.stage.
func (t *ThreadSpan) Schedule(b Batch, at time.Time) {
	if !t.off() && t.level >= levelSchedule {
		t.schedule(b, at)
	}
}

func (t *ThreadSpan) schedule(b Batch, at time.Time) {
	b.ID = boundedtext.Cut(b.ID, boundedtext.MaxName)
	t.tl.recordEvent(event{batch: b}, at)
}
