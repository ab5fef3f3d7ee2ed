package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/infertel/infertel-go/semconv"
)

// named is a descriptor of package semconv.
type named interface{ Name() string }

// What the Collector's Prometheus exporter makes of the resource.
const (
	serviceLabel  = "job"      // service.name
	instanceLabel = "instance" // service.instance.id
)

// metrics are those that dashboards may use: the documented ones and, which the
// registry does not have, the one of package genai/otlp and the resource.
var metrics = append(semconv.Metrics(),
	semconv.MetricType{Name: "infertel.otlp.lost", Prometheus: lost, Instrument: semconv.InstrumentCounter, Unit: "{item}"},
	semconv.MetricType{Name: targetInfo, Prometheus: targetInfo, Instrument: semconv.InstrumentGauge, Unit: "1"})

const (
	lost       = "infertel_otlp_lost_total"
	targetInfo = "target_info"
)

// inPrometheus returns the name that a metric has in Prometheus.
func inPrometheus(m named) string {
	for _, t := range metrics {
		if t.Name == m.Name() {
			return t.Prometheus
		}
	}
	panic("no such metric: " + m.Name())
}

// scope is the label matchers that a dashboard's variables make.
type scope string

// of selects the series of a metric, of those that more selects.
func (s scope) of(m named, more ...string) string {
	return s.series(inPrometheus(m), more...)
}

func (s scope) series(name string, more ...string) string {
	return name + "{" + strings.Join(append([]string{string(s)}, more...), ",") + "}"
}

// rate is the growth per second.
func rate(series string) string { return "rate(" + series + "[$__rate_interval])" }

// sum adds over all series.
func sum(expr string) string { return "sum(" + expr + ")" }

// by adds over the series that agree in the labels.
func by(labels, expr string) string { return "sum by (" + labels + ") (" + expr + ")" }

// mean divides what was added by how often. Where nothing happened there is no
// mean, rather than a NaN.
func mean(total, count string) string { return total + "\n/ (" + count + " > 0)" }

// either is whichever of several there is, for metrics that have another name in
// another version.
func either(exprs ...string) string { return strings.Join(exprs, " or ") }

// is matches a label's value.
func is(label, value string) string { return fmt.Sprintf("%s=%q", label, value) }

// matches matches a label against a regular expression.
func matches(label, pattern string) string { return fmt.Sprintf("%s=~%q", label, pattern) }

var word = regexp.MustCompile(`[a-zA-Z_:][a-zA-Z0-9_:]*`)

// metricsOf returns the metrics in an expression, in their order.
func metricsOf(expr string) (found []semconv.MetricType) {
	for _, w := range word.FindAllString(expr, -1) {
		same := func(t semconv.MetricType) bool { return t.Prometheus == w }
		if i := slices.IndexFunc(metrics, same); i >= 0 && !slices.ContainsFunc(found, same) {
			found = append(found, metrics[i])
		}
	}
	return found
}
