// Command load measures what telemetry costs a whole gateway: the example gateway
// is run again and again in turn without and with it, each time as a process of
// its own, between a server and clients in this one, over the loopback network.
//
//	go run ./load
//
// It tells the processor time that a request, or a chunk of a stream, takes in the
// gateway, and how long it takes to pass. It ends within two minutes.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"time"

	"github.com/infertel/infertel-go/internal/otlpreceiver"
)

// limit is when no further round begins.
const limit = 90 * time.Second

func main() {
	rounds := flag.Int("rounds", 6, "how often each kind of load is put on each gateway")
	documents := flag.Int("documents", 4000, "`requests` for a document in each round")
	streams := flag.Int("streams", 120, "`requests` for a stream in each round")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	if err := run(ctx, *rounds, []load{
		{name: "document", requests: *documents, clients: 4, request: documentRequest},
		{name: "500-chunk stream", requests: *streams, clients: 8, request: streamRequest, chunks: chunks},
	}); err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, rounds int, loads []load) error {
	dir, err := os.MkdirTemp("", "infertel-load")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	exe := filepath.Join(dir, "gateway")
	build := exec.CommandContext(ctx, "go", "build", "-o", exe, "github.com/infertel/infertel-go/examples/gateway")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return err
	}
	receiver, err := otlpreceiver.Start()
	if err != nil {
		return err
	}
	defer receiver.Stop()
	upstream := startServer()
	defer upstream.Close()

	gateways := []gateway{
		{name: "without", exe: exe, upstream: upstream.URL, env: []string{"OTEL_SDK_DISABLED=true"}},
		{name: "with", exe: exe, upstream: upstream.URL, env: []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + receiver.Endpoint()}, spans: func() int { s, _, _ := receiver.Take(); return len(s) }},
	}
	begin := time.Now()
	results := map[string][]result{}
	for round := range rounds {
		if time.Since(begin) > limit {
			fmt.Fprintf(os.Stderr, "\nthe time is up after %d rounds", round)
			break
		}
		fmt.Fprintf(os.Stderr, "\rround %d of %d", round+1, rounds)
		for i := range gateways {
			g := &gateways[(round+i)%len(gateways)]
			for _, l := range append([]load{{name: "idle"}}, loads...) {
				r, err := g.put(ctx, l)
				if err != nil {
					return fmt.Errorf("gateway %s telemetry, %s: %w", g.name, l.name, err)
				}
				results[g.name+" "+l.name] = append(results[g.name+" "+l.name], r)
			}
		}
	}
	fmt.Fprintln(os.Stderr)
	write(os.Stdout, loads, results)
	return nil
}
