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

// HandlerOption configures [NewHandler].
type HandlerOption interface{ apply(*config) }

// Option configures [NewHandler] or [NewTransport].
type Option interface {
	HandlerOption
	both()
}

type handlerOption func(*config)

func (f handlerOption) apply(c *config) { f(c) }

type option struct{ handlerOption }

func (option) both() {}

// WithOperation sets how a request is recognized: f returns its operation, and
// false for a request that is not to be observed. Default: a POST is recognized
// by the end of its path, see [wire.OperationOf].
func WithOperation(f func(*http.Request) (genai.Operation, bool)) Option {
	return option{func(c *config) {
		if f != nil {
			c.operation = f
		}
	}}
}

// WithIncludeUsage makes the handler ask the server for the token usage of
// streams (stream_options.include_usage) where the request has no
// stream_options of its own, and keeps the event that answers it from the
// client. It is off by default: then no request is changed.
//
// To do so the handler reads the body of a chat or text completion request
// before it calls the wrapped handler; a body of over 4 MiB is passed on as it
// is. Such a request asks for an uncompressed answer. A client that uses
// [NewTransport] can ask for itself.
func WithIncludeUsage() HandlerOption {
	return handlerOption(func(c *config) { c.includeUsage = true })
}

func newConfig[O HandlerOption](opts []O) config {
	c := config{operation: byPath}
	for _, o := range opts {
		if any(o) != nil {
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
