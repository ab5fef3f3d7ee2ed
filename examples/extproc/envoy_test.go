package main

import (
	"context"
	"encoding/json"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	extproc "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"
	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/proto"

	"github.com/infertel/infertel-go/genai"
	"github.com/infertel/infertel-go/internal/otlpreceiver/otlptest"
	"github.com/infertel/infertel-go/internal/sdktest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type message = *extproc.ProcessingRequest

// bed is a processor on loopback and a connection to it as Envoy has one.
type bed struct {
	*sdktest.Bed
	t      testing.TB
	client extproc.ExternalProcessorClient
	server *grpc.Server
	ends   chan genai.Finished
	last   genai.Finished // the one that ended last
}

func newBed(t testing.TB, opts ...genai.Option) *bed {
	t.Helper()
	b := &bed{Bed: sdktest.New(t), t: t, server: grpc.NewServer(), ends: make(chan genai.Finished, 10_000)}
	inst, err := genai.New(append([]genai.Option{
		genai.WithTracerProvider(b.Traces), genai.WithMeterProvider(b.Metrics), genai.WithLoggerProvider(b.Logs),
		genai.WithOnEnd(func(_ context.Context, f genai.Finished) { b.ends <- f }),
	}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	extproc.RegisterExternalProcessorServer(b.server, &processor{inst: inst})
	go b.server.Serve(listener)
	t.Cleanup(b.server.Stop)
	conn, err := grpc.NewClient(listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	b.client = extproc.NewExternalProcessorClient(conn)
	return b
}

// spans waits for n requests to end and returns their spans.
func (b *bed) spans(n int) []otlptest.Span {
	b.t.Helper()
	for range n {
		select {
		case b.last = <-b.ends:
		case <-time.After(10 * time.Second):
			b.t.Fatal("a request did not end")
		}
	}
	b.Flush()
	spans := b.Receiver.FlatSpans()
	if len(spans) != n {
		b.t.Fatalf("%d spans arrived, want %d", len(spans), n)
	}
	b.Receiver.Reset()
	return spans
}

// stream is the gRPC stream of one request.
type stream struct {
	t      testing.TB
	grpc   extproc.ExternalProcessor_ProcessClient
	cancel context.CancelFunc
}

func (b *bed) open(ctx context.Context) *stream {
	b.t.Helper()
	ctx, cancel := context.WithCancel(ctx)
	s, err := b.client.Process(ctx)
	if err != nil {
		cancel()
		b.t.Fatal(err)
	}
	return &stream{b.t, s, cancel}
}

// send plays Envoy, which need not wait for the reply to one piece before it
// sends the next. It returns the replies after checking that each is of the kind
// of its message.
func (s *stream) send(messages ...message) []*extproc.ProcessingResponse {
	var sending sync.WaitGroup
	sending.Go(func() {
		for _, m := range messages {
			if err := s.grpc.Send(m); err != nil {
				s.t.Error(err)
				return
			}
		}
	})
	defer sending.Wait()
	var replies []*extproc.ProcessingResponse
	for _, m := range messages {
		r, err := s.grpc.Recv()
		if err != nil {
			s.t.Error(err)
			return replies
		}
		if got, want := kind(r), kind(m); got != want {
			s.t.Errorf("the reply to %s is %s", want, got)
		}
		replies = append(replies, r)
	}
	return replies
}

// kind is the name of the field that is set in a message of either direction.
func kind(m proto.Message) string {
	r := m.ProtoReflect()
	return string(r.WhichOneof(r.Descriptor().Oneofs().Get(0)).Name())
}

// finish ends the stream as Envoy does: by a reset, or by closing it.
func (s *stream) finish(reset bool) {
	if reset {
		s.cancel()
	} else {
		_ = s.grpc.CloseSend()
		if _, err := s.grpc.Recv(); err == nil {
			s.t.Error("the processor sends on")
		}
		s.cancel()
	}
}

func headers(pairs ...string) *corev3.HeaderMap {
	h := &corev3.HeaderMap{}
	for i := 0; i < len(pairs); i += 2 {
		h.Headers = append(h.Headers, &corev3.HeaderValue{Key: pairs[i], RawValue: []byte(pairs[i+1])})
	}
	return h
}

func requestHeaders(path string, more ...string) message {
	h := headers(append([]string{":method", "POST", ":path", path, ":authority", "gateway", "content-type", "application/json"}, more...)...)
	return &extproc.ProcessingRequest{Request: &extproc.ProcessingRequest_RequestHeaders{RequestHeaders: &extproc.HttpHeaders{Headers: h}}}
}

func responseHeaders(status int, contentType string) message {
	h := headers(":status", strconv.Itoa(status), "content-type", contentType)
	return &extproc.ProcessingRequest{Request: &extproc.ProcessingRequest_ResponseHeaders{ResponseHeaders: &extproc.HttpHeaders{Headers: h}}}
}

func requestBody(body []byte, pieces int) []message {
	return cut(body, pieces, func(b *extproc.HttpBody) message {
		return &extproc.ProcessingRequest{Request: &extproc.ProcessingRequest_RequestBody{RequestBody: b}}
	})
}

func responseBody(body []byte, pieces int) []message {
	return cut(body, pieces, func(b *extproc.HttpBody) message {
		return &extproc.ProcessingRequest{Request: &extproc.ProcessingRequest_ResponseBody{ResponseBody: b}}
	})
}

func responseTrailers() message {
	return &extproc.ProcessingRequest{Request: &extproc.ProcessingRequest_ResponseTrailers{ResponseTrailers: &extproc.HttpTrailers{}}}
}

// cut makes messages of n bytes each. Envoy may end a body with an empty piece.
func cut(body []byte, n int, wrap func(*extproc.HttpBody) message) []message {
	var out []message
	for len(body) > 0 {
		k := min(n, len(body))
		out = append(out, wrap(&extproc.HttpBody{Body: body[:k]}))
		body = body[k:]
	}
	return append(out, wrap(&extproc.HttpBody{EndOfStream: true}))
}

// alternate takes messages from each in turn.
func alternate(a, b []message) []message {
	var out []message
	for len(a) > 0 || len(b) > 0 {
		if len(a) > 0 {
			out, a = append(out, a[0]), a[1:]
		}
		if len(b) > 0 {
			out, b = append(out, b[0]), b[1:]
		}
	}
	return out
}

func testdata(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile("../../genai/wire/testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// sample is a request with its answer, as an engine wrote them.
type sample struct {
	RequestFile string `json:"request_file"`
	Span        string
	Status      int `json:"http_status"`
	Finish      []any
	Usage       map[string]any
	Error       map[string]any

	name, path, contentType string
	engine                  genai.Engine
	request, response       []byte
}

func samples(t testing.TB) map[string]*sample {
	t.Helper()
	var all map[string]*sample
	if err := json.Unmarshal(testdata(t, "expected.json"), &all); err != nil {
		t.Fatal(err)
	}
	for name, s := range all {
		if s.RequestFile == "" {
			delete(all, name)
			continue
		}
		s.name, s.request, s.response = name, testdata(t, s.RequestFile), testdata(t, name)
		s.path = map[string]string{
			"chat": "/v1/chat/completions", "completions": "/v1/completions", "embeddings": "/v1/embeddings", "rerank": "/v1/rerank?x=1",
		}[strings.Split(strings.TrimSuffix(s.RequestFile, ".request.json"), "-")[1]]
		s.Status = max(s.Status, 200)
		s.contentType = "application/json"
		if strings.HasSuffix(name, ".sse") {
			s.contentType = "text/event-stream; charset=utf-8"
		}
		if strings.HasPrefix(name, "sglang") {
			s.engine = genai.EngineSGLang
		}
	}
	return all
}
