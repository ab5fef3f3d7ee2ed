package conformance

import (
	"slices"
	"strings"

	"go.opentelemetry.io/otel/codes"

	"github.com/infertel/infertel-go/semconv"
)

// verdict says what a condition means for an attribute of one span: it has to be
// there, it must not, or both are right as far as can be told.
type verdict uint8

const (
	open verdict = iota
	demanded
	forbidden
)

// condition decides the condition of an attribute for a span. What cannot be
// told from the span and its trace is left open.
func (c *checker) condition(s *span, a semconv.AttributeSpec) verdict {
	switch a.When {
	case "":
		return c.always(s, a)
	case "streaming":
		return streaming(s, a, true)
	case "not streaming":
		return streaming(s, a, false)
	case "chat and streaming":
		if op, ok := s.text(semconv.GenAIOperationNameKey); ok && op != semconv.GenAIOperationNameChat.Value.AsString() {
			return forbidden
		} else if !ok {
			return open
		}
		return streaming(s, a, true)
	case "chat and streaming and call detected":
		v := c.condition(s, semconv.AttributeSpec{Key: a.Key, When: "chat and streaming"})
		detected, ok := s.truth(semconv.GenAIRequestToolCallDetectedKey)
		switch {
		case v == forbidden || ok && !detected:
			return forbidden
		case v == demanded && ok && strings.HasSuffix(string(a.Key), ".arguments"):
			return demanded // a call may lack a name, but not arguments, be they empty
		}
		return open
	case "first token produced":
		if tokensProduced(s) && s.status != codes.Error {
			return demanded
		}
		return open
	case "a transfer occurred":
		if len(s.stages(idKVTransfer)) > 0 {
			return demanded
		}
		return open
	case "preempted at least once":
		if slices.ContainsFunc(s.events, func(e event) bool { return e.name == semconv.EventPreempted }) {
			return demanded
		}
		return open
	case "PD":
		switch role, ok := requestRole(s.name); {
		case !ok:
			return open
		case role == "":
			return forbidden
		}
		return demanded
	case "ended normally", "ended normally and set", "ended normally and not embedding":
		return normalEnd(s, a)
	}
	// "set", "known", "engine provides it", "content capture on spans": only the
	// one who reports knows.
	return open
}

// always decides about attributes without a condition, of which some still need
// something to have happened.
func (c *checker) always(s *span, a semconv.AttributeSpec) verdict {
	switch a.Key {
	case semconv.GenAIRequestModelKey:
		if op, ok := s.text(semconv.GenAIOperationNameKey); ok && s.name == op {
			return open // a request without a model
		}
	case semconv.GenAILatencyTimeInQueueKey:
		// It ends when the request is first scheduled, which an aborted request
		// may not live to see. A prefill shows that it did, but for the constant 0
		// of a Decode node.
		if prefill, _ := c.latency(s, semconv.GenAILatencyTimeInModelPrefillKey); !tokensProduced(s) && len(s.stages(idWait)) == 0 && prefill == 0 {
			return open
		}
	case semconv.GenAILatencyTimeInModelPrefillKey, semconv.GenAILatencyTimeInModelDecodeKey, semconv.GenAILatencyTimeInModelInferenceKey:
		if !tokensProduced(s) || s.status == codes.Error {
			return open
		}
	}
	return demanded
}

// streaming decides about attributes of streamed, or of other, calls.
func streaming(s *span, a semconv.AttributeSpec, want bool) verdict {
	is, ok := s.truth(semconv.GenAIRequestIsStreamKey)
	switch {
	case !ok:
		return open
	case is != want:
		return forbidden
	}
	switch a.Key {
	case semconv.SessionIDKey, semconv.GenAIRequestIDKey, semconv.GenAIResponseModelKey:
		// An id that nobody gave, or the model of an answer that never came,
		// cannot be there. The id of the answer shows that it came.
		if !s.has(semconv.GenAIResponseIDKey) || s.status == codes.Error {
			return open
		}
	}
	return demanded
}

// normalEnd decides about what an SGLang request has only after a normal end. One
// such attribute shows that it ended normally, an aborted thread that it did
// not; with neither it is not known.
func normalEnd(s *span, a semconv.AttributeSpec) verdict {
	if s.aborted() {
		return forbidden
	}
	if !s.endedNormally() || a.When != "ended normally" {
		return open
	}
	switch a.Key {
	case semconv.GenAILatencyTimeToFirstTokenKey, semconv.GenAILatencyTimeInModelPrefillKey,
		semconv.GenAILatencyTimeInModelDecodeKey, semconv.GenAILatencyTimeInModelInferenceKey:
		if !tokensProduced(s) {
			return open // embeddings have no first token
		}
	}
	return demanded
}

// tokensProduced reports whether a span of an engine says that its request made
// a token.
func tokensProduced(s *span) bool {
	n, ok := s.integer(semconv.GenAIUsageCompletionTokensKey)
	return ok && n > 0
}

// stages returns the spans of one V1 stage below a request: its children, and
// for kv_transfer those of its waits.
func (s *span) stages(id string) []*span {
	var out []*span
	for _, child := range s.children {
		if child.is(id) {
			out = append(out, child)
		}
		if id == idKVTransfer && child.is(idWait) {
			out = append(out, child.stages(id)...)
		}
	}
	return out
}
