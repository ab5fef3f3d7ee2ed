package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/infertel/infertel-go/e2e/internal/bed"
)

// window is what stands for the windows of rates: many scrapes and exports wide,
// however slow the machine is.
const window = "5s"

// observed is a Prometheus that has seen the reference emitter at work.
type observed struct {
	*bed.Prometheus
	start time.Time
}

// failing is what a shim is told of a request that fails, which none of the
// emitter's does.
const failing = `{"ts":1000000000,"engine":"vllm-v1","event":"engine","model":"qwen3-8b"}
{"ts":1000000000,"engine":"vllm-v1","event":"arrived","request":"r","prompt_tokens":3}
{"ts":2000000000,"engine":"vllm-v1","event":"finished","request":"r","finish_reason":"error"}
`

// observe runs the reference emitter, slowly enough to be seen at work, and then
// once more with its spans going nowhere, so that it has losses to report.
func observe(t *testing.T) observed {
	t.Helper()
	t.Setenv("OTEL_METRIC_EXPORT_INTERVAL", "200")
	c := bed.StartCollector(t)
	p := observed{bed.StartPrometheus(t, c.Prometheus, filepath.Join(bed.Root, "dashboards", "alerts.yaml")), time.Now()}
	runExample(t, c.Endpoint, "reference", "-requests", "12", "-speed", "0.04")
	input := filepath.Join(t.TempDir(), "failing.jsonl")
	if err := os.WriteFile(input, []byte(failing), 0o600); err != nil {
		t.Fatal(err)
	}
	runExample(t, c.Endpoint, "engineshim", "-input", input)

	t.Setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://"+bed.FreeAddress(t))
	t.Setenv("OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "100")
	losing := exec.Command(bed.Example(t, "reference"), "-engine", "vllm-v0")
	losing.Env = append(os.Environ(), "OTEL_EXPORTER_OTLP_ENDPOINT="+c.Endpoint, "OTEL_SERVICE_NAME=losing")
	if said, err := losing.CombinedOutput(); err == nil || !strings.Contains(string(said), "lost:") {
		t.Fatalf("nothing was lost: %v\n%s", err, said)
	}
	p.must(t, "its losses", "infertel_otlp_lost_total")
	return p
}

// see returns an error unless the expression had a value at some moment, one other
// than 0 if it has to be. A value that is not finite is an error.
func (p observed) see(expr string, not0 bool) error {
	var data struct {
		Result []struct {
			Values [][2]any // the time, and the number as text
		}
	}
	p.Get("query_range", url.Values{
		"query": {expr}, "step": {"0.25"},
		"start": {strconv.FormatInt(p.start.Unix(), 10)}, "end": {strconv.FormatInt(time.Now().Unix()+1, 10)},
	}, &data)
	values := 0
	for _, r := range data.Result {
		for _, v := range r.Values {
			text, _ := v[1].(string)
			n, err := strconv.ParseFloat(text, 64)
			if err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
				return fmt.Errorf("%s was %q", expr, text)
			}
			if values++; n != 0 || !not0 {
				return nil
			}
		}
	}
	return fmt.Errorf("%s was 0 at %d points and nothing at the others", expr, values)
}

// must waits until an expression is seen. What speaks of growth has to grow.
func (p observed) must(t *testing.T, what, expr string) {
	t.Helper()
	growth := strings.Contains(expr, "rate(") || strings.Contains(expr, "increase(")
	bed.Eventually(t, func() error {
		if err := p.see(expr, growth); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		return nil
	})
}

// grafana is what the test knows of a dashboard.
type grafana struct {
	Panels []struct {
		Title       string
		Targets     []struct{ Expr, LegendFormat string }
		FieldConfig struct{ Defaults struct{ Unit string } }
	}
	Templating struct {
		List []struct{ Name, Type, Query, AllValue string }
	}
}

var labelValues = regexp.MustCompile(`^label_values\((.+), (\w+)\)$`)

// values asks for the values of a variable as Grafana does.
func (p observed) values(t *testing.T, query string) (values []string) {
	t.Helper()
	m := labelValues.FindStringSubmatch(query)
	if m == nil {
		t.Fatalf("%s is no query of label values", query)
	}
	p.Get("label/"+m[2]+"/values", url.Values{"match[]": {m[1]}}, &values)
	return values
}

// replace puts values in the place of variables.
func replace(text string, variables map[string]string) string {
	return os.Expand(text, func(name string) string {
		if value, ok := variables[name]; ok {
			return value
		}
		return "$" + name
	})
}

