package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/infertel/infertel-go/internal/otlpreceiver/otlptest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// expected is what must arrive for a timeline: the spans exactly, of the metrics
// at least those listed.
type expected struct {
	Env   map[string]string
	Spans []struct {
		ID, Name, Kind, Parent, Status string
		Start, End                     uint64
		Attributes                     map[string]any
		Events                         []struct {
			Name       string
			TS         uint64
			Attributes map[string]any
		}
		Links []string
	}
	Metrics []struct {
		Name       string
		Value      float64
		Attributes map[string]any
	}
}

// exec runs the shim against a receiver and returns what arrived, its exit status
// and what it said.
func exec(t *testing.T, stdin string, args ...string) (r *otlptest.Receiver, status int, stderr string) {
	t.Helper()
	r = otlptest.New(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", r.Endpoint())
	var said bytes.Buffer
	status = run(context.Background(), args, strings.NewReader(stdin), &said, &said)
	return r, status, said.String()
}

func TestTimelines(t *testing.T) {
	files, err := filepath.Glob("testdata/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatal("no timelines", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			want := readExpected(t, strings.TrimSuffix(file, ".jsonl"))
			for k, v := range want.Env {
				t.Setenv(k, v)
			}
			r, status, said := exec(t, "", "-input", file)
			if status != 0 || said != "" {
				t.Errorf("exit status %d, said %q", status, said)
			}
			compareSpans(t, r.FlatSpans(), want)
			comparePoints(t, r.LastPoints(), want)
		})
	}
}

func readExpected(t *testing.T, timeline string) *expected {
	t.Helper()
	text, err := os.ReadFile(timeline + ".expected.json")
	if err != nil {
		t.Fatal(err)
	}
	var want expected
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber() // an integer is not a floating-point number
	if err := d.Decode(&want); err != nil {
		t.Fatal(err)
	}
	return &want
}

func compareSpans(t *testing.T, got []otlptest.Span, want *expected) {
	if len(got) != len(want.Spans) {
		t.Errorf("%d spans, want %d", len(got), len(want.Spans))
	}
	ids := map[string]string{"": ""}
	used := make([]bool, len(got))
	match := make([]int, len(want.Spans))
	for i, w := range want.Spans {
		match[i] = slices.IndexFunc(got, func(g otlptest.Span) bool {
			return !used[slices.IndexFunc(got, func(o otlptest.Span) bool { return o.SpanID == g.SpanID })] &&
				g.Name == w.Name && g.Start == w.Start && g.End == w.End
		})
		if match[i] < 0 {
			t.Errorf("no span %s [%d, %d]", w.Name, w.Start, w.End)
			continue
		}
		used[match[i]] = true
		ids[w.ID] = got[match[i]].SpanID
	}
	for i, w := range want.Spans {
		if match[i] < 0 {
			continue
		}
		g := got[match[i]]
		if g.ParentID != ids[w.Parent] || g.Kind != w.Kind || g.Status != w.Status {
			t.Errorf("%s: parent %s, kind %s, status %s", w.Name, g.ParentID, g.Kind, g.Status)
		}
		compareAttrs(t, w.Name, g.Attrs, w.Attributes)
		if len(g.Events) != len(w.Events) {
			t.Errorf("%s: %d events, want %d", w.Name, len(g.Events), len(w.Events))
			continue
		}
		for j, e := range w.Events {
			if g.Events[j].Name != e.Name || g.Events[j].Time != e.TS {
				t.Errorf("%s: event %d is %s at %d, want %s at %d", w.Name, j, g.Events[j].Name, g.Events[j].Time, e.Name, e.TS)
			}
			compareAttrs(t, w.Name+" "+e.Name, g.Events[j].Attrs, e.Attributes)
		}
		var links, wantLinks []string
		for _, l := range g.Links {
			links = append(links, l.SpanID)
		}
		for _, id := range w.Links {
			wantLinks = append(wantLinks, ids[id])
		}
		slices.Sort(links)
		slices.Sort(wantLinks)
		if !slices.Equal(links, wantLinks) {
			t.Errorf("%s: links %v, want %v", w.Name, links, wantLinks)
		}
	}
}

func compareAttrs(t *testing.T, where string, got, want map[string]any) {
	t.Helper()
	for k, w := range want {
		if g, ok := got[k]; !ok || !sameValue(g, typed(w)) {
			t.Errorf("%s: %s = %T %v, want %T %v", where, k, g, g, typed(w), w)
		}
	}
	for k := range got {
		if _, ok := want[k]; !ok {
			t.Errorf("%s: %s = %v is extra", where, k, got[k])
		}
	}
}

// typed returns a JSON value in the type that it has on the wire: a number is an
// integer if it is written as one.
func typed(v any) any {
	switch v := v.(type) {
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		f, _ := v.Float64()
		return f
	case []any:
		if len(v) == 0 {
			return v
		}
		first := reflect.TypeOf(typed(v[0]))
		out := reflect.MakeSlice(reflect.SliceOf(first), 0, len(v))
		for _, e := range v {
			out = reflect.Append(out, reflect.ValueOf(typed(e)).Convert(first))
		}
		return out.Interface()
	}
	return v
}

func sameValue(got, want any) bool {
	if w, ok := want.(float64); ok {
		g, ok := got.(float64)
		return ok && math.Abs(g-w) <= 1e-9*(1+math.Abs(w))
	}
	return reflect.DeepEqual(got, want)
}

func comparePoints(t *testing.T, got []otlptest.Point, want *expected) {
	for _, w := range want.Metrics {
		attrs := map[string]any{}
		for k, v := range w.Attributes {
			attrs[k] = typed(v)
		}
		i := slices.IndexFunc(got, func(p otlptest.Point) bool { return p.Name == w.Name && reflect.DeepEqual(p.Attrs, attrs) })
		if i < 0 {
			t.Errorf("no point of %s with %v", w.Name, attrs)
		} else if v := number(got[i].Value); math.Abs(v-w.Value) > 1e-9*(1+math.Abs(w.Value)) {
			t.Errorf("%s = %v, want %v", w.Name, v, w.Value)
		}
	}
}

func number(v any) float64 {
	if n, ok := v.(int64); ok {
		return float64(n)
	}
	return v.(float64)
}

// pointValue returns the value of the one point of a metric with these attributes
// among others.
func pointValue(t *testing.T, points []otlptest.Point, name string, attrs ...any) float64 {
	t.Helper()
	for _, p := range points {
		ok := p.Name == name
		for i := 0; i+1 < len(attrs); i += 2 {
			ok = ok && fmt.Sprint(p.Attrs[attrs[i].(string)]) == fmt.Sprint(attrs[i+1])
		}
		if ok {
			return number(p.Value)
		}
	}
	t.Errorf("no point of %s with %v", name, attrs)
	return math.NaN()
}
