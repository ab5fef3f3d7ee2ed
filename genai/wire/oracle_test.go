package wire

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// plainAnswer is what the plain way makes of a stream: lines are split and every
// event is decoded as a whole by encoding/json. Tool calls are only seen.
type plainAnswer struct {
	id, model    string
	increments   int
	choices      []plainChoice
	usage        usage
	failed, done bool
}

type plainChoice struct{ finish, text, reasoning string }

func readPlainly(stream string) *plainAnswer {
	a := &plainAnswer{}
	stream = strings.TrimPrefix(stream, byteOrderMark)
	stream = strings.ReplaceAll(strings.ReplaceAll(stream, "\r\n", "\n"), "\r", "\n")
	var data []string
	end := func() {
		if len(data) == 1 && strings.Trim(data[0], " \t") == endMark {
			a.done = true
		} else if len(data) > 0 {
			a.event(strings.Join(data, "\n"))
		}
		data = nil
	}
	for _, line := range strings.Split(stream, "\n") {
		value, found := strings.CutPrefix(line, "data:")
		switch {
		case line == "":
			end()
		case found:
			// Whoever leaves out the empty lines ends an event where its document ends.
			if isDocument(strings.Join(data, "\n")) {
				end()
			}
			if data = append(data, strings.TrimPrefix(value, " ")); len(data) == 1 && strings.Trim(data[0], " \t") == endMark {
				end()
			}
		}
	}
	end()
	return a
}

// value is a JSON value whose members keep their order, and can stand there twice.
type value struct {
	scalar  any // string, json.Number, bool or nil
	kind    byte
	members []member
	items   []value
}

type member struct {
	name string
	value
}

func decode(d *json.Decoder) value {
	t, _ := d.Token()
	switch t := t.(type) {
	case json.Delim:
		v := value{kind: byte(t)}
		for d.More() {
			if t == '[' {
				v.items = append(v.items, decode(d))
				continue
			}
			name, _ := d.Token()
			v.members = append(v.members, member{name.(string), decode(d)})
		}
		_, _ = d.Token()
		return v
	case string:
		return value{kind: '"', scalar: t}
	}
	return value{scalar: t}
}

func (v value) text() string { s, _ := v.scalar.(string); return s }

func (v value) count() (int, bool) {
	n, ok := v.scalar.(json.Number)
	f, err := n.Float64()
	if i, err := strconv.Atoi(n.String()); err == nil {
		return i, i >= 0
	}
	return int(f), ok && err == nil && f > 0 && f < math.MaxInt && math.Trunc(f) == f
}

// Bytes that are no UTF-8 pass as they are. encoding/json would mend them, so they
// go through it as characters that nobody uses.
const hidden = '\U0010FE00'

func hide(s string) string {
	var b strings.Builder
	for len(s) > 0 {
		c, n := utf8.DecodeRuneInString(s)
		if c == utf8.RuneError && n == 1 {
			c = hidden + rune(s[0])
		}
		b.WriteRune(c)
		s = s[n:]
	}
	return b.String()
}

func unhide(s string) string {
	var b strings.Builder
	for _, c := range s {
		if c >= hidden && c < hidden+256 {
			b.WriteByte(byte(c - hidden))
		} else {
			b.WriteRune(c)
		}
	}
	return b.String()
}