// pattern is how Grafana writes a value of a variable into an expression.
func pattern(value string) string {
	return strings.ReplaceAll(regexp.QuoteMeta(value), `\`, `\\`)
}

func TestDashboardsHaveData(t *testing.T) {
	p := observe(t)
	files, err := filepath.Glob(filepath.Join(bed.Root, "dashboards", "*.json"))
	if err != nil || len(files) < 3 {
		t.Fatalf("dashboards are %q, %v", files, err)
	}
	for _, name := range files {
		t.Run(filepath.Base(name), func(t *testing.T) {
			raw, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			var g grafana
			if err := json.Unmarshal(raw, &g); err != nil {
				t.Fatal(err)
			}
			p.panels(t, &g)
		})
	}
	t.Run("alerts", p.alerts)
	t.Run("README.md", p.queries)
}

func (p observed) panels(t *testing.T, g *grafana) {
	// At first all is selected.
	all := map[string]string{"__rate_interval": window, "__range": window}
	choices := map[string][]string{}
	for _, v := range g.Templating.List {
		if v.Type == "query" {
			all[v.Name] = v.AllValue
			if choices[v.Name] = p.values(t, replace(v.Query, all)); len(choices[v.Name]) == 0 {
				t.Errorf("there is no value of $%s: %s", v.Name, v.Query)
			}
		}
	}
	var exprs []string
	for _, panel := range g.Panels {
		for _, q := range panel.Targets {
			exprs = append(exprs, q.Expr)
			p.must(t, panel.Title, replace(q.Expr, all))
			p.parts(t, panel.Title, q.Expr, all)
			p.whole(t, panel.Title, panel.FieldConfig.Defaults.Unit, q.LegendFormat, q.Expr, all)
		}
	}
	if len(exprs) == 0 {
		t.Error("there are no queries")
	}
	// Each single value shows something.
	for variable, values := range choices {
		for _, value := range values {
			one := maps.Clone(all)
			one[variable] = pattern(value)
			bed.Eventually(t, func() error {
				if !slices.ContainsFunc(exprs, func(e string) bool {
					return strings.Contains(e, "$"+variable) && p.see(replace(e, one), false) == nil
				}) {
					return fmt.Errorf("nothing is shown with $%s = %q", variable, value)
				}
				return nil
			})
		}
	}
}

var selector = regexp.MustCompile(`\w+\{[^}]*\}`)

// parts looks at each selector of an expression by itself: what stands on one side
// of an "or" must be there too.
func (p observed) parts(t *testing.T, what, expr string, variables map[string]string) {
	t.Helper()
	for _, s := range selector.FindAllString(expr, -1) {
		p.must(t, what, replace(s, variables))
	}
}

var legendLabel = regexp.MustCompile(`\{\{(\w+)\}\}`)

// highest is the most that is plausible, by unit.
var highest = map[string]float64{"percentunit": 1, "s": 60}

// whole holds what is shown of the whole run against its unit and its legend.
func (p observed) whole(t *testing.T, what, unit, legend, expr string, variables map[string]string) {
	t.Helper()
	wide := maps.Clone(variables)
	wide["__rate_interval"] = "10m"
	samples := p.Query(replace(expr, wide))
	if len(samples) == 0 {
		t.Errorf("%s is nothing over the whole run", what)
	}
	for _, s := range samples {
		if top, ok := highest[unit]; ok && (s.Value < 0 || s.Value > top+1e-9) {
			t.Errorf("%s is %v %s for %v, want 0 to %v", what, s.Value, unit, s.Labels, top)
		}
	}
	labels := legendLabel.FindAllStringSubmatch(legend, -1)
	for _, l := range labels {
		if !slices.ContainsFunc(samples, func(s bed.Sample) bool { return s.Labels[l[1]] != "" }) {
			t.Errorf("%s: no series has the label %s", what, l[1])
		}
	}
	if len(labels) == 0 && len(samples) > 1 {
		t.Errorf("%s: %d series share the legend %q", what, len(samples), legend)
	}
}

var duration = regexp.MustCompile(`\b\d+[smhd]\b`)

// alerts evaluates the rules' expressions with comparisons that keep their
// operands, since an alert that does not fire is empty in itself.
func (p observed) alerts(t *testing.T) {
	var data struct {
		Groups []struct {
			Rules []struct{ Name, Query, Health, LastError string }
		}
	}
	bed.Eventually(t, func() error {
		data.Groups = nil
		p.Get("rules", nil, &data)
		for _, g := range data.Groups {
			for _, r := range g.Rules {
				if r.Health != "ok" {
					return fmt.Errorf("%s is %s: %s", r.Name, r.Health, r.LastError)
				}
			}
		}
		return nil
	})
	keep := strings.NewReplacer(" > ", " > bool ", " < ", " < bool ", " == ", " == bool ", " unless ", " and ")
	n := 0
	for _, g := range data.Groups {
		for _, r := range g.Rules {
			n++
			p.must(t, r.Name, "0 * ("+duration.ReplaceAllString(keep.Replace(r.Query), "2s")+") + 1")
		}
	}
	if n == 0 {
		t.Error("there are no rules")
	}
}

var promQL = regexp.MustCompile("(?s)```promql\n(.*?)```")

// queries evaluates what the README tells users to ask for.
func (p observed) queries(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(bed.Root, "dashboards", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	blocks := promQL.FindAllStringSubmatch(string(text), -1)
	if len(blocks) < 5 {
		t.Errorf("only %d queries found", len(blocks))
	}
	for _, b := range blocks {
		p.must(t, "README.md", duration.ReplaceAllString(b[1], window))
	}
}

// TestDashboardFiles runs the tests that stand beside the alerts, and holds the
// configurations against the programs that read them.
func TestDashboardFiles(t *testing.T) {
	for _, command := range [][]string{
		{bed.Tool(t, "promtool"), "check", "rules", "alerts.yaml"},
		{bed.Tool(t, "promtool"), "test", "rules", "alerts_test.yaml"},
		{bed.Tool(t, "promtool"), "check", "config", "prometheus.yaml"},
		{bed.CollectorProgram(t), "validate", "--config", "collector.yaml"},
	} {
		cmd := exec.Command(command[0], command[1:]...)
		cmd.Dir = filepath.Join(bed.Root, "dashboards")
		if said, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%q: %v\n%s", command, err, said)
		}
	}
}
