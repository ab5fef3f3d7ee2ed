package otlp

import (
	"time"

	"go.opentelemetry.io/otel/sdk/resource"
)

type config struct {
	serviceName    string
	resource       *resource.Resource
	endpoint       string
	metricInterval time.Duration
	queueBytes     int64
	global         bool
	timeout        time.Duration // of one message, for signals without their own
}

// Option changes what [Setup] does. Options win over the environment.
type Option interface{ apply(*config) }

type optionFunc func(*config)

func (f optionFunc) apply(c *config) { f(c) }

// WithServiceName sets the resource attribute service.name. The default is
// OTEL_SERVICE_NAME, then service.name of OTEL_RESOURCE_ATTRIBUTES, then
// "unknown_service:" and the name of the executable. The empty string changes
// nothing.
func WithServiceName(name string) Option {
	return optionFunc(func(c *config) { c.serviceName = name })
}

// WithResource adds the attributes of r to the resource, in the place of what
// was detected under the same keys. Nil changes nothing.
func WithResource(r *resource.Resource) Option {
	return optionFunc(func(c *config) { c.resource = r })
}

// WithEndpoint sets where all three signals are sent, as http://host:port (no
// TLS) or https://host:port. [Setup] returns an error for anything else. The
// default is the signal's own variable or OTEL_EXPORTER_OTLP_ENDPOINT, then
// http://localhost:4317. The empty string changes nothing.
func WithEndpoint(url string) Option {
	return optionFunc(func(c *config) { c.endpoint = url })
}

// WithMetricInterval sets the time between two exports of metrics. The default
// is OTEL_METRIC_EXPORT_INTERVAL, then one minute. Zero or less changes nothing.
func WithMetricInterval(d time.Duration) Option {
	return optionFunc(func(c *config) { c.metricInterval = d })
}

// WithQueueBytes sets how many bytes of spans, and again of log records, may
// wait for their export. The default is [QueueBytes]. Zero or less changes
// nothing.
func WithQueueBytes(n int64) Option {
	return optionFunc(func(c *config) { c.queueBytes = n })
}

// WithGlobal also makes the providers the global ones, and W3C trace context and
// baggage the global propagator. Without it [Setup] leaves the global state alone.
func WithGlobal() Option {
	return optionFunc(func(c *config) { c.global = true })
}
