// Command check holds telemetry against what is documented for vLLM and SGLang
// and reports what is not as documented.
//
// It reads OTLP in JSON, as the file exporter of the OpenTelemetry Collector
// writes it, one object a line:
//
//	go run ./examples/check traces.json metrics.json
//
// or it listens on OTLP/gRPC until it is interrupted, in place of a collector:
//
//	go run ./examples/check -listen 127.0.0.1:4317
//
// Spans, metrics and log events of other instrumentation are left alone; package
// semconv/conformance says which those are, and lists the rules.
//
// Exit status: 0 all that was judged conforms, 1 something does not, could not be
// read or was not there at all, 2 bad usage.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"go.opentelemetry.io/otel/attribute"

	"github.com/infertel/infertel-go/semconv"
	"github.com/infertel/infertel-go/semconv/conformance"
)

const (
	exitViolations = 1
	exitUsage      = 2
)

type flags struct {
	listen  string
	settle  time.Duration
	verbose bool
	rules   bool
	files   []string
	opts    []conformance.Option
}

func main() {
	// Kubernetes and systemd send SIGTERM.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	f, err := parse(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		fmt.Fprintln(stderr, "check:", err)
		return exitUsage
	case f.rules:
		for _, r := range conformance.Rules() {
			fmt.Fprintf(stdout, "%-24s %s\n", r, r.Brief())
		}
		return 0
	}
	r := newReport(stdout, f.verbose, f.opts)
	if f.listen != "" {
		err = listen(ctx, f, r, stderr)
	} else {
		err = readFiles(f.files, stdin, r, stderr)
	}
	if err != nil {
		fmt.Fprintln(stderr, "check:", err)
	}
	conforms := r.close()
	var usage *usageError
	switch {
	case errors.As(err, &usage):
		return exitUsage
	case err != nil || !conforms:
		return exitViolations
	}
	return 0
}

// usageError is an error in what the program was told to do.
type usageError struct{ error }

func (e *usageError) Unwrap() error { return e.error }

func parse(args []string, stderr io.Writer) (*flags, error) {
	f := &flags{}
	set := flag.NewFlagSet("check", flag.ContinueOnError)
	set.SetOutput(stderr)
	set.Usage = func() {
		fmt.Fprint(stderr, `usage: check [flags] [file ...]
       check [flags] -listen host:port

Holds telemetry against what is documented for vLLM and SGLang. It reads OTLP in
JSON, one object a line, from files or standard input, or listens on OTLP/gRPC
until it is interrupted.

Exit status: 0 all conforms, 1 something does not, could not be read or was not
there at all, 2 bad usage.

`)
		set.PrintDefaults()
	}
	set.StringVar(&f.listen, "listen", "", "`address` to listen on for OTLP/gRPC, such as 127.0.0.1:4317")
	set.DurationVar(&f.settle, "settle", 5*time.Second, "with -listen, how long no span of a trace may arrive before the trace is taken as whole")
	set.BoolVar(&f.verbose, "v", false, "print every violation, not only the first of its kind")
	set.BoolVar(&f.rules, "rules", false, "list the rules and exit")
	level := set.Int("trace-level", -1, "SGLang's trace `level`, 0 to 4: spans and events above it are violations; -1: not judged")
	granularity := set.Int("granularity", -1, "vLLM's collection `granularity`, 0 to 2: spans and events above it are violations; -1: not judged")
	entry := set.String("entry", "", "`engine` behind the API layer, vllm or sglang; without it the spans tell")
	scopes := set.String("scopes", "", "judge these instrumentation `scopes` only, separated by commas, and everything in them")
	allow := set.String("allow", "", "`attributes` to accept beyond the documented ones, separated by commas")
	native := set.Bool("native-names", false, "expect SGLang's own names of requests and threads")
	if err := set.Parse(args); err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			err = errors.New("see -h") // the flag set has said what is wrong
		}
		return nil, err
	}
	f.files = set.Args()

	scoped := false // an empty list is a list
	set.Visit(func(g *flag.Flag) { scoped = scoped || g.Name == "scopes" })
	switch {
	case f.listen != "" && len(f.files) > 0:
		return nil, fmt.Errorf("unexpected file %q, want -listen or files", f.files[0])
	case f.settle <= 0:
		return nil, fmt.Errorf("-settle is %v, want more than 0", f.settle)
	case *level < -1:
		return nil, fmt.Errorf("-trace-level is %d, want 0 or more, or -1", *level)
	case *granularity < -1 || *granularity > 2:
		return nil, fmt.Errorf("-granularity is %d, want 0, 1, 2 or -1", *granularity)
	case *entry != "" && *entry != "vllm" && *entry != "sglang":
		return nil, fmt.Errorf("-entry is %q, want vllm or sglang", *entry)
	}
	if *level >= 0 {
		f.opts = append(f.opts, conformance.WithTraceLevel(*level))
	}
	if *granularity >= 0 {
		f.opts = append(f.opts, conformance.WithGranularity(*granularity))
	}
	switch *entry {
	case "vllm":
		f.opts = append(f.opts, conformance.WithEntrySource(semconv.SourceVLLMEntry))
	case "sglang":
		f.opts = append(f.opts, conformance.WithEntrySource(semconv.SourceSGLangEntry))
	}
	if scoped {
		f.opts = append(f.opts, conformance.WithScopes(list(*scopes)...))
	}
	for _, key := range list(*allow) {
		f.opts = append(f.opts, conformance.WithAllowedAttributes(attribute.Key(key)))
	}
	if *native {
		f.opts = append(f.opts, conformance.WithNativeNames())
	}
	return f, nil
}

// list splits a list that is separated by commas.
func list(s string) []string {
	var out []string
	for _, e := range strings.Split(s, ",") {
		if e = strings.TrimSpace(e); e != "" {
			out = append(out, e)
		}
	}
	return out
}
