package main

import (
	"bytes"
	"context"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"

	filter "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/ext_proc/v3"
	extproc "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	"github.com/infertel/infertel-go/genai"
	"github.com/infertel/infertel-go/internal/otlpreceiver/otlptest"
)

const (
	callerTrace = "0af7651916cd43dd8448eb211c80319c"
	callerSpan  = "b7ad6b7169203331"
	traceparent = "00-" + callerTrace + "-" + callerSpan + "-01"
	chatPath    = "/v1/chat/completions"
)

// TestEveryBody: the span of each request is the same however its bodies are
// cut, whatever the order of the two directions, and however Envoy ends.
func TestEveryBody(t *testing.T) {
	for name, s := range samples(t) {
		t.Run(name, func(t *testing.T) {
			b := newBed(t, genai.WithEngine(s.engine))
			var first map[string]any
			for i, n := range []int{len(s.request) + len(s.response), 1, 2, 7, 100} {
				request, head, response := requestBody(s.request, n), responseHeaders(s.Status, s.contentType), responseBody(s.response, n)
				one := []message{requestHeaders(s.path, "traceparent", traceparent, "x-request-id", "r-1")}
				if i%2 == 0 {
					one = append(append(append(one, request...), head), response...)
				} else {
					// The answer begins with the request body, but ends after it.
					last := len(response) - 1
					one = append(append(one, alternate(request, append([]message{head}, response[:last]...))...), response[last])
				}
				stream := b.open(t.Context())
				for k, reply := range stream.send(one...)[1:] {
					if c := reply.GetRequestBody().GetResponse(); c != nil {
						t.Errorf("the reply to message %d changes it: %v", k+1, c)
					}
					if c := reply.GetResponseBody().GetResponse(); c != nil {
						t.Errorf("the reply to message %d changes it: %v", k+1, c)
					}
				}
				stream.finish(i%2 == 0)
				span := b.spans(1)[0]
				if span.Name != s.Span || span.TraceID != callerTrace || span.ParentID != callerSpan || (span.Status == "ERROR") != (s.Error != nil) {
					t.Errorf("%d bytes a piece: span is %q in %s under %s, %s %q", n, span.Name, span.TraceID, span.ParentID, span.Status, span.StatusMessage)
				}
				delete(span.Attrs, "gen_ai.latency.e2e")
				if first == nil {
					first = span.Attrs
				}
				if !reflect.DeepEqual(span.Attrs, first) {
					t.Errorf("%d bytes a piece: attributes are\n%v, want\n%v", n, span.Attrs, first)
				}
			}
			for key, want := range map[string]any{"input_tokens": s.Usage["input"], "output_tokens": s.Usage["output"]} {
				if n, ok := want.(float64); ok && first["gen_ai.usage."+key] != int64(n) {
					t.Errorf("%s is %v, want %v", key, first["gen_ai.usage."+key], n)
				}
			}
			if len(s.Finish) > 0 && s.Finish[0] != nil && fmt.Sprint(first["gen_ai.response.finish_reasons"]) != fmt.Sprint(s.Finish) {
				t.Errorf("finish reasons are %v, want %v", first["gen_ai.response.finish_reasons"], s.Finish)
			}
		})
	}
}

// TestTraceContext goes from the caller's headers into those of the engine.
func TestTraceContext(t *testing.T) {
	b := newBed(t)
	public := newBed(t, genai.WithPublicEndpoint())
	for _, c := range []struct {
		bed              *bed
		parent, envoy    string // traceparent of the request, of Envoy's own call
		parentID         string
		tracestateStays  bool
		keepsCallerTrace bool
	}{
		{b, traceparent, "", callerSpan, true, true},
		{b, traceparent, "00-" + strings.Repeat("1", 32) + "-" + strings.Repeat("2", 16) + "-01", callerSpan, true, true},
		{b, "", traceparent, callerSpan, false, true},
		{b, "garbage", "", "", false, false},
		{public, traceparent, "", "", false, false},
	} {
		ctx := t.Context()
		if c.envoy != "" {
			ctx = metadata.AppendToOutgoingContext(ctx, "traceparent", c.envoy)
		}
		more := []string{"tracestate", "vendor=abc", "baggage", "b=1, a=2;p"}
		if c.parent != "" {
			more = append(more, "traceparent", c.parent)
		}
		stream := c.bed.open(ctx)
		reply := stream.send(requestHeaders(chatPath, more...))[0].GetRequestHeaders().GetResponse()
		stream.finish(true)
		span := c.bed.spans(1)[0]
		set := map[string]string{}
		for _, h := range reply.GetHeaderMutation().GetSetHeaders() {
			if h.GetAppendAction().String() != "OVERWRITE_IF_EXISTS_OR_ADD" || h.GetHeader().GetValue() != "" {
				t.Errorf("%+v: Envoy would not take %v", c, h)
			}
			set[h.GetHeader().GetKey()] = string(h.GetHeader().GetRawValue())
		}
		removed := reply.GetHeaderMutation().GetRemoveHeaders()
		if _, changed := set["baggage"]; changed {
			t.Errorf("%+v: baggage becomes %q", c, set["baggage"])
		}
		if want := "00-" + span.TraceID + "-" + span.SpanID + "-01"; set["traceparent"] != want {
			t.Errorf("%+v: traceparent becomes %q, want %q", c, set["traceparent"], want)
		}
		if stays := set["tracestate"] == "vendor=abc" && len(removed) == 0; stays != c.tracestateStays || !stays && fmt.Sprint(removed) != "[tracestate]" {
			t.Errorf("%+v: tracestate becomes %q, removed is %v", c, set["tracestate"], removed)
		}
		if span.ParentID != c.parentID || (span.TraceID == callerTrace) != c.keepsCallerTrace {
			t.Errorf("%+v: the span's parent is %s in %s", c, span.ParentID, span.TraceID)
		}
		if reply.GetStatus() != extproc.CommonResponse_CONTINUE || reply.GetBodyMutation() != nil || reply.GetClearRouteCache() {
			t.Errorf("%+v: the reply is %v", c, reply)
		}
	}
}

