package vllm

import (
	"context"
	"errors"
	"fmt"

	"go.opentelemetry.io/otel/metric"

	"github.com/infertel/infertel-go/internal/boundedtext"
	"github.com/infertel/infertel-go/semconv"
)

// EngineConfig says which V1 engine it is.
type EngineConfig struct {
	// Model is the name of the model that the engine serves
	// (gen_ai.request.model_name on spans, model_name on metrics). It must be set.
	Model string
	// Index is the index of the EngineCore instance (gen_ai.engine.index and
	// engine_index), 0 or more.
	Index int
	// PDRole is gen_ai.pd_role.
	PDRole PDRole
}

func (c *EngineConfig) check() error {
	var errs []error
	if c.Model == "" {
		errs = append(errs, errors.New("vllm: EngineConfig.Model is empty, want the name of the model"))
	}
	if c.Index < 0 {
		errs = append(errs, fmt.Errorf("vllm: EngineConfig.Index is %d, want 0 or more", c.Index))
	}
	if c.PDRole > PDRoleConsumer {
		errs = append(errs, fmt.Errorf("vllm: EngineConfig.PDRole is %d, want PDRoleNone, PDRoleProducer or PDRoleConsumer", c.PDRole))
	}
	return errors.Join(errs...)
}

// EngineV1 emits the telemetry of one vLLM V1 engine: one EngineCore instance
// that serves one model. Its methods are safe for concurrent use and do nothing
// on a nil *EngineV1. Make it with [NewEngineV1], and end it with
// [EngineV1.Close].
type EngineV1 struct {
	engine
	index int
	role  PDRole
	v1    countersV1
}

// NewEngineV1 returns an engine. It reads the environment variables
// [EnvGranularity] and OTEL_SPAN_EVENT_COUNT_LIMIT. The error names every value
// of config and opts that is out of range, or is that of an instrument which
// could not be made.
//
// Engines may share providers. Two with the same model and index feed the same
// counters; their gauges cannot be told apart, so use different indexes.
func NewEngineV1(config EngineConfig, opts ...OptionV1) (*EngineV1, error) {
	c, err := newConfig(opts)
	if err = errors.Join(config.check(), err); err != nil {
		return nil, err
	}
	e := &EngineV1{index: config.Index, role: config.PDRole}
	model := boundedtext.Cut(config.Model, boundedtext.MaxName)
	if err := e.init(&c, model, semconv.VLLMEngineV1Dimensions(config.Index, model)); err != nil {
		return nil, err
	}
	if err := e.v1.init(e.instruments(), c.schedulerCounters); err != nil {
		return nil, err
	}
	v := &e.v1
	e.ofRequests = append(e.ofRequests, v.queue, v.prefill, v.decode, v.inference, v.paramsN, v.paramsMaxTokens)
	if !c.schedulerCounters {
		e.ofRequests = append(e.ofRequests, v.promptTokens, v.generationTokens, v.preemptions)
	}
	s := &e.scheduler
	s.counters[counterIterations] = e.common.iterations
	s.counters[counterQueries] = e.v1.queries
	s.counters[counterHits] = e.v1.hits
	if c.schedulerCounters {
		s.counters[counterPrompt] = e.v1.promptTokens
		s.counters[counterGeneration] = e.v1.generationTokens
		s.counters[counterPreemptions] = e.v1.preemptions
	}
	err = s.init(e.meter, e.common.dimensions,
		[]semconv.Int64Gauge{semconv.MetricGenAIVLLMNumRequestsRunning, semconv.MetricGenAIVLLMNumRequestsWaiting},
		[]semconv.Float64Gauge{semconv.MetricGenAIVLLMKVCacheUsagePerc})
	if err != nil {
		return nil, err
	}
	return e, nil
}

// Close ends the engine: its gauges are gone from the next collection on, and
// reports of its scheduler are refused. Requests that still run can finish. At the
// end of a program close the engine after its MeterProvider, or the last export
// lacks the gauges.
//
// Close waits for a collection of metrics that runs. It returns the error of the
// meter provider, and nil when it is called again.
func (e *EngineV1) Close() error {
	if e == nil {
		return nil
	}
	return e.close()
}

