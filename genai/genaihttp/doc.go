// Package genaihttp observes OpenAI-compatible traffic over net/http.
//
// [NewHandler] wraps the handler of a gateway, [NewTransport] the transport of
// a client:
//
//	inst, err := genai.New(genai.WithEngine(genai.EngineVLLM))
//	if err != nil { ... }
//	mux.Handle("/v1/", genaihttp.NewHandler(proxy, inst))
//	client := &http.Client{Transport: genaihttp.NewTransport(nil, inst)}
//
// Either gives each request to a documented endpoint (chat completions,
// completions, embeddings, rerank, score) exactly one entry span, also where one
// stands below the other, and leaves all other requests alone.
//
// What passes is what would pass without this package: bytes, status, headers
// and trailers, at the same moment. A piece of an answer is written, and
// flushed if the handler flushes it, before it is looked at. The one thing that
// changes is the trace context: the request that the wrapped handler or
// transport gets carries that of the entry span, so that the spans of the
// engine hang under it.
//
// Handlers and transports of otelhttp may stand on either side. Around the
// handler, otelhttp makes the server span that becomes the parent of the entry
// span:
//
//	otelhttp.NewHandler(genaihttp.NewHandler(app, inst), "gateway")
//
// A server that does not use net/http observes the bytes that pass with package
// [github.com/infertel/infertel-go/genai/wire].
package genaihttp
