package main

import (
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	filter "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/ext_proc/v3"
	extproc "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc/metadata"

	"github.com/infertel/infertel-go/genai"
	"github.com/infertel/infertel-go/genai/wire"
)

// processor is the gRPC service that Envoy calls, with one stream a request.
type processor struct {
	extproc.UnimplementedExternalProcessorServer
	inst *genai.Instrumentation
}

// exchange is one request on its way through Envoy. Its messages come in order
// in each direction, but the answer may begin before the request has ended.
type exchange struct {
	*wire.Exchange
	modes *extproc.ProtocolConfiguration
}

var errGone = &genai.Error{Outcome: genai.OutcomeDisconnected, Description: "the client disconnected or the request was given up before the answer was complete"}

// Process implements the service.
func (p *processor) Process(stream extproc.ExternalProcessor_ProcessServer) error {
	var x exchange
	// Envoy resets the stream, or closes it, when it is done with the request,
	// whatever came of that. An answer that was seen whole is a success all the
	// same.
	defer func() { x.End(errGone) }()
	for {
		message, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if c := message.GetProtocolConfig(); c != nil { // comes with the first message only
			x.modes = c
		}
		reply := x.passOn(message)
		if h := message.GetRequestHeaders(); h != nil {
			p.begin(stream, &x, h, reply)
		}
		if reply.GetResponse() == nil {
			return nil // a message we do not know: Envoy goes on without us
		}
		// In observability mode nobody waits for a reply.
		if !message.GetObservabilityMode() {
			if err := stream.Send(reply); err != nil {
				return err
			}
		}
		x.observe(message)
	}
}

// begin starts the entry span of a request that is to be observed, and adds its
// trace context to the reply.
func (p *processor) begin(stream extproc.ExternalProcessor_ProcessServer, x *exchange, h *extproc.HttpHeaders, reply *extproc.ProcessingResponse) {
	header := headerOf(h)
	path, _, _ := strings.Cut(header.Get(":path"), "?")
	op, known := wire.OperationOf(path)
	if !known || header.Get(":method") != http.MethodPost {
		reply.ModeOverride = x.nothingMore()
		return
	}
	propagator := p.inst.Propagator()
	ctx := propagator.Extract(stream.Context(), propagation.HeaderCarrier(header))
	if !trace.SpanContextFromContext(ctx).IsValid() {
		// An Envoy that traces tells its own span beside the request.
		md, _ := metadata.FromIncomingContext(ctx)
		ctx = propagator.Extract(ctx, propagation.HeaderCarrier(canonical(md)))
	}
	ctx, x.Exchange = wire.Start(ctx, p.inst, wire.RequestHead{
		Operation:       op,
		RequestID:       header.Get("X-Request-Id"),
		SessionID:       header.Get("X-Session-Id"),
		ContentEncoding: header.Get("Content-Encoding"),
	})
	if x.Exchange == nil {
		reply.ModeOverride = x.nothingMore() // not sampled, and nothing is counted
	}
	onward := http.Header{}
	propagator.Inject(ctx, propagation.HeaderCarrier(onward))
	mutation := &extproc.HeaderMutation{}
	for _, field := range propagator.Fields() {
		key := strings.ToLower(field)
		if key == "baggage" {
			continue // the caller's: it passes as it is
		}
		if value := onward.Get(field); value != "" {
			mutation.SetHeaders = append(mutation.SetHeaders, &corev3.HeaderValueOption{
				// Not Value: Envoy takes that for an empty one.
				Header:       &corev3.HeaderValue{Key: key, RawValue: []byte(value)},
				AppendAction: corev3.HeaderValueOption_OVERWRITE_IF_EXISTS_OR_ADD,
			})
		} else if header.Get(field) != "" {
			// Half of another trace context.
			mutation.RemoveHeaders = append(mutation.RemoveHeaders, key)
		}
	}
	reply.GetRequestHeaders().Response = &extproc.CommonResponse{HeaderMutation: mutation}
}

// nothingMore spares what passes unobserved the way through here, if Envoy is
// configured with allow_mode_override.
func (x *exchange) nothingMore() *filter.ProcessingMode {
	const duplex = filter.ProcessingMode_FULL_DUPLEX_STREAMED
	if x.modes.GetRequestBodyMode() == duplex || x.modes.GetResponseBodyMode() == duplex {
		return nil // bodies may be on their way already
	}
	return &filter.ProcessingMode{
		ResponseHeaderMode:  filter.ProcessingMode_SKIP,
		RequestTrailerMode:  filter.ProcessingMode_SKIP,
		ResponseTrailerMode: filter.ProcessingMode_SKIP,
	} // and no bodies
}

