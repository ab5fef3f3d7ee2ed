package wire

import (
	"bytes"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/infertel/infertel-go/genai"
	"github.com/infertel/infertel-go/internal/jsonstream"
)

// tokens is a count that may not have been reported.
type tokens struct {
	n   int
	set bool
}

func (t *tokens) pointer() *int {
	if !t.set {
		return nil
	}
	return &t.n
}

type usage struct{ input, output, total, cached tokens }

// merge takes over what o reports. Counts of a stream are running totals.
func (u *usage) merge(o *usage) {
	if (o.input.set || o.output.set) && !o.total.set {
		u.total = tokens{} // it belonged to older counts
	}
	for _, p := range [...]struct{ to, from *tokens }{{&u.input, &o.input}, {&u.output, &o.output}, {&u.total, &o.total}, {&u.cached, &o.cached}} {
		if p.from.set {
			*p.to = *p.from
		}
	}
}

// span is a piece of the event's buffer.
type span struct{ from, to int }

// delta is what one event adds to one choice.
type delta struct {
	index                             int
	finish                            string
	text, reasoning, reasoningContent span
	// Whether the model wrote anything, kept or not.
	hasText, hasReasoning, hasReasoningContent bool
	firstTool, lastTool                        int // of the event's list
}

type toolDelta struct {
	index                  int // as the server says, else the place in the event
	id, name, arguments    span
	hasIndex, hasArguments bool
}

// event gathers the facts of one document, an answer or one event of a stream,
// until it is known to be whole.
type event struct {
	buf       []byte
	deltas    []delta
	tools     []toolDelta
	usage     usage
	isError   bool
	errorType string
	output    bool // some choice has new output
	written   int  // bytes of text and reasoning, kept or not
	base      int  // where in the event the piece that is read begins
	textAt    int  // where in it the first text begins, or unseen

	// An error object that stands in the document itself has a message and a type
	// or code, and no choices.
	hasMessage, hasCode, hasChoices bool

	// Whether the choice and the tool call being read are among those above.
	inDelta, inTool bool

	results, counted int // entries of a bare array, and those with a token count
	resultTokens     int
}

// unseen stands for a place in an event that was not seen.
const unseen = -1

func (e *event) reset() {
	*e = event{buf: e.buf[:0], deltas: e.deltas[:0], tools: e.tools[:0], textAt: unseen}
}

func (e *event) bytes(s span) []byte { return e.buf[s.from:s.to] }

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

// responseReader gathers a genai.Response from an answer that comes in pieces.
type responseReader struct {
	json     jsonstream.Reader
	sse      eventReader
	event    event
	alike    *alike // nil until a stream has begun
	begun    bool   // the event being read has a piece of data
	position int    // of the next choice in the document
	text     []byte // of the string being read, if it is short

	stream        bool // server-sent events
	generates     bool // the operation makes output tokens
	contentLimit  int  // to which a text is kept; 0: not at all
	argumentLimit int  // the same for the arguments of tool calls

	id, model           string
	eventID, eventModel string // as the event says, until it is whole
	choices             []choice
	usage               usage
	increments          int
	toolCalls           int // distinct tool calls seen
	keptTools           int
	left                int // of the budget for texts and arguments
	failed              bool
	errorType           string
	done                bool // the stream said so itself
	bytes               bool // something was read
}

func (r *responseReader) reset(op genai.Operation, content bool, contentLength int) {
	r.generates = op == genai.OperationChat || op == genai.OperationTextCompletion
	r.left = maxContent + maxToolCalls*maxArguments
	if content && r.generates {
		r.contentLimit = contentLength + utf8.UTFMax
		r.argumentLimit = r.contentLimit
	}
	r.json.Reset(responseNode, r)
	r.event.reset()
}

// write reads the next piece of the decoded body.
func (r *responseReader) write(p []byte) {
	r.bytes = r.bytes || len(p) > 0
	if !r.stream {
		r.json.Write(p)
		return
	}
	for len(p) > 0 {
		if p = r.skim(p); len(p) == 0 {
			return
		}
		n := len(p)
		if i := bytes.Index(p, emptyLine); i >= 0 {
			n = i + len(emptyLine)
		}
		r.sse.write(p[:n], r)
		p = p[n:]
	}
}

var emptyLine = []byte("\n\n")

// finish takes over what the end of the body makes whole.
func (r *responseReader) finish() {
	if r.stream {
		r.sse.finish(r)
		return
	}
	r.json.Finish()
	r.commit()
}

// complete reports whether the answer has been seen to its end: a whole JSON
// document, or a stream with its end mark or a finish reason for every choice.
// expected is the number of choices that the request asked for.
func (r *responseReader) complete(expected int) bool {
	if !r.stream {
		return r.json.Done()
	}
	if r.done || r.failed {
		return true
	}
	for i := range r.choices {
		if r.choices[i].finish == "" {
			return false
		}
	}
	return len(r.choices) > 0 && len(r.choices) >= min(expected, maxChoices)
}

// data, newLine and dispatch are called by the eventReader.
func (r *responseReader) data(p []byte) {
	if r.begun {
		r.json.Write(p)
		return
	}
	r.begun = true
	r.readStart(p)
}

func (r *responseReader) newLine() bool {
	// By the letter this line continues the data of the event. After a whole
	// document it cannot: some servers leave out the empty line.
	if r.json.Done() {
		r.dispatch(false)
		return true
	}
	r.json.Write(lineFeed)
	return false
}

var lineFeed = []byte{'\n'}

// dispatch ends an event of the stream. One that is not a whole JSON document
// tells nothing.
func (r *responseReader) dispatch(done bool) {
	switch {
	case done:
		r.done = true
	case r.json.Finish():
		if r.event.output {
			r.increments++
		}
		r.commit()
	}
	r.event.reset()
	r.position, r.eventID, r.eventModel, r.begun = 0, "", "", false
	r.json.Reset(responseNode, r)
}
