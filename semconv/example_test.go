package semconv_test

import (
	"context"
	"fmt"
	"time"

	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"

	"github.com/infertel/infertel-go/semconv"
)

// Attributes of a finished vLLM V1 request. The constructors fix the type, so a
// duration cannot end up in the wrong unit.
func Example() {
	for _, kv := range []fmt.Stringer{
		semconv.GenAIRequestID("req-1").Value,
		semconv.GenAIPDRoleNone.Value,
		semconv.GenAIUsagePromptTokens(14).Value,
		semconv.GenAILatencyE2ENanoseconds(1500 * time.Millisecond).Value,
	} {
		fmt.Println(kv)
	}
	// Output:
	// req-1
	// none
	// 14
	// 1500000000
}

// A counter with the dimensions of one engine, built once and reused.
func ExampleInt64Counter_New() {
	meter := noop.NewMeterProvider().Meter("example")
	requests, err := semconv.MetricGenAIVLLMRequestSuccess.New(meter)
	if err != nil {
		fmt.Println(err)
		return
	}
	stopped := metric.WithAttributeSet(semconv.FinishedReasonDimensions(semconv.VLLMEngineV1Dimensions(0, "qwen3-8b"), "stop"))
	requests.Add(context.Background(), 1, stopped)
	fmt.Println(semconv.MetricGenAIVLLMRequestSuccess.Name(), semconv.MetricGenAIVLLMRequestSuccess.Unit())
	// Output: gen_ai_vllm_request_success {request}
}

// What SGLang's cached tokens are called elsewhere.
func ExampleEquivalent() {
	for _, to := range []semconv.Source{semconv.SourceSGLangEntry, semconv.SourceOpenTelemetry, semconv.SourceVLLMV0LLMRequest} {
		f, ok := semconv.Equivalent("gen_ai.usage.cached_tokens", semconv.SourceSGLangRequest, to)
		fmt.Println(to, f.Name, ok)
	}
	// Output:
	// sglang.entry gen_ai.usage.cache_read.input_tokens true
	// opentelemetry gen_ai.usage.cache_read.input_tokens true
	// vllm.v0.llm_request  false
}

// Which metric of a vLLM V1 engine holds the time to the first token.
func ExampleLookup() {
	f, _ := semconv.Lookup(semconv.MeaningTimeToFirstToken, semconv.SourceVLLMV1Metrics)
	fmt.Println(f.Kind, f.Name)
	// Output: metric genai_llm_first_token_seconds
}

// Where a stage of SGLang belongs, from its span's name.
func ExampleStageByName() {
	stage, _ := semconv.StageByName(semconv.StageDecodeLoop)
	fmt.Println(stage.Level, stage.Process, stage.NestedUnder, stage.Attributes[0].Key)
	// Output: 3 scheduler [decode_forward] decode_ct
}

// What a span must carry.
func ExampleSpans() {
	for _, s := range semconv.Spans() {
		if s.ID == "vllm.v1.kv_transfer" {
			for _, a := range s.Attributes {
				fmt.Println(a.Key, a.Type, a.Required())
			}
		}
	}
	// Output:
	// gen_ai.request.id string true
	// gen_ai.request.model_name string true
	// gen_ai.engine.index int true
	// gen_ai.pd_role string true
	// gen_ai.kv_transfer.direction string true
	// gen_ai.kv_transfer.cached_tokens int true
	// gen_ai.kv_transfer.failed boolean true
}
