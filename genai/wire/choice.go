package wire

import (
	"cmp"
	"slices"

	"github.com/infertel/infertel-go/genai"
)

const (
	maxChoices    = 1024     // choices that are told apart
	maxToolCalls  = 64       // tool calls that are kept, of all choices together
	maxArguments  = 16 << 10 // bytes of arguments that are kept of each
	maxEventTools = 1024     // tool calls of one event that are looked at
	maxToolIndex  = 1 << 30
	maxEvent      = 2 << 20 // bytes that one event can add
)

// choice is what has been seen of one choice of the answer.
type choice struct {
	finish          string
	text, reasoning []byte
	tools           []toolCall
	nextTool        int // the highest index seen, plus one
}

type toolCall struct {
	index        int
	id, name     string
	arguments    []byte
	hasArguments bool
}

// commit adds the facts of a whole event, or of a choice of an answer that is
// not streamed.
func (r *responseReader) commit() {
	e := &r.event
	if r.id == "" {
		r.id = r.eventID
	}
	if r.model == "" {
		r.model = r.eventModel
	}
	r.usage.merge(&e.usage)
	if e.isError || e.hasMessage && e.hasCode && !e.hasChoices {
		r.failed = true
	}
	if e.errorType != "" {
		r.errorType = e.errorType
	}
	for i := range e.deltas {
		r.add(&e.deltas[i])
	}
	e.deltas, e.tools, e.buf = e.deltas[:0], e.tools[:0], e.buf[:0]
}

// choice returns the choice of an index, or nil if it is not told apart.
func (r *responseReader) choice(index int) *choice {
	if index >= maxChoices {
		return nil
	}
	for len(r.choices) <= index {
		r.choices = append(r.choices, choice{})
	}
	return &r.choices[index]
}

func (r *responseReader) add(d *delta) {
	c, e := r.choice(d.index), &r.event
	if c == nil {
		return
	}
	if d.finish != "" {
		c.finish = d.finish
	}
	c.text = r.keep(c.text, e.bytes(d.text), r.contentLimit)
	// Engines that moved from one name to the other write both.
	if d.hasReasoning {
		c.reasoning = r.keep(c.reasoning, e.bytes(d.reasoning), r.contentLimit)
	} else {
		c.reasoning = r.keep(c.reasoning, e.bytes(d.reasoningContent), r.contentLimit)
	}
	for i := d.firstTool; i < d.lastTool && r.argumentLimit > 0; i++ {
		r.addTool(c, &e.tools[i])
	}
}

// keep appends p to kept as far as the limit of a text and the budget of the
// answer go.
func (r *responseReader) keep(kept, p []byte, limit int) []byte {
	n := min(len(p), max(limit-len(kept), 0), max(r.left, 0))
	if n == 0 {
		return kept
	}
	r.left -= n
	return append(kept, p[:n]...)
}

// addTool adds a fragment to the tool call it belongs to: by the index that the
// server gave it within the choice, in whatever order they come.
func (r *responseReader) addTool(c *choice, d *toolDelta) {
	e := &r.event
	t := r.toolOf(c, d)
	if t == nil {
		if r.keptTools == maxToolCalls && d.index < c.nextTool {
			return // most likely a call that is not kept, and is counted already
		}
		c.nextTool = max(c.nextTool, d.index+1)
		r.toolCalls++
		if r.keptTools == maxToolCalls {
			return
		}
		r.keptTools++
		c.tools = append(c.tools, toolCall{index: d.index})
		t = &c.tools[len(c.tools)-1]
	}
	if t.id == "" {
		t.id = string(e.bytes(d.id))
	}
	// Some servers repeat the name in every fragment, some send it in pieces.
	if name := e.bytes(d.name); !t.hasArguments && string(name) != t.name && len(t.name)+len(name) <= maxField {
		t.name += string(name)
	}
	if d.hasArguments {
		t.hasArguments = true
		t.arguments = r.keep(t.arguments, e.bytes(d.arguments), r.argumentLimit)
	}
}