// TestEnds: every way that Envoy leaves a request ends its span once.
func TestEnds(t *testing.T) {
	s := samples(t)["vllm-chat-stream.sse"]
	request := append([]message{requestHeaders(s.path)}, requestBody(s.request, 50)...)
	response := append([]message{responseHeaders(200, s.contentType)}, responseBody(s.response, 50)...)
	whole := len(response) - 1 // but for the end mark
	withTrailers := append(append([]message{}, response[:whole]...), responseTrailers())
	cutOff := append(append([]message{}, response[:8]...), response[whole])
	failure := append([]message{responseHeaders(400, "application/json")}, responseBody(testdata(t, "vllm-error-400.json"), 9)...)
	refusal := responseHeaders(503, "text/plain")
	refusal.GetResponseHeaders().EndOfStream = true
	after := func(n int, more ...message) []message { return append(request[:n:n], more...) }
	all := len(request)
	for name, c := range map[string]struct {
		messages []message
		ended    bool // before Envoy leaves
		outcome  genai.Outcome
		says     string
	}{
		"before the request body":      {after(1), false, genai.OutcomeDisconnected, "disconnected"},
		"within the request body":      {after(3), false, genai.OutcomeDisconnected, "disconnected"},
		"before the answer":            {after(all), false, genai.OutcomeDisconnected, "disconnected"},
		"after the head":               {after(all, response[0]), false, genai.OutcomeDisconnected, "disconnected"},
		"within the answer":            {after(all, response[:8]...), false, genai.OutcomeDisconnected, "disconnected"},
		"a whole answer, end not seen": {after(all, response[:whole]...), false, genai.OutcomeSuccess, ""},
		"a whole answer":               {after(all, response...), true, genai.OutcomeSuccess, ""},
		"a whole answer and trailers":  {after(all, withTrailers...), true, genai.OutcomeSuccess, ""},
		"a cut answer":                 {after(all, cutOff...), true, genai.OutcomeTruncated, "cut off"},
		"a local reply":                {after(2, refusal), true, genai.OutcomeHTTPError, "HTTP 503"},
		"an error":                     {after(2, failure...), true, genai.OutcomeHTTPError, "BadRequestError"},
	} {
		for _, reset := range []bool{true, false} {
			b := newBed(t)
			stream := b.open(t.Context())
			stream.send(c.messages...)
			var spans []otlptest.Span
			if c.ended {
				spans = b.spans(1)
				stream.send(requestBody(nil, 1)...) // the rest of a request may still come
			}
			stream.finish(reset)
			if !c.ended {
				spans = b.spans(1)
			}
			if span, f := spans[0], b.last; f.Outcome != c.outcome || !strings.Contains(span.StatusMessage, c.says) || (span.Status == "ERROR") != (c.outcome != genai.OutcomeSuccess) {
				t.Errorf("%s, reset %v: outcome is %v, status %s %q", name, reset, f.Outcome, span.Status, span.StatusMessage)
			}
			if b.Flush(); len(b.Receiver.Spans()) > 0 {
				t.Errorf("%s, reset %v: a second span", name, reset)
			}
		}
	}
}

// TestTheProcessorStops: a stream that is cut off has a span all the same.
func TestTheProcessorStops(t *testing.T) {
	b := newBed(t)
	stream := b.open(t.Context())
	stream.send(requestHeaders(chatPath))
	b.server.Stop()
	stream.cancel()
	if span := b.spans(1)[0]; span.Status != "ERROR" {
		t.Errorf("status is %s", span.Status)
	}
}

