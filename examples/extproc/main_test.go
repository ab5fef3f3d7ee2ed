package main

import (
	"context"
	"net"
	"testing"

	extproc "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/infertel/infertel-go/genai"
	"github.com/infertel/infertel-go/internal/otlpreceiver/otlptest"
)

// TestRun: the program ends on an interrupt, after what is under way, and what it
// saw has been exported.
func TestRun(t *testing.T) {
	receiver := otlptest.New(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.Endpoint())
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	free.Close()

	ctx, interrupt := context.WithCancel(context.Background())
	defer interrupt()
	done := make(chan error, 1)
	go func() { done <- run(ctx, address, genai.EngineVLLM) }()
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	b := &bed{t: t, client: extproc.NewExternalProcessorClient(grpcReady{conn})}
	s := samples(t)["vllm-chat.json"]
	stream := b.open(t.Context())
	stream.send(append([]message{requestHeaders(s.path)}, requestBody(s.request, 50)...)...)
	interrupt()
	stream.send(append([]message{responseHeaders(200, s.contentType)}, responseBody(s.response, 50)...)...)
	stream.finish(false)
	if err := <-done; err != nil {
		t.Error(err)
	}
	if spans := receiver.FlatSpans(); len(spans) != 1 || spans[0].Name != s.Span || spans[0].Status != "UNSET" {
		t.Errorf("spans are %+v", spans)
	}
}

// grpcReady waits until the server is there.
type grpcReady struct{ *grpc.ClientConn }

func (c grpcReady) NewStream(ctx context.Context, d *grpc.StreamDesc, method string, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	return c.ClientConn.NewStream(ctx, d, method, append(opts, grpc.WaitForReady(true))...)
}
