// Package genaihttp observes OpenAI-compatible traffic over net/http.
//
// [NewHandler] wraps the handler of a gateway, [NewTransport] the transport of
// a client. Either gives each request to a documented endpoint (chat
// completions, completions, embeddings, rerank, score) exactly one entry span,
// also where one stands below the other, and leaves all other requests alone.
//
// What passes is what would pass without this package: bytes, status, headers
// and trailers, at the same moment. A piece of an answer is written, and
// flushed if the handler flushes it, before it is looked at. The one thing that
// changes is the trace context: the request that the wrapped handler or
// transport gets carries that of the entry span, so that the spans of the
// engine hang under it.
package genaihttp
