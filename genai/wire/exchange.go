package wire

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/otel"

	"github.com/infertel/infertel-go/genai"
)

// RequestHead is what is known of a request before its body.
type RequestHead struct {
	// Operation is what the request asks for, see [OperationOf].
	Operation genai.Operation
	// RequestID is the header X-Request-Id, SessionID the header X-Session-ID.
	// A body that names its own comes first.
	RequestID, SessionID string
	// ContentEncoding is the header Content-Encoding. Bodies in gzip are
	// decoded to be looked at, bodies in any other encoding are not looked at.
	ContentEncoding string
	// StartTime is when the request arrived. Zero: now.
	StartTime time.Time
}

// ResponseHead is what is known of an answer before its body.
type ResponseHead struct {
	// Status is the HTTP status; 400 and above make the call an error.
	Status int
	// ContentType tells a stream (text/event-stream) from a JSON document, unless
	// the first bytes of the body say otherwise.
	ContentType string
	// ContentEncoding is as for requests.
	ContentEncoding string
}

// Exchange is one request and its answer. Its methods are safe for concurrent
// use, on a nil *Exchange, and after End. No method keeps a reference to the
// bytes it is given.
type Exchange struct {
	mu            sync.Mutex
	call          *genai.Call
	head          RequestHead
	contentLength int

	request     *requestReader // nil when the request has been read to its end
	requestBody body
	asked       genai.Request // by a request that has been read to its end
	expected    int           // choices, the same

	response     responseReader
	responseBody body
	status       int
	answered     bool // the head of the answer came
	sniffer      sniffer
	firstToken   bool // it was seen
	ended        bool
}

// body is the state of a body on its way to a reader.
type body struct {
	inflater *inflater
	opaque   bool // in an encoding that is not understood: not looked at
}

// Start begins the entry span of a request; see [genai.Instrumentation.Start]
// for the context it returns. The [Exchange] is nil, and all its methods do
// nothing, if neither a span, nor the token metric, nor a callback wants it.
// Source: vllm.entry, sglang.entry.
func Start(ctx context.Context, inst *genai.Instrumentation, h RequestHead) (context.Context, *Exchange) {
	ctx, call := inst.Start(ctx, genai.Request{Operation: h.Operation, StartTime: h.StartTime})
	if !call.Wanted() {
		call.End(genai.Response{}, nil)
		return ctx, nil
	}
	x := &Exchange{call: call, head: h, contentLength: inst.ContentMaxLength(), request: newRequestReader()}
	x.request.reset(h.Operation, call.WantsContent(), x.contentLength)
	x.response.reset(h.Operation, call.WantsContent(), x.contentLength)
	x.openRequest()
	return ctx, x
}

// isCurtailed reports whether the body is longer than we care to decode.
func (b *body) isCurtailed() bool { return b.inflater != nil && b.inflater.curtailed }

// open takes the encoding of the body and reports whether it needs an inflater.
func (b *body) open(encoding string) bool {
	switch strings.ToLower(strings.TrimSpace(encoding)) {
	case "", "identity":
	case "gzip", "x-gzip":
		return true
	default:
		b.opaque = true
	}
	return false
}

func (x *Exchange) openRequest() {
	if x.requestBody.open(x.head.ContentEncoding) {
		x.requestBody.inflater = newInflater(x.readRequest)
	}
}

// write hands p to the reader, decoded.
func (b *body) write(p []byte, read func([]byte)) {
	switch {
	case b.opaque:
	case b.inflater == nil:
		read(p)
	default:
		b.inflater.write(p)
		b.opaque = b.inflater.err != nil
	}
}

func (b *body) close() {
	if b.inflater != nil {
		b.inflater.stop()
	}
}

// guard keeps a fault in the observation away from the host: what is observed
// is given up, the bytes pass.
func (x *Exchange) guard() {
	if r := recover(); r != nil {
		x.requestBody.opaque, x.responseBody.opaque = true, true
		otel.Handle(fmt.Errorf("wire: the observation of a request failed and was given up: %T", r))
	}
	x.mu.Unlock()
}

// RequestBody looks at the next piece of the request body.
func (x *Exchange) RequestBody(p []byte) {
	if x == nil {
		return
	}
	x.mu.Lock()
	defer x.guard()
	if !x.ended && x.request != nil {
		x.requestBody.write(p, x.readRequest)
	}
}

func (x *Exchange) readRequest(p []byte) {
	if x.request == nil {
		return
	}
	x.request.json.Write(p)
	if x.request.json.Done() {
		x.asked, x.expected = x.request.snapshot(), x.request.choices()
		x.settleRequest(x.asked)
		// An answer can take long, and what reads requests is of no use any more.
		x.request.release()
		x.request = nil
	}
}

