package wire

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/infertel/infertel-go/genai"
	"github.com/infertel/infertel-go/internal/jsonstream"
)

// Bounds on what is kept of one request or answer, in bytes.
const (
	maxField   = 256     // names and identifiers
	maxContent = 1 << 20 // all texts of one direction together
	partCost   = 256     // what a message or part counts for beside its text
)

// requestReader gathers a genai.Request from a body that comes in pieces.
type requestReader struct {
	json    jsonstream.Reader
	facts   genai.Request
	content bool
	limit   int // to which a text is kept
	left    int // of the content budget

	text   []byte // of the string being read, as far as it is kept
	length int    // of the string being read
	tail   [2]byte

	rid                               string
	n, maxTokens, maxCompletionTokens int
	temperature, topP, topK           float64

	prompts  int // prompts in the request
	tokenIDs int // in the prompt being read
	asIDs    bool

	message   genai.Message
	part      genai.Part
	call      genai.Part
	reasoning string
	resultID  string
}

var requestReaders = sync.Pool{New: func() any { return new(requestReader) }}

func newRequestReader() *requestReader { return requestReaders.Get().(*requestReader) }

// release gives back a reader that nothing refers to any more.
func (r *requestReader) release() {
	const maxText = 4 << 10 // a longer one is not worth the memory
	text := r.text[:0]
	if cap(text) > maxText {
		text = nil
	}
	*r = requestReader{text: text}
	requestReaders.Put(r)
}

func (r *requestReader) reset(op genai.Operation, content bool, contentLength int) {
	r.facts = genai.Request{Operation: op}
	r.content, r.left = content, maxContent
	r.limit = contentLength + utf8.UTFMax // the rest of the last character, so that the cut can be found
	root := requestWithoutContent
	if content {
		root = requestWithContent
	}
	r.json.Reset(root, r)
}

// snapshot is what is known of the request so far. It shares nothing with the
// reader that could still change.
func (r *requestReader) snapshot() genai.Request {
	f := r.facts
	v := struct {
		n, maxTokens            int
		temperature, topP, topK float64
	}{r.n, 0, r.temperature, r.topP, r.topK}
	if f.ChoiceCount != nil {
		f.ChoiceCount = &v.n
	}
	if f.MaxTokens != nil {
		v.maxTokens = *f.MaxTokens
		f.MaxTokens = &v.maxTokens
	}
	if f.Temperature != nil {
		f.Temperature = &v.temperature
	}
	if f.TopP != nil {
		f.TopP = &v.topP
	}
	if f.TopK != nil {
		f.TopK = &v.topK
	}
	f.Messages = slices.Clone(f.Messages)
	return f
}

// choices is how many choices the request asks for.
func (r *requestReader) choices() int {
	n := max(r.prompts, 1)
	if r.facts.ChoiceCount != nil {
		n *= min(max(*r.facts.ChoiceCount, 1), maxChoices)
	}
	return n
}

// Open implements jsonstream.Handler.
func (r *requestReader) Open(id int, k jsonstream.Kind) {
	r.text, r.length = r.text[:0], 0
	switch id {
	case reqPrompt:
		r.prompts, r.tokenIDs, r.asIDs = 0, 0, false
	case reqPromptItem:
		if k == jsonstream.Array {
			r.tokenIDs = 0
		}
	case reqMessage:
		r.message, r.reasoning, r.resultID = genai.Message{}, "", ""
	case reqPart:
		r.part = genai.Part{}
	case reqCall:
		r.call = genai.Part{Type: genai.PartToolCall}
	}
}

// Text implements jsonstream.Handler.
func (r *requestReader) Text(id int, p []byte) {
	limit := maxField
	switch id {
	case reqContent, reqPart, reqText, reqReasoning, reqCallArguments, reqPassage, reqMediaURL, reqPrompt, reqPromptItem:
		limit = r.limit
		if !r.content {
			limit = 0
		}
	case reqAudioData:
		limit = 0
	}
	r.length += len(p)
	switch {
	case len(p) >= 2:
		copy(r.tail[:], p[len(p)-2:])
	case len(p) == 1:
		r.tail[0], r.tail[1] = r.tail[1], p[0]
	}
	if room := limit - len(r.text); room > 0 {
		r.text = append(r.text, p[:min(room, len(p))]...)
	}
}

