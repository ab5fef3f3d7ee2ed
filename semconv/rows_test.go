package semconv_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/infertel/infertel-go/semconv"
)

// TestRows holds the generated tables against the hand-kept list of documented
// rows, in both directions.
func TestRows(t *testing.T) {
	data, err := os.ReadFile("testdata/rows.txt")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{}
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			if want[line] {
				t.Errorf("stands twice in rows.txt: %s", line)
			}
			want[line] = true
		}
	}
	got := map[string]bool{}
	for _, line := range rows() {
		if got[line] {
			t.Errorf("stands twice in the tables: %s", line)
		}
		got[line] = true
		if !want[line] {
			t.Errorf("not documented: %s", line)
		}
	}
	for line := range want {
		if !got[line] {
			t.Errorf("missing: %s", line)
		}
	}
}

// rows writes the tables as lines of rows.txt.
func rows() []string {
	return slices.Concat(spanRows(), stageRows(), logRows(), metricRows(), mappingRows())
}

func spanRows() []string {
	var out []string
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	for _, s := range semconv.Spans() {
		for _, n := range s.Names {
			add("span %s name %s", s.ID, n)
		}
		for _, e := range s.Endpoints {
			add("span %s endpoint %s %s", s.ID, e.Operation, e.Request)
		}
		if s.Granularity != 0 {
			add("span %s granularity %d", s.ID, s.Granularity)
		}
		if s.DurationUnit != "" {
			add("span %s duration_unit %s", s.ID, s.DurationUnit)
		}
		for _, c := range s.Children {
			add("span %s child %s", s.ID, c)
		}
		for _, l := range s.Labels {
			add("span %s label %s", s.ID, l)
		}
		out = append(out, attributeRows("span "+s.ID+" attribute", s.Attributes)...)
		out = append(out, attributeRows("span "+s.ID+" abort", s.OnAbort)...)
		for _, e := range s.Events {
			prefix := "span " + s.ID + " event " + e.Name
			if e.Level != 0 {
				add("%s level=%d", prefix, e.Level)
			}
			if e.Granularity != 0 {
				add("%s granularity=%d", prefix, e.Granularity)
			}
			out = append(out, attributeRows(prefix+" attribute", e.Attributes)...)
		}
	}
	return out
}

func attributeRows(prefix string, attributes []semconv.AttributeSpec) []string {
	var out []string
	for _, a := range attributes {
		line := fmt.Sprintf("%s %s %s", prefix, a.Key, a.Type)
		if a.Unit != "" {
			line += " unit=" + a.Unit
		}
		if len(a.Enum) > 0 {
			line += " enum=" + strings.Join(a.Enum, ",")
		}
		if a.Format != "" {
			line += " format=" + a.Format
		}
		out = append(out, line+" | "+condition(a.When))
	}
	return out
}

func condition(when string) string {
	if when == "" {
		return "always"
	}
	return when
}

func stageRows() []string {
	out := []string{fmt.Sprintf("trace_level %s default=%d off=%d %s?%s=N", semconv.SGLangTraceLevelEnv,
		semconv.SGLangTraceLevelDefault, semconv.SGLangTraceLevelOff, semconv.SGLangTraceLevelPath, semconv.SGLangTraceLevelParameter)}
	dash := func(s string) string {
		if s == "" {
			return "-"
		}
		return s
	}
	for _, s := range semconv.Stages() {
		line := fmt.Sprintf("stage %s level=%d process=%s deployment=%s under=%s", s.Name, s.Level, s.Process,
			dash(string(s.Deployment)), dash(strings.Join(s.NestedUnder, ",")))
		if s.EndsWithThread {
			line += " ends_with_thread"
		}
		out = append(out, line)
		out = append(out, attributeRows("stage "+s.Name+" attribute", s.Attributes)...)
	}
	return out
}

func logRows() []string {
	var out []string
	for _, e := range semconv.LogEvents() {
		out = append(out, fmt.Sprintf("log %s when %s", e.Name, e.When))
		out = append(out, attributeRows("log "+e.Name+" attribute", e.Attributes)...)
	}
	return out
}

func metricRows() []string {
	var out []string
	for _, d := range semconv.DimensionSets() {
		for _, a := range d.Attributes {
			line := fmt.Sprintf("dimensions %s %s %s", d.ID, a.Key, a.Type)
			if len(a.Enum) > 0 {
				line += " " + strings.Join(a.Enum, ",")
			}
			out = append(out, line)
		}
	}
	for _, m := range semconv.Metrics() {
		out = append(out, fmt.Sprintf("prometheus %s %s", m.Name, m.Prometheus))
		for _, r := range m.Reporters {
			line := fmt.Sprintf("metric %s %s %s %s %s dimensions=%s", r.Source, m.Name, m.Instrument, m.Value, m.Unit, r.Dimensions)
			for _, x := range m.ExtraDimensions {
				line += "+" + string(x.Key)
			}
			if m.Snapshot {
				line += " snapshot"
			}
			if len(m.Range) > 0 {
				line += fmt.Sprintf(" range=%v,%v", m.Range[0], m.Range[1])
			}
			out = append(out, line+" | "+condition(m.When))
		}
	}
	return out
}

func mappingRows() []string {
	var out []string
	for _, f := range semconv.Fields() {
		out = append(out, fmt.Sprintf("mapping %s %s %s %s", f.Meaning, f.Source, f.Kind, f.Name))
	}
	return out
}
