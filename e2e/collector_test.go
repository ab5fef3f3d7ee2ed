package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/infertel/infertel-go/e2e/internal/bed"
	"github.com/infertel/infertel-go/internal/otlpreceiver/otlptest"
	"github.com/infertel/infertel-go/semconv"
)

// runExample runs an example program to its end, with an OTLP endpoint.
func runExample(t *testing.T, endpoint, name string, args ...string) {
	t.Helper()
	cmd := exec.Command(bed.Example(t, name), args...)
	cmd.Env = append(os.Environ(), "OTEL_EXPORTER_OTLP_ENDPOINT="+endpoint)
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %q: %v\n%s", name, args, err, said)
	}
}

var judgedAll = regexp.MustCompile(`^0 violations\. Judged (\d+) of (\d+) spans, (\d+) of (\d+) metrics, (\d+) of (\d+) log records\.$`)

// conforms runs the checker on the files of a Collector as a user would. All must
// conform, and nothing may be of other instrumentation.
func conforms(t *testing.T, c *bed.Collector, args ...string) {
	t.Helper()
	said, err := exec.Command(bed.Example(t, "check"), append(args, c.Traces, c.Metrics, c.Logs)...).CombinedOutput()
	m := judgedAll.FindStringSubmatch(strings.TrimSpace(string(said)))
	if err != nil || m == nil || m[1] != m[2] || m[3] != m[4] || m[5] != m[6] {
		t.Errorf("check: %v\n%s", err, said)
	}
}

// stopped ends the Collector, which must have had nothing to complain about.
func stopped(t *testing.T, c *bed.Collector) {
	t.Helper()
	c.Stop()
	if said := c.Complaints(); said != "" {
		t.Errorf("the Collector said:\n%s", said)
	}
}

// TestReferenceInCollector: with the same seed a program sends the same to the
// Collector as to a receiver in the test, so nothing may be missing from the
// Collector's files.
func TestReferenceInCollector(t *testing.T) {
	c, r := bed.StartCollector(t), otlptest.New(t)
	runExample(t, c.Endpoint, "reference")
	runExample(t, r.Endpoint(), "reference")
	stopped(t, c)
	conforms(t, c, "-granularity", "2", "-trace-level", "4")
	var x exported
	got := x.ofFiles(t, c)
	got.same(t, x.ofReceiver(t, r))
	for _, m := range semconv.Metrics() {
		found := false
		for series := range got.series {
			found = found || strings.HasPrefix(series, m.Name+" ")
		}
		if !found {
			t.Errorf("no %s", m.Name)
		}
	}
}

// TestShimInCollector sends each timeline of the shim.
func TestShimInCollector(t *testing.T) {
	timelines, err := filepath.Glob("../examples/engineshim/testdata/*.jsonl")
	if err != nil || len(timelines) == 0 {
		t.Fatal("no timelines", err)
	}
	c, r := bed.StartCollector(t), otlptest.New(t)
	for _, timeline := range timelines {
		runExample(t, c.Endpoint, "engineshim", "-input", timeline)
		runExample(t, r.Endpoint(), "engineshim", "-input", timeline)
	}
	stopped(t, c)
	conforms(t, c)
	var x exported
	x.ofFiles(t, c).same(t, x.ofReceiver(t, r))
}
