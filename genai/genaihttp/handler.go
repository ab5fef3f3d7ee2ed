package genaihttp

import (
	"context"
	"maps"
	"net/http"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/infertel/infertel-go/genai"
	"github.com/infertel/infertel-go/genai/wire"
)

// NewHandler returns a handler that observes the requests that next answers.
// The entry span starts when the request arrives and ends when next returns.
// What the body of the request says is observed as next reads it.
//
// The span is a child of the span in the request's context, if an outer handler
// has started one, else of the one that the headers name.
//
// If next panics, the span ends with an error and the same panic goes on. A nil
// inst observes nothing.
func NewHandler(next http.Handler, inst *genai.Instrumentation, opts ...HandlerOption) http.Handler {
	return &handler{next: next, inst: inst, fields: traceFields(inst), config: newConfig(opts)}
}

type handler struct {
	config
	next   http.Handler
	inst   *genai.Instrumentation
	fields []string // the headers of the trace context
}

var (
	errPanicked     = &genai.Error{Outcome: genai.OutcomePanic, Description: "the handler panicked"}
	errAborted      = &genai.Error{Outcome: genai.OutcomeTruncated, Description: "the answer was cut off before it was complete"}
	errDisconnected = &genai.Error{Outcome: genai.OutcomeDisconnected, Description: "the client disconnected or the request was given up before the answer was complete"}
)

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	op, ok := h.operation(r)
	if !ok || h.inst == nil || genai.CallFromContext(r.Context()) != nil {
		h.next.ServeHTTP(w, r)
		return
	}
	ctx := r.Context()
	if !trace.SpanContextFromContext(ctx).IsValid() {
		ctx = h.inst.Propagator().Extract(ctx, carrier(r.Header))
	}
	parent := trace.SpanContextFromContext(ctx)
	ctx, x := wire.Start(ctx, h.inst, requestHead(op, r.Header))
	if x == nil && trace.SpanContextFromContext(ctx).Equal(parent) {
		h.next.ServeHTTP(w, r) // no SDK is there
		return
	}
	inner := withContext(ctx, r, h.inst.Propagator(), h.fields)
	if b, ok := r.Header[baggageHeader]; ok {
		inner.Header[baggageHeader] = b // to the byte, also where it cannot be read
	}
	if x == nil {
		h.next.ServeHTTP(w, inner)
		return
	}
	h.observe(w, inner, r, op, x)
}

// observe calls the wrapped handler with r, the copy of what was received, and
// ends the exchange when it is through.
func (h *handler) observe(w http.ResponseWriter, r, received *http.Request, op genai.Operation, x *wire.Exchange) {
	both := &struct { // in one piece of memory
		responseObserver
		requestBody
	}{}
	o, body := &both.responseObserver, &both.requestBody
	o.exchange, o.prompt = x, genai.CallFromContext(r.Context()).WantsFirstToken()
	returned := false
	defer func() {
		v := recover()
		var err error
		switch {
		case r.Context().Err() != nil || o.failed():
			err = errDisconnected
		case v == http.ErrAbortHandler: //nolint:errorlint // what is recovered is not wrapped
			err = errAborted // a proxy does so when its upstream breaks off
		case !returned:
			err = errPanicked
		}
		if v != nil && v != http.ErrAbortHandler { //nolint:errorlint // as above
			err = errPanicked
		}
		o.look()
		x.End(err)
		if v != nil {
			panic(v) // net/http decides what it means
		}
	}()
	if h.includeUsage && (op == genai.OperationChat || op == genai.OperationTextCompletion) {
		o.filter = askForUsage(r)
	}
	if r.Body != nil && r.Body != http.NoBody {
		body.open(r, received, x)
	}
	h.next.ServeHTTP(o.wrap(w), r)
	o.release()
	if !o.isFullDuplex() {
		body.lookAtUnread()
	}
	returned = true
}

const baggageHeader = "Baggage"

// traceFields returns the headers of the trace context. Baggage has a meaning of
// its own and goes on where the context has none to put in its place.
func traceFields(inst *genai.Instrumentation) []string {
	var fields []string
	for _, f := range inst.Propagator().Fields() {
		if f = canonical(f); f != baggageHeader {
			fields = append(fields, f)
		}
	}
	return fields
}

// withContext returns a copy of r with ctx and its trace context. Headers of a
// trace context that is not that of ctx go: half of one would be sent on with
// half of the other.
func withContext(ctx context.Context, r *http.Request, p propagation.TextMapPropagator, fields []string) *http.Request {
	r = r.WithContext(ctx)
	// The values are shared: nobody changes one in its place.
	if r.Header = maps.Clone(r.Header); r.Header == nil {
		r.Header = make(http.Header)
	}
	for _, f := range fields {
		delete(r.Header, f)
	}
	p.Inject(ctx, carrier(r.Header))
	return r
}
