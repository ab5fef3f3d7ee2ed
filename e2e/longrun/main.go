// Command longrun feeds the example shim with many requests of every engine, of
// which some never end, and checks that its memory and goroutines stay level and
// that every request that ended arrives.
//
//	go run ./longrun -requests 120000
//
// Exit status: 0 all well, 1 something was wrong, 2 bad usage.
package main

import (
	"flag"
	"fmt"
	"os"
	"time"
)

// config is what a run does.
type config struct {
	requests int
	abandon  int // of so many one never ends
	full     bool
	samples  int
	timeout  time.Duration
}

func main() {
	c := config{}
	flag.IntVar(&c.requests, "requests", 120_000, "requests, of four engines in turn")
	flag.IntVar(&c.abandon, "abandon", 9, "of so many requests one never ends")
	flag.BoolVar(&c.full, "full", true, "begin with as many requests that never end as the shim keeps")
	flag.IntVar(&c.samples, "samples", 24, "how often the shim's figures are taken")
	flag.DurationVar(&c.timeout, "timeout", 10*time.Minute, "when to give up")
	flag.Parse()
	if flag.NArg() > 0 || c.requests < 1 || c.abandon < 2 || c.samples < 8 || c.timeout <= 0 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(c, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "longrun:", err)
		os.Exit(1)
	}
}
