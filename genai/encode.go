package genai

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"go.opentelemetry.io/otel/attribute"

	"github.com/infertel/infertel-go/internal/boundedtext"
)

// Bounds on what a peer chooses, besides that of names and ids: the number of tool
// calls, and the bytes of the arguments of one.
const (
	maxToolCalls = 64
	maxArguments = 16 << 10
)

// cutter cuts the texts of one direction, each to limit bytes and all together
// to what is left of the budget.
type cutter struct{ limit, left int }

func (c *cutter) cut(s string) string {
	s = boundedtext.Cut(s, min(c.limit, c.left))
	c.left -= len(s)
	return s
}

func newCutter(limit int) *cutter { return &cutter{limit: limit, left: maxContentTotal} }

// messagesJSON is the compact JSON of messages for a span attribute.
func messagesJSON(messages []Message, limit int) string {
	c := newCutter(limit)
	b := make([]byte, 0, 512)
	b = append(b, '[')
	for i := range messages {
		m := &messages[i]
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"role":`...)
		b = appendJSONString(b, boundedtext.Cut(m.Role, boundedtext.MaxName))
		b = append(b, `,"parts":[`...)
		for j := range m.Parts {
			if j > 0 {
				b = append(b, ',')
			}
			b = append(b, '{')
			first := true
			m.Parts[j].fields(c, func(f field) {
				if !first {
					b = append(b, ',')
				}
				first = false
				b = appendJSONString(b, f.name)
				b = append(b, ':')
				b = f.appendJSON(b)
			})
			b = append(b, '}')
		}
		b = append(b, ']')
		if m.FinishReason != "" {
			b = append(b, `,"finish_reason":`...)
			b = appendJSONString(b, boundedtext.Cut(m.FinishReason, boundedtext.MaxName))
		}
		b = append(b, '}')
	}
	return string(append(b, ']'))
}

func (f *field) appendJSON(b []byte) []byte {
	switch f.form {
	case asSize:
		return strconv.AppendInt(b, int64(f.size), 10)
	case asJSON:
		// A cut argument text is no longer JSON and stays a string.
		buf := bytes.NewBuffer(b)
		if json.Compact(buf, []byte(f.text)) == nil {
			return buf.Bytes()
		}
	}
	return appendJSONString(b, f.text)
}

const hexDigits = "0123456789abcdef"

// appendJSONString appends s, which is valid UTF-8, as a JSON string.
func appendJSONString(b []byte, s string) []byte {
	b = append(b, '"')
	start := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		b = append(b, s[start:i]...)
		start = i + 1
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, '\\', 'n')
		case '\r':
			b = append(b, '\\', 'r')
		case '\t':
			b = append(b, '\\', 't')
		default:
			b = append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&0xF])
		}
	}
	return append(append(b, s[start:]...), '"')
}

// messagesValue is the same as a structure for the log event.
func messagesValue(messages []Message, limit int) attribute.Value {
	c := newCutter(limit)
	list := make([]attribute.Value, len(messages))
	for i := range messages {
		m := &messages[i]
		parts := make([]attribute.Value, len(m.Parts))
		for j := range m.Parts {
			var fields []attribute.KeyValue
			m.Parts[j].fields(c, func(f field) {
				fields = append(fields, attribute.KeyValue{Key: attribute.Key(f.name), Value: f.value()})
			})
			parts[j] = attribute.MapValue(fields...)
		}
		message := []attribute.KeyValue{
			attribute.String("role", boundedtext.Cut(m.Role, boundedtext.MaxName)),
			{Key: "parts", Value: attribute.SliceValue(parts...)},
		}
		if m.FinishReason != "" {
			message = append(message, attribute.String("finish_reason", boundedtext.Cut(m.FinishReason, boundedtext.MaxName)))
		}
		list[i] = attribute.MapValue(message...)
	}
	return attribute.SliceValue(list...)
}

func (f *field) value() attribute.Value {
	switch f.form {
	case asSize:
		return attribute.IntValue(f.size)
	case asJSON:
		d := json.NewDecoder(strings.NewReader(f.text))
		d.UseNumber()
		var v any
		if json.Valid([]byte(f.text)) && d.Decode(&v) == nil {
			return structured(v, maxStructure)
		}
	}
	return attribute.StringValue(f.text)
}

// maxStructure is how deep arguments are kept as a structure. Receivers refuse
// a whole message for one value that nests deeper than their own limit.
const maxStructure = 16

// structured turns decoded JSON into an attribute value.
func structured(v any, depth int) attribute.Value {
	switch v := v.(type) {
	case bool:
		return attribute.BoolValue(v)
	case string:
		return attribute.StringValue(v)
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return attribute.Int64Value(n)
		}
		f, err := v.Float64()
		if err != nil {
			return attribute.StringValue(v.String())
		}
		return attribute.Float64Value(f)
	case nil:
		return attribute.Value{}
	}
	if depth == 0 {
		text, _ := json.Marshal(v) // it was decoded from JSON
		return attribute.StringValue(string(text))
	}
	switch v := v.(type) {
	case []any:
		list := make([]attribute.Value, len(v))
		for i := range v {
			list[i] = structured(v[i], depth-1)
		}
		return attribute.SliceValue(list...)
	case map[string]any:
		fields := make([]attribute.KeyValue, 0, len(v))
		for name, member := range v {
			fields = append(fields, attribute.KeyValue{Key: attribute.Key(boundedtext.Cut(name, boundedtext.MaxName)), Value: structured(member, depth-1)})
		}
		return attribute.MapValue(fields...)
	}
	return attribute.Value{}
}
