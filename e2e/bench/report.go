package main

import (
	"fmt"
	"io"
	"strings"
)

// report writes the page of the documentation.
func report(w io.Writer, f figures, effort string) {
	fmt.Fprintf(w, `# Performance

Written by `+"`make bench`"+`, which measures it all in one run. Run it where you deploy: the ratios carry over better than the times.

- Machine: %s
- Modules: %s
- Effort: %s, baseline and library in turn, every other round the other way about. Times are those of the fastest round of
  each, allocations per operation.

The baselines make the same telemetry by hand with the OpenTelemetry API; tests in `+"`e2e/bench`"+` compare what both export.
Spans end in a processor that drops them and metrics are not collected, so that what is measured is the making. A handler
writes to a response writer that costs nothing; `+"`make bench-process`"+` measures a whole gateway over the network.
`, machine(), strings.Join(modules(), ", "), effort)
	for _, t := range tables() {
		t.markdown(w, f)
	}
	fmt.Fprint(w, notes)
}

const notes = `
## Where the cost lies

- Most chunks of a stream differ from the one before in their text alone. Of such a chunk only the text is looked at; a chunk
  that differs in more is read by the JSON reader, some ten times as long.
- A handler copies what passes and looks at it in larger pieces, or at each flush if ` + "`genai.WithOnEnd`" + ` is used, which
  tells the time of the first token. A chunk is always written and flushed first.
- An unsampled stream with content off is not much cheaper than a sampled one: the token metric counts it, so its usage has to
  be found, and nearly all of the cost is the way of the bytes through the response writer. With content on, sampling saves
  what keeping and encoding the text costs.
- A document costs more than otelhttp, which does not look at bodies: of what is added about a quarter is reading the JSON
  of request and answer, a third the SDK's part for the span and the token metric, the rest the copy of the request that
  carries the trace context, and the wrapped response writer.
- A request that is not sampled, or has no SDK, still has its own state, and on SGLang its name, to make; the API without an SDK does
  next to nothing.
- The allocations of a request through the handler are the SDK's for the span, the copy of the request that carries the trace
  context, and the wrapped response writer. A chunk makes none.
`
