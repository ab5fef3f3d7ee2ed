package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/grafana/grafana-foundation-sdk/go/cog/plugins"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"

	"github.com/infertel/infertel-go/semconv"
)

// file is what the tests look at in a dashboard.
type file struct {
	UID        string
	Panels     []filePanel
	Templating struct {
		List []struct {
			Name, Type, Query string
			Datasource        struct{ UID string }
		}
	}
}

type filePanel struct {
	ID                       int
	Type, Title, Description string
	GridPos                  struct{ X, Y, W, H int }
	Datasource               struct{ UID string }
	Targets                  []struct {
		RefID, Expr, LegendFormat string
		Datasource                struct{ UID string }
	}
	FieldConfig struct{ Defaults struct{ Unit string } }
	Options     struct{ Content string }
}

// each runs a test on each dashboard in the repository.
func each(t *testing.T, test func(t *testing.T, raw []byte, f file)) {
	files, err := filepath.Glob("../*.json")
	if err != nil || len(files) != len(boards()) {
		t.Fatalf("there are %d dashboards, %v, want %d", len(files), err, len(boards()))
	}
	for _, name := range files {
		t.Run(filepath.Base(name), func(t *testing.T) {
			raw, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			var f file
			if err := json.Unmarshal(raw, &f); err != nil {
				t.Fatal(err)
			}
			test(t, raw, f)
		})
	}
}

func TestDashboardsAreFresh(t *testing.T) {
	if err := run("..", true); err != nil {
		t.Error(err)
	}
	if err := run(t.TempDir(), true); err == nil {
		t.Error("dashboards that are not there pass for fresh")
	}
}

// strictly returns what the model of Grafana's schema has against a dashboard.
func strictly(raw []byte) string {
	plugins.RegisterDefaultPlugins()
	var d dashboard.Dashboard //nolint:staticcheck // as in build
	// On success the error is an empty list, which is not nil.
	if err := d.UnmarshalJSONStrict(raw); err != nil && err.Error() != "" {
		return err.Error()
	}
	if err := d.Validate(); err != nil {
		return err.Error()
	}
	return ""
}

func TestDashboardsFollowTheSchema(t *testing.T) {
	each(t, func(t *testing.T, raw []byte, _ file) {
		if fault := strictly(raw); fault != "" {
			t.Error(fault)
		}
		for _, bad := range [][2]string{{`"expr"`, `"expression"`}, {`"gridPos": {`, `"gridPos": {"z": 1,`}, {`"title"`, `"titel"`}, {`"graphMode"`, `"graphMod"`}} {
			if strictly(bytes.ReplaceAll(raw, []byte(bad[0]), []byte(bad[1]))) == "" {
				t.Errorf("%s in place of %s passes", bad[1], bad[0])
			}
		}
	})
}

func TestPanelsStandApart(t *testing.T) {
	each(t, func(t *testing.T, _ []byte, f file) {
		ids := map[int]string{}
		for i, p := range f.Panels {
			if other, ok := ids[p.ID]; ok || p.ID == 0 {
				t.Errorf("%q and %q have the id %d", p.Title, other, p.ID)
			}
			ids[p.ID] = p.Title
			g := p.GridPos
			if g.X < 0 || g.W <= 0 || g.H <= 0 || g.X+g.W > columns {
				t.Errorf("%q is at %+v", p.Title, g)
			}
			for _, q := range f.Panels[:i] {
				o := q.GridPos
				if g.X < o.X+o.W && o.X < g.X+g.W && g.Y < o.Y+o.H && o.Y < g.Y+g.H {
					t.Errorf("%q at %+v overlaps %q at %+v", p.Title, g, q.Title, o)
				}
			}
		}
	})
}

var (
	used    = regexp.MustCompile(`\$\{?([a-zA-Z_]+)`)
	builtIn = []string{"__rate_interval", "__interval", "__range"}
)

