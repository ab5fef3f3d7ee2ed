// Package otlp sets up OpenTelemetry so that the telemetry of LLM gateways and
// engines arrives: three providers over OTLP/gRPC, configured by the standard
// OTEL_* variables, sized for what such programs emit, and counting what is
// lost.
//
//	providers, err := otlp.Setup(ctx)
//	if err != nil { ... }
//	defer providers.Shutdown(context.WithoutCancel(ctx))
//	inst, err := genai.New(genai.WithTracerProvider(providers.TracerProvider()), ...)
//
// It is the only package of this module that knows the OpenTelemetry SDK. A
// program that has providers already does not need it; see below for when it
// needs parts of it.
//
// # Environment
//
//	OTEL_SDK_DISABLED                        true: providers that do nothing
//	OTEL_{TRACES,METRICS,LOGS}_EXPORTER      otlp (default) or none
//	OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES
//	OTEL_EXPORTER_OTLP_ENDPOINT              http://host:port (no TLS; default http://localhost:4317),
//	  https://host[:port], unix:path, or another gRPC target or host:port, for which INSECURE decides
//	OTEL_EXPORTER_OTLP_INSECURE              true: no TLS; default false
//	OTEL_EXPORTER_OTLP_CERTIFICATE, CLIENT_CERTIFICATE, CLIENT_KEY    files for TLS
//	OTEL_EXPORTER_OTLP_HEADERS, COMPRESSION (gzip, none), TIMEOUT (ms), PROTOCOL (grpc)
//	OTEL_EXPORTER_OTLP_{TRACES,METRICS,LOGS}_*    the same for one signal
//	OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE, DEFAULT_HISTOGRAM_AGGREGATION
//	OTEL_TRACES_SAMPLER, OTEL_TRACES_SAMPLER_ARG
//	OTEL_BSP_*, OTEL_BLRP_*                  queues and batches of spans, of log records
//	OTEL_METRIC_EXPORT_INTERVAL, OTEL_METRIC_EXPORT_TIMEOUT (ms)
//	OTEL_SPAN_*_LIMIT, OTEL_EVENT_ATTRIBUTE_COUNT_LIMIT, OTEL_LINK_ATTRIBUTE_COUNT_LIMIT,
//	  OTEL_ATTRIBUTE_*_LIMIT, OTEL_LOGRECORD_*_LIMIT
//
// A number or a choice that cannot be used is reported once through [otel.Handle]
// and its default is taken. What would send telemetry nowhere or elsewhere (an
// unknown exporter or protocol, a bad endpoint or certificate) is an error of
// [Setup]. What the code says by an option wins over the environment.
//
// # Losses
//
// Whatever is not acknowledged by the collector is counted, by signal and cause:
// [Providers.Losses] and, from the first loss on, the metric infertel.otlp.lost.
// The first loss of each kind is also reported through [otel.Handle], with what to
// change. A collector that is slow or gone costs nothing but the data: ending a
// span never waits, the queues are bounded in number and in bytes, and
// [Providers.Shutdown] ends within its deadline.
//
// # With providers of your own
//
// The SDK's defaults fit web services. Some of them lose LLM telemetry without an
// error that anyone sees, so take the part that helps:
//
//   - The batch processor's queue holds 2,048 spans. An engine that records a
//     span per decode step ends more than that at once. If you record SGLang
//     stages at level 2 or above, or more than some hundred requests a second,
//     pass [SpanQueueSize] to sdktrace.WithMaxQueueSize and
//     [SpanBatchSize] to sdktrace.WithMaxExportBatchSize.
//   - A collector accepts messages of 4 MiB. If spans carry an event per token
//     or attributes with content, wrap the exporter in a [SplitSpanExporter]; if log
//     events carry content, in a [SplitLogExporter]; if there are thousands of
//     series, in a [SplitMetricExporter].
//
// A collector that goes without closing its connections, or a proxy before it that
// does not, takes about a quarter of an hour of telemetry with it: give the
// exporters grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: 10 *
// time.Second, Timeout: 10 * time.Second}) as a dial option.
//
// A last one cuts spans short: tool calls can need more than the SDK's 128
// attributes, so start from sdktrace.NewSpanLimits(), set AttributeCountLimit to
// [SpanAttributeLimit] and pass it to sdktrace.WithRawSpanLimits.
package otlp
