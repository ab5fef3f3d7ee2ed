package genaihttp

import (
	"net/http"

	"github.com/infertel/infertel-go/genai"
	"github.com/infertel/infertel-go/genai/wire"
)

type config struct {
	operation    func(*http.Request) (genai.Operation, bool)
	includeUsage bool
}

// Option configures [NewHandler] and [NewTransport].
type Option interface{ apply(*config) }

type optionFunc func(*config)

func (f optionFunc) apply(c *config) { f(c) }

// WithOperation sets how a request is recognized: f returns its operation, and
// false for a request that is not to be observed. Default: a POST is recognized
// by the end of its path, see [wire.OperationOf].
func WithOperation(f func(*http.Request) (genai.Operation, bool)) Option {
	return optionFunc(func(c *config) {
		if f != nil {
			c.operation = f
		}
	})
}

// WithIncludeUsage makes the handler ask the server for the token usage of
// streams (stream_options.include_usage) where the request has no
// stream_options of its own, and keeps the event that answers it from the
// client. It is off by default: then no request is changed.
//
// To do so the handler reads the body of a chat or text completion request
// before it calls the wrapped handler; a body of over 4 MiB is passed on as it
// is. Such a request asks for an uncompressed answer. [NewTransport] ignores
// this option: a client can ask for itself.
func WithIncludeUsage() Option {
	return optionFunc(func(c *config) { c.includeUsage = true })
}

func newConfig(opts []Option) config {
	c := config{operation: byPath}
	for _, o := range opts {
		if o != nil {
			o.apply(&c)
		}
	}
	return c
}

func byPath(r *http.Request) (genai.Operation, bool) {
	if r.Method != http.MethodPost || r.URL == nil {
		return 0, false
	}
	return wire.OperationOf(r.URL.Path)
}

// requestHead takes what the headers say of a request.
func requestHead(op genai.Operation, h http.Header) wire.RequestHead {
	return wire.RequestHead{
		Operation:       op,
		RequestID:       first(h, "X-Request-Id"),
		SessionID:       first(h, "X-Session-Id"),
		ContentEncoding: first(h, "Content-Encoding"),
	}
}

func responseHead(status int, h http.Header) wire.ResponseHead {
	return wire.ResponseHead{
		Status:          status,
		ContentType:     first(h, "Content-Type"),
		ContentEncoding: first(h, "Content-Encoding"),
	}
}
