package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/infertel/infertel-go/e2e/internal/bed"
	"github.com/infertel/infertel-go/internal/otlpreceiver/otlptest"
)

// exported is telemetry without ids and points in time, so that what two runs
// sent can be compared: spans and log events with how often there are such ones,
// and series of metrics with their last value.
type exported struct {
	spans, logs map[string]int
	series      map[string]float64

	outline bool // keys of attributes only, for runs by a real clock
}

// ofFiles reads what the Collector wrote.
func (x exported) ofFiles(t *testing.T, c *bed.Collector) exported {
	t.Helper()
	x.clear()
	for _, name := range []string{c.Traces, c.Metrics, c.Logs} {
		eachLine(t, name, func(line []byte) { x.add(t, line) })
	}
	return x
}

// ofReceiver takes what a receiver in the test was sent.
func (x exported) ofReceiver(t *testing.T, r *otlptest.Receiver) exported {
	t.Helper()
	x.clear()
	var all []proto.Message
	for _, m := range r.TraceRequests() {
		all = append(all, m)
	}
	for _, m := range r.MetricRequests() {
		all = append(all, m)
	}
	for _, m := range r.LogRequests() {
		all = append(all, m)
	}
	for _, m := range all {
		b, err := (protojson.MarshalOptions{UseEnumNumbers: true}).Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		x.add(t, b)
	}
	return x
}

func (x *exported) clear() {
	x.spans, x.logs, x.series = map[string]int{}, map[string]int{}, map[string]float64{}
}

func (x exported) count() (spans int) {
	for _, n := range x.spans {
		spans += n
	}
	return spans
}

func eachLine(t *testing.T, file string, f func(line []byte)) {
	t.Helper()
	in, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 256<<20)
	for lines.Scan() {
		f(lines.Bytes())
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
}

// otlpJSON is what is compared of an export request.
type otlpJSON struct {
	ResourceSpans []struct {
		ScopeSpans []struct {
			Scope struct{ Name string }
			Spans []spanJSON
		}
	}
	ResourceMetrics []struct {
		ScopeMetrics []struct {
			Scope   struct{ Name string }
			Metrics []struct {
				Name, Unit string
				Sum        *struct {
					DataPoints             []pointJSON
					IsMonotonic            bool
					AggregationTemporality int
				}
				Gauge *struct{ DataPoints []pointJSON }
			}
		}
	}
	ResourceLogs []struct {
		ScopeLogs []struct {
			Scope      struct{ Name string }
			LogRecords []struct {
				EventName      string
				SeverityNumber int
				Body           any
				Attributes     attributesJSON
			}
		}
	}
}

type spanJSON struct {
	Name                               string
	Kind                               int
	StartTimeUnixNano, EndTimeUnixNano uint64 `json:",string"`
	Attributes                         attributesJSON
	Events                             []eventJSON
	Links                              []struct{}
	Status                             struct {
		Message string
		Code    int
	}
	DroppedAttributesCount                int
	DroppedEventsCount, DroppedLinksCount int
}

type eventJSON struct {
	Name       string
	Attributes attributesJSON
}

type pointJSON struct {
	Attributes attributesJSON
	AsInt      *string
	AsDouble   *float64
}

type attributesJSON []struct {
	Key   string
	Value any
}

func (x exported) attributes(as attributesJSON) string {
	var all []string
	for _, a := range as {
		if x.outline {
			all = append(all, a.Key)
		} else {
			v, _ := json.Marshal(a.Value)
			all = append(all, a.Key+"="+string(v))
		}
	}
	slices.Sort(all)
	return "{" + strings.Join(all, " ") + "}"
}

// add takes in one export request.
func (x exported) add(t *testing.T, line []byte) {
	t.Helper()
	var request otlpJSON
	if err := json.Unmarshal(line, &request); err != nil {
		t.Fatal(err)
	}
	for _, rs := range request.ResourceSpans {
		for _, ss := range rs.ScopeSpans {
			for _, s := range ss.Spans {
				x.spans[x.span(ss.Scope.Name, s)]++
			}
		}
	}
	for _, rl := range request.ResourceLogs {
		for _, sl := range rl.ScopeLogs {
			for _, l := range sl.LogRecords {
				x.logs[fmt.Sprint(sl.Scope.Name, " ", l.EventName, " ", l.SeverityNumber, l.Body, x.attributes(l.Attributes))]++
			}
		}
	}
	for _, rm := range request.ResourceMetrics {
		for _, sm := range rm.ScopeMetrics {
			for _, m := range sm.Metrics {
				var points []pointJSON
				kind := "no sum or gauge"
				if m.Sum != nil {
					points, kind = m.Sum.DataPoints, fmt.Sprint("sum ", m.Sum.IsMonotonic, m.Sum.AggregationTemporality)
				} else if m.Gauge != nil {
					points, kind = m.Gauge.DataPoints, "gauge"
				}
				for _, p := range points {
					key := fmt.Sprint(m.Name, " ", m.Unit, " ", kind, " ", sm.Scope.Name, (exported{}).attributes(p.Attributes))
					x.series[key] = p.value(t)
				}
			}
		}
	}
}

func (p pointJSON) value(t *testing.T) float64 {
	t.Helper()
	if p.AsDouble != nil {
		return *p.AsDouble
	}
	v, err := strconv.ParseFloat(*p.AsInt, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func (x exported) span(scope string, s spanJSON) string {
	var b strings.Builder
	fmt.Fprint(&b, scope, " ", s.Name, " ", s.Kind, s.Status, x.attributes(s.Attributes), " ", len(s.Links), " links")
	if !x.outline {
		fmt.Fprint(&b, " of ", s.EndTimeUnixNano-s.StartTimeUnixNano, "ns")
	}
	for _, e := range s.Events {
		fmt.Fprint(&b, " @", e.Name, x.attributes(e.Attributes))
	}
	if n := s.DroppedAttributesCount + s.DroppedEventsCount + s.DroppedLinksCount; n > 0 {
		fmt.Fprint(&b, " and ", n, " dropped")
	}
	return b.String()
}

// same names what is in one only.
func (x exported) same(t *testing.T, want exported) {
	t.Helper()
	if len(want.spans) == 0 || len(want.series) == 0 {
		t.Error("there is nothing to compare")
	}
	differ(t, "spans", x.spans, want.spans)
	differ(t, "log events", x.logs, want.logs)
	if !x.outline {
		differ(t, "series", x.series, want.series)
	} else if len(x.series) != len(want.series) {
		t.Errorf("%d series, want %d", len(x.series), len(want.series))
	}
}

func differ[V comparable](t *testing.T, what string, got, want map[string]V) {
	t.Helper()
	for k, v := range want {
		if got[k] != v {
			t.Errorf("%s: got %v, want %v of %s", what, got[k], v, k)
		}
	}
	for k, v := range got {
		if _, ok := want[k]; !ok {
			t.Errorf("%s: got %v, want none of %s", what, v, k)
		}
	}
}