// Close implements jsonstream.Handler.
func (r *requestReader) Close(id int, k jsonstream.Kind, raw []byte) {
	switch k {
	case jsonstream.String:
		r.closeString(id)
	case jsonstream.Number:
		r.closeNumber(id, raw)
	case jsonstream.True:
		if id == reqStream {
			r.facts.Stream = true
		}
	case jsonstream.False:
		if id == reqStream {
			r.facts.Stream = false
		}
	case jsonstream.Object, jsonstream.Array:
		r.closeContainer(id, k)
	}
}

func (r *requestReader) closeString(id int) {
	switch id {
	case reqModel:
		r.facts.Model = string(r.text)
	case reqUser:
		r.facts.UserID = string(r.text)
	case reqSession:
		r.facts.SessionID = string(r.text)
	case reqRequestID: // vLLM's name
		r.facts.ID = cmp.Or(string(r.text), r.rid)
	case reqRID: // SGLang's
		r.rid = string(r.text)
		r.facts.ID = cmp.Or(r.facts.ID, r.rid)
	case reqPrompt, reqPromptItem:
		r.prompts++
		if r.content {
			r.addMessage("user", genai.TextPart(r.keep()))
		}
	case reqRole:
		r.message.Role = string(r.text)
	case reqContent:
		if r.length > 0 {
			r.addPart(genai.TextPart(r.keep()))
		}
	case reqPart:
		r.addPart(genai.TextPart(r.keep()))
	case reqPartType:
		r.part.Type = string(r.text)
	case reqText:
		r.part.Content = r.keep()
	case reqMediaURL, reqFileData:
		r.media()
	case reqAudioData:
		r.part.Size = decodedLength(r.length, r.tail)
	case reqAudioFormat:
		r.part.MIMEType = "audio/" + string(r.text)
	case reqFileID:
		r.part.FileID = string(r.text)
	case reqReasoning:
		if r.reasoning == "" {
			r.reasoning = r.keep()
		}
	case reqToolCallID:
		r.resultID = string(r.text)
	case reqCallID:
		r.call.ID = string(r.text)
	case reqCallName:
		r.call.Name = string(r.text)
	case reqCallArguments:
		r.call.Arguments = r.keep()
	case reqPassage:
		r.addPassage(genai.TextPart(r.keep()))
	}
}

func (r *requestReader) closeNumber(id int, raw []byte) {
	switch id {
	case reqTokenID:
		r.tokenIDs++
		return
	case reqPromptItem:
		r.tokenIDs++
		r.asIDs = true
		return
	case reqPrompt, reqTool:
		return
	}
	v, err := strconv.ParseFloat(string(raw), 64)
	if err != nil {
		return
	}
	whole := int(v)
	isWhole := float64(whole) == v
	switch id {
	case reqN:
		if isWhole {
			r.n, r.facts.ChoiceCount = whole, &r.n
		}
	case reqTemperature:
		r.temperature, r.facts.Temperature = v, &r.temperature
	case reqTopP:
		r.topP, r.facts.TopP = v, &r.topP
	case reqTopK:
		r.topK, r.facts.TopK = v, &r.topK
	case reqMaxTokens:
		// The new name comes first where both are given.
		if isWhole && r.facts.MaxTokens != &r.maxCompletionTokens {
			r.maxTokens, r.facts.MaxTokens = whole, &r.maxTokens
		}
	case reqMaxCompletionTokens:
		if isWhole {
			r.maxCompletionTokens, r.facts.MaxTokens = whole, &r.maxCompletionTokens
		}
	}
}

func (r *requestReader) closeContainer(id int, k jsonstream.Kind) {
	switch id {
	case reqTool:
		r.facts.HasTools = true
	case reqPromptItem:
		r.prompts++
		if r.content && k == jsonstream.Array {
			r.addMessage("user", genai.Part{Type: genai.PartTokenIDs, Size: r.tokenIDs})
		}
	case reqPrompt:
		if r.asIDs && r.prompts == 0 {
			r.prompts = 1
			if r.content {
				r.addMessage("user", genai.Part{Type: genai.PartTokenIDs, Size: r.tokenIDs})
			}
		}
	case reqPart:
		r.closePart()
	case reqCall:
		r.addPart(r.call)
	case reqMessage:
		r.closeMessage()
	}
}

