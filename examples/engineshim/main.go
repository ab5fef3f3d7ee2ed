// Engineshim makes telemetry for an inference engine in any language. It reads
// engine lifecycle events, one JSON object a line, from a file, standard input
// or a unix socket, and emits the documented spans and metrics over OTLP/gRPC.
// See README.md.
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

	"github.com/infertel/infertel-go/vllm"
)

const usage = `usage: engineshim [-input FILE|-] [-listen unix:PATH] [-coalesce]

Engineshim reads engine lifecycle events, one JSON object a line, and emits the
telemetry that is documented for vLLM and SGLang. A line that cannot be used is
reported on standard error with its number and skipped.

With OTEL_EXPORTER_OTLP_ENDPOINT (or a variable of one signal) set, it exports
there over OTLP/gRPC. Otherwise it exports to a receiver inside the process and
prints what arrived.

  -input FILE         read FILE; - is standard input (the default)
  -listen unix:PATH   listen on a unix socket instead, for any number of engine
                      processes, until interrupted
  -coalesce           vLLM V1: merge runs of DECODE events where a request has more
                      events than its span keeps (OTEL_SPAN_EVENT_COUNT_LIMIT), so
                      that no token is lost, instead of dropping the oldest

At the end of the input, or on an interrupt, requests that are still open are
ended as aborted at the newest ts read, and everything is sent.

Exit status: 0 done, 1 a line was bad or telemetry was lost, 2 bad usage.
`

const (
	exitLost  = 1
	exitUsage = 2
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// After the first signal the default applies again: a second one kills.
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run is the program without the process around it. It returns the exit status.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("engineshim", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // errors are said below, once
	input := flags.String("input", "-", "")
	listen := flags.String("listen", "", "")
	coalesce := flags.Bool("coalesce", false, "")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		fmt.Fprint(stdout, usage)
		return 0
	} else if err != nil {
		return badUsage(stderr, err.Error())
	}
	if flags.NArg() > 0 {
		return badUsage(stderr, fmt.Sprintf("unexpected argument %q", flags.Arg(0)))
	}
	given := map[string]bool{}
	flags.Visit(func(f *flag.Flag) { given[f.Name] = true })
	path, isUnix := strings.CutPrefix(*listen, "unix:")
	switch {
	case given["listen"] && given["input"]:
		return badUsage(stderr, "-input and -listen exclude each other")
	case given["listen"] && (!isUnix || path == ""):
		return badUsage(stderr, fmt.Sprintf("-listen is %q, want unix:PATH", *listen))
	case given["input"] && *input == "":
		return badUsage(stderr, "-input is empty, want a file name or -")
	}

	open := func() (source, error) { return readerSource(stdin), nil }
	switch {
	case given["listen"]:
		open = func() (source, error) { return listenUnix(path) }
	case *input != "-":
		open = func() (source, error) { return openFile(*input) }
	}
	var options []vllm.OptionV1
	if *coalesce {
		options = append(options, vllm.WithEventCoalescing())
	}
	return serve(ctx, open, given["listen"], options, stdout, stderr)
}

// serve emits the telemetry of everything that the source delivers, as it comes
// if the source is live. The options are those of vLLM engines.
func serve(ctx context.Context, open func() (source, error), live bool, options []vllm.OptionV1, stdout, stderr io.Writer) int {
	src, err := open()
	if err != nil {
		fmt.Fprintln(stderr, "engineshim:", err)
		return exitLost
	}
	// Export goes on after an interrupt, that is what the interrupt is for.
	background := context.WithoutCancel(ctx)
	tel, err := startTelemetry(background, stdout, live)
	if err != nil {
		fmt.Fprintln(stderr, "engineshim:", err)
		return exitLost
	}
	s := newShim(tel, stderr, options...)
	err = src(ctx, s)
	s.close()
	status := 0
	if err != nil {
		fmt.Fprintln(stderr, "engineshim:", err)
		status = exitLost
	}
	if n := s.badLines(); n > 0 {
		fmt.Fprintf(stderr, "engineshim: %d bad lines were skipped\n", n)
		status = exitLost
	}
	if err := tel.Close(background); err != nil {
		fmt.Fprintln(stderr, "engineshim:", err)
		status = exitLost
	}
	return status
}

func badUsage(stderr io.Writer, problem string) int {
	fmt.Fprintf(stderr, "engineshim: %s\n\n%s", problem, usage)
	return exitUsage
}
