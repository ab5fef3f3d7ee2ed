package vllm

import (
	"fmt"
	"os"
)

// EnvGranularity names the environment variable that sets the [Granularity]: 0,
// 1 or 2. [WithGranularity] beats it. Another value is reported once through
// [otel.Handle] and means 1.
const EnvGranularity = "VLLM_TRACE_GRANULARITY"

// Granularity is how much is recorded of each V1 request. V0 engines know none:
// they make llm_request alone.
type Granularity uint8

// The granularities.
const (
	// GranularityRequest makes the span llm_request alone.
	GranularityRequest Granularity = iota
	// GranularityStages adds the spans wait, kv_transfer, prefill and decode. It
	// is the default.
	GranularityStages
	// GranularityEvents adds the events WAIT, PREFILL, DECODE and PREEMPTED on
	// llm_request, with the tokens that the iterations were told with. These are
	// text of the answer, and no switch for message content applies to them: where
	// that text must not be recorded, leave [Iteration.TokenTexts] and
	// [Iteration.TokenIDs] nil.
	GranularityEvents
)

func granularityFromEnv() (Granularity, error) {
	switch v := os.Getenv(EnvGranularity); v {
	case "0":
		return GranularityRequest, nil
	case "", "1":
		return GranularityStages, nil
	case "2":
		return GranularityEvents, nil
	default:
		return GranularityStages, fmt.Errorf("vllm: %s is %q, want 0, 1 or 2; 1 is used", EnvGranularity, v)
	}
}
