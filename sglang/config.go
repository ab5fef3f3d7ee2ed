package sglang

import (
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"
)

// EngineConfig describes the engine. The zero EngineConfig is an engine without a
// known model that is not disaggregated.
type EngineConfig struct {
	// Model is the name of the model as the server is configured, the attribute
	// gen_ai.response.model. That there is none is reported once, at the first normal
	// end of a request, for which it is documented.
	Model string
	// PDRole is the node's part under prefill-decode disaggregation.
	PDRole PDRole
}

type config struct {
	tracerProvider trace.TracerProvider
	meterProvider  metric.MeterProvider

	level       *Level
	hostID      string
	nativeNames bool
}

// Option configures an [Engine].
type Option interface{ apply(*config) }

type optionFunc func(*config)

func (f optionFunc) apply(c *config) { f(c) }

// WithTracerProvider sets the provider of spans. Default: the global one.
func WithTracerProvider(p trace.TracerProvider) Option {
	return optionFunc(func(c *config) { c.tracerProvider = p })
}

// WithMeterProvider sets the provider of metrics. Default: the global one.
func WithMeterProvider(p metric.MeterProvider) Option {
	return optionFunc(func(c *config) { c.meterProvider = p })
}

// WithTraceLevel sets the trace level of new requests, until it is changed with
// [Engine.SetTraceLevel]. It beats the environment variable [EnvTraceLevel].
// Default: [LevelDefault], which a negative level also means.
func WithTraceLevel(l Level) Option {
	return optionFunc(func(c *config) { c.level = &l })
}

// WithHostID sets the identifier of this host for threads that name none, the
// attribute host_id. Default: as the engine finds it, the content of
// /etc/machine-id, else the hardware address of a network interface as 32
// hexadecimal digits, else "unknown".
func WithHostID(id string) Option {
	return optionFunc(func(c *config) { c.hostID = id })
}

// WithNativeNames gives request and thread spans the engine's own names to the
// byte, for backends that also hold spans of the Python engine. They differ in
// spaces only:
//
//	" Req 5f2c9a7b"
//	"Tokenizer(host:...", "PrefillTokenizer(host:..."
//	"Scheduler [TP 0]  [PP 0] (host:..."
func WithNativeNames() Option {
	return optionFunc(func(c *config) { c.nativeNames = true })
}

func newConfig(opts []Option) config {
	var c config
	for _, o := range opts {
		if o != nil {
			o.apply(&c)
		}
	}
	if c.tracerProvider == nil {
		c.tracerProvider = otel.GetTracerProvider()
	}
	if c.meterProvider == nil {
		c.meterProvider = otel.GetMeterProvider()
	}
	return c
}
