package main

import (
	"context"
	"errors"
	"testing"
)

// What waits is sent before there is more than the queue holds, and a failure is
// told.
func TestSpanBudget(t *testing.T) {
	flushed, failed := 0, 0
	b := &spanBudget{flush: func(context.Context) error { flushed++; return errors.New("no collector") }, failed: func(error) { failed++ }}
	for range 3 * flushAfter {
		b.add(1)
	}
	if flushed != 3 || failed != 3 || b.total != 3*flushAfter {
		t.Errorf("flushed %d times, %d failures, %d spans, want 3, 3 and %d", flushed, failed, b.total, 3*flushAfter)
	}
}