// choices is how many choices the request asks for.
func (x *Exchange) choices() int {
	if x.request != nil {
		return x.request.choices()
	}
	return x.expected
}

// RequestRestart forgets the request body seen so far, for a transport that
// sends it again.
func (x *Exchange) RequestRestart() {
	if x == nil {
		return
	}
	x.mu.Lock()
	defer x.guard()
	if x.ended || x.request == nil {
		return
	}
	x.requestBody.close()
	x.requestBody = body{}
	x.openRequest()
	x.request.reset(x.head.Operation, x.call.WantsContent(), x.contentLength)
}

// settleRequest tells the call what is known of the request.
func (x *Exchange) settleRequest(r genai.Request) {
	if r.ID == "" {
		r.ID = x.head.RequestID
	}
	if r.SessionID == "" {
		r.SessionID = x.head.SessionID
	}
	x.call.SetRequest(r)
	if x.call.WantsToolCalls() {
		x.response.keepArguments()
	}
}

// ResponseHead looks at the head of the answer. Heads of informational answers
// (1xx) need not be given.
func (x *Exchange) ResponseHead(h ResponseHead) {
	if x == nil {
		return
	}
	x.mu.Lock()
	defer x.guard()
	if x.ended || x.answered {
		return
	}
	x.answered, x.status = true, h.Status
	if x.request != nil {
		x.settleRequest(x.request.snapshot())
	}
	kind, _, _ := strings.Cut(h.ContentType, ";")
	x.sniffer.claimed = strings.EqualFold(strings.TrimSpace(kind), "text/event-stream")
	x.response.stream = x.sniffer.claimed
	if x.responseBody.open(h.ContentEncoding) {
		x.responseBody.inflater = newInflater(x.readResponse)
	}
}

// ResponseBody looks at the next piece of the answer's body.
func (x *Exchange) ResponseBody(p []byte) {
	if x == nil || len(p) == 0 {
		return
	}
	x.mu.Lock()
	defer x.guard()
	if !x.ended {
		x.responseBody.write(p, x.readResponse)
	}
}

func (x *Exchange) readResponse(p []byte) {
	if !x.sniffer.done {
		head, rest := x.sniffer.write(p)
		if !x.sniffer.done {
			return
		}
		x.response.stream = x.sniffer.stream
		x.response.write(head)
		p = rest
	}
	x.response.write(p)
	if x.response.stream && x.response.increments > 0 && !x.firstToken {
		x.firstToken = true
		x.call.FirstToken(time.Time{})
	}
}

// Request returns what is known of the request so far.
func (x *Exchange) Request() genai.Request {
	if x == nil {
		return genai.Request{}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.request == nil {
		return x.asked
	}
	return x.request.snapshot()
}

// Response returns what is known of the answer so far. Its messages are there
// only where content is recorded.
func (x *Exchange) Response() genai.Response {
	if x == nil {
		return genai.Response{}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.response.response(x.choices(), false, x.call.WantsContent())
}

// End ends the exchange, and its span, exactly once. err is nil if the answer
// ended by itself, an [*genai.Error] or the error that ended it otherwise. An
// answer that was seen whole is a success whatever happened to the connection
// after it; one that ended too early is an error even without err.
func (x *Exchange) End(err error) {
	if x == nil {
		return
	}
	x.mu.Lock()
	if x.ended {
		x.mu.Unlock()
		return
	}
	x.ended = true
	resp, err := x.settle(err)
	x.mu.Unlock()
	x.call.End(resp, err)
}

func (x *Exchange) settle(err error) (resp genai.Response, outcome error) {
	outcome = err
	defer func() {
		if r := recover(); r != nil {
			otel.Handle(fmt.Errorf("wire: the observation of a request failed and was given up: %T", r))
		}
	}()
	x.requestBody.close()
	x.responseBody.close()
	if x.request != nil {
		x.request.json.Finish()
		x.settleRequest(x.request.snapshot())
	}
	r := &x.response
	if x.responseBody.opaque {
		// What a broken encoding gave up to here may be anything.
		*r = responseReader{}
	} else if x.answered {
		r.write(x.sniffer.rest())
		r.finish()
	}
	expected := x.choices()
	complete := !x.responseBody.opaque && r.bytes && r.complete(expected)
	outcome = x.outcome(err, complete)
	return r.response(expected, outcome != nil, x.call.WantsContent()), outcome
}
