package semconv_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"

	"github.com/infertel/infertel-go/semconv"
)

// constructed has one attribute from every constructor and every enum value.
var constructed = []attribute.KeyValue{
	semconv.EngineIndex(1),
	semconv.EngineModelName("x"),
	semconv.TokenModelName("x"),
	semconv.SpanKind(semconv.SpanKindLLM),
	semconv.UsageType(semconv.UsageTypeInput),
	semconv.FinishedReason("x"),
	semconv.GenAIEngineIndex(1),
	semconv.GenAIKVTransferCachedTokens(1),
	semconv.GenAIKVTransferFailed(true),
	semconv.GenAITokenIDs(1, 2),
	semconv.GenAITokenTexts("x", "y"),
	semconv.GenAITokenCount(1),
	semconv.GenAITokenLogProbs(0.5, 1),
	semconv.GenAIUserID("x"),
	semconv.SessionID("x"),
	semconv.GenAIInputMessages("x"),
	semconv.GenAIOutputMessages("x"),
	semconv.GenAICompletionsToolCallsName(0, 12, "x"),
	semconv.GenAICompletionsToolCallsArguments(0, 12, "x"),
	semconv.GenAILatencyE2ESeconds(time.Second),
	semconv.GenAILatencyE2ENanoseconds(time.Second),
	semconv.GenAILatencyTimeToFirstTokenSeconds(time.Second),
	semconv.GenAILatencyTimeToFirstTokenNanoseconds(time.Second),
	semconv.GenAILatencyTimeInQueueSeconds(time.Second),
	semconv.GenAILatencyTimeInQueueNanoseconds(time.Second),
	semconv.GenAILatencyTimeInSchedulerSeconds(time.Second),
	semconv.GenAILatencyTimeInModelForwardSeconds(time.Second),
	semconv.GenAILatencyTimeInModelExecuteSeconds(time.Second),
	semconv.GenAILatencyTimeInModelPrefillSeconds(time.Second),
	semconv.GenAILatencyTimeInModelPrefillNanoseconds(time.Second),
	semconv.GenAILatencyTimeInModelDecodeSeconds(time.Second),
	semconv.GenAILatencyTimeInModelDecodeNanoseconds(time.Second),
	semconv.GenAILatencyTimeInModelInferenceSeconds(time.Second),
	semconv.GenAILatencyTimeInModelInferenceNanoseconds(time.Second),
	semconv.GenAILatencyTimeInTokenizeNanoseconds(time.Second),
	semconv.GenAILatencyTimeInDetokenizeNanoseconds(time.Second),
	semconv.GenAILatencyTimeInKVTransferNanoseconds(time.Second),
	semconv.GenAIRequestModel("x"),
	semconv.GenAIRequestModelName("x"),
	semconv.GenAIRequestID("x"),
	semconv.GenAIRequestIsStream(true),
	semconv.GenAIRequestChoiceCount(1),
	semconv.GenAIRequestN(1),
	semconv.GenAIRequestTemperature(0.5),
	semconv.GenAIRequestTopP(0.5),
	semconv.GenAIRequestTopK(0.5),
	semconv.GenAIRequestTopKInt(1),
	semconv.GenAIRequestMaxTokens(1),
	semconv.GenAIRequestPreemptionCount(1),
	semconv.GenAIRequestHasToolCalls(true),
	semconv.GenAIRequestToolCallDetected(true),
	semconv.GenAIRequestToolCallsCount(1),
	semconv.GenAIResponseID("x"),
	semconv.GenAIResponseModel("x"),
	semconv.GenAIResponseFinishReasons("x", "y"),
	semconv.GenAIResponseFinishReasonsJSON("x"),
	semconv.GenAIResponseTokensStreamed(1),
	semconv.RID("x"),
	semconv.BootstrapRoom("x"),
	semconv.HostID("x"),
	semconv.PID(1),
	semconv.ThreadLabel("x"),
	semconv.TPRank(1),
	semconv.PPRank(1),
	semconv.DPRank(1),
	semconv.DecodeCT(1),
	semconv.NumCorrectDrafts(1),
	semconv.AcceptedTokens(1),
	semconv.PPMicroBatchID(1),
	semconv.BatchID("x"),
	semconv.BatchSize(1),
	semconv.AbortType("x"),
	semconv.AbortMessage("x"),
	semconv.AbortStatusCode(1),
	semconv.AbortErrType("x"),
	semconv.AbortReason("x"),
	semconv.GenAIUsageInputTokens(1),
	semconv.GenAIUsageOutputTokens(1),
	semconv.GenAIUsageTotalTokens(1),
	semconv.GenAIUsagePromptTokens(1),
	semconv.GenAIUsageCompletionTokens(1),
	semconv.GenAIUsageNumSequences(1),
	semconv.GenAIUsageCacheReadInputTokens(1),
	semconv.GenAIUsageCachedTokens(1),
	semconv.CallTypeGenAI,
	semconv.CallKindCustomEntry,
	semconv.RPCTypeGenAI,
	semconv.GenAIPDRoleProducer,
	semconv.GenAIPDRoleConsumer,
	semconv.GenAIPDRoleNone,
	semconv.GenAIKVTransferDirectionRecv,
	semconv.GenAISpanKindLLM,
	semconv.GenAISpanKindEmbedding,
	semconv.GenAISpanKindReranker,
	semconv.GenAIOperationNameChat,
	semconv.GenAIOperationNameTextCompletion,
	semconv.GenAIOperationNameEmbeddings,
	semconv.GenAIOperationNameRerank,
	semconv.ModuleSGLangRequest,
	semconv.ForwardModeDecode,
	semconv.ForwardModePrefill,
	semconv.ForwardModePrebuilt,
}

