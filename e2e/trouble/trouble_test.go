package trouble

import (
	"context"
	"net"
	"sync"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/infertel/infertel-go/internal/otlpreceiver"
	"github.com/infertel/infertel-go/internal/otlpreceiver/otlptest"
)

var signals = []otlpreceiver.Signal{otlpreceiver.Traces, otlpreceiver.Metrics, otlpreceiver.Logs}

// unreachable: nothing listens, from the start. No export ends before the last
// request has.
func unreachable(tr *trouble) {
	tr.start("http://127.0.0.1:1", "OTEL_EXPORTER_OTLP_TIMEOUT="+never)
	tr.requests(everything)
	l := tr.stop()
	tr.accounted(l)
	if l.exports == 0 {
		tr.Error("no metric export is lost")
	}
	tr.reported("span", "log record", "metric export")
}

// silent: it accepts connections and never says anything on them.
func silent(tr *trouble) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tr.Fatal(err)
	}
	tr.Cleanup(func() { _ = l.Close() })
	tr.start("http://"+l.Addr().String(), "OTEL_EXPORTER_OTLP_TIMEOUT="+never)
	tr.requests(everything)
	tr.accounted(tr.stop())
	tr.reported("span", "log record", "metric export")
}

// comesBack: it dies and comes back on the same port. All arrives.
func comesBack(tr *trouble) {
	r := otlptest.New(tr.T)
	tr.start(r.Endpoint())
	tr.requests(everything / 3)
	r.WaitSpans(tr.sent, time.Minute)
	r.WaitLogs(tr.sent, time.Minute)
	r.Stop()
	tr.requests(everything / 3)
	again := otlptest.New(tr.T, otlpreceiver.WithAddr(r.Addr()))
	tr.requests(everything / 3)
	again.WaitSpans(tr.sent*2/3, time.Minute)
	again.WaitLogs(tr.sent*2/3, time.Minute)
	l := tr.stop()
	tr.accounted(l, r, again)
	if l != (losses{}) {
		tr.Errorf("lost %v", l)
	}
	if n := tokens(again); n != tr.tokens() {
		tr.Errorf("%d tokens, want %d of all requests", n, tr.tokens())
	}
}

func refuse(r *otlptest.Receiver, err error, signals ...otlpreceiver.Signal) {
	for _, s := range signals {
		r.SetHook(s, func(context.Context, int) otlpreceiver.Reply { return otlpreceiver.Reply{Err: err} })
	}
}

// exhausted: it refuses without saying when to try again, so what was sent is
// lost, and told by the metric.
func exhausted(tr *trouble) {
	r := otlptest.New(tr.T)
	refuse(r, status.Error(codes.ResourceExhausted, "full"), otlpreceiver.Traces, otlpreceiver.Logs)
	tr.start(r.Endpoint())
	tr.requests(everything)
	tr.eventually("the metric tells", func() bool {
		return lostMetric(r, "traces", "export_failed") == int64(tr.sent) && lostMetric(r, "logs", "export_failed") == int64(tr.sent)
	})
	l := tr.stop()
	tr.accounted(l, r)
	if l.exports != 0 {
		tr.Errorf("lost %v", l)
	}
	tr.reported("exporting traces failed", "exporting logs failed")
}

// fullAtFirst makes a receiver answer the first calls of a signal that it is full
// and when to try again.
func fullAtFirst(tr *trouble, r *otlptest.Receiver, s otlpreceiver.Signal, calls int, again time.Duration) {
	full, err := status.New(codes.ResourceExhausted, "full").WithDetails(&errdetails.RetryInfo{RetryDelay: durationpb.New(again)})
	if err != nil {
		tr.Fatal(err)
	}
	var mu sync.Mutex
	r.SetHook(s, func(context.Context, int) otlpreceiver.Reply {
		mu.Lock()
		defer mu.Unlock()
		if calls--; calls >= 0 {
			return otlpreceiver.Reply{Err: full.Err()}
		}
		return otlpreceiver.Reply{}
	})
}

// exhaustedForATime: it says when to try again, and all arrives.
func exhaustedForATime(tr *trouble) {
	r := otlptest.New(tr.T)
	for _, s := range signals {
		fullAtFirst(tr, r, s, 2, 100*time.Millisecond)
	}
	tr.start(r.Endpoint())
	tr.requests(everything)
	r.WaitSpans(tr.sent, time.Minute)
	r.WaitLogs(tr.sent, time.Minute)
	l := tr.stop()
	tr.accounted(l, r)
	if l != (losses{}) || tokens(r) != tr.tokens() {
		tr.Errorf("lost %v, %d tokens, want %d", l, tokens(r), tr.tokens())
	}
}