func TestVariablesAreDefined(t *testing.T) {
	const source = "${datasource}"
	each(t, func(t *testing.T, raw []byte, f file) {
		defined := []string{}
		for _, v := range f.Templating.List {
			for _, u := range used.FindAllStringSubmatch(v.Query, -1) {
				if !slices.Contains(defined, u[1]) {
					t.Errorf("the variable %s uses $%s before it is defined", v.Name, u[1])
				}
			}
			if defined = append(defined, v.Name); v.Type != "datasource" && v.Datasource.UID != source {
				t.Errorf("the variable %s has the data source %q", v.Name, v.Datasource.UID)
			}
		}
		var all []string
		for _, p := range f.Panels {
			for _, q := range p.Targets {
				if q.Datasource.UID != source || p.Datasource.UID != source {
					t.Errorf("%q has the data sources %q and %q", p.Title, p.Datasource.UID, q.Datasource.UID)
				}
				for _, u := range used.FindAllStringSubmatch(q.Expr, -1) {
					if all = append(all, u[1]); !slices.Contains(defined, u[1]) && !slices.Contains(builtIn, u[1]) {
						t.Errorf("%q uses $%s, which is not defined", p.Title, u[1])
					}
				}
			}
		}
		for _, name := range defined[1:] {
			if !slices.Contains(all, name) {
				t.Errorf("no panel uses $%s", name)
			}
		}
		if uids := regexp.MustCompile(`"uid": "([^"]*)"`).FindAllStringSubmatch(string(raw), -1); len(uids) < 2 {
			t.Error("there is no data source")
		} else {
			for _, uid := range uids {
				if uid[1] != source && uid[1] != f.UID {
					t.Errorf("the uid %q is that of one installation", uid[1])
				}
			}
		}
	})
}

func TestPanelsExplainThemselves(t *testing.T) {
	each(t, func(t *testing.T, _ []byte, f file) {
		for _, p := range f.Panels {
			switch p.Type {
			case "row":
				continue
			case "text":
				if p.Options.Content == "" || len(p.Targets) > 0 {
					t.Errorf("%q has no text", p.Title)
				}
				continue
			}
			if len(p.Targets) == 0 || p.Title == "" || p.FieldConfig.Defaults.Unit == "" {
				t.Errorf("%q has no query, no title or no unit", p.Title)
			}
			refs := map[string]bool{}
			for _, q := range p.Targets {
				if refs[q.RefID] {
					t.Errorf("%q has two queries %s", p.Title, q.RefID)
				}
				refs[q.RefID] = true
				if p.Type == "timeseries" && q.LegendFormat == "" {
					t.Errorf("%q has a query without legend", p.Title)
				}
				for _, m := range metricsOf(q.Expr) {
					if !strings.Contains(p.Description, "`"+m.Name+"`") {
						t.Errorf("%q does not name its metric %s", p.Title, m.Name)
					}
					if m.Snapshot && !strings.Contains(q.Expr, inPrometheus(semconv.MetricSGLangLogCount)) {
						t.Errorf("%q shows the sum of the snapshots of %s", p.Title, m.Name)
					}
				}
			}
		}
	})
}

// TestSharedNamesAreToldApart: vLLM and SGLang share names, which only the
// dimension callKind tells apart.
func TestSharedNamesAreToldApart(t *testing.T) {
	each(t, func(t *testing.T, _ []byte, f file) {
		for _, p := range f.Panels {
			for _, q := range p.Targets {
				for _, s := range regexp.MustCompile(`(\w+)\{([^}]*)\}`).FindAllStringSubmatch(q.Expr, -1) {
					m := metricsOf(s[1])
					engines := map[string]bool{}
					for _, r := range m[0].Reporters {
						engine, _, _ := strings.Cut(string(r.Source), ".")
						engines[engine] = !strings.HasSuffix(string(r.Source), ".token")
					}
					if engines["vllm"] && engines["sglang"] && !strings.Contains(s[2], string(semconv.CallKindKey)+"=") {
						t.Errorf("%q mixes engines in %s", p.Title, s[0])
					}
				}
			}
		}
	})
}

// TestEveryMetricIsShown: what an engine documents can be seen.
func TestEveryMetricIsShown(t *testing.T) {
	where := map[semconv.Source]string{
		semconv.SourceVLLMV0Metrics: "vllm.json", semconv.SourceVLLMV1Metrics: "vllm.json", semconv.SourceSGLangMetrics: "sglang.json",
		semconv.SourceVLLMToken: "gateway.json", semconv.SourceSGLangToken: "gateway.json",
	}
	for _, m := range semconv.Metrics() {
		for _, r := range m.Reporters {
			raw, err := os.ReadFile(filepath.Join("..", where[r.Source]))
			if err != nil {
				t.Fatal(err)
			}
			if !regexp.MustCompile(`\b` + m.Prometheus + `\{`).Match(raw) {
				t.Errorf("%s shows no %s", where[r.Source], m.Name)
			}
		}
	}
}
