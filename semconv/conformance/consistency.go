package conformance

import (
	"slices"
	"strconv"
	"strings"

	"go.opentelemetry.io/otel/attribute"

	"github.com/infertel/infertel-go/semconv"
)

// checkConsistency compares attributes that say the same thing twice.
func (c *checker) checkConsistency(s *span) {
	switch s.typ.ID {
	case idVLLMEntry, idSGLangEntry:
		c.checkOperation(s)
		c.checkToolCalls(s)
	case idV1:
		for i, e := range s.events {
			c.same(s, eventField(i, e)+string(semconv.GenAIEngineIndexKey), semconv.GenAIEngineIndexKey, e.attributes, s.attributes, "the request's")
		}
		c.checkPreemptions(s)
	case idWait, idKVTransfer, idPrefill, idDecode:
		if request := s.request(); request != nil {
			for _, a := range c.types[idWait].Attributes {
				c.same(s, string(a.Key), a.Key, s.attributes, request.attributes, "the request's")
			}
		}
	case idRequest:
		if rid, ok := get(s.attributes, semconv.RIDKey); ok {
			c.same(s, string(semconv.GenAIRequestIDKey), semconv.GenAIRequestIDKey, s.attributes,
				[]attribute.KeyValue{{Key: semconv.GenAIRequestIDKey, Value: rid}}, "rid, which is")
		}
	case idStage:
		if n, ok := get(s.attributes, semconv.NumCorrectDraftsKey); ok && s.stage.Name == semconv.StageSpecVerify {
			c.same(s, string(semconv.AcceptedTokensKey), semconv.AcceptedTokensKey, s.attributes,
				[]attribute.KeyValue{{Key: semconv.AcceptedTokensKey, Value: n}}, "num_correct_drafts, which is")
		}
	}
}

// same reports a key that has another value here than there. A missing or
// mistyped one is a violation already.
func (c *checker) same(s *span, field string, key attribute.Key, here, there []attribute.KeyValue, whose string) {
	a, ok := get(here, key)
	b, ok2 := get(there, key)
	if ok && ok2 && a.Type() == b.Type() && a.String() != b.String() {
		c.report(s, RuleAttributeConsistency, field, valueText(a), whose+" "+valueText(b))
	}
}

// operation returns the text of an operation.
func operation(kv attribute.KeyValue) string { return kv.Value.AsString() }

// request returns the llm_request above a stage of V1, or nil.
func (s *span) request() *span {
	p := s.parent
	if p.is(idWait) {
		p = p.parent
	}
	if p.is(idV1) {
		return p
	}
	return nil
}

func (c *checker) checkOperation(s *span) {
	kind, ok1 := s.text(semconv.GenAISpanKindKey)
	op, ok2 := s.text(semconv.GenAIOperationNameKey)
	if !ok1 || !ok2 {
		return
	}
	var want attribute.KeyValue
	switch op {
	case operation(semconv.GenAIOperationNameChat), operation(semconv.GenAIOperationNameTextCompletion):
		want = semconv.GenAISpanKindLLM
	case operation(semconv.GenAIOperationNameEmbeddings):
		want = semconv.GenAISpanKindEmbedding
	case operation(semconv.GenAIOperationNameRerank):
		want = semconv.GenAISpanKindReranker
	default:
		return
	}
	row := s.typ.Attributes[slices.IndexFunc(s.typ.Attributes, func(a semconv.AttributeSpec) bool { return a.Key == want.Key })]
	if kind != want.Value.AsString() && slices.Contains(row.Enum, kind) {
		c.report(s, RuleAttributeConsistency, string(want.Key), quoted(kind), quoted(want.Value.AsString())+" for the operation "+op)
	}
}

func (c *checker) checkToolCalls(s *span) {
	count, ok := s.integer(semconv.GenAIRequestToolCallsCountKey)
	if !ok || count < 0 {
		return
	}
	detected, ok := s.truth(semconv.GenAIRequestToolCallDetectedKey)
	if ok && detected != (count > 0) {
		c.report(s, RuleAttributeConsistency, string(semconv.GenAIRequestToolCallDetectedKey), strconv.FormatBool(detected), "whether there are calls, of which there are "+strconv.FormatInt(count, 10))
	}
	if !detected {
		return // and if there are calls all the same, none of them may be there
	}
	calls := map[string]bool{}
	for _, kv := range s.attributes {
		if call, ok := strings.CutSuffix(string(kv.Key), ".arguments"); ok && strings.HasPrefix(call, "gen_ai.completions.") {
			calls[call] = true
		}
	}
	if int64(len(calls)) > count {
		c.report(s, RuleAttributeConsistency, string(semconv.GenAIRequestToolCallsCountKey), strconv.FormatInt(count, 10), "as many as are recorded, "+strconv.Itoa(len(calls)))
	}
}

// checkPreemptions compares the count with the events. A preemption whose time
// was not known has no event, so there may be fewer events, never more.
func (c *checker) checkPreemptions(s *span) {
	events := int64(0)
	for _, e := range s.events {
		if e.name == semconv.EventPreempted {
			events++
		}
	}
	if n, ok := s.integer(semconv.GenAIRequestPreemptionCountKey); ok && n > 0 && events > n {
		c.report(s, RuleAttributeConsistency, string(semconv.GenAIRequestPreemptionCountKey), strconv.FormatInt(n, 10), "at least the number of PREEMPTED events, "+strconv.FormatInt(events, 10))
	}
}
