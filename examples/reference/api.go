package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"go.opentelemetry.io/otel/propagation"

	"github.com/infertel/infertel-go/examples/internal/simengine"
	"github.com/infertel/infertel-go/genai"
)

// body is a request to the API as it is in JSON. What concerns the simulation
// alone is under "simulate".
type body struct {
	Model         string          `json:"model"`
	Messages      []message       `json:"messages,omitempty"`
	Prompt        string          `json:"prompt,omitempty"`
	Input         []string        `json:"input,omitempty"`
	Query         string          `json:"query,omitempty"`
	Documents     []string        `json:"documents,omitempty"`
	Text1         string          `json:"text_1,omitempty"`
	Text2         []string        `json:"text_2,omitempty"`
	Tools         []tool          `json:"tools,omitempty"`
	MaxTokens     *int            `json:"max_tokens,omitempty"`
	Temperature   *float64        `json:"temperature,omitempty"`
	TopP          *float64        `json:"top_p,omitempty"`
	TopK          *int            `json:"top_k,omitempty"`
	N             *int            `json:"n,omitempty"`
	Stream        bool            `json:"stream,omitempty"`
	StreamOptions *streamOptions  `json:"stream_options,omitempty"`
	User          string          `json:"user,omitempty"`
	RequestID     string          `json:"request_id,omitempty"`
	RID           string          `json:"rid,omitempty"`
	BootstrapRoom *uint64         `json:"bootstrap_room,omitempty"`
	Simulate      simulatedAnswer `json:"simulate"`
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

type tool struct {
	Type     string       `json:"type"`
	Function toolFunction `json:"function"`
}

type toolFunction struct {
	Name       string          `json:"name"`
	Parameters json.RawMessage `json:"parameters"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

// simulatedAnswer says what the model and the client shall do.
type simulatedAnswer struct {
	Tokens     int `json:"tokens"`
	LeaveAfter int `json:"leave_after,omitempty"`
}

// flight is a request on its way through an engine, with what an engine's hooks
// know of it.
type flight struct {
	ctx       context.Context // carries the span of the API layer
	id        string
	body      *body
	operation genai.Operation
	request   *simengine.Request
	telemetry any // of the engine's observer
}

// api is the API server of an engine: it reads JSON, gives the engine tokens, and
// writes its answer as vLLM or SGLang do.
type api struct {
	engine *simengine.Engine
	flavor genai.Engine
	role   simengine.Role
	fault  func(error)
}

// serve answers a request. It is given the two halves of a request where prefill
// and decode run on different nodes.
func (a *api) serve(r httpRequest, client httpClient, h *simengine.Handover) {
	f, err := a.read(r)
	if err == nil {
		f.request.Handover = h
		answer := newAnswer(a, f, client)
		f.request.Deliver = answer.deliver
		err = a.engine.Submit(f.request)
	}
	if err != nil {
		a.fault(err)
		text, _ := json.Marshal(map[string]any{"error": map[string]any{"message": err.Error(), "type": "BadRequestError", "code": 400}})
		client.head(400, "application/json")
		client.write(text)
		client.close(nil)
	}
}

func (a *api) read(r httpRequest) (*flight, error) {
	b := &body{}
	if err := json.Unmarshal(r.body, b); err != nil {
		return nil, fmt.Errorf("the body is no JSON object: %w", err)
	}
	f := &flight{
		ctx:       propagation.TraceContext{}.Extract(context.Background(), propagation.HeaderCarrier(r.header)),
		id:        b.RequestID + b.RID,
		body:      b,
		operation: operationOf(r.path),
	}
	prompt := simengine.Tokenize(f.text())
	f.request = &simengine.Request{ID: f.id, Prompt: prompt, Tokens: b.Simulate.Tokens, MaxTokens: b.Simulate.Tokens + 1, LeaveAfter: b.Simulate.LeaveAfter, Data: f}
	if b.MaxTokens != nil {
		f.request.MaxTokens = *b.MaxTokens
	}
	switch {
	case a.role == simengine.PrefillNode:
		f.request.Tokens, f.request.MaxTokens = 1, 1
		if a.flavor == genai.EngineVLLM { // its router asks for one token, SGLang's changes nothing
			b.MaxTokens, b.Stream = new(1), false
		}
	case !f.generates():
		f.request.Pooling = true
	case len(b.Tools) > 0:
		f.request.Script = callScript(f.request.Tokens)
	}
	return f, nil
}

func operationOf(path string) genai.Operation {
	switch {
	case strings.HasSuffix(path, "/chat/completions"):
		return genai.OperationChat
	case strings.HasSuffix(path, "/completions"):
		return genai.OperationTextCompletion
	case strings.HasSuffix(path, "/embeddings"):
		return genai.OperationEmbeddings
	}
	return genai.OperationRerank
}

func (f *flight) generates() bool {
	return f.operation == genai.OperationChat || f.operation == genai.OperationTextCompletion
}

// text is the whole prompt, in the template of a chat where it is one.
func (f *flight) text() string {
	b := f.body
	var out strings.Builder
	for _, m := range b.Messages {
		out.WriteString("<|" + m.Role + "|> " + m.Content + " ")
	}
	if f.operation == genai.OperationChat {
		out.WriteString("<|assistant|>")
	}
	for _, part := range append(append(append([]string{b.Prompt, b.Query, b.Text1}, b.Input...), b.Documents...), b.Text2...) {
		out.WriteString(" " + part)
	}
	return out.String()
}

// callScript makes the arguments of a tool call of the words of an answer.
func callScript(tokens int) func(place int, own string) string {
	return func(place int, own string) string {
		if place == 0 {
			own = `{"city": "Oslo", "reason": "` + strings.TrimSpace(own)
		}
		if place == tokens-1 {
			own += `"}`
		}
		return own
	}
}
