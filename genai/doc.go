// Package genai emits the entry span of a large language model request as an
// OpenAI-compatible API layer in front of vLLM or SGLang reports it, the token
// metric genai_llm_usage_tokens, and the log event
// gen_ai.client.inference.operation.details.
//
// Make one [Instrumentation] for the process with [New]. Then either let
// package [github.com/infertel/infertel-go/genai/genaihttp] observe net/http
// traffic, feed package [github.com/infertel/infertel-go/genai/wire] with the
// bytes of requests and answers, or tell a [Call] the facts by hand:
//
//	ctx, call := inst.Start(ctx, genai.Request{Operation: genai.OperationChat, Model: "qwen3-8b"})
//	call.End(genai.Response{FinishReasons: []string{"stop"}}, err)
//
// Which attributes a span carries follows the engine that serves the request
// ([WithEngine]). Every span has the kind INTERNAL and carries no events. A
// call that nobody records costs next to nothing, and no method blocks on an
// exporter or panics. Package [github.com/infertel/infertel-go/genai/otlp] sets
// up an SDK that exports all of it.
package genai
