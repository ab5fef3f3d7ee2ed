package main

import (
	"fmt"
	"io"
	"math"
	"testing"
)

// subject is one way of doing some work.
type subject struct {
	name string
	run  func(b *testing.B)
}

// group holds subjects that are compared with each other. They are measured in
// turn, a short time each, in many rounds, so that what else the machine does
// hits them alike.
type group struct {
	name     string
	subjects []subject
}

// figure is what was measured of a subject, per operation. The time is that of
// the fastest round: whatever disturbs a measurement makes it longer.
type figure struct{ ns, allocs, bytes float64 }

// figures are those of all subjects, by "group/subject".
type figures map[string]figure

// of returns the figure of a subject. One that was not measured is a mistake in
// this program.
func (f figures) of(name string) figure {
	v, ok := f[name]
	if !ok {
		panic("no subject " + name)
	}
	return v
}

// measure runs the groups in rounds. It tells progress, round by round.
func measure(groups []group, rounds int, progress io.Writer) figures {
	f := figures{}
	for round := range rounds {
		fmt.Fprintf(progress, "\rround %d of %d", round+1, rounds)
		for _, g := range groups {
			for i := range g.subjects {
				// Every other round the other way about.
				if round%2 == 1 {
					i = len(g.subjects) - 1 - i
				}
				s := g.subjects[i]
				f.add(g.name+"/"+s.name, figureOf(testing.Benchmark(s.run)))
			}
		}
	}
	fmt.Fprintln(progress)
	return f
}

func figureOf(r testing.BenchmarkResult) figure {
	n := float64(max(r.N, 1))
	return figure{ns: float64(r.T.Nanoseconds()) / n, allocs: math.Round(float64(r.MemAllocs) / n), bytes: float64(r.MemBytes) / n}
}

// add takes the figure of one round.
func (f figures) add(name string, v figure) {
	if old, ok := f[name]; ok {
		v = figure{min(v.ns, old.ns), min(v.allocs, old.allocs), min(v.bytes, old.bytes)}
	}
	f[name] = v
}

// loop is a subject that does one operation over and over.
func loop(name string, setUp func() func()) subject {
	return subject{name, func(b *testing.B) {
		f := setUp()
		b.ReportAllocs()
		for b.Loop() {
			f()
		}
	}}
}
