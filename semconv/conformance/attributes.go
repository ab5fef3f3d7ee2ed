package conformance

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"

	"github.com/infertel/infertel-go/semconv"
)

// holder is what has attributes: a span, an event or a log event.
type holder struct {
	attributes []attribute.KeyValue
	specs      []semconv.AttributeSpec
	prefix     string // of Field, for an event
	dropped    bool
	condition  func(semconv.AttributeSpec) verdict
	report     func(rule Rule, field, got, want string)
}

func (c *checker) checkAttributes(s *span) {
	specs := s.typ.Attributes
	if s.stage != nil {
		specs = s.stage.Attributes
	}
	c.check(holder{
		attributes: s.attributes, specs: specs, dropped: s.droppedAttrs,
		condition: func(a semconv.AttributeSpec) verdict { return c.condition(s, a) },
		report: func(rule Rule, field, got, want string) {
			c.report(s, rule, field, got, want)
		},
	}, func(kv attribute.KeyValue, report func(rule Rule, field, got, want string)) bool {
		switch {
		case kv.Key == semconv.GenAISpanKindKey && !slices.ContainsFunc(specs, func(a semconv.AttributeSpec) bool { return a.Key == kv.Key }):
			report(RuleAttributeForbidden, string(kv.Key), valueText(kv.Value), "no such attribute on an engine span")
			return true
		case s.is(idThread):
			i := slices.IndexFunc(s.typ.OnAbort, func(a semconv.AttributeSpec) bool { return a.Matches(kv.Key) })
			if i < 0 {
				return false
			}
			if s.status != codes.Error {
				report(RuleThreadAbort, string(kv.Key), valueText(kv.Value), "an end reason with the status ERROR only")
			}
			checkValue(s.typ.OnAbort[i], kv, string(kv.Key), report)
			return true
		}
		return slices.Contains(c.allowed, kv.Key)
	})
}

// check judges the attributes of h. It asks other about keys that have no row.
func (c *checker) check(h holder, other func(attribute.KeyValue, func(rule Rule, field, got, want string)) bool) {
	for i, kv := range h.attributes {
		field := h.prefix + string(kv.Key)
		if slices.ContainsFunc(h.attributes[:i], func(o attribute.KeyValue) bool { return o.Key == kv.Key }) {
			h.report(RuleAttributeDuplicate, field, "the key again, with "+valueText(kv.Value), "each key once")
			continue
		}
		row := slices.IndexFunc(h.specs, func(a semconv.AttributeSpec) bool { return a.Matches(kv.Key) })
		switch {
		case row < 0:
			if other == nil || !other(kv, h.report) {
				h.report(RuleAttributeUndocumented, field, valueText(kv.Value), "documented attributes only")
			}
		case h.condition(h.specs[row]) == forbidden:
			h.report(RuleAttributeForbidden, field, valueText(kv.Value), "no such attribute, which is there only when "+h.specs[row].When)
		default:
			checkValue(h.specs[row], kv, field, h.report)
		}
	}
	if h.dropped {
		return
	}
	for _, a := range h.specs {
		if h.condition(a) != demanded || slices.ContainsFunc(h.attributes, func(kv attribute.KeyValue) bool { return a.Matches(kv.Key) }) {
			continue
		}
		want := article(a.Type)
		if a.When != "" {
			want += ", which is there when " + a.When
		}
		h.report(RuleAttributeMissing, h.prefix+string(a.Key), "nothing", want)
	}
}

func article(t semconv.ValueType) string {
	if t == semconv.TypeInt || t == semconv.TypeIntSlice {
		return "an " + t.String()
	}
	return "a " + t.String()
}

func checkValue(a semconv.AttributeSpec, kv attribute.KeyValue, field string, report func(rule Rule, field, got, want string)) {
	switch {
	case !fits(a.Type, kv.Value):
		want := a.Type.String()
		if a.Unit != "" {
			want += " in " + a.Unit
		}
		report(RuleAttributeType, field, typeName(kv.Value)+" "+valueText(kv.Value), want)
	case !a.Allows(kv.Value):
		report(RuleAttributeEnum, field, valueText(kv.Value), "one of "+strings.Join(a.Enum, ", "))
	case !formed(a, kv.Value):
		report(RuleAttributeFormat, field, valueText(kv.Value), a.Format)
	default:
		if lowest, limited := least(a); limited && !atLeast(kv.Value, lowest) {
			report(RuleAttributeRange, field, valueText(kv.Value), strconv.Itoa(lowest)+" or more")
		}
		if kv.Key == semconv.GenAIInputMessagesKey || kv.Key == semconv.GenAIOutputMessagesKey {
			if problem := messagesProblem(kv.Value); problem != "" {
				report(RuleContentSchema, field, problem, "messages with a role and typed parts")
			}
		}
	}
}

