// Command jaeger runs Jaeger on loopback, with storage in memory and with its web
// UI, until it is interrupted. It needs no container, but builds Jaeger, which
// takes many minutes the first time.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	otlp := flag.String("otlp", "127.0.0.1:4317", "the `address` that takes traces over OTLP/gRPC")
	query := flag.String("query", "127.0.0.1:16686", "the `address` of the web UI and the query API")
	flag.Parse()
	if err := run(ctx, *otlp, *query); err != nil {
		fmt.Fprintln(os.Stderr, "jaeger:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, otlp, query string) error {
	fmt.Println("Building Jaeger, which takes many minutes the first time.")
	j, err := start(ctx, otlp, query)
	if err != nil {
		return err
	}
	fmt.Printf("Look at http://%s after\n\n  OTEL_EXPORTER_OTLP_ENDPOINT=http://%s OTEL_METRICS_EXPORTER=none OTEL_LOGS_EXPORTER=none go run ./examples/reference\n", query, otlp)
	return j.wait()
}
