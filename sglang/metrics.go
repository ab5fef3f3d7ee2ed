package sglang

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"go.opentelemetry.io/otel/metric"

	"github.com/infertel/infertel-go/semconv"
)

// SchedulerStats is one statistics report of a scheduler, the line that the
// engine logs every so many batches. Source: sglang.metrics.
//
// All but the last two are reported every time. They are snapshots, yet the
// engine reports them as counters: each report adds its value once, and 1 to
// sglang_log_count. The cumulative value means nothing. On a dashboard take the
// average over a period, the growth of the sum by the growth of the count:
//
//	rate(sglang_num_running_reqs[5m]) / rate(sglang_log_count[5m])
//
// with the names that your backend gives them. The two optional fields grow by
// fewer reports than sglang_log_count counts; their average is right where
// every report has them.
type SchedulerStats struct {
	// RunningReqs is the number of running requests: sglang_num_running_reqs,
	// {request}.
	RunningReqs int
	// QueueReqs is the number of requests in the queue: sglang_num_queue_reqs,
	// {request}.
	QueueReqs int
	// UsedTokens is the number of tokens held in the KV cache:
	// sglang_num_used_tokens, {token}.
	UsedTokens int
	// TokenUsage is the share of the KV cache in use, 1 being all of it:
	// sglang_token_usage, 1.
	TokenUsage float64
	// GenThroughput is the number of tokens generated per second:
	// sglang_gen_throughput, {token}/s.
	GenThroughput float64
	// CacheHitRate is the share of input tokens found in the cache, 1 being all of
	// them: gen_ai_sglang_cache_hit_rate, 1. Nil: the engine does not provide it.
	CacheHitRate *float64
	// SpecAcceptLength is the number of tokens accepted per verification of
	// speculative decoding: sglang_spec_accept_length, {token}. Nil: there is none.
	SpecAcceptLength *float64
}

// check returns what is wrong with the report, each field by its name.
func (s *SchedulerStats) check() error {
	var errs []error
	count := func(field string, v int) {
		if v < 0 {
			errs = append(errs, fmt.Errorf("sglang: SchedulerStats.%s is %d, want 0 or more", field, v))
		}
	}
	number := func(field string, v float64) {
		if !(v >= 0) || math.IsInf(v, 0) { // also refuses NaN
			errs = append(errs, fmt.Errorf("sglang: SchedulerStats.%s is %v, want a finite number of 0 or more", field, v))
		}
	}
	count("RunningReqs", s.RunningReqs)
	count("QueueReqs", s.QueueReqs)
	count("UsedTokens", s.UsedTokens)
	number("TokenUsage", s.TokenUsage)
	number("GenThroughput", s.GenThroughput)
	if s.CacheHitRate != nil {
		number("CacheHitRate", *s.CacheHitRate)
	}
	if s.SpecAcceptLength != nil {
		number("SpecAcceptLength", *s.SpecAcceptLength)
	}
	return errors.Join(errs...)
}

// RecordScheduler adds one statistics report, under the dimensions callType,
// callKind and rpcType. It returns an error, and adds nothing, if a field is
// negative, not a number or infinite. It allocates nothing and is safe for
// concurrent use.
func (e *Engine) RecordScheduler(ctx context.Context, s SchedulerStats) error {
	if e == nil {
		return nil
	}
	if err := s.check(); err != nil {
		return err
	}
	m := &e.metrics
	m.runningReqs.Add(ctx, int64(s.RunningReqs), m.dimensions...)
	m.queueReqs.Add(ctx, int64(s.QueueReqs), m.dimensions...)
	m.usedTokens.Add(ctx, int64(s.UsedTokens), m.dimensions...)
	m.tokenUsage.Add(ctx, s.TokenUsage, m.dimensions...)
	m.genThroughput.Add(ctx, s.GenThroughput, m.dimensions...)
	if s.CacheHitRate != nil {
		m.cacheHitRate.Add(ctx, *s.CacheHitRate, m.dimensions...)
	}
	if s.SpecAcceptLength != nil {
		m.specAcceptLength.Add(ctx, *s.SpecAcceptLength, m.dimensions...)
	}
	m.logCount.Add(ctx, 1, m.dimensions...)
	return nil
}

