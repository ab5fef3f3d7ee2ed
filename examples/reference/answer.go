package main

import (
	"encoding/json"
	"strings"

	"github.com/infertel/infertel-go/examples/internal/simengine"
	"github.com/infertel/infertel-go/genai"
)

const (
	jsonType   = "application/json"
	streamType = "text/event-stream"
	created    = 1790000000
)

// answer writes what an engine puts out in the form of the API.
type answer struct {
	api     *api
	flight  *flight
	client  httpClient
	id      string
	text    strings.Builder // of an answer that is not streamed
	started bool
}

func newAnswer(a *api, f *flight, client httpClient) *answer {
	id := f.id
	if a.flavor == genai.EngineVLLM {
		prefix := map[genai.Operation]string{genai.OperationChat: "chatcmpl-", genai.OperationTextCompletion: "cmpl-", genai.OperationEmbeddings: "embd-", genai.OperationRerank: "score-"}
		id = prefix[f.operation] + id
	}
	return &answer{api: a, flight: f, client: client, id: id}
}

func (a *answer) deliver(d simengine.Delivery) {
	switch {
	case d.Done && d.Reason == simengine.ReasonAbort:
		a.client.close(&genai.Error{Outcome: genai.OutcomeDisconnected, Description: "the client disconnected before the answer was complete"})
	case d.Done && a.flight.body.Stream:
		a.finishStream(d.Reason)
	case d.Done:
		a.finish(d.Reason)
	case a.flight.body.Stream:
		a.stream(d.Tokens)
	default:
		for _, t := range d.Tokens {
			a.text.WriteString(t.Text)
		}
	}
}

func (a *answer) tools() bool { return len(a.flight.body.Tools) > 0 }

func (a *answer) reason(r simengine.Reason) string {
	if a.tools() && r == simengine.ReasonStop {
		return "tool_calls"
	}
	return string(r)
}

type object map[string]any

func (a *answer) event(o any) {
	text, err := json.Marshal(o)
	if err != nil {
		a.api.fault(err)
		return
	}
	a.client.write([]byte("data: " + string(text) + "\n\n"))
}

// chunk is one event of a stream. finish is nil until the last one.
func (a *answer) chunk(choice object, finish any) object {
	choice["index"] = 0
	choice["finish_reason"] = finish
	kind := "chat.completion.chunk"
	if a.flight.operation == genai.OperationTextCompletion {
		kind = "text_completion"
	}
	return object{"id": a.id, "object": kind, "created": created, "model": a.flight.body.Model, "choices": []object{choice}}
}

// stream writes an increment: all tokens that came at once.
func (a *answer) stream(tokens []simengine.Token) {
	first := !a.started
	if first {
		a.started = true
		a.client.head(200, streamType)
	}
	var text string
	for _, t := range tokens {
		text += t.Text
	}
	if a.flight.operation == genai.OperationTextCompletion {
		a.event(a.chunk(object{"text": text}, nil))
		return
	}
	if first {
		a.event(a.chunk(object{"delta": object{"role": "assistant", "content": ""}}, nil))
	}
	if !a.tools() {
		a.event(a.chunk(object{"delta": object{"content": text}}, nil))
		return
	}
	if first {
		call := object{"index": 0, "id": "call-" + a.flight.id[:8], "type": "function", "function": object{"name": a.flight.body.Tools[0].Function.Name, "arguments": ""}}
		a.event(a.chunk(object{"delta": object{"tool_calls": []object{call}}}, nil))
	}
	a.event(a.chunk(object{"delta": object{"tool_calls": []object{{"index": 0, "function": object{"arguments": text}}}}}, nil))
}

func (a *answer) finishStream(r simengine.Reason) {
	if a.flight.operation == genai.OperationTextCompletion {
		a.event(a.chunk(object{"text": ""}, a.reason(r)))
	} else {
		a.event(a.chunk(object{"delta": object{}}, a.reason(r)))
	}
	if o := a.flight.body.StreamOptions; o != nil && o.IncludeUsage {
		last := a.chunk(object{}, nil)
		last["choices"] = []object{}
		last["usage"] = a.usage()
		a.event(last)
	}
	a.client.write([]byte("data: [DONE]\n\n"))
	a.client.close(nil)
}

func (a *answer) usage() object {
	r := a.flight.request
	u := object{"prompt_tokens": len(r.Prompt), "total_tokens": len(r.Prompt) + r.Generated()}
	if a.flight.generates() {
		u["completion_tokens"] = r.Generated()
		u["prompt_tokens_details"] = object{"cached_tokens": r.Cached()}
	}
	return u
}

// finish writes an answer that is not streamed.
func (a *answer) finish(r simengine.Reason) {
	b := a.flight.body
	out := object{"id": a.id, "model": b.Model, "created": created, "usage": a.usage()}
	switch a.flight.operation {
	case genai.OperationChat:
		m := object{"role": "assistant", "content": a.text.String()}
		if a.tools() {
			m["content"] = nil
			m["tool_calls"] = []object{{"id": "call-" + a.flight.id[:8], "type": "function", "function": object{"name": b.Tools[0].Function.Name, "arguments": a.text.String()}}}
		}
		out["object"] = "chat.completion"
		out["choices"] = []object{{"index": 0, "message": m, "finish_reason": a.reason(r)}}
	case genai.OperationTextCompletion:
		out["object"] = "text_completion"
		out["choices"] = []object{{"index": 0, "text": a.text.String(), "finish_reason": a.reason(r)}}
	case genai.OperationEmbeddings:
		out["object"] = "list"
		var data []object
		for i := range b.Input {
			data = append(data, object{"index": i, "object": "embedding", "embedding": []float64{0.015625, -0.5, 0.25}})
		}
		out["data"] = data
	default:
		var results []object
		for i := range len(b.Documents) + len(b.Text2) {
			results = append(results, object{"index": i, "relevance_score": 1 / float64(i+2)})
		}
		if len(b.Text2) > 0 {
			out["object"] = "list"
			out["data"] = results
		} else {
			out["results"] = results
		}
	}
	text, err := json.Marshal(out)
	if err != nil {
		a.api.fault(err)
	}
	a.client.head(200, jsonType)
	a.client.write(text)
	a.client.close(nil)
}
