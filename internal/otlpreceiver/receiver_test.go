package otlpreceiver_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	coltrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/status"

	"github.com/infertel/infertel-go/internal/otlpreceiver"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func start(t *testing.T, opts ...otlpreceiver.Option) (*otlpreceiver.Receiver, coltrace.TraceServiceClient) {
	t.Helper()
	r, err := otlpreceiver.Start(opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Stop)
	conn, err := grpc.NewClient(r.Addr(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return r, coltrace.NewTraceServiceClient(conn)
}

func request(names ...string) *coltrace.ExportTraceServiceRequest {
	ss := &tracepb.ScopeSpans{}
	for _, n := range names {
		ss.Spans = append(ss.Spans, &tracepb.Span{Name: n})
	}
	return &coltrace.ExportTraceServiceRequest{ResourceSpans: []*tracepb.ResourceSpans{{ScopeSpans: []*tracepb.ScopeSpans{ss}}}}
}

func names(r *otlpreceiver.Receiver) string {
	var out []string
	for _, s := range r.Spans() {
		out = append(out, s.GetName())
	}
	return strings.Join(out, " ")
}

func TestHook(t *testing.T) {
	r, client := start(t)
	r.SetHook(otlpreceiver.Traces, func(_ context.Context, n int) otlpreceiver.Reply {
		switch n {
		case 1:
			return otlpreceiver.Reply{Err: status.Error(codes.ResourceExhausted, "full")}
		case 2:
			return otlpreceiver.Reply{Rejected: 1, Message: "one too many"}
		}
		return otlpreceiver.Reply{}
	})
	if _, err := client.Export(t.Context(), request("a")); status.Code(err) != codes.ResourceExhausted {
		t.Errorf("got %v, want ResourceExhausted", err)
	}
	resp, err := client.Export(t.Context(), request("b", "c"), grpc.UseCompressor(gzip.Name))
	if ps := resp.GetPartialSuccess(); err != nil || ps.GetRejectedSpans() != 1 || ps.GetErrorMessage() != "one too many" {
		t.Errorf("got %v, %v", resp, err)
	}
	r.Fail(status.Error(codes.Unavailable, "down"))
	if _, err := client.Export(t.Context(), request("d", "e", "f")); status.Code(err) != codes.Unavailable {
		t.Errorf("got %v, want Unavailable", err)
	}
	r.Fail(nil)
	if _, err := client.Export(t.Context(), request("g")); err != nil {
		t.Error(err)
	}
	if got := names(r); got != "b g" {
		t.Errorf("kept %q, want %q", got, "b g")
	}
	r.Reset()
	if len(r.Spans()) != 0 || len(r.TraceRequests()) != 0 {
		t.Error("Reset kept something")
	}
}

func TestMessageSize(t *testing.T) {
	big := request(strings.Repeat("x", 5<<20))
	_, client := start(t)
	if _, err := client.Export(t.Context(), big); status.Code(err) != codes.ResourceExhausted {
		t.Errorf("got %v, want ResourceExhausted over 4 MiB", err)
	}
	_, client = start(t, otlpreceiver.WithMaxMessageSize(8<<20))
	if _, err := client.Export(t.Context(), big); err != nil {
		t.Error(err)
	}
}

// Stop ends calls that wait, and the address can be listened on again.
func TestStopAndComeBack(t *testing.T) {
	r, client := start(t)
	inside := make(chan struct{})
	r.SetHook(otlpreceiver.Traces, func(context.Context, int) otlpreceiver.Reply {
		close(inside)
		return otlpreceiver.Reply{Delay: time.Hour}
	})
	failed := make(chan error)
	go func() {
		_, err := client.Export(t.Context(), request("a"))
		failed <- err
	}()
	<-inside
	r.Stop()
	if err := <-failed; err == nil {
		t.Error("the waiting call succeeded")
	}
	again, err := otlpreceiver.Start(otlpreceiver.WithAddr(r.Addr()))
	if err != nil {
		t.Fatal(err)
	}
	defer again.Stop()
	if _, err := client.Export(t.Context(), request("b"), grpc.WaitForReady(true)); err != nil || names(again) != "b" {
		t.Errorf("%q arrived, %v", names(again), err)
	}
	if _, err := otlpreceiver.Start(otlpreceiver.WithAddr(again.Addr())); err == nil {
		t.Error("Start listened on an address in use")
	}
}

func ExampleStart() {
	r, err := otlpreceiver.Start()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer r.Stop()
	// Point OTEL_EXPORTER_OTLP_ENDPOINT at r.Endpoint(), run what emits, then:
	for _, s := range r.Spans() {
		fmt.Println(s.Scope.GetName(), s.GetName(), otlpreceiver.Attributes(s.GetAttributes()))
	}
	// Output:
}
