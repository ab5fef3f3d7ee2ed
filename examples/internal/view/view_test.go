package view

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	logspb "go.opentelemetry.io/proto/otlp/logs/v1"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/infertel/infertel-go/internal/otlpreceiver"
)

func text(v string) *commonpb.AnyValue {
	return &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: v}}
}

func attribute(k, v string) *commonpb.KeyValue {
	return &commonpb.KeyValue{Key: k, Value: text(v)}
}

var scope = otlpreceiver.Origin{Scope: &commonpb.InstrumentationScope{Name: "example.com/lib/engine"}}

// span makes a span of the trace "t" that lies between two milliseconds.
func span(id, parent, name string, from, to int, change ...func(*tracepb.Span)) otlpreceiver.Span {
	s := &tracepb.Span{TraceId: []byte("t"), SpanId: []byte(id), Name: name, StartTimeUnixNano: uint64(1e18) + uint64(from)*1e6, EndTimeUnixNano: uint64(1e18) + uint64(to)*1e6}
	if parent != "" {
		s.ParentSpanId = []byte(parent)
	}
	for _, c := range change {
		c(s)
	}
	return otlpreceiver.Span{Origin: scope, Span: s}
}

func sample() *Data {
	event := func(name string, at int) func(*tracepb.Span) {
		return func(s *tracepb.Span) {
			s.Events = append(s.Events, &tracepb.Span_Event{Name: name, TimeUnixNano: uint64(1e18) + uint64(at)*1e6, Attributes: []*commonpb.KeyValue{attribute("bid", "b1")}})
		}
	}
	link := func(to string) func(*tracepb.Span) {
		return func(s *tracepb.Span) {
			s.Links = append(s.Links, &tracepb.Span_Link{TraceId: []byte("t"), SpanId: []byte(to)})
		}
	}
	failed := func(s *tracepb.Span) {
		s.Status = &tracepb.Status{Code: tracepb.Status_STATUS_CODE_ERROR, Message: "Client disconnected"}
	}
	with := func(k, v string) func(*tracepb.Span) {
		return func(s *tracepb.Span) { s.Attributes = append(s.Attributes, attribute(k, v)) }
	}
	d := &Data{}
	d.Add([]otlpreceiver.Span{ // children first, as they arrive
		span("e", "c", "prefill_forward", 20, 60, link("d"), event("schedule", 20)),
		span("d", "c", "prefill_waiting", 10, 20, link("b")),
		span("b", "a", "tokenize", 0, 5),
		span("c", "a", "Scheduler [TP 0] [PP 1] [DP 2] (host:9f86d081 | pid:5001)", 10, 100, failed),
		span("f", "c", "decode_forward", 60, 100, link("e"), event("schedule", 70), event("schedule", 90), event("retract", 95)),
		span("a", "", "chat qwen3-8b", 0, 100, with("gen_ai.request.id", "r-1")),
	}, nil, nil)
	number := func(v float64, dimensions ...*commonpb.KeyValue) *metricspb.NumberDataPoint {
		return &metricspb.NumberDataPoint{Attributes: append(dimensions, attribute("callType", "gen_ai")), Value: &metricspb.NumberDataPoint_AsDouble{AsDouble: v}}
	}
	for i := range 4 {
		d.Add(nil, []otlpreceiver.Metric{
			{Origin: scope, Metric: &metricspb.Metric{Name: "tokens", Unit: "{token}", Data: &metricspb.Metric_Sum{Sum: &metricspb.Sum{IsMonotonic: true, DataPoints: []*metricspb.NumberDataPoint{
				number(float64(i), attribute("model", "a")), number(2.5, attribute("model", "b")),
			}}}}},
			{Origin: scope, Metric: &metricspb.Metric{Name: "usage", Unit: "1", Data: &metricspb.Metric_Gauge{Gauge: &metricspb.Gauge{DataPoints: []*metricspb.NumberDataPoint{number(0.25)}}}}},
		}, nil)
	}
	d.Add(nil, nil, []otlpreceiver.Log{{Origin: scope, LogRecord: &logspb.LogRecord{EventName: "details", TraceId: []byte("t"), SpanId: []byte("a"), Attributes: []*commonpb.KeyValue{attribute("gen_ai.input.messages", strings.Repeat("long ", 40))}}}})
	return d
}

func printed(d *Data, verbose bool) string {
	var b bytes.Buffer
	p := NewPrinter(&b, verbose)
	p.Traces(d)
	p.Metrics(d)
	p.LogEvents(d)
	return b.String()
}

