package sglang_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/infertel/infertel-go/internal/sdktest"
	"github.com/infertel/infertel-go/sglang"
)

var t0 = time.Unix(1_700_000_000, 0).UTC()

// ms is the time so many milliseconds after t0.
func ms(n float64) time.Time { return t0.Add(time.Duration(n * float64(time.Millisecond))) }

func after(t time.Time) string {
	return strconv.FormatFloat(float64(t.Sub(t0))/float64(time.Millisecond), 'f', -1, 64)
}

// lab holds an Engine and what it emits, and what was reported as an error.
type lab struct {
	*sglang.Engine
	t        testing.TB
	spans    *tracetest.InMemoryExporter
	provider *sdktrace.TracerProvider
	reader   *sdkmetric.ManualReader
	errors   *sdktest.Errors
	started  atomic.Int64 // spans
}

// OnStart and the methods after it make the lab a span processor that counts.
func (l *lab) OnStart(context.Context, sdktrace.ReadWriteSpan) { l.started.Add(1) }
func (l *lab) OnEnd(sdktrace.ReadOnlySpan)                     {}
func (l *lab) Shutdown(context.Context) error                  { return nil }
func (l *lab) ForceFlush(context.Context) error                { return nil }

// counted is the outcome of a normal end of which nothing else is to be said.
var counted = sglang.Outcome{PromptTokens: new(0), CompletionTokens: new(0), CachedTokens: new(0)}

