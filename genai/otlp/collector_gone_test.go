package otlp

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/infertel/infertel-go/internal/otlpreceiver"
	"github.com/infertel/infertel-go/internal/otlpreceiver/otlptest"
)

// silent listens, accepts connections and never says anything.
func silent(t testing.TB) (endpoint string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var conns []net.Conn
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			conns = append(conns, c)
		}
	}()
	t.Cleanup(func() {
		_ = l.Close()
		<-done
		for _, c := range conns {
			_ = c.Close()
		}
	})
	return "http://" + l.Addr().String()
}

// A collector that is not there, or says nothing, costs the data and no more.
func TestNoCollector(t *testing.T) {
	for name, endpoint := range map[string]string{
		"unreachable": "http://127.0.0.1:1",
		"silent":      silent(t),
	} {
		for _, tt := range []struct {
			name  string
			env   map[string]string
			after time.Duration // the deadline of Shutdown
			want  func(Losses) bool
		}{
			{"export times out", map[string]string{"OTEL_EXPORTER_OTLP_TIMEOUT": "20"}, 8 * time.Second, func(l Losses) bool {
				return l.Spans.ExportFailed == 3000 && l.LogRecords.ExportFailed == 300 && l.MetricExports.ExportFailed == 1
			}},
			{"shutdown comes first", nil, 100 * time.Millisecond, func(l Losses) bool {
				return l.Spans.Shutdown == 3000 && l.LogRecords.Shutdown == 300 && l.MetricExports.Total() == 1
			}},
		} {
			t.Run(name+", "+tt.name, func(t *testing.T) {
				h := handleErrors(t)
				for k, v := range tt.env {
					t.Setenv(k, v)
				}
				p := setup(t, WithEndpoint(endpoint))
				count(t, p)
				endSpans(p, 3000)
				emitLogs(p, 300, 10)
				err := shutdown(t, p, tt.after)
				if l := p.Losses(); !tt.want(l) || l.Total() != 3301 {
					t.Errorf("lost %+v", l)
				}
				// The first full batch may have been lost before Shutdown.
				if err == nil || !strings.Contains(err.Error(), " spans, 300 log records, 1 metric export") {
					t.Errorf("error %v", err)
				}
				if again := p.Shutdown(t.Context()); again == nil || again.Error() != err.Error() {
					t.Errorf("the second Shutdown returns %v, the first %v", again, err)
				}
				for _, items := range []string{"spans lost", "log records lost", "metric export lost"} {
					h.want(t, items)
				}
				if n := len(h.all()); n != 3 {
					t.Errorf("%d reports: %q", n, h.all())
				}
			})
		}
	}
}

// Ending spans never waits for a collector that is stuck, and what is over the
// queue is counted.
func TestStuckCollector(t *testing.T) {
	h := handleErrors(t)
	t.Setenv("OTEL_BSP_MAX_QUEUE_SIZE", "100")
	t.Setenv("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "10")
	r := otlptest.New(t)
	stuck := make(chan struct{})
	r.SetHook(otlpreceiver.Traces, func(ctx context.Context, _ int) otlpreceiver.Reply {
		select {
		case <-stuck:
		case <-ctx.Done():
		}
		return otlpreceiver.Reply{}
	})
	p := setup(t, WithEndpoint(r.Endpoint()))
	endSpans(p, 1000)
	if l := p.Losses().Spans; l != (Causes{QueueFull: 900}) {
		t.Errorf("lost %+v, want 900 by the queue", l)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
	defer cancel()
	if err := p.ForceFlush(ctx); err == nil {
		t.Error("ForceFlush succeeded")
	}
	close(stuck)
	if err := p.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if n := len(r.Spans()); n != 100 {
		t.Errorf("%d spans arrived, want the 100 that were queued: ForceFlush must not lose what it gives up on", n)
	}
	h.want(t, "100 are waiting")
}

func TestRefused(t *testing.T) {
	for _, tt := range []struct {
		code codes.Code
		hint string
	}{
		{codes.ResourceExhausted, "max_recv_msg_size_mib"},
		{codes.InvalidArgument, "InvalidArgument"},
		{codes.Unauthenticated, "OTEL_EXPORTER_OTLP_HEADERS"},
		{codes.Unimplemented, "_EXPORTER=none"},
	} {
		t.Run(tt.code.String(), func(t *testing.T) {
			h := handleErrors(t)
			r := otlptest.New(t)
			r.Fail(status.Error(tt.code, "because"))
			p := setup(t, WithEndpoint(r.Endpoint()))
			count(t, p)
			endSpans(p, 5)
			emitLogs(p, 3, 10)
			if err := p.ForceFlush(t.Context()); err == nil || !strings.Contains(err.Error(), "lost 5 spans, 3 log records, 1 metric export") {
				t.Errorf("ForceFlush returns %v", err)
			}
			r.Fail(nil)
			endSpans(p, 2)
			emitLogs(p, 1, 10)
			if err := p.Shutdown(t.Context()); err != nil {
				t.Error(err)
			}
			if l := p.Losses(); l != (Losses{Causes{ExportFailed: 5}, Causes{ExportFailed: 3}, Causes{ExportFailed: 1}}) {
				t.Errorf("lost %+v", l)
			}
			if len(r.Spans()) != 2 || len(r.Logs()) != 1 {
				t.Errorf("%d spans, %d logs arrived", len(r.Spans()), len(r.Logs()))
			}
			h.want(t, "5 spans lost", "because", tt.hint)
			h.want(t, "3 log records lost", "because", tt.hint)
			h.want(t, "1 metric export lost", "because", tt.hint)
		})
	}
}

// A collector that comes back gets what is still waiting.
func TestCollectorComesBack(t *testing.T) {
	handleErrors(t)
	r := otlptest.New(t)
	endpoint, addr := r.Endpoint(), r.Addr()
	r.Stop()
	p := setup(t, WithEndpoint(endpoint))
	endSpans(p, 100)
	emitLogs(p, 10, 10)
	flushed := make(chan error)
	go func() { flushed <- p.ForceFlush(t.Context()) }()
	again := otlptest.New(t, otlpreceiver.WithAddr(addr))
	if err := <-flushed; err != nil {
		t.Error(err)
	}
	if len(again.Spans()) != 100 || len(again.Logs()) != 10 || p.Losses().Total() != 0 {
		t.Errorf("%d spans and %d logs arrived, lost %+v", len(again.Spans()), len(again.Logs()), p.Losses())
	}
	// Unavailable for a moment.
	calls := 0
	again.SetHook(otlpreceiver.Traces, func(context.Context, int) otlpreceiver.Reply {
		if calls++; calls == 1 {
			return otlpreceiver.Reply{Err: status.Error(codes.Unavailable, "starting")}
		}
		return otlpreceiver.Reply{}
	})
	endSpans(p, 1)
	if err := p.Shutdown(t.Context()); err != nil || len(again.Spans()) != 101 {
		t.Errorf("%v, %d spans arrived", err, len(again.Spans()))
	}
}
