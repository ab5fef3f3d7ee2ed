package otlp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Losses is what did not arrive, see [Providers.Losses].
type Losses struct {
	// Spans counts sampled spans.
	Spans Causes
	// LogRecords counts log records.
	LogRecords Causes
	// MetricExports counts messages: one for each export, more if it is large. With
	// cumulative temporality, which is the default, a later export makes up for a
	// lost one. Rejected counts messages of which the collector rejected some data
	// points.
	MetricExports Causes
}

// Total returns the sum over the three signals.
func (l Losses) Total() int64 {
	return l.Spans.Total() + l.LogRecords.Total() + l.MetricExports.Total()
}

// Causes is what was lost of one signal, by cause.
type Causes struct {
	// QueueFull were dropped because too much was waiting already.
	QueueFull int64
	// ExportFailed were sent, or tried to be, without an acknowledgement: the
	// collector refused them, did not answer in time or could not be reached.
	ExportFailed int64
	// Rejected were in a message that the collector accepted in part, and are what
	// it says it rejected.
	Rejected int64
	// Shutdown were left when Shutdown's deadline came, or had not ended when it
	// was called.
	Shutdown int64
}

// Total returns the sum over the causes.
func (c Causes) Total() int64 { return c.QueueFull + c.ExportFailed + c.Rejected + c.Shutdown }

type cause int

const (
	queueFull cause = iota
	exportFailed
	rejected
	atShutdown
	causes
)

var causeNames = [causes]string{"queue_full", "export_failed", "rejected", "shutdown"}

// signal counts the losses of one signal. Its zero value counts.
type signal struct {
	name  string // traces, logs, metrics
	items string // what is counted
	lost  [causes]atomic.Int64
	// waiting returns the items that will never be sent any more. It is nil or set
	// before use.
	waiting func() int64
	warned  atomic.Bool
}

// lose counts n items. why is called for the first of its cause only, it says
// what happened and what to change.
func (s *signal) lose(c cause, n int64, why func() error) {
	if n > 0 && s.lost[c].Add(n) == n {
		s.report(n, why())
	}
}

func (s *signal) report(n int64, why error) {
	otel.Handle(fmt.Errorf("otlp: %s lost, more of this kind are only counted: %w", quantity(n, s.items), why))
}

// quantity returns n and what there are n of.
func quantity(n int64, items string) string {
	if n == 1 {
		items = strings.TrimSuffix(items, "s")
	}
	return fmt.Sprintf("%d %s", n, items)
}

// warn passes on, once, what the collector says although it lost nothing.
func (s *signal) warn(message string) {
	if s.warned.CompareAndSwap(false, true) {
		otel.Handle(fmt.Errorf("otlp: the collector accepts the %s but warns: %s", s.name, message))
	}
}

func (s *signal) causes() Causes {
	c := Causes{
		QueueFull:    s.lost[queueFull].Load(),
		ExportFailed: s.lost[exportFailed].Load(),
		Rejected:     s.lost[rejected].Load(),
		Shutdown:     s.lost[atShutdown].Load(),
	}
	if s.waiting != nil {
		c.Shutdown += s.waiting()
	}
	return c
}

// observeLosses makes the losses a metric. It has no data point for what was
// not lost, so that a program that loses nothing has no metric more.
func observeLosses(m metric.Meter, signals []*signal) error {
	_, err := m.Int64ObservableCounter("infertel.otlp.lost",
		metric.WithUnit("{item}"),
		metric.WithDescription("Spans, log records and metric exports that did not arrive at the collector."),
		metric.WithInt64Callback(func(_ context.Context, o metric.Int64Observer) error {
			for _, s := range signals {
				cs := s.causes()
				for c, n := range [causes]int64{cs.QueueFull, cs.ExportFailed, cs.Rejected, cs.Shutdown} {
					if n > 0 {
						o.Observe(n, metric.WithAttributes(
							attribute.String("signal", s.name), attribute.String("cause", causeNames[c])))
					}
				}
			}
			return nil
		}))
	return err
}

// failure explains a failed export of the signal.
func (s *signal) failure(err error) error {
	if err == nil { // an exporter that says nothing and sends nothing
		err = errors.New("not acknowledged")
	}
	upper := strings.ToUpper(s.name)
	hint := ""
	switch status.Code(err) {
	case codes.ResourceExhausted:
		hint = "; the collector is overloaded, or takes smaller messages than this one:" +
			" raise max_recv_msg_size_mib of its OTLP receiver, or make single items smaller (OTEL_SPAN_EVENT_COUNT_LIMIT, content)"
	case codes.Unavailable, codes.DeadlineExceeded, codes.Canceled:
		hint = fmt.Sprintf("; is a collector listening at OTEL_EXPORTER_OTLP_ENDPOINT, does the scheme fit (http:// without TLS),"+
			" is OTEL_EXPORTER_OTLP_TIMEOUT long enough? OTEL_%s_EXPORTER=none turns the signal off", upper)
	case codes.Unauthenticated, codes.PermissionDenied:
		hint = "; see OTEL_EXPORTER_OTLP_HEADERS"
	case codes.Unimplemented:
		hint = fmt.Sprintf("; the endpoint does not take %s over OTLP/gRPC, OTEL_%s_EXPORTER=none turns the signal off", s.name, upper)
	}
	return fmt.Errorf("exporting %s failed: %w%s", s.name, err, hint)
}