func newLab(t testing.TB, c sglang.EngineConfig, opts ...sglang.Option) *lab {
	t.Helper()
	if c.Model == "" {
		c.Model = "m"
	}
	l := &lab{t: t, spans: tracetest.NewInMemoryExporter(), reader: sdkmetric.NewManualReader(), errors: sdktest.HandleErrors(t)}
	l.provider = sdktrace.NewTracerProvider(sdktrace.WithSyncer(l.spans), sdktrace.WithSpanProcessor(l))
	var err error
	l.Engine, err = sglang.NewEngine(c, append([]sglang.Option{
		sglang.WithTracerProvider(l.provider),
		sglang.WithMeterProvider(sdkmetric.NewMeterProvider(sdkmetric.WithReader(l.reader))),
		sglang.WithHostID("9f86d081884c7d65"),
	}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// request starts a request and a scheduler thread at 0 ms.
func (l *lab) request() (*sglang.RequestSpan, *sglang.ThreadSpan) {
	r := l.StartRequest(l.t.Context(), sglang.Request{RID: "5f2c9a7be1d34c0f"}, t0)
	return r, r.StartThread(sglang.Thread{Label: sglang.ThreadScheduler, PID: 5001}, t0)
}

// finish ends what request started, at 100 ms.
func finish(r *sglang.RequestSpan, th *sglang.ThreadSpan) {
	th.End(ms(100))
	r.Dispatched(ms(1))
	r.FirstToken(ms(2))
	r.End(counted, ms(100))
}

// points returns the sums of the metrics, and fails the test where one does not
// have exactly the documented dimensions.
func (l *lab) points() map[string]float64 {
	l.t.Helper()
	want := attribute.NewSet(attribute.String("callType", "gen_ai"), attribute.String("callKind", "custom_entry"), attribute.Int("rpcType", 2100))
	return sums(l.reader, func(name string, set attribute.Set, monotonic bool) {
		if !set.Equals(&want) || !monotonic {
			l.t.Errorf("%s has the dimensions %v, monotonic %v", name, set.Encoded(attribute.DefaultEncoder()), monotonic)
		}
	})
}

func sumsOf(r *sdkmetric.ManualReader) map[string]float64 {
	return sums(r, func(string, attribute.Set, bool) {})
}

func sums(r *sdkmetric.ManualReader, check func(name string, set attribute.Set, monotonic bool)) map[string]float64 {
	var rm metricdata.ResourceMetrics
	if err := r.Collect(context.Background(), &rm); err != nil {
		panic(err)
	}
	out := map[string]float64{}
	for _, sm := range rm.ScopeMetrics {
		for _, m := range sm.Metrics {
			switch d := m.Data.(type) {
			case metricdata.Sum[int64]:
				for _, p := range d.DataPoints {
					check(m.Name, p.Attributes, d.IsMonotonic)
					out[m.Name] += float64(p.Value)
				}
			case metricdata.Sum[float64]:
				for _, p := range d.DataPoints {
					check(m.Name, p.Attributes, d.IsMonotonic)
					out[m.Name] += p.Value
				}
			default:
				panic(fmt.Sprintf("%s is a %T, want a sum", m.Name, d))
			}
		}
	}
	return out
}

// reported fails the test unless exactly the given pieces of text were reported,
// each by one error.
func (l *lab) reported(want ...string) {
	l.t.Helper()
	got := l.errors.Take()
	for _, w := range want {
		i := slices.IndexFunc(got, func(err error) bool { return strings.Contains(err.Error(), w) })
		if i < 0 {
			l.t.Errorf("%q was not reported, but %q", w, got)
			continue
		}
		if !strings.HasPrefix(got[i].Error(), "sglang: ") {
			l.t.Errorf("the report %q does not say where it comes from", got[i])
		}
		got = slices.Delete(got, i, i+1)
	}
	for _, err := range got {
		l.t.Errorf("reported: %v", err)
	}
}

// tree fails the test unless the spans make the given tree. See show.
func (l *lab) tree(want string) {
	l.t.Helper()
	got := show(l.spans.GetSpans())
	if want = strings.Trim(strings.ReplaceAll(want, "\n\t", "\n"), "\n\t"); got != want {
		l.t.Errorf("the tree is\n%s\nwant\n%s", got, want)
	}
	l.spans.Reset()
}

// show draws spans as a tree, a line each: name, start and end in milliseconds,
// the attributes of stages, events with their times, the names of linked spans
// and the status unless it is UNSET.
func show(spans tracetest.SpanStubs) string {
	slices.SortStableFunc(spans, func(a, b tracetest.SpanStub) int {
		return cmp.Or(a.StartTime.Compare(b.StartTime), b.EndTime.Compare(a.EndTime))
	})
	names := map[trace.SpanID]string{}
	for _, s := range spans {
		names[s.SpanContext.SpanID()] = s.Name
	}
	var b strings.Builder
	var draw func(parent trace.SpanID, depth int)
	draw = func(parent trace.SpanID, depth int) {
		for _, s := range spans {
			up := s.Parent.SpanID()
			if names[up] == "" {
				up = trace.SpanID{}
			}
			if up == parent {
				fmt.Fprintf(&b, "%s%s\n", strings.Repeat("  ", depth), line(s, names))
				draw(s.SpanContext.SpanID(), depth+1)
			}
		}
	}
	draw(trace.SpanID{}, 0)
	return strings.TrimSuffix(b.String(), "\n")
}

func line(s tracetest.SpanStub, names map[trace.SpanID]string) string {
	out := fmt.Sprintf("%s %s-%s", s.Name, after(s.StartTime), after(s.EndTime))
	if _, err := sglang.ParseStage(s.Name); err == nil {
		out += attributes(s.Attributes)
	}
	for _, e := range s.Events {
		out += fmt.Sprintf(" @%s %s%s", after(e.Time), e.Name, attributes(e.Attributes))
	}
	for _, l := range s.Links {
		out += " <- " + cmp.Or(names[l.SpanContext.SpanID()], l.SpanContext.SpanID().String())
	}
	if s.Status.Code != 0 {
		out += " " + s.Status.Code.String()
	}
	return out
}

func attributes(kvs []attribute.KeyValue) string {
	if len(kvs) == 0 {
		return ""
	}
	var parts []string
	for _, kv := range kvs {
		parts = append(parts, fmt.Sprintf("%s=%v", kv.Key, kv.Value.String()))
	}
	slices.Sort(parts)
	return "{" + strings.Join(parts, " ") + "}"
}
