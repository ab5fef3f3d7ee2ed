package genaihttp

import (
	"net/http"

	"go.opentelemetry.io/otel/propagation"

	"github.com/infertel/infertel-go/genai"
	"github.com/infertel/infertel-go/genai/wire"
)

// NewHandler returns a handler that observes the requests that next answers.
// The entry span starts when the request arrives and ends when next returns.
//
// If next panics, the span ends with an error and the panic passes on as it
// was. A nil inst observes nothing.
func NewHandler(next http.Handler, inst *genai.Instrumentation, opts ...Option) http.Handler {
	return &handler{next: next, inst: inst, config: newConfig(opts)}
}

type handler struct {
	config
	next http.Handler
	inst *genai.Instrumentation
}

var (
	errPanicked     = &genai.Error{Outcome: genai.OutcomePanic, Description: "the handler panicked or aborted the answer"}
	errDisconnected = &genai.Error{Outcome: genai.OutcomeDisconnected, Description: "the client disconnected before the answer was complete"}
)

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	op, ok := h.operation(r)
	if !ok || h.inst == nil || genai.CallFromContext(r.Context()) != nil {
		h.next.ServeHTTP(w, r)
		return
	}
	propagator := h.inst.Propagator()
	ctx := propagator.Extract(r.Context(), propagation.HeaderCarrier(r.Header))
	ctx, x := wire.Start(ctx, h.inst, requestHead(op, r.Header))
	if x == nil {
		h.next.ServeHTTP(w, r)
		return
	}

	o := &responseObserver{exchange: x}
	returned := false
	// No recover here: a panic passes on untouched, and net/http decides what
	// it means.
	defer func() {
		var err error
		switch {
		case r.Context().Err() != nil || o.failed():
			err = errDisconnected
		case !returned:
			err = errPanicked
		}
		o.look()
		x.End(err)
	}()

	inner := r.WithContext(ctx)
	inner.Header = r.Header.Clone()
	propagator.Inject(ctx, propagation.HeaderCarrier(inner.Header))
	if h.includeUsage && (op == genai.OperationChat || op == genai.OperationTextCompletion) {
		o.filter = askForUsage(inner)
	}
	var body *requestBody
	if inner.Body != nil && inner.Body != http.NoBody {
		body = serverBody(inner, x)
		inner.Body = body
	}
	h.next.ServeHTTP(o.wrap(w), inner)
	o.release()
	if !o.isFullDuplex() {
		body.lookAtUnread()
	}
	returned = true
}
