package otlp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/exporters/otlp/otlplog/otlploggrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetricgrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/metric"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/keepalive"

	"github.com/infertel/infertel-go/internal/version"
	"github.com/infertel/infertel-go/internal/w3c"
)

// ScopeName is the instrumentation scope of this package's metric.
const ScopeName = "github.com/infertel/infertel-go/genai/otlp"

// Version is the version of that scope.
const Version = version.Version

const (
	// The SDK allocates its queues in advance: 16 MiB and about 80 MiB at these.
	maxSpanQueue = 1 << 20
	maxLogQueue  = 1 << 17

	// A collector that answers "unavailable" is asked again within the export's
	// timeout, 10 seconds by default. The exporters would first wait for 5.
	retryFirst = 500 * time.Millisecond
	retryMax   = 5 * time.Second
	retryTotal = time.Minute

	minPing     = 10 * time.Second // as gRPC allows
	pingTimeout = 10 * time.Second
)

// Setup makes [Providers] that export over OTLP/gRPC, as the environment and the
// options say. It does not connect, so it does not wait for a collector either.
// Unless an option says so it changes no global state. The caller ends the
// providers with [Providers.Shutdown].
//
// It returns an error when the environment or an option asks for what would send
// telemetry nowhere or elsewhere; the error names the variable, its value and
// what is wanted.
func Setup(ctx context.Context, opts ...Option) (*Providers, error) {
	c := config{queueBytes: QueueBytes}
	for _, o := range opts {
		if o != nil {
			o.apply(&c)
		}
	}
	if c.queueBytes <= 0 {
		c.queueBytes = QueueBytes
	}
	p := &Providers{}
	if !strings.EqualFold(getenv("OTEL_SDK_DISABLED"), "true") {
		if err := p.start(ctx, c); err != nil {
			return nil, errors.Join(err, p.Shutdown(ctx))
		}
	}
	if c.global {
		otel.SetTracerProvider(p.TracerProvider())
		otel.SetMeterProvider(p.MeterProvider())
		otel.SetLoggerProvider(p.LoggerProvider())
		otel.SetTextMapPropagator(w3c.Propagator())
	}
	return p, nil
}

func (p *Providers) start(ctx context.Context, c config) error {
	type start struct {
		signal string
		run    func(context.Context, config, target, *resource.Resource) error
		to     target
	}
	var starts []start
	// All is checked before anything starts.
	for _, s := range []start{{signal: "traces", run: p.startTraces}, {signal: "logs", run: p.startLogs}, {signal: "metrics", run: p.startMetrics}} {
		on, err := exportEnabled(s.signal)
		if err == nil && on {
			s.to, err = targetOf(s.signal, c.endpoint)
			starts = append(starts, s)
		}
		if err != nil {
			return err
		}
	}
	var signals []string
	for _, s := range starts {
		signals = append(signals, s.signal)
	}
	checkEnv(signals)
	// Read here, or a bad value would be reported for each signal.
	c.timeout = millisEnv(10*time.Second, "OTEL_EXPORTER_OTLP_TIMEOUT")

	res := newResource(ctx, c)
	for _, s := range starts {
		if err := s.run(ctx, c, s.to, res); err != nil {
			return fmt.Errorf("otlp: exporter of %s: %w", s.signal, err)
		}
	}
	return nil
}

