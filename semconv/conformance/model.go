package conformance

import (
	"encoding/hex"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/infertel/infertel-go/semconv"
)

// span is a span of either form, and what was found out about it.
type span struct {
	scope           string
	name            string
	trace           trace.TraceID
	id, parentID    trace.SpanID
	kind            trace.SpanKind
	start, end      int64 // Unix nanoseconds; 0 is none
	attributes      []attribute.KeyValue
	events          []event
	links           []spanKey
	status          codes.Code
	description     string
	droppedAttrs    bool
	droppedEvents   bool
	parent          *span // nil: none, or not given
	children        []*span
	typ             *semconv.SpanType  // nil: not judged, or of no documented type
	stage           *semconv.StageType // of a stage of SGLang
	settled, judged bool
}

type event struct {
	name       string
	at         int64
	attributes []attribute.KeyValue
	dropped    bool
}

// spanKey identifies a span.
type spanKey struct {
	trace trace.TraceID
	span  trace.SpanID
}

// metric is a metric of one collection, or one request, in one scope.
type metric struct {
	scope, name, unit string
	batch             int    // which resource and scope it came with
	instrument        string // "counter", "gauge", or what else it is
	points            []point
}

type point struct {
	attributes []attribute.KeyValue
	value      attribute.Value // an int or a double
}

// record is a log record.
type record struct {
	scope, name string
	at          int64
	trace       trace.TraceID
	span        trace.SpanID
	attributes  []attribute.KeyValue
	dropped     bool
}

// get returns the value of a key. Of a key that stands twice the first one
// counts.
func get(attributes []attribute.KeyValue, key attribute.Key) (attribute.Value, bool) {
	for i := range attributes {
		if attributes[i].Key == key {
			return attributes[i].Value, true
		}
	}
	return attribute.Value{}, false
}

func (s *span) has(key attribute.Key) bool {
	_, ok := get(s.attributes, key)
	return ok
}

// text, integer, double and truth return the value of an attribute if it is
// there and of that type: a wrong type is a violation of its own.

func (s *span) text(key attribute.Key) (string, bool) {
	v, ok := get(s.attributes, key)
	return v.AsString(), ok && v.Type() == attribute.STRING
}

func (s *span) integer(key attribute.Key) (int64, bool) {
	v, ok := get(s.attributes, key)
	return v.AsInt64(), ok && v.Type() == attribute.INT64
}

func (s *span) truth(key attribute.Key) (value, ok bool) {
	v, ok := get(s.attributes, key)
	return v.AsBool(), ok && v.Type() == attribute.BOOL
}

// is reports whether the span is of the type with that ID.
func (s *span) is(id string) bool { return s != nil && s.typ != nil && s.typ.ID == id }

// source is the registry row of the span.
func (s *span) source() string {
	switch {
	case s.stage != nil:
		return idStage + "." + s.stage.Name
	case s.typ != nil:
		return s.typ.ID
	}
	return ""
}

func (s *span) length() time.Duration { return time.Duration(s.end - s.start) }

// The IDs of the types of span.
const (
	idVLLMEntry   = string(semconv.SourceVLLMEntry)
	idSGLangEntry = string(semconv.SourceSGLangEntry)
	idV0          = "vllm.v0.llm_request"
	idV1          = "vllm.v1.llm_request"
	idWait        = "vllm.v1.wait"
	idKVTransfer  = "vllm.v1.kv_transfer"
	idPrefill     = "vllm.v1.prefill"
	idDecode      = "vllm.v1.decode"
	idRequest     = "sglang.request"
	idThread      = "sglang.thread"
	idStage       = "sglang.stage"
)

func hexID(id []byte) string {
	for _, b := range id {
		if b != 0 {
			return hex.EncodeToString(id)
		}
	}
	return ""
}

// typeName names a type as the registry does.
func typeName(v attribute.Value) string {
	switch v.Type() {
	case attribute.STRING:
		return "string"
	case attribute.INT64:
		return "int"
	case attribute.FLOAT64:
		return "double"
	case attribute.BOOL:
		return "boolean"
	case attribute.STRINGSLICE:
		return "string[]"
	case attribute.INT64SLICE:
		return "int[]"
	case attribute.FLOAT64SLICE:
		return "double[]"
	case attribute.BOOLSLICE:
		return "boolean[]"
	case attribute.BYTESLICE:
		return "bytes"
	case attribute.SLICE:
		return "any[]"
	case attribute.MAP:
		return "map"
	}
	return "no value"
}

func valueText(v attribute.Value) string {
	if v.Type() == attribute.STRING {
		return quoted(v.AsString())
	}
	return shown(v.String())
}