// SchedulerStatsV1 is a report of a V1 engine's scheduler. A nil field was not
// reported: its instrument is left alone. The fields from PrefixCacheQueries on
// are counters: [EngineV1.RecordScheduler] takes what happened since the previous
// report, [EngineV1.RecordSchedulerFromTotals] cumulative readings.
// Source: vllm.v1.metrics.
type SchedulerStatsV1 struct {
	// Running is the number of requests in the running batch, 0 or more: the
	// gauge gen_ai_vllm_num_requests_running, {request}.
	Running *int
	// Waiting is the number of requests waiting to be processed, 0 or more: the
	// gauge gen_ai_vllm_num_requests_waiting, {request}.
	Waiting *int
	// KVCacheUsage is the share of the KV cache in use, from 0 to 1: the gauge
	// gen_ai_vllm_kv_cache_usage_perc, 1.
	KVCacheUsage *float64
	// PrefixCacheQueries is the number of tokens looked up in the prefix cache:
	// gen_ai_vllm_prefix_cache_queries, {token}.
	PrefixCacheQueries *int
	// PrefixCacheHits is the number of tokens found in the prefix cache:
	// gen_ai_vllm_prefix_cache_hits, {token}.
	PrefixCacheHits *int
	// Iterations is the number of scheduling iterations: vllm_iter_count,
	// {iteration}.
	Iterations *int
	// PromptTokens is the number of tokens processed by prefill:
	// gen_ai_vllm_prompt_tokens, {token}. Only with [WithSchedulerCounters];
	// otherwise finished requests feed it, and this is ignored and reported once.
	PromptTokens *int
	// GenerationTokens is the number of tokens generated:
	// gen_ai_vllm_generation_tokens, {token}. As PromptTokens.
	GenerationTokens *int
	// Preemptions is the number of preemptions: gen_ai_vllm_num_preemptions,
	// {preemption}. As PromptTokens.
	Preemptions *int
}

func (s *SchedulerStatsV1) report() report {
	return report{
		name: "SchedulerStatsV1",
		gauges: [gauges]reading{
			countOf("Running", s.Running),
			countOf("Waiting", s.Waiting),
			ratioOf("KVCacheUsage", s.KVCacheUsage),
		},
		counters: [counters]reading{
			counterIterations:  countOf("Iterations", s.Iterations),
			counterPrompt:      countOf("PromptTokens", s.PromptTokens),
			counterGeneration:  countOf("GenerationTokens", s.GenerationTokens),
			counterPreemptions: countOf("Preemptions", s.Preemptions),
			counterQueries:     countOf("PrefixCacheQueries", s.PrefixCacheQueries),
			counterHits:        countOf("PrefixCacheHits", s.PrefixCacheHits),
		},
	}
}

// RecordScheduler takes a report of the engine's scheduler. The gauges show it
// from the next collection on, until the next report. The error names every
// field that is out of range, and then nothing of the report counts. After
// [EngineV1.Close] every report is an error.
func (e *EngineV1) RecordScheduler(ctx context.Context, s SchedulerStatsV1) error {
	if e == nil {
		return nil
	}
	r := s.report()
	e.checkSource(&r)
	return e.record(ctx, &r)
}

// RecordSchedulerFromTotals is [EngineV1.RecordScheduler] for engines whose
// counters are cumulative. It adds the difference to the previous reading. The
// first reading of a counter, and one below the previous, as after a restart of
// the engine, add nothing and are where counting goes on from, so that our
// counters neither jump nor go down. Hand in a reading when the engine starts to
// count from its beginning.
func (e *EngineV1) RecordSchedulerFromTotals(ctx context.Context, s SchedulerStatsV1) error {
	if e == nil {
		return nil
	}
	r := s.report()
	e.checkSource(&r)
	return e.recordTotals(ctx, &r)
}

// checkSource reports counters that finished requests feed already.
func (e *EngineV1) checkSource(r *report) {
	if e.v1.fromScheduler {
		return
	}
	for _, i := range []int{counterPrompt, counterGeneration, counterPreemptions} {
		if r.counters[i].count > 0 {
			e.misuse.Report(misuseCounterSource, func() error {
				return fmt.Errorf("vllm: %s.%s is ignored, since finished requests feed that counter; WithSchedulerCounters changes that", r.name, r.counters[i].field)
			})
		}
	}
}

// countersV1 are the counters that only V1 has.
type countersV1 struct {
	fromScheduler bool // tokens and preemptions, and not from finished requests

	queries, hits                     *counter
	preemptions                       *counter
	promptTokens, generationTokens    *counter
	paramsN, paramsMaxTokens          *counter
	queue, prefill, decode, inference metric.Float64Counter
}

func (c *countersV1) init(m instruments, fromScheduler bool) error {
	c.fromScheduler = fromScheduler
	c.queries = m.int64(semconv.MetricGenAIVLLMPrefixCacheQueries)
	c.hits = m.int64(semconv.MetricGenAIVLLMPrefixCacheHits)
	c.preemptions = m.int64(semconv.MetricGenAIVLLMNumPreemptions)
	c.promptTokens = m.int64(semconv.MetricGenAIVLLMPromptTokens)
	c.generationTokens = m.int64(semconv.MetricGenAIVLLMGenerationTokens)
	c.paramsN = m.int64(semconv.MetricGenAIVLLMRequestParamsN)
	c.paramsMaxTokens = m.int64(semconv.MetricGenAIVLLMRequestParamsMaxTokens)
	c.queue = m.float64(semconv.MetricGenAIVLLMRequestQueueTimeSeconds)
	c.prefill = m.float64(semconv.MetricGenAIVLLMRequestPrefillTimeSeconds)
	c.decode = m.float64(semconv.MetricGenAIVLLMRequestDecodeTimeSeconds)
	c.inference = m.float64(semconv.MetricGenAIVLLMRequestInferenceTimeSeconds)
	return m.err
}
