package vllm

import (
	"context"
	"errors"

	"github.com/infertel/infertel-go/internal/boundedtext"
	"github.com/infertel/infertel-go/semconv"
)

// EngineV0 emits the telemetry of one vLLM V0 engine. Its methods are safe for
// concurrent use and do nothing on a nil *EngineV0. Make it with [NewEngineV0],
// and end it with [EngineV0.Close].
type EngineV0 struct {
	engine
}

// NewEngineV0 returns an engine that serves the given model
// (gen_ai.response.model), which must be set. The error says so, or is that of an
// instrument which could not be made.
//
// The metrics of V0 have no dimension that tells engines apart: those that share
// a provider feed the same counters, and of their gauges one shows.
func NewEngineV0(model string, opts ...Option) (*EngineV0, error) {
	if model == "" {
		return nil, errors.New("vllm: the model of NewEngineV0 is empty, want its name")
	}
	all := make([]OptionV1, len(opts))
	for i, o := range opts {
		all[i] = o
	}
	c, err := newConfig(all)
	if err != nil {
		return nil, err
	}
	g := GranularityRequest
	c.granularity = &g
	e := &EngineV0{}
	if err := e.init(&c, boundedtext.Cut(model, boundedtext.MaxName), semconv.VLLMEngineV0Dimensions()); err != nil {
		return nil, err
	}
	m := e.instruments()
	s := &e.scheduler
	s.counters[counterIterations] = e.common.iterations
	s.counters[counterPrompt] = m.int64(semconv.MetricNumPromptTokensIter)
	s.counters[counterGeneration] = m.int64(semconv.MetricNumGenerationTokensIter)
	s.counters[counterPreemptions] = m.int64(semconv.MetricNumPreemptionIter)
	s.tokens = m.int64(semconv.MetricNumTokensIter)
	if m.err != nil {
		return nil, m.err
	}
	err = s.init(e.meter, e.common.dimensions,
		[]semconv.Int64Gauge{semconv.MetricNumRunningSys, semconv.MetricNumWaitingSys, semconv.MetricNumSwappedSys},
		[]semconv.Float64Gauge{semconv.MetricGPUCacheUsageSys, semconv.MetricCPUCacheUsageSys})
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
func (e *EngineV0) Close() error {
	if e == nil {
		return nil
	}
	return e.close()
}

// SchedulerStatsV0 is a report of a V0 engine's scheduler. A nil field was not
// reported: its instrument is left alone. The fields from PromptTokens on are
// counters: [EngineV0.RecordScheduler] takes what happened since the previous
// report, [EngineV0.RecordSchedulerFromTotals] cumulative readings.
// Source: vllm.v0.metrics.
type SchedulerStatsV0 struct {
	// Running is the number of running sequences, 0 or more: the gauge
	// num_running_sys, {sequence}.
	Running *int
	// Waiting is the number of waiting sequences, 0 or more: the gauge
	// num_waiting_sys, {sequence}.
	Waiting *int
	// Swapped is the number of swapped-out sequences, 0 or more: the gauge
	// num_swapped_sys, {sequence}.
	Swapped *int
	// GPUCacheUsage is the share of the GPU KV cache in use, from 0 to 1: the
	// gauge gpu_cache_usage_sys, 1.
	GPUCacheUsage *float64
	// CPUCacheUsage is the share of the CPU KV cache in use, from 0 to 1: the
	// gauge cpu_cache_usage_sys, 1.
	CPUCacheUsage *float64
	// PromptTokens is the number of input tokens processed:
	// num_prompt_tokens_iter, and with GenerationTokens num_tokens_iter, {token}.
	PromptTokens *int
	// GenerationTokens is the number of output tokens generated:
	// num_generation_tokens_iter, and with PromptTokens num_tokens_iter, {token}.
	GenerationTokens *int
	// Preemptions is the number of preemptions: num_preemption_iter,
	// {preemption}.
	Preemptions *int
	// Iterations is the number of scheduling iterations: vllm_iter_count,
	// {iteration}.
	Iterations *int
}

func (s *SchedulerStatsV0) report() report {
	return report{
		name: "SchedulerStatsV0",
		gauges: [gauges]reading{
			countOf("Running", s.Running),
			countOf("Waiting", s.Waiting),
			countOf("Swapped", s.Swapped),
			ratioOf("GPUCacheUsage", s.GPUCacheUsage),
			ratioOf("CPUCacheUsage", s.CPUCacheUsage),
		},
		counters: [counters]reading{
			counterIterations:  countOf("Iterations", s.Iterations),
			counterPrompt:      countOf("PromptTokens", s.PromptTokens),
			counterGeneration:  countOf("GenerationTokens", s.GenerationTokens),
			counterPreemptions: countOf("Preemptions", s.Preemptions),
		},
	}
}

// RecordScheduler takes a report of the engine's scheduler. The gauges show it
// from the next collection on, until the next report. The error names every
// field that is out of range, and then nothing of the report counts. After
// [EngineV0.Close] every report is an error.
func (e *EngineV0) RecordScheduler(ctx context.Context, s SchedulerStatsV0) error {
	if e == nil {
		return nil
	}
	r := s.report()
	return e.record(ctx, &r)
}

// RecordSchedulerFromTotals is [EngineV0.RecordScheduler] for engines whose
// counters are cumulative; see [EngineV1.RecordSchedulerFromTotals].
func (e *EngineV0) RecordSchedulerFromTotals(ctx context.Context, s SchedulerStatsV0) error {
	if e == nil {
		return nil
	}
	r := s.report()
	return e.recordTotals(ctx, &r)
}