// keep takes over the text of the string that was read, within the budget.
func (r *requestReader) keep() string {
	s := r.text[:min(len(r.text), max(r.left, 0))]
	r.left -= len(s)
	return string(s)
}

func (r *requestReader) addPart(p genai.Part) {
	if r.left <= 0 {
		return
	}
	r.left -= partCost
	r.message.Parts = append(r.message.Parts, p)
}

func (r *requestReader) addMessage(role string, parts ...genai.Part) {
	if r.left <= 0 {
		return
	}
	r.left -= partCost
	r.facts.Messages = append(r.facts.Messages, genai.Message{Role: role, Parts: parts})
}

// addPassage adds to the one message that stands for a query and its documents.
func (r *requestReader) addPassage(p genai.Part) {
	if len(r.facts.Messages) == 0 {
		r.addMessage("user", p)
		return
	}
	if m := &r.facts.Messages[0]; r.left > 0 {
		r.left -= partCost
		m.Parts = append(m.Parts, p)
	}
}

func (r *requestReader) closeMessage() {
	m := r.message
	if r.resultID != "" || m.Role == "tool" {
		for i := range m.Parts {
			if p := &m.Parts[i]; p.Type == genai.PartText {
				*p = genai.ToolCallResponsePart(r.resultID, p.Content)
			}
		}
	}
	if r.resultID != "" && len(m.Parts) == 0 {
		m.Parts = append(m.Parts, genai.ToolCallResponsePart(r.resultID, "")) // an empty result is one
	}
	if r.reasoning != "" {
		m.Parts = append([]genai.Part{genai.ReasoningPart(r.reasoning)}, m.Parts...)
	}
	r.addMessage(m.Role, m.Parts...)
}

// closePart names a part as the OpenTelemetry message schema does. A type it
// does not know is kept as it is, without its payload.
func (r *requestReader) closePart() {
	p := r.part
	switch p.Type {
	case "text", "input_text", "output_text", "refusal":
		p = genai.TextPart(p.Content)
	case "thinking", "reasoning":
		p = genai.ReasoningPart(p.Content)
	case "image_url", "input_image", "video_url", "audio_url":
		modality, _, _ := strings.Cut(strings.TrimPrefix(p.Type, "input_"), "_")
		p.Modality = modality
		p.Type = genai.PartURI
		if p.URI == "" {
			p.Type = genai.PartBlob
		}
	case "input_audio":
		p = genai.BlobPart("audio", p.MIMEType, p.Size)
	case "file", "input_file":
		p.Type = genai.PartFile
		if p.FileID == "" {
			p.Type = genai.PartBlob
		}
	default:
		if p.Type == "" && p.Content != "" {
			p = genai.TextPart(p.Content)
			break
		}
		p = genai.Part{Type: p.Type}
	}
	r.addPart(p)
}

// media takes the address of a part, or of binary content, which a request holds
// as a data URL or bare, its kind and size.
func (r *requestReader) media() {
	head := strings.TrimSpace(string(r.text[:min(len(r.text), maxField)]))
	const scheme = "data:"
	if len(head) < len(scheme) || !strings.EqualFold(head[:len(scheme)], scheme) {
		if strings.Contains(head, "://") {
			r.part.URI = r.keep()
		} else {
			r.part.Size = decodedLength(r.length, r.tail)
		}
		return
	}
	meta, _, found := strings.Cut(head[len(scheme):], ",")
	if !found {
		return
	}
	size := max(r.length-strings.Index(string(r.text), ",")-1, 0)
	mimeType, encoding, _ := strings.Cut(meta, ";")
	if strings.HasSuffix(encoding, "base64") {
		size = decodedLength(size, r.tail)
	}
	r.part.MIMEType, r.part.Size = mimeType, size
}

// decodedLength is the number of bytes in n characters of base64 that end in
// tail.
func decodedLength(n int, tail [2]byte) int {
	for i := 1; i >= 0 && n > 0 && tail[i] == '='; i-- {
		n--
	}
	return n * 3 / 4
}
