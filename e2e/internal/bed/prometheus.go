package bed

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Prometheus is a running Prometheus server.
type Prometheus struct {
	// URL is its base URL.
	URL string

	t       testing.TB
	process *process
}

// Tool returns the path of prometheus or promtool. It fails the test where there
// is none.
func Tool(t testing.TB, name string) string {
	t.Helper()
	if exe, err := exec.LookPath(name); err == nil {
		return exe
	}
	dir, err := cacheDir()
	if err != nil {
		t.Fatal(err)
	}
	exe := filepath.Join(dir, "prometheus", name)
	if _, err := os.Stat(exe); err != nil {
		t.Fatalf("there is no %s: run scripts/prometheus.sh", name)
	}
	return exe
}

const prometheusConfig = `
global:
  scrape_interval: 250ms
  scrape_timeout: 250ms
  evaluation_interval: 1s
rule_files: [%s]
scrape_configs:
  - job_name: collector
    honor_labels: true
    static_configs:
      - targets: [%q]
`

// StartPrometheus starts a Prometheus that scrapes the target, host and port, and
// evaluates the rules in the files. It returns when it has scraped once.
func StartPrometheus(t testing.TB, target string, rules ...string) *Prometheus {
	t.Helper()
	exe := Tool(t, "prometheus")
	var err error
	for range 3 { // as in StartCollector
		var p *Prometheus
		if p, err = tryPrometheus(t, exe, target, rules); err == nil {
			return p
		}
	}
	t.Fatal(err)
	return nil
}

func tryPrometheus(t testing.TB, exe, target string, rules []string) (*Prometheus, error) {
	t.Helper()
	dir := t.TempDir()
	config := filepath.Join(dir, "prometheus.yaml")
	if err := os.WriteFile(config, fmt.Appendf(nil, prometheusConfig, strings.Join(rules, ", "), target), 0o600); err != nil {
		t.Fatal(err)
	}
	address := FreeAddress(t)
	p := &Prometheus{URL: "http://" + address, t: t}
	p.process = start(t, exe, "--config.file", config, "--storage.tsdb.path", filepath.Join(dir, "data"),
		"--web.listen-address", address, "--log.level", "warn")
	return p, p.process.until(t, func() error {
		up, err := p.query("up == 1")
		if err == nil && len(up) == 0 {
			err = fmt.Errorf("prometheus has not scraped %s", target)
		}
		return err
	})
}

// Sample is the value of one series.
type Sample struct {
	Labels map[string]string
	Value  float64
}

// Query returns the value of a PromQL expression now.
func (p *Prometheus) Query(expr string) []Sample {
	p.t.Helper()
	samples, err := p.query(expr)
	if err != nil {
		p.t.Fatal(err)
	}
	return samples
}

func (p *Prometheus) query(expr string) ([]Sample, error) {
	var data struct {
		Result []struct {
			Metric map[string]string
			Value  [2]any // the time, and the number as text
		}
	}
	if err := p.get("query", url.Values{"query": {expr}}, &data); err != nil {
		return nil, err
	}
	var samples []Sample
	for _, r := range data.Result {
		text, _ := r.Value[1].(string)
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", expr, err)
		}
		samples = append(samples, Sample{r.Metric, v})
	}
	return samples, nil
}

// Get asks an endpoint of the HTTP API, such as "metadata", and stores its data
// in the value that into points to.
func (p *Prometheus) Get(endpoint string, parameters url.Values, into any) {
	p.t.Helper()
	if err := p.get(endpoint, parameters, into); err != nil {
		p.t.Fatal(err)
	}
}

func (p *Prometheus) get(endpoint string, parameters url.Values, into any) error {
	resp, err := http.Get(p.URL + "/api/v1/" + endpoint + "?" + parameters.Encode())
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	answer := struct {
		Status, Error string
		Data          any
	}{Data: into}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		return fmt.Errorf("%s: %w", resp.Request.URL, err)
	}
	if answer.Status != "success" {
		return fmt.Errorf("%s: %s", resp.Request.URL, answer.Error)
	}
	return nil
}

// Complaints returns the warnings and errors that Prometheus has logged.
func (p *Prometheus) Complaints() string { return p.process.said.String() }
