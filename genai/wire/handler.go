package wire

import (
	"math"
	"strconv"

	"github.com/infertel/infertel-go/internal/jsonstream"
)

// Open implements jsonstream.Handler.
func (r *responseReader) Open(id int, k jsonstream.Kind) {
	e := &r.event
	r.text = r.text[:0]
	at := span{len(e.buf), len(e.buf)}
	switch id {
	case resText, resReasoning, resReasoningContent:
		if k == jsonstream.String && e.textAt == unseen {
			e.textAt = e.base + r.json.Offset()
		}
	}
	switch id {
	case resChoice:
		e.hasChoices = true
		if e.inDelta = k == jsonstream.Object && len(e.deltas) < maxChoices; e.inDelta {
			e.deltas = append(e.deltas, delta{index: r.position, firstTool: len(e.tools), lastTool: len(e.tools)})
		}
		r.position++
	case resText:
		// A content that is a list of parts is one text.
		if d := r.delta(); d != nil && d.text.from == d.text.to {
			d.text = at
		}
	case resReasoning:
		if d := r.delta(); d != nil {
			d.reasoning = at
		}
	case resReasoningContent:
		if d := r.delta(); d != nil {
			d.reasoningContent = at
		}
	case resTool:
		d := r.delta()
		if e.inTool = d != nil && k == jsonstream.Object && len(e.tools) < maxEventTools; e.inTool {
			e.tools = append(e.tools, toolDelta{index: len(e.tools) - d.firstTool})
			d.lastTool = len(e.tools)
		}
	case resToolID, resToolName, resToolArguments:
		if t := r.tool(); t != nil {
			switch id {
			case resToolID:
				t.id = at
			case resToolName:
				t.name = at
			default:
				t.arguments = at
			}
		}
	case resError:
		e.isError = e.isError || k == jsonstream.Object || k == jsonstream.String
	case resResult:
		e.results++
	}
}

// delta is the choice being read, if the document has one.
func (r *responseReader) delta() *delta {
	if !r.event.inDelta {
		return nil
	}
	return &r.event.deltas[len(r.event.deltas)-1]
}

func (r *responseReader) tool() *toolDelta {
	if !r.event.inTool {
		return nil
	}
	return &r.event.tools[len(r.event.tools)-1]
}

// Text implements jsonstream.Handler.
func (r *responseReader) Text(id int, p []byte) {
	e := &r.event
	switch id {
	case resText:
		if d := r.delta(); d != nil {
			d.hasText = true
			e.written += len(p)
			d.text.to = r.capture(d.text, p, r.contentLimit)
		}
	case resReasoning:
		if d := r.delta(); d != nil {
			d.hasReasoning = true
			e.written += len(p)
			d.reasoning.to = r.capture(d.reasoning, p, r.contentLimit)
		}
	case resReasoningContent:
		if d := r.delta(); d != nil {
			d.hasReasoningContent = true
			e.written += len(p)
			d.reasoningContent.to = r.capture(d.reasoningContent, p, r.contentLimit)
		}
	case resToolID:
		if t := r.tool(); t != nil {
			e.output = true
			t.id.to = r.capture(t.id, p, min(r.argumentLimit, maxField))
		}
	case resToolName:
		if t := r.tool(); t != nil {
			e.output = true
			t.name.to = r.capture(t.name, p, min(r.argumentLimit, maxField))
		}
	case resToolArguments:
		if t := r.tool(); t != nil {
			e.output, t.hasArguments = true, true
			t.arguments.to = r.capture(t.arguments, p, r.argumentLimit)
		}
	case resID:
		if r.id == "" {
			r.text = appendBounded(r.text, p)
		}
	case resModel:
		if r.model == "" {
			r.text = appendBounded(r.text, p)
		}
	default:
		r.text = appendBounded(r.text, p)
	}
}

func appendBounded(b, p []byte) []byte {
	return append(b, p[:min(len(p), max(maxField-len(b), 0))]...)
}

// capture appends p to the text at s, which ends the buffer, as far as the
// limit goes, and returns its new end.
func (r *responseReader) capture(s span, p []byte, limit int) int {
	e := &r.event
	room := min(limit-(s.to-s.from), maxEvent-len(e.buf), len(p))
	if s.to != len(e.buf) || room <= 0 {
		return s.to
	}
	e.buf = append(e.buf, p[:room]...)
	return len(e.buf)
}

// Close implements jsonstream.Handler.
func (r *responseReader) Close(id int, k jsonstream.Kind, raw []byte) {
	switch k {
	case jsonstream.Number:
		r.closeNumber(id, raw)
	case jsonstream.String:
		r.closeString(id)
	case jsonstream.Object, jsonstream.Array:
		switch {
		case id == resTool:
			r.event.inTool = false
		case id == resChoice:
			if d := r.delta(); d != nil {
				r.event.output = r.event.output || d.hasText || d.hasReasoning || d.hasReasoningContent
			}
			r.event.inDelta = false
			if !r.stream {
				// An answer is kept as it comes: only a stream has events that
				// could turn out to be broken.
				r.commit()
			}
		case id == resRoot && k == jsonstream.Array:
			if e := &r.event; e.results > 0 && e.counted == e.results {
				e.usage.input = tokens{e.resultTokens, true}
			}
		}
	}
}

func (r *responseReader) closeString(id int) {
	e := &r.event
	switch id {
	case resID:
		if r.id == "" {
			r.eventID = string(r.text)
		}
	case resModel:
		if r.model == "" {
			r.eventModel = string(r.text)
		}
	case resFinish:
		if d := r.delta(); d != nil {
			d.finish = finishReason(r.text)
		}
	case resObject:
		if string(r.text) == "error" {
			e.isError = true
		}
	case resErrorType:
		e.errorType, e.hasCode = string(r.text), true
	case resErrorCode:
		e.hasCode = true
	case resMessage:
		e.hasMessage = true
	}
}

// finishReason returns the reasons that engines write without an allocation.
func finishReason(b []byte) string {
	switch string(b) {
	case "stop":
		return "stop"
	case "length":
		return "length"
	case "tool_calls":
		return "tool_calls"
	case "abort":
		return "abort"
	case "content_filter":
		return "content_filter"
	}
	return string(b)
}

func (r *responseReader) closeNumber(id int, raw []byte) {
	n, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil {
		f, _ := strconv.ParseFloat(string(raw), 64) // 9.0 is a count as well
		if n = int64(f); float64(n) != f || f == 0 {
			return
		}
	}
	if n < 0 {
		return
	}
	u, count := &r.event.usage, int(min(n, math.MaxInt))
	switch id {
	case resErrorCode:
		r.event.hasCode = true
	case resIndex:
		if d := r.delta(); d != nil {
			d.index = int(min(n, maxChoices))
		}
	case resToolIndex:
		if t := r.tool(); t != nil {
			t.index, t.hasIndex = int(min(n, maxToolIndex)), true
		}
	case resInputTokens:
		u.input = tokens{count, true}
	case resOutputTokens:
		u.output = tokens{count, r.generates}
	case resTotalTokens:
		u.total = tokens{count, true}
	case resCachedTokens:
		u.cached = tokens{count, true}
	case resResultTokens:
		r.event.counted++
		r.event.resultTokens += count
	}
}
