package conformance_test

import (
	"testing"

	logspb "go.opentelemetry.io/proto/otlp/logs/v1"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/infertel/infertel-go/semconv/conformance"
)

// FuzzOTLP judges whatever protobuf can be: nothing from outside may make the
// checker panic or go on for ever, and it says the same twice.
func FuzzOTLP(f *testing.F) {
	add := func(ms ...proto.Message) {
		for _, m := range ms {
			b, err := proto.Marshal(m)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(b)
		}
	}
	for _, name := range timelines(f) {
		t := load(f, name)
		all := &tracepb.TracesData{ResourceSpans: spansToOTLP(t.spans)}
		add(all, &metricspb.MetricsData{ResourceMetrics: metricsToOTLP(t.metrics)})
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var spans tracepb.TracesData
		var metrics metricspb.MetricsData
		var logs logspb.LogsData
		opts := []conformance.Option{conformance.WithTraceLevel(2), conformance.WithGranularity(1)}
		if proto.Unmarshal(b, &spans) == nil {
			one, two := conformance.CheckOTLPSpans(spans.ResourceSpans, opts...), conformance.CheckOTLPSpans(spans.ResourceSpans, opts...)
			if lines(one) != lines(two) {
				t.Errorf("once%s\ntwice%s", lines(one), lines(two))
			}
		}
		if proto.Unmarshal(b, &metrics) == nil {
			conformance.CheckOTLPMetrics(metrics.ResourceMetrics, opts...)
		}
		if proto.Unmarshal(b, &logs) == nil {
			conformance.CheckOTLPLogs(logs.ResourceLogs, opts...)
		}
	})
}
