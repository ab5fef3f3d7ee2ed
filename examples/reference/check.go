package main

import (
	"fmt"
	"strings"

	logspb "go.opentelemetry.io/proto/otlp/logs/v1"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/infertel/infertel-go/internal/otlpreceiver"
	"github.com/infertel/infertel-go/semconv/conformance"
)

// checker holds what arrives against the documentation. It keeps a trace until it
// is whole, so that a long run needs little memory. Its root ends last, but comes
// in one batch with others, in an order and in messages of the exporter's choice:
// the trace is whole when something of the next message has come.
type checker struct {
	options []conformance.Option
	tally   conformance.Tally
	open    map[string][]*tracepb.ResourceSpans
	ended   []string // traces whose root was in the last that came
	found   []conformance.Violation
	total   int
}

const maxFound = 25 // violations that are told one by one

func newChecker(f *flags) *checker {
	c := &checker{open: map[string][]*tracepb.ResourceSpans{}}
	c.options = []conformance.Option{conformance.WithGranularity(f.granularity), conformance.WithTraceLevel(f.traceLevel), conformance.WithTally(&c.tally)}
	return c
}

// inspect takes what arrived since the last time.
func (c *checker) inspect(spans []otlpreceiver.Span, metrics []otlpreceiver.Metric, logs []otlpreceiver.Log) {
	var ended []string
	for _, s := range spans {
		id := string(s.GetTraceId())
		c.open[id] = append(c.open[id], &tracepb.ResourceSpans{Resource: s.Resource, ScopeSpans: []*tracepb.ScopeSpans{{Scope: s.Scope, SchemaUrl: s.SchemaURL, Spans: []*tracepb.Span{s.Span}}}})
		if len(s.GetParentSpanId()) == 0 {
			ended = append(ended, id)
		}
	}
	if len(spans) > 0 {
		for _, id := range c.ended {
			c.trace(id)
		}
		c.ended = ended
	}
	var ms []*metricspb.ResourceMetrics
	for _, m := range metrics {
		// Each may be of another collection.
		ms = append(ms, &metricspb.ResourceMetrics{Resource: m.Resource, ScopeMetrics: []*metricspb.ScopeMetrics{{Scope: m.Scope, SchemaUrl: m.SchemaURL, Metrics: []*metricspb.Metric{m.Metric}}}})
	}
	c.add(conformance.CheckOTLPMetrics(ms, c.options...))
	var ls []*logspb.ResourceLogs
	for _, l := range logs {
		ls = append(ls, &logspb.ResourceLogs{Resource: l.Resource, ScopeLogs: []*logspb.ScopeLogs{{Scope: l.Scope, SchemaUrl: l.SchemaURL, LogRecords: []*logspb.LogRecord{l.LogRecord}}}})
	}
	c.add(conformance.CheckOTLPLogs(ls, c.options...))
}

func (c *checker) trace(id string) {
	c.add(conformance.CheckOTLPSpans(c.open[id], c.options...))
	delete(c.open, id)
}

func (c *checker) add(found []conformance.Violation) {
	c.total += len(found)
	c.found = append(c.found, found[:min(len(found), maxFound-len(c.found))]...)
}

// finish judges what is left, and returns an error if anything was found.
func (c *checker) finish() error {
	for id := range c.open {
		c.trace(id)
	}
	if c.total == 0 {
		return nil
	}
	lines := make([]string, len(c.found))
	for i, v := range c.found {
		lines[i] = "  " + v.String()
	}
	return fmt.Errorf("%d violations of what is documented, the first of them:\n%s", c.total, strings.Join(lines, "\n"))
}

func (c *checker) String() string {
	t := &c.tally
	return fmt.Sprintf("Conformance: %d of %d spans, %d of %d metrics and %d of %d log events judged, %d violations.",
		t.SpansJudged, t.Spans, t.MetricsJudged, t.Metrics, t.LogsJudged, t.Logs, c.total)
}
