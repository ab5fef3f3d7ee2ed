package view

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"

	"github.com/infertel/infertel-go/internal/otlpreceiver"
)

// Metrics prints the last value of each series.
func Metrics(w io.Writer, metrics []otlpreceiver.Metric) {
	type row struct{ name, kind, unit, dimensions, value string }
	last := map[string]int{}
	var rows []row
	for _, m := range metrics {
		kind, points := numbers(m)
		for _, p := range points {
			r := row{m.GetName(), kind, m.GetUnit(), strings.Join(sorted(otlpreceiver.Attributes(p.GetAttributes())), " "), value(p)}
			key := r.name + "\x00" + r.dimensions
			if i, seen := last[key]; seen {
				rows[i] = r
				continue
			}
			last[key] = len(rows)
			rows = append(rows, r)
		}
	}
	if len(rows) == 0 {
		return
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "metric\ttype\tunit\tvalue\tdimensions")
	for _, r := range rows {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", r.name, r.kind, r.unit, r.value, r.dimensions)
	}
	_ = t.Flush()
	fmt.Fprintln(w)
}

func numbers(m otlpreceiver.Metric) (kind string, points []*metricspb.NumberDataPoint) {
	switch d := m.GetData().(type) {
	case *metricspb.Metric_Sum:
		return "counter", d.Sum.GetDataPoints()
	case *metricspb.Metric_Gauge:
		return "gauge", d.Gauge.GetDataPoints()
	}
	return "", nil
}

func value(p *metricspb.NumberDataPoint) string {
	if v, ok := p.GetValue().(*metricspb.NumberDataPoint_AsInt); ok {
		return fmt.Sprint(v.AsInt)
	}
	return fmt.Sprintf("%.6g", p.GetAsDouble())
}

// Logs prints log events with their attributes in JSON.
func Logs(w io.Writer, logs []otlpreceiver.Log) {
	for _, l := range logs {
		fmt.Fprintf(w, "log event %s  trace %x\n", l.GetEventName(), l.GetTraceId())
		attributes := otlpreceiver.Attributes(l.GetAttributes())
		for k, v := range attributes {
			text, err := json.Marshal(v)
			if err != nil {
				text = []byte(fmt.Sprint(v))
			}
			fmt.Fprintf(w, "    %s=%s\n", k, text)
		}
		fmt.Fprintln(w)
	}
}
