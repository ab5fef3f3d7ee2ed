package main

import (
	"context"
	"encoding/json"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	_ "google.golang.org/grpc/encoding/gzip" // accepts gzip compressed exports
)

// tee hands the traces that it gets to Jaeger and remembers what Jaeger took.
type tee struct {
	ptraceotlp.UnimplementedGRPCServer
	jaeger ptraceotlp.GRPCClient

	mu    sync.Mutex
	taken map[string][]span // by trace id
}

// startTee starts a tee and returns it with its endpoint.
func startTee(t *testing.T, jaeger string) (*tee, string) {
	t.Helper()
	conn, err := grpc.NewClient(jaeger, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	e := &tee{jaeger: ptraceotlp.NewGRPCClient(conn), taken: map[string][]span{}}
	s := grpc.NewServer()
	ptraceotlp.RegisterGRPCServer(s, e)
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	t.Cleanup(func() {
		s.Stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
		conn.Close()
	})
	return e, "http://" + l.Addr().String()
}

// Export implements ptraceotlp.GRPCServer.
func (e *tee) Export(ctx context.Context, r ptraceotlp.ExportRequest) (ptraceotlp.ExportResponse, error) {
	answer, err := e.jaeger.Export(ctx, r)
	if err == nil && answer.PartialSuccess().RejectedSpans() == 0 {
		e.mu.Lock()
		defer e.mu.Unlock()
		for id, spans := range byTrace(r.Traces()) {
			e.taken[id] = append(e.taken[id], spans...)
		}
	}
	return answer, err
}

// span is all that there is to a span, in a form that can be compared.
type span struct {
	ID, Parent, Name, Kind, State string
	Start, End                    time.Time
	Status, Message               string
	Attributes                    map[string]any
	Events                        []event
	Links                         []link
	Dropped                       [3]uint32 // attributes, events, links
	Resource                      map[string]any
	Scope, Version                string
}

type event struct {
	Name       string
	At         time.Time
	Attributes map[string]any
}

type link struct {
	Trace, Span string
	Attributes  map[string]any
}

func (s *span) instant() bool { return s.Start.Equal(s.End) }

func (s *span) String() string {
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// byTrace takes traces apart.
func byTrace(td ptrace.Traces) map[string][]span {
	out := map[string][]span{}
	for _, r := range td.ResourceSpans().All() {
		for _, s := range r.ScopeSpans().All() {
			for _, sp := range s.Spans().All() {
				id := sp.TraceID().String()
				out[id] = append(out[id], flat(sp, r.Resource(), s.Scope()))
			}
		}
	}
	return out
}

func flat(s ptrace.Span, r pcommon.Resource, scope pcommon.InstrumentationScope) span {
	out := span{
		ID: s.SpanID().String(), Parent: s.ParentSpanID().String(), Name: s.Name(), Kind: s.Kind().String(), State: s.TraceState().AsRaw(),
		Start: s.StartTimestamp().AsTime(), End: s.EndTimestamp().AsTime(),
		Status: s.Status().Code().String(), Message: s.Status().Message(),
		Attributes: s.Attributes().AsRaw(),
		Dropped:    [3]uint32{s.DroppedAttributesCount(), s.DroppedEventsCount(), s.DroppedLinksCount()},
		Resource:   r.Attributes().AsRaw(),
		Scope:      scope.Name(), Version: scope.Version(),
	}
	for _, e := range s.Events().All() {
		out.Events = append(out.Events, event{e.Name(), e.Timestamp().AsTime(), e.Attributes().AsRaw()})
	}
	for _, l := range s.Links().All() {
		out.Links = append(out.Links, link{l.TraceID().String(), l.SpanID().String(), l.Attributes().AsRaw()})
	}
	return out
}

func sorted(spans []span) []span {
	return slices.SortedFunc(slices.Values(spans), func(a, b span) int {
		if a.ID < b.ID {
			return -1
		}
		return 1
	})
}
