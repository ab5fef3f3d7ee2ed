package main

import (
	"testing"
	"time"
)

// A small run. The large one is `make soak`.
func TestLongRun(t *testing.T) {
	c := config{requests: 4000, abandon: 9, samples: 8, timeout: time.Minute}
	if err := run(c, t.Output()); err != nil {
		t.Error(err)
	}
}
