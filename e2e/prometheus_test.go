package e2e

import (
	"fmt"
	"math"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/infertel/infertel-go/e2e/internal/bed"
	"github.com/infertel/infertel-go/internal/otlpreceiver/otlptest"
	"github.com/infertel/infertel-go/semconv"
)

// TestPrometheus sends all metrics of all engines from one process, and looks for
// each in Prometheus, by the name that the documentation gives.
func TestPrometheus(t *testing.T) {
	c, r := bed.StartCollector(t), otlptest.New(t)
	p := bed.StartPrometheus(t, c.Prometheus)
	runExample(t, c.Endpoint, "reference")

	values := func(name string) (vs []float64) {
		for _, s := range p.Query(name) {
			vs = append(vs, s.Value)
		}
		return vs
	}
	exposed := map[string]string{}
	for _, m := range semconv.Metrics() {
		exposed[m.Prometheus] = m.Name
		bed.Eventually(t, func() error {
			if len(values(m.Prometheus)) == 0 {
				return fmt.Errorf("%s is not in Prometheus as %s", m.Name, m.Prometheus)
			}
			return nil
		})
		if strings.HasSuffix(m.Prometheus, "_total_total") {
			t.Errorf("%s ends _total_total", m.Prometheus)
		}
		var about map[string][]struct{ Type, Help string }
		p.Get("metadata", url.Values{"metric": {m.Prometheus}}, &about)
		if a := about[m.Prometheus]; len(a) != 1 || a[0].Type != string(m.Instrument) || a[0].Help == "" {
			t.Errorf("%s is of the types %+v, want %s", m.Prometheus, a, m.Instrument)
		}
	}
	if len(exposed) != len(semconv.Metrics()) {
		t.Errorf("%d metrics share %d names", len(semconv.Metrics()), len(exposed))
	}

	var names []string
	p.Get("label/__name__/values", nil, &names)
	for _, name := range names {
		ofPrometheus := name == "up" || name == "target_info" || strings.HasPrefix(name, "scrape_")
		if exposed[name] == "" && !ofPrometheus {
			t.Errorf("%s is in Prometheus, but is not documented", name)
		}
	}

	// Each series has come with its last value, which is the one that another run
	// from the same seed sends.
	runExample(t, r.Endpoint(), "reference")
	want := map[string][]float64{}
	for series, v := range (exported{}).ofReceiver(t, r).series {
		name, _, _ := strings.Cut(series, " ")
		want[name] = append(want[name], v)
	}
	for _, m := range semconv.Metrics() {
		bed.Eventually(t, func() error {
			got, vs := values(m.Prometheus), want[m.Name]
			slices.Sort(got)
			slices.Sort(vs)
			if !slices.EqualFunc(got, vs, func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Abs(b) }) {
				return fmt.Errorf("%s is %v in Prometheus, want %v", m.Prometheus, got, vs)
			}
			return nil
		})
	}
	for _, s := range p.Query("min_over_time(up[1h])") {
		if s.Value != 1 {
			t.Error("a scrape failed")
		}
	}
	if said := p.Complaints(); said != "" {
		t.Errorf("Prometheus said:\n%s", said)
	}
	stopped(t, c)
}
