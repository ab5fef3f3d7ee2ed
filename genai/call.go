package genai

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/infertel/infertel-go/internal/boundedtext"
	"github.com/infertel/infertel-go/internal/reportonce"
)

// Call is one request on its way. Its methods are safe for concurrent use, on a
// nil *Call, and after End, when they do nothing.
type Call struct {
	inst      *Instrumentation
	ctx       scope
	span      trace.Span
	recording bool
	explicit  bool // the caller gave the start time
	named     bool // the span has had the model since its start

	mu         sync.Mutex
	request    Request
	response   Response
	firstToken time.Time
	ended      bool
}

// Recording reports whether the span is recorded, so that attributes are worth
// collecting. Token usage counts either way.
func (c *Call) Recording() bool { return c != nil && c.recording }

// Wanted reports whether anything comes of the call: a span, a token
// measurement or a call of the function of [WithOnEnd]. Where it is false
// nothing needs to be observed.
func (c *Call) Wanted() bool {
	return c != nil && (c.recording || c.inst.onEnd != nil || c.inst.tokens.counter.Enabled(&c.ctx))
}

// WantsFirstToken reports whether anything comes of [Call.FirstToken]: whether
// there is a function of [WithOnEnd] to be told of it. Where it is false an answer
// need not be looked at the moment it comes.
func (c *Call) WantsFirstToken() bool { return c != nil && c.inst.onEnd != nil }

// WantsContent reports whether the messages of the request and the answer are
// recorded. Where it is false they need not be collected.
func (c *Call) WantsContent() bool { return c.Recording() && c.inst.content != ContentNone }

// WantsToolCalls reports whether tool calls are recorded as attributes, as they
// are on the chat streams of SGLang.
func (c *Call) WantsToolCalls() bool {
	if !c.Recording() {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.inst.layout(&c.request).toolCalls
}

// Context returns the context that carries the span and the call.
func (c *Call) Context() context.Context {
	if c == nil {
		return context.Background()
	}
	return &c.ctx
}

// Operation returns the operation of the request.
func (c *Call) Operation() Operation {
	if c == nil {
		return OperationChat
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.request.Operation
}

// SetRequest replaces what is known of the request, but for its operation and
// its start, and names the span after the model.
func (c *Call) SetRequest(r Request) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return
	}
	r.Model = boundedtext.Cut(r.Model, boundedtext.MaxName)
	r.Operation, r.StartTime = c.request.Operation, c.request.StartTime
	if c.recording && r.Model != c.request.Model {
		c.named = false
		if m := c.inst.tokens.known(r.Model); m != nil {
			c.span.SetName(m.spans[r.Operation].name)
		} else {
			c.span.SetName(spanName(r.Operation, r.Model))
		}
	}
	c.request = r
}

// FirstToken tells when the first generated fragment of the answer was seen: a
// piece of content, reasoning or a tool call, never the frame that only names
// the role. A zero time means now. Only the first call counts.
func (c *Call) FirstToken(at time.Time) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended || !c.firstToken.IsZero() {
		return
	}
	if at.IsZero() {
		at = time.Now()
	}
	c.firstToken = at
}

// SetResponse tells what is known of the answer so far. Fields that are set
// replace what was told before; a usage that comes in parts is not added up,
// since engines report running totals.
func (c *Call) SetResponse(r Response) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.ended {
		c.response.merge(&r)
	}
}

// End ends the call exactly once: the first End decides, later ones do nothing.
// r adds to what SetResponse told. A nil err means success, unless a finish
// reason is abort. An error sets the span status; only an [*Error] and the
// errors of package context are described in words, of others the Go type is
// told, because their text may quote what a user typed.
func (c *Call) End(r Response, err error) {
	if c == nil {
		return
	}
	c.mu.Lock()
	if c.ended {
		c.mu.Unlock()
		return
	}
	c.ended = true
	c.response.merge(&r)
	// Nothing changes these from here on, so no lock is held while foreign
	// code runs below.
	c.mu.Unlock()
	failure := describe(err)
	if failure == nil {
		err = nil // also for a nil *Error
	}
	c.finish(failure, err)
}

const (
	misuseBackwards reportonce.Kind = iota
	misuseFirstToken
	misuseOnEnd
)

var (
	errBackwards  = errors.New("genai: a call was given an end before its start; its span has no length")
	errFirstToken = errors.New("genai: the first token of a call was seen before its start or after its end; it is left out")
)

func (c *Call) finish(failure *Error, cause error) {
	end := c.response.EndTime
	if end.IsZero() {
		end = time.Now()
	}
	duration := end.Sub(c.request.StartTime)
	if duration < 0 {
		duration = 0
		c.inst.misuse.Report(misuseBackwards, func() error { return errBackwards })
	}
	end = c.request.StartTime.Add(duration)

	reasons, aborted := finishReasons(c.response.FinishReasons)
	if failure == nil && aborted {
		failure = &Error{Outcome: OutcomeAborted, Description: "the engine aborted the request"}
		cause = failure
	}
	if c.recording {
		c.record(failure, reasons, duration)
		if c.explicit || !c.response.EndTime.IsZero() {
			c.span.End(trace.WithTimestamp(end))
		} else {
			c.span.End()
		}
	} else {
		c.span.End()
	}
	c.inst.tokens.add(&c.ctx, &c.request, &c.response, failure == nil)
	if c.inst.onEnd == nil {
		return
	}
	f := Finished{
		Operation: c.request.Operation, RequestModel: c.request.Model, ResponseModel: c.response.Model,
		Stream: c.request.Stream, StartTime: c.request.StartTime, EndTime: end, Duration: duration,
		Usage: c.response.Usage, FinishReasons: reasons, Err: cause,
	}
	if !c.firstToken.IsZero() {
		if ttft := c.firstToken.Sub(f.StartTime); ttft >= 0 && ttft <= duration {
			f.FirstTokenTime, f.TimeToFirstToken = c.firstToken, ttft
		} else {
			c.inst.misuse.Report(misuseFirstToken, func() error { return errFirstToken })
		}
	}
	if failure != nil {
		f.Outcome = failure.Outcome
	}
	c.tell(&f)
}

// tell calls the function of WithOnEnd. A panic in it must not reach the request
// that has just been served, nor take the place of one that is on its way.
func (c *Call) tell(f *Finished) {
	defer func() {
		if v := recover(); v != nil {
			c.inst.misuse.Report(misuseOnEnd, func() error {
				return fmt.Errorf("genai: the function of WithOnEnd panicked with a value of type %T", v)
			})
		}
	}()
	c.inst.onEnd(&c.ctx, *f)
}

// otherReason stands for a reason that is not one word: servers choose the text,
// which could be anything that the model or a user wrote.
const otherReason = "_OTHER"

// finishReasons fills the places of choices that have no reason, once any other
// has one, and reports whether the engine aborted one.
func finishReasons(given []string) (reasons []string, aborted bool) {
	fits, known := true, false
	for _, r := range given {
		known = known || r != ""
		fits = fits && boundedtext.IsWord(r)
		aborted = aborted || r == "abort"
	}
	if !known {
		return nil, false
	}
	if fits {
		return given, aborted
	}
	reasons = make([]string, len(given))
	for i, r := range given {
		switch {
		case r == "":
			reasons[i] = "error"
		case boundedtext.IsWord(r):
			reasons[i] = r
		default:
			reasons[i] = otherReason
		}
	}
	return reasons, aborted
}
