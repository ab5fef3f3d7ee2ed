package main

import (
	"context"
	"fmt"
	"io"
	"time"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	logspb "go.opentelemetry.io/proto/otlp/logs/v1"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/infertel/infertel-go/internal/otlpreceiver"
)

const (
	// maxMessage is more than a collector accepts by default: whether a message
	// fits there is not what is judged here.
	maxMessage = 64 << 20
	// interval is how often what has arrived is looked at.
	interval = 200 * time.Millisecond
)

// listen judges what arrives on OTLP/gRPC until ctx ends. Traces arrive in
// pieces, so each is judged when no more of it has come for a while, and then
// forgotten: memory does not grow with the time that the program runs.
func listen(ctx context.Context, f *flags, r *report, stderr io.Writer) error {
	receiver, err := otlpreceiver.Start(otlpreceiver.WithAddr(f.listen), otlpreceiver.WithMaxMessageSize(maxMessage))
	if err != nil {
		return &usageError{err}
	}
	fmt.Fprintf(stderr, "check: listening on %s\n", receiver.Addr())
	open := traces{}
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case now := <-tick.C:
			r.take(receiver, open, now)
			open.judge(r, now.Add(-f.settle))
		case <-ctx.Done():
			receiver.Stop()
			now := time.Now()
			r.take(receiver, open, now)
			open.judge(r, now)
			return nil
		}
	}
}

// traces holds the traces that may not be whole yet, by their ids.
type traces map[string]*pieces

type pieces struct {
	spans []*tracepb.ResourceSpans
	last  time.Time
}

// take judges the metrics and log events that have arrived, and sorts the spans
// by trace.
func (r *report) take(receiver *otlpreceiver.Receiver, open traces, now time.Time) {
	spans, metrics, logs := receiver.Take()
	for _, s := range spans {
		id := string(s.GetTraceId())
		p := open[id]
		if p == nil {
			p = &pieces{}
			open[id] = p
		}
		p.last = now
		p.spans = append(p.spans, &tracepb.ResourceSpans{ScopeSpans: []*tracepb.ScopeSpans{{Scope: s.Scope, Spans: []*tracepb.Span{s.Span}}}})
	}
	if len(metrics) > 0 {
		r.metrics([]*metricspb.ResourceMetrics{{ScopeMetrics: collections(metrics)}})
	}
	if len(logs) > 0 {
		all := &logspb.ResourceLogs{}
		for _, l := range logs {
			all.ScopeLogs = append(all.ScopeLogs, &logspb.ScopeLogs{Scope: l.Scope, LogRecords: []*logspb.LogRecord{l.LogRecord}})
		}
		r.logs([]*logspb.ResourceLogs{all})
	}
}

// collections puts metrics together again that came in one ScopeMetrics.
func collections(metrics []otlpreceiver.Metric) []*metricspb.ScopeMetrics {
	var out []*metricspb.ScopeMetrics
	at := map[*commonpb.InstrumentationScope]*metricspb.ScopeMetrics{}
	for _, m := range metrics {
		sm := at[m.Scope]
		if sm == nil || m.Scope == nil { // without a scope nothing says what came together
			sm = &metricspb.ScopeMetrics{Scope: m.Scope}
			at[m.Scope] = sm
			out = append(out, sm)
		}
		sm.Metrics = append(sm.Metrics, m.Metric)
	}
	return out
}

// judge judges the traces of which nothing has come since.
func (open traces) judge(r *report, since time.Time) {
	var whole []*tracepb.ResourceSpans
	for id, p := range open {
		if !p.last.After(since) {
			whole = append(whole, p.spans...)
			delete(open, id)
		}
	}
	if len(whole) > 0 {
		r.spans(whole)
	}
}
