package main

import (
	"testing"
	"time"
)

// A small run. The large ones are `make soak`.
func TestSoak(t *testing.T) {
	for _, engine := range []string{"vllm", "sglang"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			c := config{streams: 100, duration: 8 * time.Second, chunk: 100 * time.Millisecond, chunks: 16, abandon: 20, engine: engine, samples: 8}
			if err := run(c, t.Output()); err != nil {
				t.Error(err)
			}
		})
	}
}
