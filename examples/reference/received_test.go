package main

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/infertel/infertel-go/internal/otlpreceiver"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// received is what a run sent to a collector.
type received struct {
	spans   []otlpreceiver.Span
	metrics []otlpreceiver.Metric
	logs    []otlpreceiver.Log
	byID    map[string]otlpreceiver.Span
	stdout  string
}

// collect runs the program with a collector and returns what that got. The run
// must succeed and complain about nothing.
func collect(t *testing.T, args ...string) *received {
	t.Helper()
	collector, err := otlpreceiver.Start()
	if err != nil {
		t.Fatal(err)
	}
	defer collector.Stop()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.Endpoint())
	var stdout, stderr bytes.Buffer
	if code := run(context.Background(), args, &stdout, &stderr); code != 0 || stderr.Len() > 0 {
		t.Fatalf("exit status %d, stderr: %s", code, stderr.String())
	}
	r := &received{spans: collector.Spans(), metrics: collector.Metrics(), logs: collector.Logs(), byID: map[string]otlpreceiver.Span{}, stdout: stdout.String()}
	for _, s := range r.spans {
		r.byID[string(s.GetSpanId())] = s
	}
	return r
}

// named returns the spans with a name.
func (r *received) named(name string) (out []otlpreceiver.Span) {
	for _, s := range r.spans {
		if s.GetName() == name {
			out = append(out, s)
		}
	}
	return out
}

// path names a span by all that it hangs under.
func (r *received) path(id []byte) string {
	s, ok := r.byID[string(id)]
	if !ok {
		return ""
	}
	return fmt.Sprintf("%s/%s@%d", r.path(s.GetParentSpanId()), s.GetName(), s.GetStartTimeUnixNano())
}

// canonical is all that was received, but for ids, the start time, and times that
// no simulated clock decides.
func (r *received) canonical() []string {
	begin := ^uint64(0)
	for _, s := range r.spans {
		begin = min(begin, s.GetStartTimeUnixNano())
	}
	for id, s := range r.byID {
		s.StartTimeUnixNano -= begin
		s.EndTimeUnixNano -= begin
		for _, e := range s.GetEvents() {
			e.TimeUnixNano -= begin
		}
		r.byID[id] = s
	}
	var out []string
	for _, s := range r.spans {
		var b strings.Builder
		fmt.Fprint(&b, r.path(s.GetSpanId()), " to ", s.GetEndTimeUnixNano(), " ", s.GetStatus().GetCode(), s.GetStatus().GetMessage(), attributes(otlpreceiver.Attributes(s.GetAttributes())))
		for _, e := range s.GetEvents() {
			fmt.Fprint(&b, " event ", e.GetName(), e.GetTimeUnixNano(), attributes(otlpreceiver.Attributes(e.GetAttributes())))
		}
		for _, l := range s.GetLinks() {
			fmt.Fprint(&b, " link ", r.path(l.GetSpanId()))
		}
		out = append(out, b.String())
	}
	for _, m := range r.metrics {
		points := append(m.GetSum().GetDataPoints(), m.GetGauge().GetDataPoints()...)
		for _, p := range points {
			out = append(out, fmt.Sprint("metric ", m.GetName(), attributes(otlpreceiver.Attributes(p.GetAttributes())), p.GetAsInt(), p.GetAsDouble()))
		}
	}
	for _, l := range r.logs {
		out = append(out, fmt.Sprint("log ", l.GetEventName(), r.path(l.GetSpanId()), attributes(otlpreceiver.Attributes(l.GetAttributes()))))
	}
	slices.Sort(out)
	return out
}

func attributes(m map[string]any) string {
	var b strings.Builder
	for _, k := range slices.Sorted(maps.Keys(m)) {
		fmt.Fprintf(&b, " %s=%v", k, m[k])
	}
	return b.String()
}