// TestConstructors checks that every documented form of an attribute can be
// built, and that nothing else can.
func TestConstructors(t *testing.T) {
	form := func(key attribute.Key, typ attribute.Type) string { return fmt.Sprintf("%s %v", key, typ) }
	documented := map[string]bool{}
	patterns := []semconv.AttributeSpec{}
	values := map[string]bool{}
	each(func(a semconv.AttributeSpec) {
		if strings.Contains(string(a.Key), "{") {
			patterns = append(patterns, a)
			return
		}
		documented[form(a.Key, a.Type.AttributeType())] = true
		for _, e := range a.Enum {
			values[string(a.Key)+"="+e] = true
		}
	})
	built := map[string]bool{}
	for _, kv := range constructed {
		built[form(kv.Key, kv.Value.Type())] = true
		delete(values, string(kv.Key)+"="+kv.Value.String())
		if documented[form(kv.Key, kv.Value.Type())] {
			continue
		}
		ok := false
		for _, p := range patterns {
			ok = ok || p.Matches(kv.Key) && p.Type.AttributeType() == kv.Value.Type()
		}
		if !ok {
			t.Errorf("%s is not documented", form(kv.Key, kv.Value.Type()))
		}
	}
	for f := range documented {
		if !built[f] {
			t.Errorf("nothing builds %s", f)
		}
	}
	for _, v := range []attribute.KeyValue{
		semconv.SpanKind(semconv.SpanKindEmbedding), semconv.UsageType(semconv.UsageTypeOutput),
	} {
		delete(values, string(v.Key)+"="+v.Value.String())
	}
	for v := range values {
		t.Errorf("no Go name for %s", v)
	}
}

// each calls f with every attribute of the tables that an attribute.KeyValue
// can hold.
func each(f func(semconv.AttributeSpec)) {
	all := func(list []semconv.AttributeSpec) {
		for _, a := range list {
			if a.Type != semconv.TypeAny {
				f(a)
			}
		}
	}
	for _, s := range semconv.Spans() {
		all(s.Attributes)
		all(s.OnAbort)
		for _, e := range s.Events {
			all(e.Attributes)
		}
	}
	for _, s := range semconv.Stages() {
		all(s.Attributes)
	}
	for _, e := range semconv.LogEvents() {
		all(e.Attributes)
	}
	for _, d := range semconv.DimensionSets() {
		all(d.Attributes)
	}
	for _, m := range semconv.Metrics() {
		all(m.ExtraDimensions)
	}
}

func TestDurations(t *testing.T) {
	const d = 1500 * time.Millisecond
	if kv := semconv.GenAILatencyE2ESeconds(d); kv.Value.AsFloat64() != 1.5 {
		t.Errorf("seconds: %v", kv)
	}
	if kv := semconv.GenAILatencyE2ENanoseconds(d); kv.Value.AsInt64() != 1_500_000_000 {
		t.Errorf("nanoseconds: %v", kv)
	}
}

func TestIndexedKeys(t *testing.T) {
	kv := semconv.GenAICompletionsToolCallsArguments(3, 63, `{"city":"Paris"}`)
	if kv.Key != "gen_ai.completions.3.tool_calls.63.arguments" || kv.Value.AsString() != `{"city":"Paris"}` {
		t.Errorf("got %v", kv)
	}
	if n := testing.AllocsPerRun(100, func() { kv = semconv.GenAICompletionsToolCallsName(123, 456, "x") }); n > 1 {
		t.Errorf("%v allocations, want 1", n)
	}
}

func TestMatches(t *testing.T) {
	pattern := semconv.AttributeSpec{Key: "gen_ai.completions.{i}.tool_calls.{j}.name"}
	for key, want := range map[attribute.Key]bool{
		"gen_ai.completions.0.tool_calls.0.name":       true,
		"gen_ai.completions.12.tool_calls.345.name":    true,
		"gen_ai.completions.0.tool_calls.0.arguments":  false,
		"gen_ai.completions..tool_calls.0.name":        false,
		"gen_ai.completions.x.tool_calls.0.name":       false,
		"gen_ai.completions.0.tool_calls.0.name.extra": false,
		"gen_ai.completions.0":                         false,
		"":                                             false,
	} {
		if got := pattern.Matches(key); got != want {
			t.Errorf("Matches(%q) = %v", key, got)
		}
	}
	plain := semconv.AttributeSpec{Key: semconv.RIDKey}
	if !plain.Matches("rid") || plain.Matches("rid2") || plain.Matches("ri") {
		t.Error("a plain key matches itself only")
	}
}

func TestAllows(t *testing.T) {
	for _, d := range semconv.DimensionSets() {
		for _, a := range d.Attributes {
			if a.Key == semconv.RPCTypeKey && (!a.Allows(attribute.IntValue(2100)) || a.Allows(attribute.IntValue(2101))) {
				t.Errorf("%s: rpcType allows other values than 2100", d.ID)
			}
			if a.Key == semconv.EngineIndexKey && !a.Allows(attribute.IntValue(7)) {
				t.Errorf("%s: engine_index is limited", d.ID)
			}
		}
	}
}

func TestStageByName(t *testing.T) {
	for _, want := range semconv.Stages() {
		got, ok := semconv.StageByName(want.Name)
		if !ok || got.Name != want.Name || got.Level != want.Level {
			t.Errorf("StageByName(%q) = %v, %v", want.Name, got, ok)
		}
	}
	if _, ok := semconv.StageByName("Tokenize"); ok {
		t.Error("an unknown name has a stage")
	}
}