// passOn returns the reply that lets a message pass as it is.
func (x *exchange) passOn(m *extproc.ProcessingRequest) *extproc.ProcessingResponse {
	switch m := m.GetRequest().(type) {
	case *extproc.ProcessingRequest_RequestHeaders:
		return &extproc.ProcessingResponse{Response: &extproc.ProcessingResponse_RequestHeaders{RequestHeaders: &extproc.HeadersResponse{}}}
	case *extproc.ProcessingRequest_ResponseHeaders:
		return &extproc.ProcessingResponse{Response: &extproc.ProcessingResponse_ResponseHeaders{ResponseHeaders: &extproc.HeadersResponse{}}}
	case *extproc.ProcessingRequest_RequestBody:
		reply := bodyReply(m.RequestBody, x.modes.GetRequestBodyMode())
		return &extproc.ProcessingResponse{Response: &extproc.ProcessingResponse_RequestBody{RequestBody: reply}}
	case *extproc.ProcessingRequest_ResponseBody:
		reply := bodyReply(m.ResponseBody, x.modes.GetResponseBodyMode())
		return &extproc.ProcessingResponse{Response: &extproc.ProcessingResponse_ResponseBody{ResponseBody: reply}}
	case *extproc.ProcessingRequest_RequestTrailers:
		return &extproc.ProcessingResponse{Response: &extproc.ProcessingResponse_RequestTrailers{RequestTrailers: &extproc.TrailersResponse{}}}
	case *extproc.ProcessingRequest_ResponseTrailers:
		return &extproc.ProcessingResponse{Response: &extproc.ProcessingResponse_ResponseTrailers{ResponseTrailers: &extproc.TrailersResponse{}}}
	}
	return nil
}

// bodyReply lets a piece of a body pass. Only in full duplex mode Envoy has let
// go of it and wants it back.
func bodyReply(b *extproc.HttpBody, mode filter.ProcessingMode_BodySendMode) *extproc.BodyResponse {
	if mode != filter.ProcessingMode_FULL_DUPLEX_STREAMED {
		return &extproc.BodyResponse{}
	}
	same := &extproc.StreamedBodyResponse{Body: b.GetBody(), EndOfStream: b.GetEndOfStream()}
	return &extproc.BodyResponse{Response: &extproc.CommonResponse{
		BodyMutation: &extproc.BodyMutation{Mutation: &extproc.BodyMutation_StreamedResponse{StreamedResponse: same}},
	}}
}

// observe looks at what has passed. The span ends with the answer.
func (x *exchange) observe(m *extproc.ProcessingRequest) {
	ended := m.GetResponseTrailers() != nil
	switch m := m.GetRequest().(type) {
	case *extproc.ProcessingRequest_RequestBody:
		x.RequestBody(m.RequestBody.GetBody())
	case *extproc.ProcessingRequest_ResponseHeaders:
		header := headerOf(m.ResponseHeaders)
		status, _ := strconv.Atoi(header.Get(":status"))
		x.ResponseHead(wire.ResponseHead{
			Status:          status,
			ContentType:     header.Get("Content-Type"),
			ContentEncoding: header.Get("Content-Encoding"),
		})
		ended = m.ResponseHeaders.GetEndOfStream()
	case *extproc.ProcessingRequest_ResponseBody:
		x.ResponseBody(m.ResponseBody.GetBody())
		ended = m.ResponseBody.GetEndOfStream()
	}
	if ended {
		x.End(nil)
	}
}

// headerOf returns headers, pseudo-headers included, as net/http has them.
func headerOf(h *extproc.HttpHeaders) http.Header {
	out := http.Header{}
	for _, v := range h.GetHeaders().GetHeaders() {
		value := v.GetValue()
		if raw := v.GetRawValue(); len(raw) > 0 {
			value = string(raw)
		}
		out.Add(v.GetKey(), value)
	}
	return out
}

func canonical(md metadata.MD) http.Header {
	out := http.Header{}
	for k, values := range md {
		out[http.CanonicalHeaderKey(k)] = values
	}
	return out
}