// toolOf returns the call that a fragment belongs to, or nil for a new one,
// whose index it then completes.
func (r *responseReader) toolOf(c *choice, d *toolDelta) *toolCall {
	switch {
	case !r.stream: // the calls of a document are whole
		d.index = c.nextTool
		return nil
	case d.hasIndex:
		return c.tool(d.index)
	}
	// Without an index a fragment that names another call begins it, and one
	// that names none goes on with the last.
	id := r.event.bytes(d.id)
	for i := range c.tools {
		if len(id) > 0 && c.tools[i].id == string(id) {
			return &c.tools[i]
		}
	}
	if len(id) == 0 && d.index == 0 && len(c.tools) > 0 {
		return &c.tools[len(c.tools)-1]
	}
	if len(id) == 0 {
		return c.tool(d.index)
	}
	d.index = c.nextTool
	return nil
}

func (c *choice) tool(index int) *toolCall {
	for i := len(c.tools) - 1; i >= 0; i-- {
		if c.tools[i].index == index {
			return &c.tools[i]
		}
	}
	return nil
}

// response is what is known of the answer. expected is the number of choices
// that the request asked for; cut says that the answer ended early, so that
// choices which never came are known to have no reason.
func (r *responseReader) response(expected int, cut, content bool) genai.Response {
	// Copies: what is handed out does not change any more.
	kept := &struct {
		usage  usage
		reason [1]string // in one piece of memory with it
	}{usage: r.usage}
	u := &kept.usage
	resp := genai.Response{
		ID: r.id, Model: r.model, Increments: r.increments,
		Usage: genai.Usage{
			InputTokens: u.input.pointer(), OutputTokens: u.output.pointer(),
			TotalTokens: u.total.pointer(), CacheReadInputTokens: u.cached.pointer(),
		},
	}
	if len(r.choices) == 0 {
		return resp
	}
	places := len(r.choices)
	if cut {
		places = max(places, min(expected, maxChoices))
	}
	resp.FinishReasons = kept.reason[:]
	if places > 1 {
		resp.FinishReasons = make([]string, places)
	}
	for i := range r.choices {
		resp.FinishReasons[i] = r.choices[i].finish
	}
	if r.toolCalls > 0 && r.argumentLimit > 0 {
		resp.ToolCallCount = r.toolCalls
		resp.ToolCalls = make([][]genai.ToolCall, len(r.choices))
		for i := range r.choices {
			resp.ToolCalls[i] = r.choices[i].toolCalls()
		}
	}
	if content {
		for i := range r.choices {
			resp.Messages = append(resp.Messages, r.choices[i].message(resp.ToolCalls, i))
		}
	}
	return resp
}

func (c *choice) toolCalls() []genai.ToolCall {
	if len(c.tools) == 0 {
		return nil
	}
	slices.SortStableFunc(c.tools, func(a, b toolCall) int { return cmp.Compare(a.index, b.index) })
	calls := make([]genai.ToolCall, len(c.tools))
	for i, t := range c.tools {
		calls[i] = genai.ToolCall{ID: t.id, Name: t.name, Arguments: string(t.arguments)}
	}
	return calls
}

func (c *choice) message(calls [][]genai.ToolCall, i int) genai.Message {
	m := genai.Message{Role: "assistant", FinishReason: c.finish}
	if len(c.reasoning) > 0 {
		m.Parts = append(m.Parts, genai.ReasoningPart(string(c.reasoning)))
	}
	if len(c.text) > 0 {
		m.Parts = append(m.Parts, genai.TextPart(string(c.text)))
	}
	if i < len(calls) {
		for _, t := range calls[i] {
			m.Parts = append(m.Parts, genai.ToolCallPart(t.ID, t.Name, t.Arguments))
		}
	}
	return m
}