// metrics are the instruments of scheduler and frontend. The token metric
// genai_llm_usage_tokens is not among them: it has the dimensions of the API
// layer, which feeds it.
type metrics struct {
	// dimensions are the same for all, in the form in which instruments take them.
	dimensions []metric.AddOption

	runningReqs, queueReqs, usedTokens, logCount            metric.Int64Counter
	tokenUsage, genThroughput, cacheHitRate                 metric.Float64Counter
	specAcceptLength                                        metric.Float64Counter
	promptTokens, generationTokens, cachedTokens, requests  metric.Int64Counter
	firstToken, timePerToken, interTokenLatency, e2eSeconds metric.Float64Counter
}

func newMetrics(meter metric.Meter) (metrics, error) {
	m := metrics{dimensions: []metric.AddOption{metric.WithAttributeSet(semconv.SGLangEngineDimensions())}}
	var errs []error
	for _, c := range []struct {
		to   *metric.Int64Counter
		from semconv.Int64Counter
	}{
		{&m.runningReqs, semconv.MetricSGLangNumRunningReqs},
		{&m.queueReqs, semconv.MetricSGLangNumQueueReqs},
		{&m.usedTokens, semconv.MetricSGLangNumUsedTokens},
		{&m.logCount, semconv.MetricSGLangLogCount},
		{&m.promptTokens, semconv.MetricPromptTokensTotal},
		{&m.generationTokens, semconv.MetricGenerationTokensTotal},
		{&m.cachedTokens, semconv.MetricGenAISGLangCachedTokensTotal},
		{&m.requests, semconv.MetricNumRequestsTotal},
	} {
		var err error
		*c.to, err = c.from.New(meter)
		errs = append(errs, err)
	}
	for _, c := range []struct {
		to   *metric.Float64Counter
		from semconv.Float64Counter
	}{
		{&m.tokenUsage, semconv.MetricSGLangTokenUsage},
		{&m.genThroughput, semconv.MetricSGLangGenThroughput},
		{&m.cacheHitRate, semconv.MetricGenAISGLangCacheHitRate},
		{&m.specAcceptLength, semconv.MetricSGLangSpecAcceptLength},
		{&m.firstToken, semconv.MetricGenAIServerTimeToFirstToken},
		{&m.timePerToken, semconv.MetricGenAIServerTimePerOutputToken},
		{&m.interTokenLatency, semconv.MetricSGLangInterTokenLatencySeconds},
		{&m.e2eSeconds, semconv.MetricGenAIServerRequestDuration},
	} {
		var err error
		*c.to, err = c.from.New(meter)
		errs = append(errs, err)
	}
	return m, errors.Join(errs...)
}

// wantMilestones reports whether a metric comes of the milestones of a request.
// The others come of its end.
func (m *metrics) wantMilestones(ctx context.Context) bool {
	return m.firstToken.Enabled(ctx) || m.interTokenLatency.Enabled(ctx)
}

// addRequest counts a request that has ended, with what is known of it. A
// duration of less than 0 is not known.
func (m *metrics) addRequest(ctx context.Context, n counts, embedding bool, e2e time.Duration) {
	m.requests.Add(ctx, 1, m.dimensions...)
	if n.prompt >= 0 {
		m.promptTokens.Add(ctx, int64(n.prompt), m.dimensions...)
	}
	if n.cached >= 0 {
		m.cachedTokens.Add(ctx, int64(n.cached), m.dimensions...)
	}
	if !embedding && n.completion >= 0 {
		m.generationTokens.Add(ctx, int64(n.completion), m.dimensions...)
	}
	if e2e < 0 {
		return
	}
	m.e2eSeconds.Add(ctx, e2e.Seconds(), m.dimensions...)
	if !embedding && n.completion > 0 {
		m.timePerToken.Add(ctx, e2e.Seconds()/float64(n.completion), m.dimensions...)
	}
}