func (a *plainAnswer) event(data string) {
	data = hide(data)
	if !isDocument(data) {
		return
	}
	d := json.NewDecoder(bytes.NewReader([]byte(data)))
	d.UseNumber()
	var (
		id, model                          string
		u                                  usage
		isError, message, code, hasChoices bool
		texts                              []plainChoice
		indexes                            []int
		position                           int
		output                             bool
	)
	for _, m := range decode(d).members {
		switch s, kind := m.text(), m.kind; m.name {
		case "id":
			if kind == '"' {
				id = s
			}
		case "model":
			if kind == '"' {
				model = s
			}
		case "object":
			isError = isError || s == "error"
		case "error":
			isError = isError || kind == '{' || kind == '"'
		case "message":
			message = message || kind == '"'
		case "type":
			code = code || kind == '"'
		case "code":
			_, isCount := m.count()
			code = code || kind == '"' || isCount
		case "usage":
			u.read(m.value)
		case "choices":
			for _, v := range m.items {
				hasChoices = true
				if v.kind == '{' {
					c := choiceOf(v, position, &u)
					texts, indexes = append(texts, c.plainChoice), append(indexes, c.index)
					output = output || c.output
				}
				position++
			}
		}
	}
	if a.id == "" {
		a.id = id
	}
	if a.model == "" {
		a.model = model
	}
	a.failed = a.failed || isError || message && code && !hasChoices
	a.usage.merge(&u)
	if output {
		a.increments++
	}
	for i, t := range texts {
		if indexes[i] >= maxChoices {
			continue
		}
		for len(a.choices) <= indexes[i] {
			a.choices = append(a.choices, plainChoice{})
		}
		c := &a.choices[indexes[i]]
		c.text += unhide(t.text)
		c.reasoning += unhide(t.reasoning)
		if t.finish != "" {
			c.finish = t.finish
		}
	}
}

// isDocument reports whether data is JSON, and not deeper than is read.
func isDocument(data string) bool { return json.Valid([]byte(data)) && depthOf(data) <= 1024 }

func depthOf(data string) (deepest int) {
	depth, inString := 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case !inString && (c == '[' || c == '{'):
			depth++
			deepest = max(deepest, depth)
		case !inString && (c == ']' || c == '}'):
			depth--
		}
	}
	return deepest
}

func (u *usage) read(v value) {
	for _, m := range v.members {
		n, ok := m.count()
		switch to := map[string]*tokens{"prompt_tokens": &u.input, "completion_tokens": &u.output, "total_tokens": &u.total}[m.name]; {
		case to != nil && ok:
			*to = tokens{n, true}
		case m.name == "prompt_tokens_details":
			for _, m := range m.members {
				if n, ok := m.count(); ok && m.name == "cached_tokens" {
					u.cached = tokens{n, true}
				}
			}
		}
	}
}

// choiceReading is one choice of an event on its way through the members. A text
// goes on where it stands twice, until another comes between; of reasoning the
// last counts.
type choiceReading struct {
	plainChoice
	index      int
	output     bool
	last       string
	named, old string
	hasNamed   bool
}

func choiceOf(v value, position int, u *usage) *choiceReading {
	c := &choiceReading{index: position}
	for _, m := range v.members {
		switch m.name {
		case "index":
			if n, ok := m.count(); ok {
				c.index = min(n, maxChoices)
			}
		case "finish_reason":
			if m.kind == '"' {
				c.finish = m.text()
			}
		case "text":
			c.write("text", &c.text, m.text())
		case "usage":
			u.read(m.value)
		case "delta", "message":
			c.delta(m.value)
		}
	}
	if c.reasoning = c.old; c.hasNamed {
		c.reasoning = c.named
	}
	return c
}

func (c *choiceReading) write(name string, to *string, s string) {
	if s == "" {
		return
	}
	if c.output = true; *to == "" || c.last == name {
		*to += s
		c.last = name
	}
}

func (c *choiceReading) delta(v value) {
	for _, m := range v.members {
		switch m.name {
		case "content", "refusal":
			c.write("text", &c.text, m.text())
			if m.name == "refusal" {
				break
			}
			for _, part := range m.items {
				for _, p := range part.members {
					if p.name == "text" {
						c.write("text", &c.text, p.text())
					}
				}
			}
		case "reasoning":
			c.named = ""
			c.hasNamed = c.hasNamed || m.text() != ""
			c.write("named", &c.named, m.text())
		case "reasoning_content":
			c.old = ""
			c.write("old", &c.old, m.text())
		case "tool_calls":
			for _, call := range m.items {
				c.call(call)
			}
		}
	}
}

func (c *choiceReading) call(v value) {
	for _, m := range v.members {
		var s string
		switch m.name {
		case "id":
			c.write("id", &s, m.text())
		case "function":
			for _, f := range m.members {
				if f.name == "name" || f.name == "arguments" {
					c.write("tool", &s, f.text())
				}
			}
		}
	}
}
