package wire

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
