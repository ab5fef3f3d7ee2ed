package wire

import (
	"bytes"
	"unicode/utf8"

	"github.com/infertel/infertel-go/genai"
	"github.com/infertel/infertel-go/internal/jsonstream"
)

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

	// Room for what nearly every answer has, so that it needs no memory of its own.
	oneDelta  [1]delta
	oneChoice [1]choice
	shortText [40]byte
}

func (r *responseReader) reset(op genai.Operation, content bool, contentLength int) {
	r.generates = op == genai.OperationChat || op == genai.OperationTextCompletion
	r.left = maxContent + maxToolCalls*maxArguments
	if content && r.generates {
		r.contentLimit = contentLength + utf8.UTFMax
		r.argumentLimit = r.contentLimit
	}
	r.event.deltas, r.choices, r.text = r.oneDelta[:0], r.oneChoice[:0], r.shortText[:0]
	r.json.Reset(responseNode, r)
	r.event.reset()
}

// keepArguments makes r keep the arguments of tool calls, whatever the content mode.
func (r *responseReader) keepArguments() {
	if limit := maxArguments + utf8.UTFMax; r.argumentLimit < limit {
		r.argumentLimit = limit
		r.alike = nil // what is remembered of events lacks them
	}
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
