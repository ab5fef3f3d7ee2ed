package sglang_test

import (
	"errors"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/infertel/infertel-go/semconv"
	"github.com/infertel/infertel-go/sglang"
)

// Each report adds its snapshot once, and 1 to the count of reports.
func TestSchedulerReports(t *testing.T) {
	l := newLab(t, sglang.EngineConfig{})
	if got := l.points(); len(got) != 0 {
		t.Errorf("before any report: %v", got)
	}
	report := func(s sglang.SchedulerStats) {
		t.Helper()
		if err := l.RecordScheduler(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	report(sglang.SchedulerStats{RunningReqs: 1, UsedTokens: 3007, TokenUsage: 0.5, GenThroughput: 120.5})
	want := map[string]float64{
		"sglang_num_running_reqs": 1, "sglang_num_queue_reqs": 0, "sglang_num_used_tokens": 3007,
		"sglang_token_usage": 0.5, "sglang_gen_throughput": 120.5, "sglang_log_count": 1,
	}
	if got := l.points(); !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	report(sglang.SchedulerStats{RunningReqs: 3, QueueReqs: 2, UsedTokens: 1, TokenUsage: 0.25, GenThroughput: 0.5, CacheHitRate: new(0.25), SpecAcceptLength: new(3.0)})
	report(sglang.SchedulerStats{CacheHitRate: new(0.0)})
	want = map[string]float64{
		"sglang_num_running_reqs": 4, "sglang_num_queue_reqs": 2, "sglang_num_used_tokens": 3008,
		"sglang_token_usage": 0.75, "sglang_gen_throughput": 121, "sglang_log_count": 3,
		"gen_ai_sglang_cache_hit_rate": 0.25, "sglang_spec_accept_length": 3,
	}
	if got := l.points(); !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestSchedulerReportsThatCannotBe(t *testing.T) {
	l := newLab(t, sglang.EngineConfig{})
	for want, s := range map[string]sglang.SchedulerStats{
		"sglang: SchedulerStats.RunningReqs is -1, want 0 or more":                              {RunningReqs: -1},
		"sglang: SchedulerStats.QueueReqs is -2, want 0 or more":                                {QueueReqs: -2},
		"sglang: SchedulerStats.UsedTokens is -3, want 0 or more":                               {UsedTokens: -3},
		"sglang: SchedulerStats.TokenUsage is NaN, want a finite number of 0 or more":           {TokenUsage: math.NaN()},
		"sglang: SchedulerStats.TokenUsage is -0.5, want a finite number of 0 or more":          {TokenUsage: -0.5},
		"sglang: SchedulerStats.GenThroughput is +Inf, want a finite number of 0 or more":       {GenThroughput: math.Inf(1)},
		"sglang: SchedulerStats.CacheHitRate is NaN, want a finite number of 0 or more":         {CacheHitRate: new(math.NaN())},
		"sglang: SchedulerStats.SpecAcceptLength is -1, want a finite number of 0 or more":      {SpecAcceptLength: new(-1.0)},
		"RunningReqs is -1, want 0 or more\nsglang: SchedulerStats.QueueReqs is -1, want 0 or ": {RunningReqs: -1, QueueReqs: -1},
	} {
		if err := l.RecordScheduler(t.Context(), s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if got := l.points(); len(got) != 0 {
		t.Errorf("something was added: %v", got)
	}
}

func TestRequestMetrics(t *testing.T) {
	l := newLab(t, sglang.EngineConfig{}, sglang.WithTraceLevel(sglang.LevelOff)) // no spans, but the metrics
	r := l.StartRequest(t.Context(), sglang.Request{RID: "r"}, t0)
	r.Dispatched(ms(4))
	r.FirstToken(ms(40))
	r.Output(ms(50))
	r.Output(ms(49)) // backward, left out
	r.Output(ms(70))
	r.End(sglang.Outcome{PromptTokens: new(3000), CompletionTokens: new(7), CachedTokens: new(16)}, ms(77))
	e := l.StartRequest(t.Context(), sglang.Request{RID: "e", Embedding: true}, t0)
	e.End(sglang.Outcome{PromptTokens: new(5), CompletionTokens: new(9), CachedTokens: new(0)}, ms(3))
	// The first output is the first token where that was not told.
	o := l.StartRequest(t.Context(), sglang.Request{RID: "o"}, t0)
	o.Output(ms(10))
	o.FirstToken(ms(11))
	o.Output(ms(12))
	o.End(sglang.Outcome{PromptTokens: new(1), CompletionTokens: new(0), CachedTokens: new(0)}, ms(20))
	got := l.points()
	want := map[string]float64{
		"num_requests_total": 3, "prompt_tokens_total": 3006, "generation_tokens_total": 7, "gen_ai_sglang_cached_tokens_total": 16,
		"gen_ai_server_time_to_first_token": 0.050, "sglang_inter_token_latency_seconds": 0.032,
		"gen_ai_server_request_duration": 0.1, "gen_ai_server_time_per_output_token": 0.011,
	}
	for name, v := range want {
		if math.Abs(got[name]-v) > 1e-12 {
			t.Errorf("%s is %v, want %v", name, got[name], v)
		}
	}
	// The token metric is the API layer's: fed here too, each token would count twice.
	if len(got) != len(want) {
		t.Errorf("metrics %v, want those of %v", got, want)
	}
	if n := len(l.spans.GetSpans()); n != 0 {
		t.Errorf("%d spans", n)
	}
	l.reported(" was told 1ms before what came before it")
}

// Names, units, types and value types are those of the registry; no documented
// metric is missing.
// A view that drops one metric takes nothing else with it, also where no span is
// recorded.
func TestViewThatDropsAMetric(t *testing.T) {
	names := []string{
		"num_requests_total", "prompt_tokens_total", "generation_tokens_total", "gen_ai_sglang_cached_tokens_total", "gen_ai_server_time_to_first_token",
		"gen_ai_server_time_per_output_token", "sglang_inter_token_latency_seconds", "gen_ai_server_request_duration",
	}
	for i := range names {
		for _, kept := range [][]string{{names[i]}, slices.Delete(slices.Clone(names), i, i+1)} {
			drop := func(i sdkmetric.Instrument) (sdkmetric.Stream, bool) {
				return sdkmetric.Stream{Aggregation: sdkmetric.AggregationDrop{}}, !slices.Contains(kept, i.Name)
			}
			reader := sdkmetric.NewManualReader()
			l := newLab(t, sglang.EngineConfig{}, sglang.WithTraceLevel(sglang.LevelOff),
				sglang.WithMeterProvider(sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader), sdkmetric.WithView(drop))))
			r := l.StartRequest(t.Context(), sglang.Request{RID: "r"}, t0)
			r.FirstToken(ms(1))
			r.Output(ms(2))
			r.End(sglang.Outcome{PromptTokens: new(1), CompletionTokens: new(2), CachedTokens: new(1)}, ms(3))
			got := slices.Sorted(maps.Keys(sumsOf(reader)))
			slices.Sort(kept)
			if !slices.Equal(got, kept) {
				t.Errorf("metrics %v, want %v", got, kept)
			}
		}
	}
}

func TestMetricsAreTheDocumentedOnes(t *testing.T) {
	l := newLab(t, sglang.EngineConfig{})
	_ = l.RecordScheduler(t.Context(), sglang.SchedulerStats{CacheHitRate: new(0.1), SpecAcceptLength: new(1.0)})
	r := l.StartRequest(t.Context(), sglang.Request{}, t0)
	r.FirstToken(ms(1))
	r.Output(ms(2))
	r.End(sglang.Outcome{CompletionTokens: new(1), PromptTokens: new(0), CachedTokens: new(0)}, ms(3))
	var rm metricdata.ResourceMetrics
	if err := l.reader.Collect(t.Context(), &rm); err != nil {
		t.Fatal(err)
	}
	got := map[string]metricdata.Metrics{}
	for _, sm := range rm.ScopeMetrics {
		if sm.Scope.Name != sglang.ScopeName || sm.Scope.Version != sglang.Version {
			t.Errorf("scope %v", sm.Scope)
		}
		for _, m := range sm.Metrics {
			got[m.Name] = m
		}
	}
	n := 0
	for _, d := range semconv.Metrics() {
		for _, reporter := range d.Reporters {
			if reporter.Source != semconv.SourceSGLangMetrics {
				continue
			}
			n++
			m := got[d.Name]
			_, isInt := m.Data.(metricdata.Sum[int64])
			_, isDouble := m.Data.(metricdata.Sum[float64])
			if m.Unit != d.Unit || isInt != (d.Value == semconv.TypeInt) || isDouble != (d.Value == semconv.TypeDouble) {
				t.Errorf("%s is a %T in %q, want %v in %q", d.Name, m.Data, m.Unit, d.Value, d.Unit)
			}
		}
	}
	if n != 16 || len(got) != n {
		t.Errorf("%d metrics, %d documented, want 16", len(got), n)
	}
}

var errRefused = errors.New("refused")

type failing struct{ noop.MeterProvider }

func (failing) Meter(string, ...metric.MeterOption) metric.Meter { return failingMeter{} }

type failingMeter struct{ noop.Meter }

func (failingMeter) Int64Counter(name string, _ ...metric.Int64CounterOption) (metric.Int64Counter, error) {
	return nil, errRefused
}

func (failingMeter) Float64Counter(name string, _ ...metric.Float64CounterOption) (metric.Float64Counter, error) {
	return nil, errRefused
}

func TestInstrumentIsRefused(t *testing.T) {
	if tr, err := sglang.NewEngine(sglang.EngineConfig{}, sglang.WithMeterProvider(failing{})); tr != nil || err == nil || !strings.Contains(err.Error(), errRefused.Error()) {
		t.Errorf("got %v, %v", tr, err)
	}
}