// TestWhatIsNotObserved passes as it is, and need not come here.
func TestWhatIsNotObserved(t *testing.T) {
	b := newBed(t)
	get := requestHeaders(chatPath)
	get.GetRequestHeaders().GetHeaders().GetHeaders()[0].RawValue = []byte("GET")
	for _, head := range []message{requestHeaders("/v1/models"), get} {
		stream := b.open(t.Context())
		messages := append(append([]message{head}, requestBody([]byte("{}"), 1)...), responseHeaders(200, "text/plain"))
		replies := stream.send(append(messages, responseBody([]byte("ok"), 1)...)...)
		stream.finish(false)
		mode := replies[0].GetModeOverride()
		if replies[0].GetRequestHeaders().GetResponse() != nil || mode.GetResponseHeaderMode() != filter.ProcessingMode_SKIP || mode.GetResponseBodyMode() != filter.ProcessingMode_NONE {
			t.Errorf("the reply is %v", replies[0])
		}
		for _, r := range replies[1:] {
			if r.ModeOverride != nil {
				t.Errorf("the reply is %v", r)
			}
		}
	}
	if b.Flush(); len(b.Receiver.Spans()) > 0 {
		t.Errorf("spans are %v", b.Receiver.FlatSpans())
	}
}

// TestFullDuplex: in this mode Envoy forgets the body and passes on what comes
// back.
func TestFullDuplex(t *testing.T) {
	b := newBed(t)
	s := samples(t)["vllm-chat-stream.sse"]
	for _, path := range []string{s.path, "/v1/models"} {
		head := requestHeaders(path)
		head.ProtocolConfig = &extproc.ProtocolConfiguration{
			RequestBodyMode: filter.ProcessingMode_FULL_DUPLEX_STREAMED, ResponseBodyMode: filter.ProcessingMode_FULL_DUPLEX_STREAMED,
		}
		messages := append(append([]message{head}, requestBody(s.request, 11)...), responseHeaders(200, s.contentType))
		stream := b.open(t.Context())
		replies := stream.send(append(messages, responseBody(s.response, 11)...)...)
		stream.finish(true)
		var request, response bytes.Buffer
		ends := 0
		for _, r := range replies {
			if r.ModeOverride != nil {
				t.Errorf("the mode is changed while bodies are on their way: %v", r)
			}
			in, out := r.GetRequestBody().GetResponse().GetBodyMutation().GetStreamedResponse(), r.GetResponseBody().GetResponse().GetBodyMutation().GetStreamedResponse()
			request.Write(in.GetBody())
			response.Write(out.GetBody())
			if in.GetEndOfStream() || out.GetEndOfStream() {
				ends++
			}
		}
		if !bytes.Equal(request.Bytes(), s.request) || !bytes.Equal(response.Bytes(), s.response) || ends != 2 {
			t.Errorf("%s: back came %d bytes of %d and %d of %d, %d ends", path, request.Len(), len(s.request), response.Len(), len(s.response), ends)
		}
	}
	if span := b.spans(1)[0]; span.Attrs["gen_ai.usage.output_tokens"] != int64(5) {
		t.Errorf("attributes are %v", span.Attrs)
	}
}

// TestObservabilityMode: no reply is sent, for none would be read.
func TestObservabilityMode(t *testing.T) {
	b := newBed(t)
	s := samples(t)["vllm-chat-stream.sse"]
	messages := append(append([]message{requestHeaders(s.path)}, requestBody(s.request, 11)...), responseHeaders(200, s.contentType))
	stream := b.open(t.Context())
	for _, m := range append(messages, responseBody(s.response, 11)...) {
		m = proto.CloneOf(m)
		m.ObservabilityMode = true
		if err := stream.grpc.Send(m); err != nil {
			t.Fatal(err)
		}
	}
	stream.finish(false)
	if span := b.spans(1)[0]; span.Attrs["gen_ai.usage.output_tokens"] != int64(5) {
		t.Errorf("attributes are %v", span.Attrs)
	}
}

// TestConcurrentStreams on one connection do not mix.
func TestConcurrentStreams(t *testing.T) {
	b := newBed(t)
	const n = 200
	s := samples(t)["vllm-chat-stream.sse"]
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			id := fmt.Sprintf("session-%d", i)
			head := requestHeaders(s.path, "x-session-id", id, "traceparent", fmt.Sprintf("00-%032x-%016x-01", i+1, i+1))
			messages := append(append([]message{head}, requestBody(s.request, 13)...), responseHeaders(200, s.contentType))
			stream := b.open(context.WithoutCancel(t.Context()))
			stream.send(append(messages, responseBody(s.response, 13+i)...)...)
			stream.finish(i%2 == 0)
		})
	}
	all.Wait()
	seen := map[string]bool{}
	for _, span := range b.spans(n) {
		var i int
		if _, err := fmt.Sscanf(fmt.Sprint(span.Attrs["session.id"]), "session-%d", &i); err != nil {
			t.Fatalf("attributes are %v", span.Attrs)
		}
		seen[span.TraceID] = true
		if span.TraceID != fmt.Sprintf("%032x", i+1) || span.Status != "UNSET" || span.Attrs["gen_ai.usage.output_tokens"] != int64(5) {
			t.Errorf("session-%d: %s in %s with %v", i, span.Status, span.TraceID, span.Attrs)
		}
	}
	if len(seen) != n {
		t.Errorf("%d traces, want %d", len(seen), n)
	}
}
