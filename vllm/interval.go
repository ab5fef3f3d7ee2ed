package vllm

import (
	"math"
	"time"
)

// point is a point in time that a caller told. The zero point was not taken.
//
// It keeps both readings of a Time, since which of the two counts depends on what
// the other end of an interval has, and nothing of the Time itself: that holds a
// pointer, for the sake of which all that the caller handed in with it would be
// moved to the heap.
type point struct {
	wall int64 // Unix nanoseconds
	mono int64 // by the process's monotonic clock since origin; 0 without a reading
}

// origin is what monotonic readings are counted from: long before any, so that none
// is 0. No value comes of it.
var origin = time.Now().Add(-10 * 365 * 24 * time.Hour)

// pointOf returns the point that a caller told, if it was taken.
func pointOf(t time.Time) point {
	if !isKnown(t) {
		return point{}
	}
	p := point{wall: t.UnixNano()}
	if t != t.Round(0) { // which takes the monotonic reading away
		p.mono = int64(t.Sub(origin))
	}
	return p
}

func (p point) known() bool { return p.wall != 0 }

// sub returns the time from o to p: by the monotonic clock where both have a
// reading of it, also when the wall clock was set in between.
func (p point) sub(o point) time.Duration {
	if p.mono != 0 && o.mono != 0 {
		return time.Duration(p.mono - o.mono)
	}
	return time.Duration(p.wall - o.wall)
}

// earlier and later return the one of two points that is, or the one that is known.

func earlier(a, b point) point {
	if !a.known() || b.known() && b.sub(a) < 0 {
		return b
	}
	return a
}

func later(a, b point) point {
	if !a.known() || b.known() && b.sub(a) > 0 {
		return b
	}
	return a
}

// isKnown reports whether a point in time was taken, and fits in the wire's
// nanoseconds since the Unix epoch. Engines use 0 for a point that was not taken,
// which is the epoch itself when it gets here.
func isKnown(t time.Time) bool {
	s := t.Unix()
	return s > 0 && s < math.MaxInt64/int64(time.Second)
}

// earliest returns the earliest point that is known, or the zero time.
func earliest(points ...time.Time) time.Time {
	var first time.Time
	for _, t := range points {
		if isKnown(t) && (first.IsZero() || t.Before(first)) {
			first = t
		}
	}
	return first
}

// interval is the time between two points, either of which may not be known.
type interval struct{ start, end point }

// length returns the interval's length, and whether it has one: two ends, the
// second not before the first.
func (i interval) length() (time.Duration, bool) {
	if !i.start.known() || !i.end.known() {
		return 0, false
	}
	d := i.end.sub(i.start)
	return d, d >= 0
}

// orUnknown returns the interval's length, or unknown.
func (i interval) orUnknown() time.Duration {
	if d, ok := i.length(); ok {
		return d
	}
	return unknown
}

// overlaps reports whether two intervals that have a length share time. Those that
// merely touch do not, but one without extent lies within the other then.
func (i interval) overlaps(o interval) bool {
	if i.start == i.end || o.start == o.end {
		return i.start.sub(o.end) <= 0 && o.start.sub(i.end) <= 0
	}
	return i.start.sub(o.end) < 0 && o.start.sub(i.end) < 0
}

// stretch is where an interval lies, counted from the start of llm_request.
type stretch struct{ from, to time.Duration }

// within reports whether a stretch lies in another one.
func (s stretch) within(o stretch) bool { return s.from >= o.from && s.to <= o.to }

// plus adds two numbers of 0 or more, and stops at the largest of their type
// instead of turning negative.
func plus[T ~int | ~int64](a, b, largest T) T {
	if sum := a + b; sum >= 0 {
		return sum
	}
	return largest
}
