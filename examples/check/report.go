package main

import (
	"fmt"
	"io"
	"strings"

	logspb "go.opentelemetry.io/proto/otlp/logs/v1"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/infertel/infertel-go/semconv/conformance"
)

// report prints violations as they are found, the first of each kind in full: what
// one span breaks, all of its kind usually break.
type report struct {
	out     io.Writer
	verbose bool
	opts    []conformance.Option
	tally   conformance.Tally
	found   int
	kinds   map[kind]int
	order   []kind
}

// kind is what violations have in common that say the same.
type kind struct {
	rule              conformance.Rule
	on, field, wanted string
}

func kindOf(v conformance.Violation) kind {
	k := kind{v.Rule, v.Source, plain(v.Field), v.Want}
	if v.Signal == conformance.SignalMetric || v.Source == "" {
		k.on = v.Name // a metric is a row of its own; what is undocumented has none
	}
	return k
}

func newReport(out io.Writer, verbose bool, opts []conformance.Option) *report {
	r := &report{out: out, verbose: verbose, kinds: map[kind]int{}}
	r.opts = append(opts, conformance.WithTally(&r.tally))
	return r
}

func (r *report) spans(spans []*tracepb.ResourceSpans) {
	r.print(conformance.CheckOTLPSpans(spans, r.opts...))
}

func (r *report) metrics(metrics []*metricspb.ResourceMetrics) {
	r.print(conformance.CheckOTLPMetrics(metrics, r.opts...))
}

func (r *report) logs(logs []*logspb.ResourceLogs) {
	r.print(conformance.CheckOTLPLogs(logs, r.opts...))
}

func (r *report) print(vs []conformance.Violation) {
	for _, v := range vs {
		k := kindOf(v)
		if r.kinds[k] == 0 {
			r.order = append(r.order, k)
		}
		r.kinds[k]++
		r.found++
		if r.verbose || r.kinds[k] == 1 {
			fmt.Fprintln(r.out, v)
		}
	}
}

// plain is a field without what differs from one event, tool call or data point to
// the next.
func plain(s string) string {
	out := []rune{}
	depth := 0
	for _, c := range s {
		switch {
		case c == '{':
			depth++
		case c == '}':
			depth--
		case depth == 0 && (c < '0' || c > '9'):
			out = append(out, c)
		}
	}
	return strings.Join(strings.Fields(string(out)), " ")
}

// close prints the sums and reports whether all conforms.
func (r *report) close() bool {
	t := r.tally
	for _, k := range r.order {
		if n := r.kinds[k]; n > 1 && !r.verbose {
			fmt.Fprintf(r.out, "%s on %s: %d times\n", k.rule, strings.TrimSpace(k.on+" "+k.field), n)
		}
	}
	rest := ""
	if t.SpansJudged+t.MetricsJudged+t.LogsJudged < t.Spans+t.Metrics+t.Logs {
		rest = "; the rest is of other instrumentation"
	}
	fmt.Fprintf(r.out, "%s. Judged %d of %d spans, %d of %d metrics, %d of %d log records%s.\n",
		counted(r.found, "violation"), t.SpansJudged, t.Spans, t.MetricsJudged, t.Metrics, t.LogsJudged, t.Logs, rest)
	if t.SpansJudged+t.MetricsJudged+t.LogsJudged == 0 {
		fmt.Fprintln(r.out, "There was nothing to judge.")
		return false
	}
	return r.found == 0
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
