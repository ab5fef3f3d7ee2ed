package semconv_test

import (
	"testing"

	"github.com/infertel/infertel-go/semconv"
)

func TestLookup(t *testing.T) {
	for _, f := range semconv.Fields() {
		got, ok := semconv.Lookup(f.Meaning, f.Source)
		if !ok || got != f {
			t.Errorf("Lookup(%s, %s) = %v, %v; want %v", f.Meaning, f.Source, got, ok, f)
		}
	}
	// V0 reports no cached tokens.
	if f, ok := semconv.Lookup(semconv.MeaningCachedTokens, semconv.SourceVLLMV0LLMRequest); ok {
		t.Errorf("got %v", f)
	}
}

func TestEquivalent(t *testing.T) {
	for _, test := range []struct {
		name     string
		from, to semconv.Source
		want     string
	}{
		{"gen_ai.usage.prompt_tokens", semconv.SourceVLLMV1LLMRequest, semconv.SourceVLLMEntry, "gen_ai.usage.input_tokens"},
		{"gen_ai.usage.completion_tokens", semconv.SourceSGLangRequest, semconv.SourceOpenTelemetry, "gen_ai.usage.output_tokens"},
		{"gen_ai.request.n", semconv.SourceVLLMV0LLMRequest, semconv.SourceOpenTelemetry, "gen_ai.request.choice.count"},
		{"modelName", semconv.SourceVLLMToken, semconv.SourceVLLMV1Metrics, "model_name"},
		{"gen_ai.request.model_name", semconv.SourceVLLMV1LLMRequest, semconv.SourceOpenTelemetry, "gen_ai.request.model"},
		{"gen_ai.usage.cached_tokens", semconv.SourceSGLangRequest, semconv.SourceSGLangEntry, "gen_ai.usage.cache_read.input_tokens"},
		{"genai_llm_first_token_seconds", semconv.SourceVLLMV0Metrics, semconv.SourceSGLangMetrics, "gen_ai_server_time_to_first_token"},
		{"gen_ai.server.time_to_first_token", semconv.SourceOpenTelemetry, semconv.SourceVLLMV1Metrics, "genai_llm_first_token_seconds"},
		{"gen_ai.client.token.usage", semconv.SourceOpenTelemetry, semconv.SourceSGLangToken, "genai_llm_usage_tokens"},
		// The same key means something else, or nothing, elsewhere.
		{"gen_ai.response.model", semconv.SourceVLLMEntry, semconv.SourceOpenTelemetry, ""},
		{"gen_ai.usage.input_tokens", semconv.SourceVLLMV1LLMRequest, semconv.SourceVLLMEntry, ""},
		{"gen_ai.usage.cached_tokens", semconv.SourceSGLangRequest, semconv.SourceVLLMV0LLMRequest, ""},
		{"no.such.name", semconv.SourceVLLMEntry, semconv.SourceOpenTelemetry, ""},
	} {
		got, ok := semconv.Equivalent(test.name, test.from, test.to)
		if got.Name != test.want || ok != (test.want != "") {
			t.Errorf("Equivalent(%s, %s, %s) = %v, %v; want %q", test.name, test.from, test.to, got, ok, test.want)
		}
	}
}

func TestFieldsOf(t *testing.T) {
	if got := semconv.FieldsOf("modelName"); len(got) != 2 || got[0].Kind != semconv.FieldDimension {
		t.Errorf("modelName: %v", got)
	}
	if got := semconv.FieldsOf("gen_ai.request.temperature"); got != nil {
		t.Errorf("a name without equivalents has %v", got)
	}
}
