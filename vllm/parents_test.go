package vllm_test

import (
	"context"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/infertel/infertel-go/vllm"
)

// llm_request hangs under the span in the context it was started with.
func TestTraceContext(t *testing.T) {
	const traceID, spanID = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
	for header, sampled := range map[string]string{
		"00-" + traceID + "-" + spanID + "-01": "child",
		"00-" + traceID + "-" + spanID + "-00": "nothing",
		"00-" + traceID + "-" + spanID + "-0":  "root",
		"garbage":                              "root",
		// A later version may have more after what is known; ff is no version, and
		// version 00 has only two flags.
		"01-" + traceID + "-" + spanID + "-01-more":             "child",
		"01-" + traceID + "-" + spanID + "-01":                  "child",
		"ff-" + traceID + "-" + spanID + "-01":                  "root",
		"00-" + traceID + "-" + spanID + "-01-more":             "root",
		"00-" + traceID + "-" + spanID + "-ff":                  "root",
		"00-" + strings.ToUpper(traceID) + "-" + spanID + "-01": "root",
		"00-" + traceID + "-" + strings.ToUpper(spanID) + "-01": "root",
		"00-" + strings.Repeat("0", 32) + "-" + spanID + "-01":  "root",
		"00-" + traceID + "-" + strings.Repeat("0", 16) + "-01": "root",
		"": "root",
	} {
		b := newBed(t)
		e := b.v1(vllm.EngineConfig{}, vllm.WithGranularity(vllm.GranularityEvents))
		ctx := propagation.TraceContext{}.Extract(context.Background(), propagation.MapCarrier{"traceparent": header, "tracestate": "a=b"})
		req := e.StartRequest(ctx, vllm.Request{ID: "r"}, at(0))
		inner := trace.SpanContextFromContext(req.Context())
		req.Queued(at(1))
		req.Finish(vllm.OutcomeV1{At: at(2), FinishReason: vllm.FinishReasonAbort})
		ended := b.recorder.Ended()
		switch sampled {
		case "child":
			if len(ended) != 1 || ended[0].Parent().SpanID().String() != spanID || ended[0].SpanContext().TraceState().String() != "a=b" || ended[0].SpanContext().SpanID() != inner.SpanID() {
				t.Errorf("%s: %v", header, ended)
			}
		case "root":
			if len(ended) != 1 || ended[0].Parent().IsValid() || ended[0].SpanContext().TraceID().String() == traceID {
				t.Errorf("%s: %v", header, ended)
			}
		case "nothing":
			if len(ended) != 0 || inner.TraceID().String() != traceID || inner.IsSampled() || req.Recording() {
				t.Errorf("%s: %v, %v", header, ended, inner)
			}
		}
		// Metrics count whether the trace is sampled or not.
		if n := b.points()["gen_ai_vllm_request_success{engine_index=0,finished_reason=abort,model_name=qwen3-8b}"]; n != 1 {
			t.Errorf("%s: %v finished requests", header, n)
		}
	}
}
