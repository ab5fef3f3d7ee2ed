// Code generated from semconv/registry. DO NOT EDIT.

package semconv

import (
	"go.opentelemetry.io/otel/attribute"
)

// Operation, caller and content of a generative AI call.
const (
	// GenAISpanKindKey is the key of "gen_ai.span.kind": what the call does in
	// business terms.
	//
	// Entry spans carry it. The spans of an engine never do; they are told apart by
	// name.
	//
	// Type: string.
	// Values: LLM, EMBEDDING, RERANKER.
	// Source: vllm.entry.
	// Source: sglang.entry.
	GenAISpanKindKey = attribute.Key("gen_ai.span.kind")

	// GenAIOperationNameKey is the key of "gen_ai.operation.name": operation that
	// the client asked for.
	//
	// Type: string.
	// Values: chat, text_completion, embeddings, rerank.
	// Source: vllm.entry.
	// Source: sglang.entry.
	GenAIOperationNameKey = attribute.Key("gen_ai.operation.name")

	// GenAIUserIDKey is the key of "gen_ai.user.id": end user on whose behalf the
	// call is made, as sent in the request's `user` field.
	//
	// Type: string.
	// Examples: "user-7", "3f1b0c".
	// Source: vllm.entry, when set.
	GenAIUserIDKey = attribute.Key("gen_ai.user.id")

	// SessionIDKey is the key of "session.id": session that a streaming call
	// belongs to, or the call's own identifier when it names no session.
	//
	// Type: string.
	// Examples: "sess-42", "chatcmpl-5f2c9a7b".
	// Source: vllm.entry, when streaming.
	SessionIDKey = attribute.Key("session.id")

	// GenAIInputMessagesKey is the key of "gen_ai.input.messages": messages sent to
	// the model.
	//
	// Written only when content capture is switched on, since it may hold personal
	// data.
	//
	// Type: string (JSON array) or any.
	// Examples:
	// "[{\"role\":\"user\",\"parts\":[{\"type\":\"text\",\"content\":\"Hello\"}]}]".
	// Source: vllm.entry, string (JSON array), when content capture on spans.
	// Source: sglang.entry, string (JSON array), when content capture on spans.
	// Source: event gen_ai.client.inference.operation.details, any, when set.
	GenAIInputMessagesKey = attribute.Key("gen_ai.input.messages")

	// GenAIOutputMessagesKey is the key of "gen_ai.output.messages": messages
	// returned by the model, one per candidate.
	//
	// Written only when content capture is switched on, since it may hold personal
	// data.
	//
	// Type: string (JSON array) or any.
	// Examples:
	// "[{\"role\":\"assistant\",\"parts\":[{\"type\":\"text\",\"content\":\"Hi\"}],\"finish_reason\":\"stop\"}]".
	// Source: vllm.entry, string (JSON array), when content capture on spans.
	// Source: sglang.entry, string (JSON array), when content capture on spans.
	// Source: event gen_ai.client.inference.operation.details, any, when set.
	GenAIOutputMessagesKey = attribute.Key("gen_ai.output.messages")
)

// The values of gen_ai.span.kind.
var (
	// GenAISpanKindLLM is the attribute gen_ai.span.kind with the value LLM: a chat
	// or text completion.
	GenAISpanKindLLM = GenAISpanKindKey.String("LLM")
	// GenAISpanKindEmbedding is the attribute gen_ai.span.kind with the value
	// EMBEDDING: an embedding call.
	GenAISpanKindEmbedding = GenAISpanKindKey.String("EMBEDDING")
	// GenAISpanKindReranker is the attribute gen_ai.span.kind with the value
	// RERANKER: a rerank or score call.
	GenAISpanKindReranker = GenAISpanKindKey.String("RERANKER")
)

// The values of gen_ai.operation.name.
var (
	// GenAIOperationNameChat is the attribute gen_ai.operation.name with the value
	// chat: chat completion.
	GenAIOperationNameChat = GenAIOperationNameKey.String("chat")
	// GenAIOperationNameTextCompletion is the attribute gen_ai.operation.name with
	// the value text_completion: text completion.
	GenAIOperationNameTextCompletion = GenAIOperationNameKey.String("text_completion")
	// GenAIOperationNameEmbeddings is the attribute gen_ai.operation.name with the
	// value embeddings: embedding of text or other input.
	GenAIOperationNameEmbeddings = GenAIOperationNameKey.String("embeddings")
	// GenAIOperationNameRerank is the attribute gen_ai.operation.name with the
	// value rerank: rerank or score.
	GenAIOperationNameRerank = GenAIOperationNameKey.String("rerank")
)

// GenAIUserID returns the attribute "gen_ai.user.id": end user on whose behalf
// the call is made, as sent in the request's `user` field.
func GenAIUserID(val string) attribute.KeyValue {
	return GenAIUserIDKey.String(val)
}

// SessionID returns the attribute "session.id": session that a streaming call
// belongs to, or the call's own identifier when it names no session.
func SessionID(val string) attribute.KeyValue {
	return SessionIDKey.String(val)
}

// GenAIInputMessages returns the attribute "gen_ai.input.messages": messages
// sent to the model.
//
// The value is text, a JSON array.
func GenAIInputMessages(val string) attribute.KeyValue {
	return GenAIInputMessagesKey.String(val)
}

// GenAIOutputMessages returns the attribute "gen_ai.output.messages": messages
// returned by the model, one per candidate.
//
// The value is text, a JSON array.
func GenAIOutputMessages(val string) attribute.KeyValue {
	return GenAIOutputMessagesKey.String(val)
}

// GenAICompletionsToolCallsNameKey returns the key
// "gen_ai.completions.{i}.tool_calls.{j}.name" for the given indices: function
// name of tool call number call in candidate number candidate, both counted
// from 0.
//
// Type: string.
// Examples: "get_weather".
// Source: sglang.entry, when chat and streaming and call detected.
func GenAICompletionsToolCallsNameKey(candidate, call int) attribute.Key {
	return indexedKey("gen_ai.completions.", candidate, ".tool_calls.", call, ".name")
}

// GenAICompletionsToolCallsName returns the attribute
// "gen_ai.completions.{i}.tool_calls.{j}.name": function name of tool call
// number call in candidate number candidate, both counted from 0.
func GenAICompletionsToolCallsName(candidate, call int, val string) attribute.KeyValue {
	return GenAICompletionsToolCallsNameKey(candidate, call).String(val)
}

// GenAICompletionsToolCallsArgumentsKey returns the key
// "gen_ai.completions.{i}.tool_calls.{j}.arguments" for the given indices:
// arguments of tool call number call in candidate number candidate, as the
// model wrote them.
//
// Type: string.
// Examples: "{\"city\":\"Paris\"}".
// Source: sglang.entry, when chat and streaming and call detected.
func GenAICompletionsToolCallsArgumentsKey(candidate, call int) attribute.Key {
	return indexedKey("gen_ai.completions.", candidate, ".tool_calls.", call, ".arguments")
}

// GenAICompletionsToolCallsArguments returns the attribute
// "gen_ai.completions.{i}.tool_calls.{j}.arguments": arguments of tool call
// number call in candidate number candidate, as the model wrote them.
func GenAICompletionsToolCallsArguments(candidate, call int, val string) attribute.KeyValue {
	return GenAICompletionsToolCallsArgumentsKey(candidate, call).String(val)
}
