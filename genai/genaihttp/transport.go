package genaihttp

import (
	"context"
	"io"
	"net"
	"net/http"
	"sync"

	"go.opentelemetry.io/otel/trace"

	"github.com/infertel/infertel-go/genai"
	"github.com/infertel/infertel-go/genai/wire"
	"github.com/infertel/infertel-go/internal/safeerror"
)

// Transport is an http.RoundTripper that observes requests. Make it with
// [NewTransport].
type Transport struct {
	config
	base   http.RoundTripper
	inst   *genai.Instrumentation
	fields []string // the headers of the trace context
}

// NewTransport returns a [Transport] that observes the requests that base sends;
// a nil base means http.DefaultTransport. The entry span starts when the
// request is sent and ends with the body of the answer: at its end, at an error,
// or when the caller closes it.
//
// Below a handler of [NewHandler] that already observes a request of the same
// operation, and for requests that are not observed, it only passes on the trace
// context.
func NewTransport(base http.RoundTripper, inst *genai.Instrumentation, opts ...Option) *Transport {
	if base == nil {
		base = http.DefaultTransport
	}
	return &Transport{config: newConfig(opts), base: base, inst: inst, fields: traceFields(inst)}
}

var errTransportPanic = &genai.Error{Outcome: genai.OutcomePanic, Description: "the transport panicked"}

var errClosed = &genai.Error{Outcome: genai.OutcomeDisconnected, Description: "the caller closed the answer before it was complete"}

// RoundTrip implements http.RoundTripper. The request it is given is not
// changed.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if t.inst == nil {
		return t.base.RoundTrip(r)
	}
	op, ok := t.operation(r)
	if outer := genai.CallFromContext(r.Context()); !ok || outer != nil && outer.Operation() == op {
		return t.base.RoundTrip(t.inject(r.Context(), r))
	}
	ctx, x := wire.Start(r.Context(), t.inst, requestHead(op, r.Header))
	r = t.inject(ctx, r)
	if x == nil {
		return t.base.RoundTrip(r)
	}
	observeRequest(r, x)
	returned := false
	defer func() {
		if returned {
			return
		}
		v := recover()
		x.End(errTransportPanic)
		if v != nil { // else the goroutine ends
			panic(v)
		}
	}()
	resp, err := t.base.RoundTrip(r)
	returned = true
	if err != nil || resp == nil {
		lookAtUnsent(r)
		x.End(sendError(ctx, err))
		return resp, err
	}
	x.ResponseHead(responseHead(resp.StatusCode, resp.Header))
	if resp.Body == nil || resp.Body == http.NoBody || resp.StatusCode == http.StatusSwitchingProtocols {
		x.End(nil)
		return resp, nil
	}
	resp.Body = &responseBody{ReadCloser: resp.Body, exchange: x, ctx: ctx}
	return resp, nil
}

// inject returns a copy of r with ctx and its trace context.
func (t *Transport) inject(ctx context.Context, r *http.Request) *http.Request {
	if ctx == r.Context() && !trace.SpanContextFromContext(ctx).IsValid() {
		return r
	}
	return withContext(ctx, r, t.inst.Propagator(), t.fields)
}

// observeRequest looks at the body of r, and at each new one that a transport
// asks for to send it again.
func observeRequest(r *http.Request, x *wire.Exchange) {
	if r.Body == nil || r.Body == http.NoBody {
		return
	}
	r.Body = &requestBody{ReadCloser: r.Body, exchange: x}
	if again := r.GetBody; again != nil {
		r.GetBody = func() (io.ReadCloser, error) {
			body, err := again()
			if err != nil {
				return nil, err
			}
			x.RequestRestart()
			return &requestBody{ReadCloser: body, exchange: x}, nil
		}
	}
}

// lookAtUnsent reads the body of a request of which nothing was sent, such as to
// a server that cannot be reached, so that the span of the failure has the
// attributes of the request. It takes a new body for that, if the request has any.
func lookAtUnsent(r *http.Request) {
	b, ok := r.Body.(*requestBody)
	if !ok || r.GetBody == nil || r.ContentLength > maxUnread || b.touched.Load() {
		return
	}
	if body, err := r.GetBody(); err == nil {
		_, _ = io.CopyN(io.Discard, body, maxUnread)
		_ = body.Close()
	}
}

// responseBody looks at the body of an answer as it is read.
type responseBody struct {
	io.ReadCloser
	exchange *wire.Exchange
	ctx      context.Context
	once     sync.Once
}

func (b *responseBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if n > 0 && n <= len(p) {
		b.exchange.ResponseBody(p[:n])
	}
	switch {
	case err == io.EOF:
		b.end(nil)
	case err != nil:
		b.end(sendError(b.ctx, err))
	}
	return n, err
}

func (b *responseBody) Close() error {
	err := b.ReadCloser.Close()
	b.end(errClosed)
	return err
}

func (b *responseBody) end(err error) { b.once.Do(func() { b.exchange.End(err) }) }

// sendError says in safe words why a request could not be sent or its answer
// not be read: the text of such errors can hold addresses and query strings.
func sendError(ctx context.Context, err error) error {
	if cause := ctx.Err(); cause != nil {
		return cause
	}
	_, typeName := safeerror.Describe(err)
	if typeName == "" { // of package context
		return err
	}
	return &genai.Error{Outcome: genai.OutcomeTransport, Description: whatBroke(err), Type: typeName}
}

func whatBroke(err error) string {
	if e, ok := safeerror.As[net.Error](err); ok && timedOut(e) {
		return "the server did not answer in time"
	}
	if e, ok := safeerror.As[*net.OpError](err); ok && e != nil && e.Op == "dial" {
		return "the server could not be reached"
	}
	if safeerror.Is(err, io.ErrUnexpectedEOF) {
		return "the connection to the server broke off"
	}
	return "the connection to the server failed"
}

func timedOut(e net.Error) (timeout bool) {
	defer func() { _ = recover() }() // a method of other code
	return e.Timeout()
}