func (p *Providers) startTraces(ctx context.Context, c config, to target, res *resource.Resource) error {
	const queueVar = "OTEL_BSP_MAX_QUEUE_SIZE"
	size := intEnv(SpanQueueSize, 1, maxSpanQueue, queueVar)
	batch := intEnv(SpanBatchSize, 1, maxSpanQueue, "OTEL_BSP_MAX_EXPORT_BATCH_SIZE")
	delay := millisEnv(sdktrace.DefaultScheduleDelay*time.Millisecond, "OTEL_BSP_SCHEDULE_DELAY")
	exportTimeout := millisEnv(sdktrace.DefaultExportTimeout*time.Millisecond, "OTEL_BSP_EXPORT_TIMEOUT")

	attributes := []string{"OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT", "OTEL_ATTRIBUTE_COUNT_LIMIT"}
	checkInts(attributes...)
	checkInts("OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT", "OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT",
		"OTEL_SPAN_EVENT_COUNT_LIMIT", "OTEL_EVENT_ATTRIBUTE_COUNT_LIMIT",
		"OTEL_SPAN_LINK_COUNT_LIMIT", "OTEL_LINK_ATTRIBUTE_COUNT_LIMIT")
	limits := sdktrace.NewSpanLimits()
	limits.AttributeCountLimit = firstInt(SpanAttributeLimit, attributes...)

	timeout := c.timeoutOf("traces")
	opts := []otlptracegrpc.Option{
		otlptracegrpc.WithEndpoint(to.address),
		otlptracegrpc.WithTLSCredentials(to.credentials),
		otlptracegrpc.WithHeaders(headers("traces")),
		otlptracegrpc.WithDialOption(dialOptions(timeout)...),
		otlptracegrpc.WithTimeout(timeout),
		otlptracegrpc.WithRetry(otlptracegrpc.RetryConfig{Enabled: true, InitialInterval: retryFirst, MaxInterval: retryMax, MaxElapsedTime: retryTotal}),
	}
	e, err := otlptracegrpc.New(ctx, opts...)
	if err != nil {
		return err
	}
	s := &signal{name: "traces", items: "spans"}
	sp := newSpanProcessor(newQueue(s, size, c.queueBytes, queueVar), e,
		sdktrace.WithMaxExportBatchSize(min(batch, size)),
		sdktrace.WithBatchTimeout(delay),
		sdktrace.WithExportTimeout(exportTimeout))
	tp := sdktrace.NewTracerProvider(
		sdktrace.WithResource(res),
		sdktrace.WithRawSpanLimits(limits),
		sdktrace.WithSpanProcessor(sp))
	p.tracer = tp
	p.traces = &pipeline{s, sp.ForceFlush, func(ctx context.Context) error {
		// A provider whose context has ended does not reach its processors.
		return errors.Join(tp.Shutdown(ctx), sp.Shutdown(ctx))
	}}
	return nil
}

func (p *Providers) startLogs(ctx context.Context, c config, to target, res *resource.Resource) error {
	const queueVar = "OTEL_BLRP_MAX_QUEUE_SIZE"
	size := intEnv(LogQueueSize, 1, maxLogQueue, queueVar)
	batch := intEnv(LogBatchSize, 1, maxLogQueue, "OTEL_BLRP_MAX_EXPORT_BATCH_SIZE")
	delay := millisEnv(time.Second, "OTEL_BLRP_SCHEDULE_DELAY")
	exportTimeout := millisEnv(30*time.Second, "OTEL_BLRP_EXPORT_TIMEOUT")

	timeout := c.timeoutOf("logs")
	opts := []otlploggrpc.Option{
		otlploggrpc.WithEndpoint(to.address),
		otlploggrpc.WithTLSCredentials(to.credentials),
		otlploggrpc.WithHeaders(headers("logs")),
		// This exporter would report what has been reported already.
		otlploggrpc.WithInsecure(),
		otlploggrpc.WithCompressor(compression("logs")),
		otlploggrpc.WithDialOption(dialOptions(timeout)...),
		otlploggrpc.WithTimeout(timeout),
		otlploggrpc.WithRetry(otlploggrpc.RetryConfig{Enabled: true, InitialInterval: retryFirst, MaxInterval: retryMax, MaxElapsedTime: retryTotal}),
	}
	e, err := otlploggrpc.New(ctx, opts...)
	if err != nil {
		return err
	}
	s := &signal{name: "logs", items: "log records"}
	bp := newLogProcessor(newQueue(s, size, c.queueBytes, queueVar), e,
		sdklog.WithExportMaxBatchSize(min(batch, size)),
		sdklog.WithExportInterval(delay),
		sdklog.WithExportTimeout(exportTimeout))
	lp := sdklog.NewLoggerProvider(sdklog.WithResource(res), sdklog.WithProcessor(bp))
	p.logger = lp
	p.logs = &pipeline{s, bp.ForceFlush, func(ctx context.Context) error {
		return errors.Join(lp.Shutdown(ctx), bp.Shutdown(ctx))
	}}
	return nil
}

