package main

import (
	"fmt"
	"io"
	"time"

	"github.com/infertel/infertel-go/examples/internal/view"
)

// progress is a line about a long run, on a terminal only.
type progress struct {
	w       io.Writer
	all     int
	began   time.Time
	last    time.Time
	visible bool
}

func newProgress(w io.Writer, all int) *progress {
	if !view.IsTerminal(w) {
		w = nil
	}
	return &progress{w: w, all: all, began: time.Now()}
}

// show rewrites the line now and then. A short run shows none.
func (p *progress) show(finished int, simulated time.Duration) {
	if p.w == nil || time.Since(p.began) < time.Second || time.Since(p.last) < 200*time.Millisecond {
		return
	}
	p.last, p.visible = time.Now(), true
	fmt.Fprintf(p.w, "\r\x1b[K%d of %d requests answered, %s simulated", finished, p.all, view.Duration(simulated))
}

func (p *progress) clear() {
	if p.visible {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