// exhaustedForLong: it says to try again in an hour. That costs the message that
// was sent and holds no other up.
func exhaustedForLong(tr *trouble) {
	r := otlptest.New(tr.T)
	for _, s := range signals {
		fullAtFirst(tr, r, s, 1, time.Hour)
	}
	tr.start(r.Endpoint(), "OTEL_EXPORTER_OTLP_TIMEOUT="+never)
	tr.requests(everything / 2)
	tr.eventually("the first messages are lost", func() bool {
		return stderrHas(tr, "exporting traces failed", "exporting logs failed", "exporting metrics failed")
	})
	tr.requests(everything / 2)
	tr.eventually("the metric tells, and the rest arrives", func() bool {
		spans, logs := lostMetric(r, "traces", "export_failed"), lostMetric(r, "logs", "export_failed")
		return spans > 0 && len(r.Spans())+int(spans) == tr.sent && logs > 0 && len(r.Logs())+int(logs) == tr.sent
	})
	l := tr.stop()
	tr.accounted(l, r)
	if l.spans == tr.sent || l.logs == tr.sent || l.exports != 1 {
		tr.Errorf("lost %v", l)
	}
	tr.reported("exporting traces failed", "exporting logs failed", "exporting metrics failed")
}

// partialSuccess: of each message one item is rejected.
func partialSuccess(tr *trouble) {
	r := otlptest.New(tr.T)
	for _, s := range signals {
		r.SetHook(s, func(context.Context, int) otlpreceiver.Reply {
			return otlpreceiver.Reply{Rejected: 1, Message: "one is bad"}
		})
	}
	tr.start(r.Endpoint())
	tr.requests(everything)
	tr.eventually("the metric tells", func() bool {
		spans, logs := lostMetric(r, "traces", "rejected"), lostMetric(r, "logs", "rejected")
		return spans > 0 && len(r.Spans())+int(spans) == tr.sent && logs > 0 && len(r.Logs())+int(logs) == tr.sent &&
			lostMetric(r, "metrics", "rejected") > 0
	})
	tr.accounted(tr.stop(), r)
	tr.reported("span", "log record", "metric export")
}

// refuses: it says that it will never take this, and then does.
func refuses(tr *trouble) {
	r := otlptest.New(tr.T)
	refuse(r, status.Error(codes.PermissionDenied, "who are you?"), signals...)
	tr.start(r.Endpoint())
	tr.requests(everything / 2)
	lost := func() int64 { return lostMetric(r, "traces", "export_failed") + lostMetric(r, "logs", "export_failed") }
	tr.eventually("all is refused", func() bool {
		return stderrHas(tr, "exporting traces failed", "exporting logs failed", "exporting metrics failed")
	})
	r.Fail(nil)
	tr.requests(everything / 2)
	tr.eventually("the metric tells", func() bool {
		return lost() > 0 && lostMetric(r, "metrics", "export_failed") > 0 && int(lost())+len(r.Spans())+len(r.Logs()) == 2*tr.sent
	})
	l := tr.stop()
	tr.accounted(l, r)
	if len(r.Spans()) < everything/2 || len(r.Logs()) < everything/2 {
		tr.Errorf("%d spans and %d log records arrived", len(r.Spans()), len(r.Logs()))
	}
	tr.reported("exporting traces failed", "exporting logs failed", "exporting metrics failed")
}

// blackhole: after a while nothing passes on the connections any more, and they
// are not closed. Connections that are made later work.
func blackhole(tr *trouble) {
	r := otlptest.New(tr.T)
	proxy := newProxy(tr.T, r.Addr())
	tr.start("http://"+proxy.addr(), "OTEL_EXPORTER_OTLP_TIMEOUT=1000")
	tr.requests(everything / 3)
	r.WaitSpans(tr.sent, time.Minute)
	r.WaitLogs(tr.sent, time.Minute)
	proxy.swallow()
	tr.requests(everything / 3)
	r.Reset()
	if n := len(r.Spans()) + len(r.Logs()); n > 0 {
		tr.Fatalf("%d items passed the hole", n)
	}
	before := everything / 3
	dark := time.Now()
	// One request after the other, until the gateway has found out.
	tr.eventually("spans, log records and metrics come again", func() bool {
		tr.requests(4)
		return len(r.Spans()) > 0 && len(r.Logs()) > 0 && len(r.Metrics()) > 0
	})
	tr.Logf("back after %v", time.Since(dark).Round(time.Second))
	arrived := len(r.Spans())
	tr.requests(everything / 3)
	r.WaitSpans(arrived+everything/3, time.Minute)
	l := tr.stop()
	// What arrived at first counts as lost too if its acknowledgement was swallowed.
	for _, n := range []int{l.spans + len(r.Spans()), l.logs + len(r.Logs())} {
		if n < tr.sent-before || n > tr.sent {
			tr.Errorf("%d arrived or were counted as lost, want %d", n, tr.sent-before)
		}
	}
}

// slow: each answer takes a while. All arrives.
func slow(tr *trouble) {
	r := otlptest.New(tr.T)
	for _, s := range signals {
		r.SetHook(s, func(context.Context, int) otlpreceiver.Reply {
			return otlpreceiver.Reply{Delay: 300 * time.Millisecond}
		})
	}
	tr.start(r.Endpoint())
	tr.requests(everything)
	l := tr.stop()
	tr.accounted(l, r)
	if l != (losses{}) || tokens(r) != tr.tokens() {
		tr.Errorf("lost %v, %d tokens, want %d", l, tokens(r), tr.tokens())
	}
}
