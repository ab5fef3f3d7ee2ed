package wire

import "github.com/infertel/infertel-go/internal/jsonstream"

// The places of a request that are watched.
const (
	reqModel = iota + 1
	reqStream
	reqN
	reqTemperature
	reqTopP
	reqTopK
	reqMaxTokens
	reqMaxCompletionTokens
	reqUser
	reqSession
	reqRequestID
	reqRID
	reqTool
	reqPrompt     // prompt or input: a string, a list
	reqPromptItem // an element of that list: a string, a token id, a list of ids
	reqTokenID
	reqMessage
	reqRole
	reqContent // a string or a list of parts
	reqPart    // a string or an object
	reqPartType
	reqText
	reqMediaURL // the place of an image, video or audio: an address or a data URL
	reqAudioData
	reqAudioFormat
	reqFileID
	reqFileData
	reqReasoning
	reqToolCallID
	reqCall
	reqCallID
	reqCallName
	reqCallArguments
	reqPassage // a query or document of a rerank or score request
)

func watch(id int) *jsonstream.Node { return &jsonstream.Node{ID: id} }

// parameters are the members that count whatever is done with content.
var parameters = []jsonstream.Field{
	{Name: "model", Node: watch(reqModel)},
	{Name: "stream", Node: watch(reqStream)},
	{Name: "n", Node: watch(reqN)},
	{Name: "temperature", Node: watch(reqTemperature)},
	{Name: "top_p", Node: watch(reqTopP)},
	{Name: "top_k", Node: watch(reqTopK)},
	{Name: "max_tokens", Node: watch(reqMaxTokens)},
	{Name: "max_completion_tokens", Node: watch(reqMaxCompletionTokens)},
	{Name: "user", Node: watch(reqUser)},
	{Name: "session_id", Node: watch(reqSession)},
	{Name: "request_id", Node: watch(reqRequestID)},
	{Name: "rid", Node: watch(reqRID)},
	{Name: "tools", Node: &jsonstream.Node{Elem: watch(reqTool)}},
	{Name: "prompt", Node: prompts},
	{Name: "input", Node: prompts},
}

var prompts = &jsonstream.Node{ID: reqPrompt, Elem: &jsonstream.Node{ID: reqPromptItem, Elem: watch(reqTokenID)}}

var requestWithoutContent = (&jsonstream.Node{Fields: parameters}).Index()

var requestWithContent = (&jsonstream.Node{Fields: append([]jsonstream.Field{
	{Name: "messages", Node: &jsonstream.Node{Elem: messageNode}},
	{Name: "query", Node: passages},
	{Name: "queries", Node: passages},
	{Name: "data_1", Node: passages},
	{Name: "data_2", Node: passages},
	{Name: "documents", Node: passages},
	{Name: "items", Node: passages},
	{Name: "text_1", Node: passages},
	{Name: "text_2", Node: passages},
}, parameters...)}).Index()

var passage = &jsonstream.Node{ID: reqPassage, Fields: []jsonstream.Field{{Name: "text", Node: watch(reqPassage)}}}

// passages is a passage or a list of them.
var passages = &jsonstream.Node{ID: reqPassage, Elem: passage, Fields: passage.Fields}

var mediaNode = &jsonstream.Node{ID: reqMediaURL, Fields: []jsonstream.Field{{Name: "url", Node: watch(reqMediaURL)}}}

var messageNode = &jsonstream.Node{ID: reqMessage, Fields: []jsonstream.Field{
	{Name: "role", Node: watch(reqRole)},
	{Name: "content", Node: &jsonstream.Node{ID: reqContent, Elem: &jsonstream.Node{ID: reqPart, Fields: []jsonstream.Field{
		{Name: "type", Node: watch(reqPartType)},
		{Name: "text", Node: watch(reqText)},
		{Name: "refusal", Node: watch(reqText)},
		{Name: "thinking", Node: watch(reqText)},
		{Name: "image_url", Node: mediaNode},
		{Name: "video_url", Node: mediaNode},
		{Name: "audio_url", Node: mediaNode},
		{Name: "input_audio", Node: &jsonstream.Node{Fields: []jsonstream.Field{
			{Name: "data", Node: watch(reqAudioData)}, {Name: "format", Node: watch(reqAudioFormat)},
		}}},
		{Name: "file", Node: &jsonstream.Node{Fields: []jsonstream.Field{
			{Name: "file_id", Node: watch(reqFileID)}, {Name: "file_data", Node: watch(reqFileData)},
		}}},
	}}}},
	{Name: "reasoning", Node: watch(reqReasoning)},
	{Name: "reasoning_content", Node: watch(reqReasoning)},
	{Name: "tool_call_id", Node: watch(reqToolCallID)},
	{Name: "tool_calls", Node: &jsonstream.Node{Elem: &jsonstream.Node{ID: reqCall, Fields: []jsonstream.Field{
		{Name: "id", Node: watch(reqCallID)},
		{Name: "function", Node: &jsonstream.Node{Fields: []jsonstream.Field{
			{Name: "name", Node: watch(reqCallName)}, {Name: "arguments", Node: watch(reqCallArguments)},
		}}},
	}}}},
}}
