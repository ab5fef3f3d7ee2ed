// Command gateway is an OpenAI-compatible gateway before vLLM or SGLang: a
// reverse proxy that emits the entry span, the token metric and the log event of
// each request that passes.
//
//	go run ./examples/gateway -listen 127.0.0.1:8080 -upstream http://127.0.0.1:8000 -engine vllm
//
// It exports over OTLP/gRPC where OTEL_EXPORTER_OTLP_ENDPOINT says. Without it,
// what would be exported is printed. It ends on an interrupt, after what is under
// way and all telemetry has been sent.
//
// Exit status: 0 done, 1 something was lost or refused, 2 bad usage.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/infertel/infertel-go/examples/internal/command"
	"github.com/infertel/infertel-go/examples/internal/session"
	"github.com/infertel/infertel-go/genai"
	"github.com/infertel/infertel-go/genai/genaihttp"
)

const (
	drainTime = 5 * time.Second // for requests that are under way
	flushTime = 5 * time.Second // for telemetry
)

type flags struct {
	listen         string
	upstreams      []*url.URL
	engine         genai.Engine
	streamInterval int
	public         bool
	includeUsage   bool
}

func main() { command.Main(run) }

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return command.Run(ctx, "gateway", args, stdout, stderr, parse, serve)
}

func parse(args []string, stderr io.Writer) (*flags, error) {
	f := &flags{}
	set := flag.NewFlagSet("gateway", flag.ContinueOnError)
	set.SetOutput(stderr)
	set.Usage = func() {
		fmt.Fprintln(stderr, "usage: gateway -upstream http://host:port[,http://...] [flags]\n\nA reverse proxy for OpenAI-compatible servers that emits telemetry.")
		set.PrintDefaults()
	}
	set.StringVar(&f.listen, "listen", "127.0.0.1:8080", "`address` to listen on")
	upstreams := set.String("upstream", "", "`URLs` of the servers, separated by commas; requests go to them in turn")
	engine := set.String("engine", "vllm", "the engine behind the upstream: vllm or sglang")
	set.IntVar(&f.streamInterval, "stream-interval", 1, "`tokens` that SGLang puts into one streamed increment")
	set.BoolVar(&f.public, "public", false, "do not trust incoming trace context: each request begins a trace and links to the caller's")
	set.BoolVar(&f.includeUsage, "include-usage", false, "ask the servers for the token usage of streams whose request does not")
	if err := command.Parse(set, args); err != nil {
		return nil, err
	}
	var err error
	if f.engine, err = genai.ParseEngine(*engine); err != nil {
		return nil, fmt.Errorf("-engine is %q, want vllm or sglang", *engine)
	}
	if f.streamInterval < 1 {
		return nil, fmt.Errorf("-stream-interval is %d, want 1 or more", f.streamInterval)
	}
	for _, s := range strings.Split(*upstreams, ",") {
		u, err := url.Parse(strings.TrimSpace(s))
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return nil, fmt.Errorf("-upstream is %q, want http://host:port", s)
		}
		f.upstreams = append(f.upstreams, u)
	}
	return f, nil
}

func serve(ctx context.Context, f *flags, stdout, stderr io.Writer) (err error) {
	listener, err := net.Listen("tcp", f.listen)
	if err != nil {
		return err
	}
	telemetry, err := session.Start(ctx, session.Config{Service: "gateway", Out: stdout, Live: true, Verbose: true})
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	defer func() {
		flush, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTime)
		defer cancel()
		err = errors.Join(err, telemetry.Close(flush))
	}()

	opts := []genai.Option{
		genai.WithTracerProvider(telemetry.TracerProvider()), genai.WithMeterProvider(telemetry.MeterProvider()), genai.WithLoggerProvider(telemetry.LoggerProvider()),
		genai.WithEngine(f.engine), genai.WithStreamInterval(f.streamInterval),
	}
	if f.public {
		opts = append(opts, genai.WithPublicEndpoint())
	}
	inst, err := genai.New(opts...)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	var handlerOpts []genaihttp.HandlerOption
	if f.includeUsage {
		handlerOpts = append(handlerOpts, genaihttp.WithIncludeUsage())
	}
	proxy := genaihttp.NewHandler(newProxy(f.upstreams, stderr), inst, handlerOpts...)
	var running sync.WaitGroup
	// Not a ServeMux: it would answer paths that it finds unclean by itself.
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet && r.URL.Path == "/healthz" {
			_, _ = io.WriteString(w, "ok\n")
			return
		}
		running.Add(1)
		defer running.Done()
		proxy.ServeHTTP(w, r)
	})

	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	fmt.Fprintf(stderr, "gateway: listening on http://%s, engine %v\n", listener.Addr(), f.engine)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTime)
	defer cancel()
	if err := server.Shutdown(drain); err != nil {
		// Streams that still run are cut off; their spans say so.
		_ = server.Close()
		running.Wait()
	}
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
