// Command reference shows what the library emits: small simulated engines run
// through its public API and make every span, event, log event and metric that is
// documented.
//
//	go run ./examples/reference
//
// These engines run side by side, each with its own clients, whose requests enter
// as JSON through an API layer that makes the entry spans:
//
//	vllm-v0          swaps KV cache to the CPU
//	vllm-v1          chunked prefill, prefix cache, KV store, preemption, aborts
//	vllm-v1-pd       a producer and a consumer of KV cache behind a router
//	vllm-v1-pooling  embeddings, rerank, score
//	sglang           DP 2 by TP 2, two tokenizers, speculative decoding, retraction, aborts
//	sglang-pp        PP 2, chunked prefill
//	sglang-pd        a prefill and a decode node, each with a trace of its own
//	sglang-pooling   embeddings, rerank, score
//
// It exports over OTLP/gRPC where OTEL_EXPORTER_OTLP_ENDPOINT says. Without it,
// what arrived at a receiver of its own is printed. An interrupt ends what is
// under way, sends all telemetry, and ends.
//
// Exit status: 0 done, 1 something was lost or refused, 2 bad usage.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"

	"github.com/infertel/infertel-go/examples/internal/command"
	"github.com/infertel/infertel-go/examples/internal/session"
)

type flags struct {
	engine      string
	granularity int
	traceLevel  int
	requests    int
	tokens      int
	seed        uint64
	speed       float64
	check       bool
	verbose     bool
	html        string
}

func main() { command.Main(run) }

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return command.Run(ctx, "reference", args, stdout, stderr, parse, emit)
}

func parse(args []string, stderr io.Writer) (*flags, error) {
	f := &flags{}
	set := flag.NewFlagSet("reference", flag.ContinueOnError)
	set.SetOutput(stderr)
	set.Usage = func() {
		fmt.Fprintln(stderr, "usage: reference [flags]\n\nRuns simulated engines and emits all that is documented. With the defaults every\ndocumented span, event, log event and metric appears at least once.")
		set.PrintDefaults()
	}
	set.StringVar(&f.engine, "engine", kindAll, "the `kind` of engine: vllm-v0, vllm-v1, sglang or all. vLLM V1 and SGLang run\nalso as prefill and decode nodes and as embedding servers, SGLang also as a pipeline")
	set.IntVar(&f.granularity, "granularity", 2, "of vLLM V1: 0 makes llm_request alone, 1 its stages too, 2 also an event for each iteration")
	set.IntVar(&f.traceLevel, "trace-level", 4, "of SGLang: 0 makes no native spans, 1 to 4 ever more stages")
	set.IntVar(&f.requests, "requests", 4, "`requests` to each engine")
	set.IntVar(&f.tokens, "output-tokens", 12, "`tokens` in each answer")
	set.Uint64Var(&f.seed, "seed", 1, "the same `seed` makes the same telemetry but for ids and start time")
	set.Float64Var(&f.speed, "speed", 0, "of the simulated clock: 0 is as fast as possible, 1 is real time")
	set.BoolVar(&f.check, "check", false, "hold what arrived against the documentation, and fail on any violation")
	set.BoolVar(&f.verbose, "v", false, "print the attributes of every span too")
	set.StringVar(&f.html, "html", "", "also write what is printed to this `file`, as one self-contained page")
	if err := command.Parse(set, args); err != nil {
		return nil, err
	}
	var errs []error
	want := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	known := f.engine == kindV0 || f.engine == kindV1 || f.engine == kindSGLang || f.engine == kindAll
	want(known, "-engine is %q, want vllm-v0, vllm-v1, sglang or all", f.engine)
	want(f.granularity >= 0 && f.granularity <= 2, "-granularity is %d, want 0, 1 or 2", f.granularity)
	want(f.traceLevel >= 0 && f.traceLevel <= 4, "-trace-level is %d, want 0 to 4", f.traceLevel)
	want(f.requests >= 1, "-requests is %d, want 1 or more", f.requests)
	want(f.tokens >= 1 && f.tokens <= maxTokens, "-output-tokens is %d, want 1 to %d", f.tokens, maxTokens)
	want(f.speed >= 0 && !math.IsInf(f.speed, 0), "-speed is %v, want 0 or more", f.speed)
	received := !session.CollectorNamed()
	want(received || !f.check, "-check judges what this program receives, but the environment names a collector")
	want(received || f.html == "", "-html shows what this program receives, but the environment names a collector")
	return f, errors.Join(errs...)
}

// maxTokens bounds the memory of one answer.
const maxTokens = 100_000
