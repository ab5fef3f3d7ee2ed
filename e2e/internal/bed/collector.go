package bed

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// Collector is a running OpenTelemetry Collector. It receives OTLP/gRPC with the
// limits that it has by default, writes all to files, and shows metrics to
// Prometheus.
type Collector struct {
	// Endpoint is where it receives, as OTEL_EXPORTER_OTLP_ENDPOINT takes it.
	Endpoint string
	// Prometheus is the address, host and port, where Prometheus gets the metrics.
	Prometheus string
	// Traces, Metrics and Logs are the files. They are whole after Stop.
	Traces, Metrics, Logs string

	t       testing.TB
	process *process
}

// collectorConfig takes the addresses of both ends and the folder of the files.
const collectorConfig = `
receivers:
  otlp:
    protocols:
      grpc:
        endpoint: %[1]s
processors:
  batch:
exporters:
  file/traces:
    path: %[3]s/traces.json
  file/metrics:
    path: %[3]s/metrics.json
  file/logs:
    path: %[3]s/logs.json
  prometheus:
    endpoint: %[2]s
service:
  telemetry:
    metrics:
      level: none
    logs:
      level: warn
  pipelines:
    traces:
      receivers: [otlp]
      processors: [batch]
      exporters: [file/traces]
    metrics:
      receivers: [otlp]
      processors: [batch]
      exporters: [file/metrics, prometheus]
    logs:
      receivers: [otlp]
      processors: [batch]
      exporters: [file/logs]
`

// buildCollector keeps the program between runs: it is large, and go build leaves
// one alone that is up to date.
var buildCollector = sync.OnceValues(func() (string, error) {
	dir, err := cacheDir()
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	exe := filepath.Join(dir, "collector")
	cmd := exec.Command("go", "build", "-ldflags=-s -w", "-o", exe, ".") // quicker to link
	cmd.Dir = filepath.Join(Root, "e2e", "collector")
	if said, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building the Collector: %w\n%s", err, said)
	}
	return exe, nil
})

// CollectorProgram returns the path of the Collector. The first time on a machine it
// takes some minutes to build.
func CollectorProgram(t testing.TB) string {
	t.Helper()
	exe, err := buildCollector()
	if err != nil {
		t.Fatal(err)
	}
	return exe
}

// StartCollector starts a Collector and returns when it is up.
func StartCollector(t testing.TB) *Collector {
	t.Helper()
	exe := CollectorProgram(t)
	var err error
	for range 3 { // an address may be taken again before it is used
		var c *Collector
		if c, err = tryCollector(t, exe); err == nil {
			return c
		}
	}
	t.Fatal(err)
	return nil
}

func tryCollector(t testing.TB, exe string) (*Collector, error) {
	t.Helper()
	dir := t.TempDir()
	otlp := FreeAddress(t)
	c := &Collector{
		Endpoint: "http://" + otlp, Prometheus: FreeAddress(t),
		Traces: filepath.Join(dir, "traces.json"), Metrics: filepath.Join(dir, "metrics.json"), Logs: filepath.Join(dir, "logs.json"),
		t: t,
	}
	config := filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(config, fmt.Appendf(nil, collectorConfig, otlp, c.Prometheus, dir), 0o600); err != nil {
		t.Fatal(err)
	}
	c.process = start(t, exe, "--config", config)
	return c, c.process.until(t, func() error {
		conn, err := net.Dial("tcp", otlp)
		if err != nil {
			return err
		}
		resp, err := http.Get("http://" + c.Prometheus + "/metrics")
		if err != nil {
			return errors.Join(err, conn.Close())
		}
		return errors.Join(conn.Close(), resp.Body.Close())
	})
}

// Complaints returns the warnings and errors that the Collector has logged.
func (c *Collector) Complaints() string { return strings.TrimSpace(c.process.said.String()) }

// Stop ends the Collector after it has written everything.
func (c *Collector) Stop() {
	c.t.Helper()
	c.process.stop(c.t)
}
