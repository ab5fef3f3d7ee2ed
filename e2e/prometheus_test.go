package e2e

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"net/url"
	"strconv"
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

	exposed := map[string]string{}
	for _, m := range semconv.Metrics() {
		exposed[m.Prometheus] = m.Name
		bed.Eventually(t, func() error {
			if len(p.Query(m.Prometheus)) == 0 {
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

	// Each series has come, with the documented dimensions and its last value, which
	// is the one that another run from the same seed sends.
	runExample(t, r.Endpoint(), "reference")
	want := map[string]map[string]float64{}
	for _, point := range r.Points() {
		if want[point.Name] == nil {
			want[point.Name] = map[string]float64{}
		}
		point.Attrs["otel_scope_name"] = point.Scope
		v, err := strconv.ParseFloat(fmt.Sprint(point.Value), 64)
		if err != nil {
			t.Fatal(err)
		}
		want[point.Name][fmt.Sprint(point.Attrs)] = v
	}
	for _, m := range semconv.Metrics() {
		bed.Eventually(t, func() error {
			got := map[string]float64{}
			for _, s := range p.Query(m.Prometheus) {
				for _, label := range []string{"__name__", "job", "instance", "otel_scope_version", "otel_scope_schema_url"} {
					delete(s.Labels, label)
				}
				got[fmt.Sprint(s.Labels)] = s.Value
			}
			if !maps.EqualFunc(got, want[m.Name], func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Abs(b) }) {
				return fmt.Errorf("%s is %v in Prometheus, want %v", m.Prometheus, got, want[m.Name])
			}
			return nil
		})
	}
	bed.Eventually(t, func() error { // a scrape of names that collide never succeeds
		if len(p.Query("up == 1")) == 0 {
			return errors.New("the last scrape failed")
		}
		return nil
	})
	if said := p.Complaints(); said != "" {
		t.Errorf("Prometheus said:\n%s", said)
	}
	stopped(t, c)
}
