package otlpreceiver

import "crypto/tls"

type config struct {
	addr       string
	maxMessage int
	tls        *tls.Config
}

// Option changes how a Receiver is started.
type Option interface{ apply(*config) }

type optionFunc func(*config)

func (f optionFunc) apply(c *config) { f(c) }

// WithAddr sets the host:port to listen on, for a receiver that comes back
// where an earlier one was. The default is a free port of 127.0.0.1.
func WithAddr(addr string) Option {
	return optionFunc(func(c *config) { c.addr = addr })
}

// WithMaxMessageSize sets the largest message accepted, in bytes after
// decompression. The default is 4 MiB, which is also what collectors accept
// unless they are told otherwise.
func WithMaxMessageSize(bytes int) Option {
	return optionFunc(func(c *config) { c.maxMessage = bytes })
}

// WithTLS makes the receiver accept TLS only. Endpoint then returns an https URL.
func WithTLS(cfg *tls.Config) Option {
	return optionFunc(func(c *config) { c.tls = cfg })
}
