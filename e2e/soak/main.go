// Command soak runs many slow streams through the example gateway for a while
// and checks all of it: that each client gets the bytes that its server wrote,
// that each stream's span and each token arrive, and that the gateway's memory
// and goroutines stay level. Server, clients and collector are in this process.
//
//	go run ./soak -streams 2000 -for 2m
//
// Exit status: 0 all well, 1 something was wrong, 2 bad usage.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"sync"
	"time"
)

// config is what a run does.
type config struct {
	streams  int           // at a time
	duration time.Duration // during which streams are started
	chunk    time.Duration // mean time between two events of a stream
	chunks   int           // most events of a stream
	abandon  int           // of so many streams the client leaves one
	race     bool          // the gateway with the race detector
	engine   string
	samples  int // of the gateway's figures
}

func main() {
	c := config{}
	flag.IntVar(&c.streams, "streams", 2000, "streams at a time")
	flag.DurationVar(&c.duration, "for", 2*time.Minute, "how long streams are started")
	flag.DurationVar(&c.chunk, "chunk", 400*time.Millisecond, "mean time between two events of a stream")
	flag.IntVar(&c.chunks, "chunks", 32, "most tokens of a stream, the fewest are a quarter")
	flag.IntVar(&c.abandon, "abandon", 50, "of so many streams the client leaves one early; 0 none")
	flag.BoolVar(&c.race, "race", false, "build the gateway with the race detector")
	flag.StringVar(&c.engine, "engine", "vllm", "vllm or sglang")
	flag.IntVar(&c.samples, "samples", 24, "how often the gateway's figures are taken")
	flag.Parse()
	if flag.NArg() > 0 || c.streams < 1 || c.duration <= 0 || c.chunk <= 0 || c.chunks < 4 || c.abandon < 0 || c.samples < 8 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(c, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
}

// run does it and returns what was wrong.
func run(c config, out io.Writer) error {
	say := log.New(out, "", 0)
	b, err := newBed(c)
	if err != nil {
		return err
	}
	defer b.close()
	say.Printf("%d streams at a time for %v, an event every %v, race detector %t", c.streams, c.duration, c.chunk, c.race)

	clients := newClients(c, b.url)
	figures := newSamples(b.gateway, say)
	stop := make(chan struct{})
	var sampling sync.WaitGroup
	sampling.Go(func() { figures.run(c, stop) })
	clients.run()
	close(stop)
	sampling.Wait()

	code, err := b.gateway.Interrupt(30 * time.Second)
	if err != nil {
		return err
	}
	say.Printf("%d streams, of which %d left early, %d events, %.1f MiB; the gateway took %v of processor time",
		clients.done.Load(), clients.left.Load(), clients.events.Load(), float64(clients.bytes.Load())/(1<<20), b.gateway.CPU().Round(10*time.Millisecond))
	arrived := b.arrived()
	say.Printf("%d spans arrived", arrived.spans)
	if code != 0 {
		err = fmt.Errorf("the gateway exits with %d", code)
	}
	if err := errors.Join(err, clients.err(), arrived.check(clients.next.Load(), c), figures.check(c)); err != nil {
		return fmt.Errorf("%w\nthe gateway said:\n%s", err, b.gateway.Stderr())
	}
	return nil
}
