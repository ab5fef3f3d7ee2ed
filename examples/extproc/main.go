// Command extproc is an external processor for Envoy: it observes the
// OpenAI-compatible requests that an Envoy passes on to vLLM or SGLang and emits
// the entry span, the token metric and the log event of each.
//
//	go run . -listen 127.0.0.1:9002 -engine vllm
//
// It exports over OTLP/gRPC as the OTEL_* variables say. See README.md for the
// configuration of Envoy.
package main

import (
	"context"
	"errors"
	"flag"
	"log"
	"net"
	"os/signal"
	"syscall"
	"time"

	extproc "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"
	"google.golang.org/grpc"

	"github.com/infertel/infertel-go/genai"
	"github.com/infertel/infertel-go/genai/otlp"
)

const (
	drainTime = 5 * time.Second // for requests that are under way
	flushTime = 5 * time.Second // for telemetry
)

func main() {
	listen := flag.String("listen", "127.0.0.1:9002", "`address` to listen on")
	name := flag.String("engine", "vllm", "the engine behind Envoy: vllm or sglang")
	flag.Parse()
	engine, err := genai.ParseEngine(*name)
	if err != nil {
		log.Fatalf("extproc: -engine is %q, want vllm or sglang", *name)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *listen, engine); err != nil {
		log.Fatal("extproc: ", err)
	}
}

func run(ctx context.Context, address string, engine genai.Engine) (err error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	providers, err := otlp.Setup(ctx, otlp.WithServiceName("extproc"), otlp.WithGlobal())
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	defer func() {
		flush, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTime)
		defer cancel()
		err = errors.Join(err, providers.Shutdown(flush))
	}()
	inst, err := genai.New(genai.WithEngine(engine))
	if err != nil {
		return errors.Join(err, listener.Close())
	}

	server := grpc.NewServer()
	extproc.RegisterExternalProcessorServer(server, &processor{inst: inst})
	defer context.AfterFunc(ctx, func() {
		// Streams that still run then are cut off; their spans say so.
		defer time.AfterFunc(drainTime, server.Stop).Stop()
		server.GracefulStop() // lets Serve return
	})()
	log.Printf("extproc: listening on %s, engine %v", listener.Addr(), engine)
	return server.Serve(listener)
}
