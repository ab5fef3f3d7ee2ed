package otlp

// Sizes that fit the telemetry of LLM gateways and engines, used by [Setup] where
// the environment says nothing else.
const (
	// SpanQueueSize is the number of ended spans that may wait, in the place of the
	// SDK's 2,048.
	SpanQueueSize = 65536
	// SpanBatchSize is the number of spans exported at once, in the place of the
	// SDK's 512. With fewer, the exporter cannot keep up with a burst.
	SpanBatchSize = 2048
	// SpanAttributeLimit is the number of attributes a span may have, in the place
	// of the SDK's 128.
	SpanAttributeLimit = 256
	// LogQueueSize is the number of log records that may wait. The SDK allocates
	// about 600 bytes for each in advance.
	LogQueueSize = 8192
	// LogBatchSize is the number of log records exported at once.
	LogBatchSize = 512
	// QueueBytes is the number of bytes, counted as OTLP protobuf, that may wait in
	// the queue of spans, and again in the one of log records. In memory a span
	// with many events takes up to four times that.
	QueueBytes = 64 << 20
	// MaxMessageBytes is the largest message that the split exporters send. Collectors
	// accept 4 MiB.
	MaxMessageBytes = 3 << 20
)