func (p *Providers) startMetrics(ctx context.Context, c config, to target, res *resource.Resource) error {
	interval := c.metricInterval
	if interval <= 0 {
		interval = millisEnv(time.Minute, "OTEL_METRIC_EXPORT_INTERVAL")
	}
	timeout := millisEnv(30*time.Second, "OTEL_METRIC_EXPORT_TIMEOUT")

	messageTimeout := c.timeoutOf("metrics")
	opts := []otlpmetricgrpc.Option{
		otlpmetricgrpc.WithEndpoint(to.address),
		otlpmetricgrpc.WithTLSCredentials(to.credentials),
		otlpmetricgrpc.WithHeaders(headers("metrics")),
		otlpmetricgrpc.WithDialOption(dialOptions(messageTimeout)...),
		otlpmetricgrpc.WithTimeout(messageTimeout),
		otlpmetricgrpc.WithRetry(otlpmetricgrpc.RetryConfig{Enabled: true, InitialInterval: retryFirst, MaxInterval: retryMax, MaxElapsedTime: retryTotal}),
	}
	e, err := otlpmetricgrpc.New(ctx, opts...)
	if err != nil {
		return err
	}
	s := &signal{name: "metrics", items: "metric exports"}
	q := newQueue(s, 0, 0, "")
	mp := sdkmetric.NewMeterProvider(
		sdkmetric.WithResource(res),
		sdkmetric.WithReader(sdkmetric.NewPeriodicReader(&metricExporter{&SplitMetricExporter{Exporter: e}, q},
			sdkmetric.WithInterval(interval),
			sdkmetric.WithTimeout(timeout))))
	p.meter = mp
	p.metrics = &pipeline{s, func(ctx context.Context) error {
		if q.closed.Load() { // the SDK calls that an error
			return nil
		}
		return mp.ForceFlush(ctx)
	}, func(ctx context.Context) error {
		// As for the others, the reader gets no deadline: past it, it would neither
		// collect nor export what is then to be counted as lost.
		return q.shutdown(ctx, func() error { return mp.Shutdown(context.WithoutCancel(ctx)) })
	}}
	return observeLosses(mp.Meter(ScopeName, metric.WithInstrumentationVersion(Version)), p.signals())
}

// timeoutOf returns how long one message of a signal may take.
func (c config) timeoutOf(signal string) time.Duration {
	return millisEnv(c.timeout, signalEnv(signal, "TIMEOUT")[0])
}

func dialOptions(timeout time.Duration) []grpc.DialOption {
	return []grpc.DialOption{
		grpc.WithChainUnaryInterceptor(recordAck),
		// An export waits for the connection as long as its timeout allows and goes
		// out as soon as there is one; gRPC would by default wait up to two minutes
		// before it tries to connect again.
		grpc.WithDefaultCallOptions(grpc.WaitForReady(true)),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: 200 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 5 * time.Second},
			MinConnectTimeout: 5 * time.Second,
		}),
		// Without it a connection whose other end has gone without a word, or behind
		// a proxy that has, is kept for about a quarter of an hour: no export would
		// succeed until then. The ping is sent only while an export waits for its
		// answer, so a collector that answers counts none as too many.
		grpc.WithKeepaliveParams(keepalive.ClientParameters{
			Time:    max(timeout, minPing),
			Timeout: pingTimeout,
		}),
		// A service config in DNS is looked up in a way that nothing can cancel, so a
		// broken DNS would hold up Shutdown.
		grpc.WithDisableServiceConfig(),
	}
}
