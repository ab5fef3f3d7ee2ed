package genai

import "github.com/infertel/infertel-go/internal/boundedtext"

// Message is one message of the input or the output, in the form of the
// OpenTelemetry GenAI message schema.
// Source: log event gen_ai.client.inference.operation.details.
type Message struct {
	// Role is system, user, assistant or tool, or whatever the client sent.
	Role string
	// Parts is what the message consists of, in order.
	Parts []Part
	// FinishReason is why the model stopped, on output messages.
	FinishReason string
}

// The part types of the OpenTelemetry GenAI message schema. A part of another
// type is recorded as its type alone.
const (
	PartText             = "text"
	PartReasoning        = "reasoning"
	PartToolCall         = "tool_call"
	PartToolCallResponse = "tool_call_response"
	PartBlob             = "blob"
	PartURI              = "uri"
	PartFile             = "file"
	PartTokenIDs         = "token_ids" // a prompt given as token ids: only their number is recorded
)

// Part is one part of a message. Which fields count depends on Type. Binary
// content is never part of it, only its kind, media type and size.
type Part struct {
	// Type is one of the part types above, or another.
	Type string
	// Content is the text of a text or reasoning part, or the result in a
	// tool_call_response.
	Content string
	// ID is the identifier of a tool call.
	ID string
	// Name and Arguments (JSON text) belong to a tool_call.
	Name, Arguments string
	// Modality (image, audio, video) and MIMEType describe a blob, uri or file.
	Modality, MIMEType string
	// URI is where a uri part points, FileID names an uploaded file.
	URI, FileID string
	// Size is the length of a blob in bytes, or the number of token ids.
	Size int
}

// TextPart is a part of type text.
func TextPart(text string) Part { return Part{Type: PartText, Content: text} }

// ReasoningPart is a part of type reasoning.
func ReasoningPart(text string) Part { return Part{Type: PartReasoning, Content: text} }

// ToolCallPart is a part of type tool_call; arguments is JSON text.
func ToolCallPart(id, name, arguments string) Part {
	return Part{Type: PartToolCall, ID: id, Name: name, Arguments: arguments}
}

// ToolCallResponsePart is a part of type tool_call_response.
func ToolCallResponsePart(id, result string) Part {
	return Part{Type: PartToolCallResponse, ID: id, Content: result}
}

// BlobPart stands for size bytes of binary content that are not recorded.
func BlobPart(modality, mimeType string, size int) Part {
	return Part{Type: PartBlob, Modality: modality, MIMEType: mimeType, Size: size}
}

// URIPart refers to content elsewhere.
func URIPart(modality, uri string) Part { return Part{Type: PartURI, Modality: modality, URI: uri} }

// FilePart refers to an uploaded file.
func FilePart(modality, fileID string) Part {
	return Part{Type: PartFile, Modality: modality, FileID: fileID}
}

// field is a member of a part in either encoding.
type field struct {
	name string
	text string
	size int
	form form
}

type form uint8

const (
	asText form = iota
	asSize
	asJSON // JSON text to be kept as a structure where it is valid
)

// fields gives the members of p in a fixed order, its texts cut by c.
func (p *Part) fields(c *cutter, emit func(field)) {
	text := func(name, s string) { emit(field{name: name, text: c.cut(s)}) }
	optional := func(name, s string, limit int) {
		if s != "" {
			emit(field{name: name, text: boundedtext.Cut(s, limit)})
		}
	}
	emit(field{name: "type", text: boundedtext.Cut(p.Type, boundedtext.MaxName)})
	switch p.Type {
	case PartText, PartReasoning:
		text("content", p.Content)
	case PartToolCall:
		optional("id", p.ID, boundedtext.MaxName)
		emit(field{name: "name", text: boundedtext.Cut(p.Name, boundedtext.MaxName)})
		emit(field{name: "arguments", text: c.cut(p.Arguments), form: asJSON})
	case PartToolCallResponse:
		optional("id", p.ID, boundedtext.MaxName)
		text("response", p.Content)
	case PartBlob:
		optional("modality", p.Modality, boundedtext.MaxName)
		optional("mime_type", p.MIMEType, boundedtext.MaxName)
		emit(field{name: "size", size: p.Size, form: asSize})
	case PartURI:
		optional("modality", p.Modality, boundedtext.MaxName)
		optional("mime_type", p.MIMEType, boundedtext.MaxName)
		text("uri", p.URI)
	case PartFile:
		optional("modality", p.Modality, boundedtext.MaxName)
		optional("mime_type", p.MIMEType, boundedtext.MaxName)
		emit(field{name: "file_id", text: boundedtext.Cut(p.FileID, boundedtext.MaxName)})
	case PartTokenIDs:
		emit(field{name: "size", size: p.Size, form: asSize})
	}
}
