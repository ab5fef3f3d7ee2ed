package conformance

import (
	"slices"
	"strings"

	"go.opentelemetry.io/otel/attribute"

	"github.com/infertel/infertel-go/semconv"
)

// settle finds out whether a span is judged and which type it claims to be.
func (c *checker) settle(s *span) {
	if s.settled {
		return
	}
	s.settled = true // before the parent, since ids from outside may go in a circle
	if c.foreign(s.scope) {
		return
	}
	ours := c.ours(s.scope)
	candidates := c.named(s.name)
	if len(candidates) == 0 && ours {
		candidates = c.marked(s)
	}
	s.judged = ours
	if !ours {
		if s.parent != nil {
			c.settle(s.parent)
		}
		s.judged = c.meant(s, candidates)
	}
	if !s.judged || len(candidates) == 0 {
		return
	}
	id := candidates[0]
	switch id {
	case idVLLMEntry:
		id = c.entryID(s)
	case idV0:
		id = c.engineID(s)
	}
	s.typ = c.types[id]
	if id == idStage {
		s.stage = c.stages[s.name]
	}
}

// named returns the types that a name may stand for.
func (c *checker) named(name string) []string {
	switch name {
	case semconv.SpanLLMRequest:
		return []string{idV0, idV1}
	case semconv.SpanWait:
		return []string{idWait}
	case semconv.SpanKVTransfer:
		return []string{idKVTransfer}
	case semconv.SpanPrefill:
		return []string{idPrefill}
	case semconv.SpanDecode:
		return []string{idDecode}
	}
	if c.stages[name] != nil {
		return []string{idStage}
	}
	if op, _, _ := strings.Cut(name, " "); slices.ContainsFunc(c.types[idVLLMEntry].Endpoints, func(e semconv.Endpoint) bool { return e.Operation == op }) {
		if slices.ContainsFunc(c.types[idSGLangEntry].Endpoints, func(e semconv.Endpoint) bool { return e.Operation == op }) {
			return []string{idVLLMEntry, idSGLangEntry}
		}
		return []string{idVLLMEntry}
	}
	if _, ok := requestRole(name); ok {
		return []string{idRequest}
	}
	if c.threadName.MatchString(name) {
		return []string{idThread}
	}
	return nil
}

// requestRole returns the role in the name of a request span.
func requestRole(name string) (role string, ok bool) {
	for _, role := range []string{"prefill", "decode", ""} {
		rest, ok := strings.CutPrefix(name, role+" ")
		if !ok && role == "" {
			rest, ok = name, true
		}
		if ok && (rest == "Req" || strings.HasPrefix(rest, "Req ")) {
			return role, true
		}
	}
	return "", false
}

// threadNamePattern is the form of a thread span's name, documented or native.
const threadNamePattern = `\(host:.* \| pid:-?\d+\)$`

// marked returns the type of a span whose name says nothing, by attributes that
// only one type has.
func (c *checker) marked(s *span) []string {
	switch {
	case s.has(semconv.ModuleKey):
		return []string{idRequest}
	case s.has(semconv.ThreadLabelKey):
		return []string{idThread}
	case s.has(semconv.GenAISpanKindKey):
		return []string{idVLLMEntry, idSGLangEntry}
	case s.has(semconv.GenAIKVTransferDirectionKey):
		return []string{idKVTransfer}
	case s.has(semconv.GenAIUsageNumSequencesKey), s.has(semconv.GenAILatencyTimeInQueueKey):
		return []string{idV0, idV1}
	}
	return nil
}

// meant reports whether a span of another scope with a documented name is an
// attempt at the documented span.
func (c *checker) meant(s *span, candidates []string) bool {
	for _, id := range candidates {
		if id == idStage && s.parent != nil && s.parent.judged && (s.parent.is(idThread) || s.parent.is(idStage)) {
			return true
		}
		specs := c.types[id].Attributes
		if id == idStage {
			specs = c.stages[s.name].Attributes
		}
		for _, a := range specs {
			if slices.ContainsFunc(s.attributes, func(kv attribute.KeyValue) bool { return a.Matches(kv.Key) }) {
				return true
			}
		}
	}
	return false
}

// only counts the attributes of s that are documented for type a and not for b.
func (c *checker) only(s *span, a, b string) int {
	n := 0
	for _, kv := range s.attributes {
		documented := func(id string) bool {
			return slices.ContainsFunc(c.types[id].Attributes, func(a semconv.AttributeSpec) bool { return a.Matches(kv.Key) })
		}
		if documented(a) && !documented(b) {
			n++
		}
	}
	return n
}

// entryID tells the entry spans of the two engines apart.
func (c *checker) entryID(s *span) string {
	op, _, _ := strings.Cut(s.name, " ")
	if text, ok := s.text(semconv.GenAIOperationNameKey); ok {
		op = text
	}
	if op == semconv.GenAIOperationNameEmbeddings.Value.AsString() || op == semconv.GenAIOperationNameRerank.Value.AsString() {
		return idVLLMEntry // SGLang documents none of its own
	}
	if c.entry == semconv.SourceVLLMEntry || c.entry == semconv.SourceSGLangEntry {
		return string(c.entry)
	}
	v, sg := c.only(s, idVLLMEntry, idSGLangEntry), c.only(s, idSGLangEntry, idVLLMEntry)
	if v == sg {
		for _, child := range s.children {
			if _, ok := requestRole(child.name); ok && child.has(semconv.RIDKey) {
				sg++
			}
		}
	}
	if sg > v {
		return idSGLangEntry
	}
	return idVLLMEntry
}

// engineID tells llm_request of the two versions of vLLM apart.
func (c *checker) engineID(s *span) string {
	v0, v1 := c.only(s, idV0, idV1), c.only(s, idV1, idV0)
	if v0 != v1 {
		if v0 > v1 {
			return idV0
		}
		return idV1
	}
	if v, ok := get(s.attributes, semconv.GenAILatencyE2EKey); ok && v.Type() == attribute.FLOAT64 && len(s.events) == 0 && len(s.children) == 0 {
		return idV0
	}
	return idV1
}