const samplePrinted = `trace 74  6 spans, 100 ms
chat qwen3-8b                                    100 ms ━━━━━━━━━━━━━━━━━━━━━━━━
├ tokenize                                      5.00 ms ━
└ Scheduler [TP 0] [PP 1] [DP 2…81 | pid:5001)  90.0 ms   ━━━━━━━━━━━━━━━━━━━━━━
  │ ERROR Client disconnected
  ├ prefill_waiting                             10.0 ms   ━━
  │     ← tokenize of chat qwen3-8b
  ├ prefill_forward ← • schedule                40.0 ms     •━━━━━━━━━
  └ decode_forward ← • schedule ×2 • retract    40.0 ms               ━━•━━━━••━

metrics of engine
  all with callType=gen_ai
  tokens  counter  {token}
           3  ▁▃▅█      model=a
         2.5  ▁▁▁▁      model=b
  usage  gauge  1
        0.25  ▁▁▁▁

log event details
  trace 74
  gen_ai.input.messages="long long long long long long long long long long long…

`

func TestPrinted(t *testing.T) {
	t.Setenv("COLUMNS", "")
	got := printed(sample(), false)
	if got != samplePrinted {
		t.Errorf("got:\n%s\nwant:\n%s", got, samplePrinted)
	}
	for _, line := range strings.Split(got, "\n") {
		if n := utf8.RuneCountInString(line); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	if strings.Contains(got, "\x1b") {
		t.Error("there are colors where there is no terminal")
	}
}

func TestVerbose(t *testing.T) {
	got := printed(sample(), true)
	for _, want := range []string{"gen_ai.request.id=r-1", "• schedule at 10.0 ms bid=b1", "← prefill_forward", strings.Repeat("long ", 39)} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not printed", want)
		}
	}
}

func TestWidth(t *testing.T) {
	for columns, want := range map[string]int{"": 80, "nonsense": 80, "100": 100, "10": 60, "4000": 160} {
		t.Setenv("COLUMNS", columns)
		longest := 0
		for _, line := range strings.Split(printed(sample(), false), "\n") {
			longest = max(longest, utf8.RuneCountInString(line))
		}
		if longest != want {
			t.Errorf("COLUMNS=%s: the longest line has %d columns, want %d", columns, longest, want)
		}
	}
}

// What arrives cannot act on the terminal, nor on the page.
func TestHostileText(t *testing.T) {
	d := &Data{}
	evil := "<script>alert(1)</script>\x1b[2J\n\"'&}</style>"
	d.Add([]otlpreceiver.Span{span("a", "", evil, 0, 1, func(s *tracepb.Span) {
		s.Attributes = append(s.Attributes, attribute(evil, evil))
		s.Events = append(s.Events, &tracepb.Span_Event{Name: evil, TimeUnixNano: s.StartTimeUnixNano})
		s.Status = &tracepb.Status{Code: tracepb.Status_STATUS_CODE_ERROR, Message: evil}
	})}, []otlpreceiver.Metric{{Origin: scope, Metric: &metricspb.Metric{Name: evil, Unit: evil, Data: &metricspb.Metric_Gauge{Gauge: &metricspb.Gauge{DataPoints: []*metricspb.NumberDataPoint{{Attributes: []*commonpb.KeyValue{attribute(evil, evil)}}}}}}}},
		[]otlpreceiver.Log{{Origin: scope, LogRecord: &logspb.LogRecord{EventName: evil, Attributes: []*commonpb.KeyValue{attribute(evil, evil)}}}})
	for _, verbose := range []bool{false, true} {
		if got := printed(d, verbose); strings.Contains(got, "\x1b") || strings.Count(got, "\n") > 30 {
			t.Errorf("control characters are printed: %q", got)
		}
	}
	var b bytes.Buffer
	if err := WriteHTML(&b, evil, d); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), "<script>alert") || strings.Contains(b.String(), "'&}</style>") {
		t.Error("text is written as HTML")
	}
}

