// Package wire observes a request to an OpenAI-compatible API and its answer
// from the bytes that pass, as vLLM and SGLang write them: chat completions,
// completions, embeddings, rerank and score, as one JSON document or as a
// stream of server-sent events.
//
// It needs no net/http, which package
// [github.com/infertel/infertel-go/genai/genaihttp] is for, so it serves
// ext_proc servers, other HTTP frameworks and proxies of any kind. [Start] an
// [Exchange], hand it the pieces as they pass, cut anywhere, and end it:
//
//	ctx, x := wire.Start(ctx, inst, wire.RequestHead{Operation: genai.OperationChat})
//	x.RequestBody(piece)
//	x.ResponseHead(wire.ResponseHead{Status: 200, ContentType: "text/event-stream"})
//	x.ResponseBody(piece)
//	x.End(nil)
//
// Bodies are never held: what is kept of an exchange is bounded whatever the
// peer sends, at 256 bytes for each name or identifier, 64 tool calls with 16
// KiB of arguments, and, only where content is recorded, 1 MiB of text in each
// direction.
package wire
