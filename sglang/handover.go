package sglang

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// HandoverField is the key, next to those of W3C trace context, under which a
// [Handover] travels: "3" or "3-00f067aa0ba902b7", the request's trace level and
// the span ID of the stage that handed it over.
const HandoverField = "infertel-handover"

// Handover is what one thread gives another when it hands a request over: the
// request span, the stage that was at work and the trace level. It goes through
// any text map, such as HTTP headers, gRPC metadata or a map in a message
// between processes, and is small enough for each. The zero Handover says
// nothing.
type Handover struct {
	request *trace.SpanContext // nil: none that is valid; never changed
	stage   trace.SpanID       // of the first-level stage, if there is one
	level   Level
	leveled bool  // level is known
	err     error // why the field could not be read
}

// sameRequest reports whether both come from threads of one request.
func (h *Handover) sameRequest(o *Handover) bool {
	return h.request != nil && o.request != nil &&
		h.request.TraceID() == o.request.TraceID() && h.request.SpanID() == o.request.SpanID()
}

// link returns what the first stage of the next thread links to.
func (h *Handover) link() trace.SpanContext {
	if h.request == nil || !h.stage.IsValid() {
		return trace.SpanContext{}
	}
	return h.request.WithSpanID(h.stage)
}

// Inject writes h into a carrier: the keys traceparent and tracestate, always as
// W3C trace context, and [HandoverField].
func (h Handover) Inject(carrier propagation.TextMapCarrier) {
	if carrier == nil {
		return
	}
	if h.request != nil {
		propagation.TraceContext{}.Inject(trace.ContextWithSpanContext(context.Background(), *h.request), carrier)
	}
	if h.leveled {
		value := strconv.Itoa(int(h.level))
		if h.stage.IsValid() {
			value += "-" + h.stage.String()
		}
		carrier.Set(HandoverField, value)
	}
}

// ExtractHandover reads from a carrier what [Handover.Inject] wrote. A carrier
// that holds trace context alone gives a Handover without a stage and without a
// level. What cannot be read is left out; [Engine.Resume] reports it.
func ExtractHandover(carrier propagation.TextMapCarrier) Handover {
	var h Handover
	if carrier == nil {
		return h
	}
	request := trace.SpanContextFromContext(propagation.TraceContext{}.Extract(context.Background(), carrier))
	if request.IsValid() {
		h.request = &request
	}
	value := carrier.Get(HandoverField)
	if value == "" {
		return h
	}
	number, span, hasSpan := strings.Cut(value, "-")
	level, err := parseLevel(number)
	if err != nil {
		h.err = err
		return h
	}
	h.level, h.leveled = level, true
	if !hasSpan {
		return h
	}
	h.stage, h.err = parseSpanID(span)
	return h
}

var errSpanID = errors.New("want 16 lower-case hexadecimal digits, not all 0")

func parseSpanID(text string) (trace.SpanID, error) {
	var id trace.SpanID
	b, err := hex.DecodeString(text)
	if err != nil || len(b) != len(id) || text != strings.ToLower(text) {
		return trace.SpanID{}, fmt.Errorf("span ID is %q, %w", shown(text), errSpanID)
	}
	copy(id[:], b)
	if !id.IsValid() {
		return trace.SpanID{}, fmt.Errorf("span ID is %q, %w", text, errSpanID)
	}
	return id, nil
}

// Resume continues in this thread or process a request that another has handed
// over. Its threads become children of the request span, have the request's
// trace level, whatever this engine's is, and the first of their stages links to
// the stage that handed the request over. The request span and the request's
// metrics stay with the one that started it.
//
// Where h carries no level, the engine's is taken. Where it carries no trace
// context, because there was none or it was malformed, each thread starts a
// trace. A request that is not sampled is not recorded here either. A malformed
// [HandoverField] is reported once.
func (e *Engine) Resume(h Handover) *RequestSpan {
	if e == nil {
		return nil
	}
	if h.err != nil {
		e.report(misuse(misuseHandover, "%s cannot be used: %w", HandoverField, h.err))
	}
	r := &RequestSpan{engine: e, ctx: context.Background(), resumed: true, from: h.link()}
	if !h.leveled {
		h.level = e.TraceLevel()
	}
	if h.request != nil {
		r.ctx = trace.ContextWithRemoteSpanContext(r.ctx, *h.request)
	}
	if h.request == nil || h.request.IsSampled() {
		r.level = h.level
	}
	r.handover = Handover{request: h.request, level: h.level, leveled: true}
	r.inert.req = r
	return r
}