func TestHTML(t *testing.T) {
	name := filepath.Join(t.TempDir(), "page.html")
	if err := WriteHTMLFile(name, "reference", sample()); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	page := string(raw)
	if n := strings.Count(page, `class="bar"`); n != 6 {
		t.Errorf("%d bars, want one for each of 6 spans", n)
	}
	for what, want := range map[string]string{
		"a span to scale":    `<i class="bar" style="left:20%;width:40%">`,
		"an event to scale":  `<i class="ev" style="left:95%" title="retract at 35.0 ms">`,
		"a link to scale":    `<i class="ln" style="left:5%;width:5%" title="after tokenize of chat qwen3-8b">`,
		"a way to the other": `<a href="#s-65">prefill_forward</a>`,
		"an attribute":       `<th>gen_ai.request.id</th><td>r-1</td>`,
		"an error":           `ERROR Client disconnected`,
		"a course":           `<polyline points="0.00,26.00 33.33,18.00 66.67,10.00 100.00,2.00"/>`,
		"a dimension":        `<span class="dim">model=b</span>`,
		"a common dimension": `all with <span class="dim">callType=gen_ai</span>`,
		"a log event":        `<strong>details</strong> <a href="#s-61">`,
		"a summary":          "6 spans in 1 trace, 3 series of metrics, 1 log event",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("%s is not on the page: %s", what, want)
		}
	}
	if found := regexp.MustCompile(`(src|href)="[^#d][^"]*"|@import|url\(|https?:`).FindString(page); found != "" {
		t.Errorf("the page needs something from elsewhere: %s", found)
	}
	if strings.Contains(page, "ZgotmplZ") {
		t.Error("the template refused a value")
	}
	if err := WriteHTMLFile(filepath.Join(name, "no", "folder"), "x", sample()); err == nil {
		t.Error("a page was written nowhere")
	}
}

// Of a long run only so much is kept, the rest is counted.
func TestBounded(t *testing.T) {
	d := &Data{}
	const traces = 3 * maxTraces
	for i := range traces {
		s := span("a", "", "chat", 0, 1)
		s.TraceId = []byte(fmt.Sprint("t", i))
		d.Add([]otlpreceiver.Span{s}, nil, []otlpreceiver.Log{{LogRecord: &logspb.LogRecord{}}})
	}
	if d.Spans != traces || d.Traces != traces || d.Logs != traces {
		t.Errorf("%d spans, %d traces and %d log events were counted, want %d", d.Spans, d.Traces, d.Logs, traces)
	}
	if len(d.traces) != maxTraces || len(d.logs) != maxLogs {
		t.Errorf("%d traces and %d log events are kept, want %d and %d", len(d.traces), len(d.logs), maxTraces, maxLogs)
	}
	if got := printed(d, false); !strings.Contains(got, "and 400 more traces") || !strings.Contains(got, "and 500 more log events") {
		t.Error("it does not say how many more there were")
	}
	s := &series{stride: 1}
	for i := range 10_000 {
		s.add(float64(i))
	}
	course := s.course()
	if len(course) > maxPoints+1 || course[len(course)-1] != 9999 {
		t.Errorf("%d points are kept, the last is %v", len(course), course[len(course)-1])
	}
	for i := 1; i < len(course); i++ {
		if course[i] <= course[i-1] {
			t.Errorf("the course goes back from %v to %v", course[i-1], course[i])
		}
	}
}

// A span whose parent did not arrive stands at the top.
func TestOrphan(t *testing.T) {
	d := &Data{}
	d.Add([]otlpreceiver.Span{span("b", "gone", "child", 0, 1), span("c", "b", "grandchild", 0, 1), span("s", "s", "its own parent", 0, 1)}, nil, nil)
	got := printed(d, false)
	if !strings.Contains(got, "\nchild ") || !strings.Contains(got, "\n└ grandchild") || !strings.Contains(got, "\nits own parent") {
		t.Errorf("got:\n%s", got)
	}
}

func TestDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0", 7: "7 ns", 1500: "1.50 µs", 999_499: "999 µs", 999_500: "1.00 ms", 48_200_000: "48.2 ms", 999_600_000: "1.00 s",
		9_995_000: "10.0 ms", 2 * time.Second: "2.00 s", 99 * time.Second: "99.0 s", 100 * time.Second: "1m40s", -1500: "-1.50 µs",
	} {
		if got := Duration(d); got != want {
			t.Errorf("%d ns: %q, want %q", d, got, want)
		}
	}
}

// Whole numbers are nanoseconds, others are seconds.
func TestLatency(t *testing.T) {
	got := strings.Join(detailed(map[string]any{"gen_ai.latency.e2e": int64(13_730_387), "gen_ai.latency.time_in_queue": 0.25, "gen_ai.usage.n": int64(7)}), "; ")
	if want := "gen_ai.latency.e2e=13730387 (13.7 ms); gen_ai.latency.time_in_queue=0.25 (250 ms); gen_ai.usage.n=7"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestCut(t *testing.T) {
	for _, c := range []struct {
		s       string
		columns int
		want    string
	}{{"short", 10, "short"}, {"abcdefghij", 7, "abcd…ij"}, {"äöüäöü", 4, "äö…ü"}, {"abc", 2, "ab"}, {"abc", -1, ""}} {
		if got := cut(c.s, c.columns); got != c.want {
			t.Errorf("cut(%q, %d) is %q, want %q", c.s, c.columns, got, c.want)
		}
	}
}