// fits reports whether v has the type t. An empty array without a type of its
// elements, as OTLP writes it, is an empty array of any.
func fits(t semconv.ValueType, v attribute.Value) bool {
	switch t {
	case semconv.TypeAny:
		return v.Type() == attribute.SLICE || v.Type() == attribute.MAP
	case semconv.TypeStringSlice, semconv.TypeIntSlice, semconv.TypeDoubleSlice:
		if v.Type() == attribute.SLICE && len(v.AsSlice()) == 0 {
			return true
		}
	}
	return v.Type() == t.AttributeType()
}

func formed(a semconv.AttributeSpec, v attribute.Value) bool {
	switch a.Format {
	case "hexadecimal":
		digits, ok := strings.CutPrefix(v.AsString(), "0x")
		return ok && digits != "" && strings.Trim(digits, "0123456789abcdef") == ""
	case "JSON array":
		var list []any
		return json.Unmarshal([]byte(v.AsString()), &list) == nil && list != nil
	}
	return true
}

// least returns the smallest value of a number that has one. Parameters of a
// request have none: -1 is a value.
func least(a semconv.AttributeSpec) (int, bool) {
	switch a.Key {
	case semconv.GenAIRequestPreemptionCountKey:
		return 1, true
	case semconv.GenAIRequestToolCallsCountKey, semconv.GenAIResponseTokensStreamedKey, semconv.GenAIKVTransferCachedTokensKey,
		semconv.GenAIEngineIndexKey, semconv.GenAITokenCountKey, semconv.TPRankKey, semconv.PPRankKey, semconv.DPRankKey,
		semconv.DecodeCTKey, semconv.NumCorrectDraftsKey, semconv.AcceptedTokensKey, semconv.PPMicroBatchIDKey, semconv.BatchSizeKey:
		return 0, true
	}
	return 0, strings.HasPrefix(string(a.Key), "gen_ai.usage.") || strings.HasPrefix(string(a.Key), "gen_ai.latency.")
}

func atLeast(v attribute.Value, lowest int) bool {
	switch v.Type() {
	case attribute.INT64:
		return v.AsInt64() >= int64(lowest)
	case attribute.FLOAT64:
		return v.AsFloat64() >= float64(lowest) && !math.IsInf(v.AsFloat64(), 1) // NaN is not at least anything
	}
	return true
}

// messagesProblem says what is wrong with recorded messages, in the JSON of a
// span or in the structure of a log event.
func messagesProblem(v attribute.Value) string {
	var list any
	if v.Type() == attribute.STRING {
		if json.Unmarshal([]byte(v.AsString()), &list) != nil {
			return "" // not in its format, which is said already
		}
	} else {
		list = plain(v)
	}
	messages, ok := list.([]any)
	if !ok {
		return "no list of messages"
	}
	for i, m := range messages {
		message, _ := m.(map[string]any)
		if _, ok := message["role"].(string); !ok {
			return fmt.Sprintf("message %d without a role", i)
		}
		parts, ok := message["parts"].([]any)
		if !ok {
			return fmt.Sprintf("message %d without parts", i)
		}
		for j, p := range parts {
			part, _ := p.(map[string]any)
			if _, ok := part["type"].(string); !ok {
				return fmt.Sprintf("message %d with part %d without a type", i, j)
			}
		}
	}
	return ""
}

// plain returns v in the types of package encoding/json, as far as messages
// need them.
func plain(v attribute.Value) any {
	switch v.Type() {
	case attribute.STRING:
		return v.AsString()
	case attribute.SLICE:
		list := []any{}
		for _, e := range v.AsSlice() {
			list = append(list, plain(e))
		}
		return list
	case attribute.MAP:
		m := map[string]any{}
		for _, kv := range v.AsMap() {
			m[string(kv.Key)] = plain(kv.Value)
		}
		return m
	}
	return nil
}
