package wire

import "github.com/infertel/infertel-go/internal/jsonstream"

// The places of an answer, or of one event of a stream, that are watched.
const (
	resRoot = iota + 1
	resID
	resModel
	resObject
	resErrorType // also the member type of the older, flat error object
	resMessage   // of that object
	resErrorCode
	resError
	resChoice
	resIndex
	resFinish
	resText
	resReasoning
	resReasoningContent
	resTool
	resToolIndex
	resToolID
	resToolName
	resToolArguments
	resInputTokens
	resOutputTokens
	resTotalTokens
	resCachedTokens
	resResult // an entry of SGLang's rerank answer, which is a bare array
	resResultTokens
)

var usageNode = &jsonstream.Node{Fields: []jsonstream.Field{
	{Name: "prompt_tokens", Node: watch(resInputTokens)},
	{Name: "completion_tokens", Node: watch(resOutputTokens)},
	{Name: "total_tokens", Node: watch(resTotalTokens)},
	{Name: "prompt_tokens_details", Node: &jsonstream.Node{Fields: []jsonstream.Field{{Name: "cached_tokens", Node: watch(resCachedTokens)}}}},
}}

// outputNode is a delta of a stream, or the message of a whole answer.
var outputNode = &jsonstream.Node{Fields: []jsonstream.Field{
	{Name: "content", Node: &jsonstream.Node{ID: resText, Elem: &jsonstream.Node{Fields: []jsonstream.Field{{Name: "text", Node: watch(resText)}}}}},
	{Name: "reasoning", Node: watch(resReasoning)},
	{Name: "reasoning_content", Node: watch(resReasoningContent)},
	{Name: "refusal", Node: watch(resText)},
	{Name: "tool_calls", Node: &jsonstream.Node{Elem: &jsonstream.Node{ID: resTool, Fields: []jsonstream.Field{
		{Name: "index", Node: watch(resToolIndex)},
		{Name: "id", Node: watch(resToolID)},
		{Name: "function", Node: &jsonstream.Node{Fields: []jsonstream.Field{
			{Name: "name", Node: watch(resToolName)}, {Name: "arguments", Node: watch(resToolArguments)},
		}}},
	}}}},
}}

var errorNode = &jsonstream.Node{ID: resError, Fields: []jsonstream.Field{{Name: "type", Node: watch(resErrorType)}}}

var responseNode = (&jsonstream.Node{
	ID: resRoot,
	Fields: []jsonstream.Field{
		{Name: "id", Node: watch(resID)},
		{Name: "model", Node: watch(resModel)},
		{Name: "choices", Node: &jsonstream.Node{Elem: &jsonstream.Node{ID: resChoice, Fields: []jsonstream.Field{
			{Name: "index", Node: watch(resIndex)},
			{Name: "delta", Node: outputNode},
			{Name: "finish_reason", Node: watch(resFinish)},
			{Name: "text", Node: watch(resText)},
			{Name: "message", Node: outputNode},
			{Name: "usage", Node: usageNode},
		}}}},
		{Name: "usage", Node: usageNode},
		{Name: "object", Node: watch(resObject)},
		{Name: "error", Node: errorNode},
		{Name: "type", Node: watch(resErrorType)},
		{Name: "message", Node: watch(resMessage)},
		{Name: "code", Node: watch(resErrorCode)},
	},
	Elem: &jsonstream.Node{ID: resResult, Fields: []jsonstream.Field{
		{Name: "error", Node: errorNode},
		{Name: "meta_info", Node: &jsonstream.Node{Fields: []jsonstream.Field{{Name: "prompt_tokens", Node: watch(resResultTokens)}}}},
	}},
}).Index()
