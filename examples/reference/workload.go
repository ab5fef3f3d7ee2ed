package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"

	"github.com/infertel/infertel-go/examples/internal/simengine"
)

const (
	systemWords = 24 // of the text with which all chats begin
	userWords   = 40
)

// promptTokens is the length of the longest prompt: a chat's.
const promptTokens = systemWords + userWords + 3

var vocabulary = [...]string{
	"scheduler", "cache", "block", "prompt", "token", "batch", "decode", "prefill", "queue", "worker", "tensor", "pipeline",
	"stream", "gateway", "latency", "budget", "replica", "prefix", "draft", "verify", "sample", "kernel", "layer", "head",
	"memory", "transfer", "node", "request", "answer", "model",
}

// workload makes the requests of the clients of one engine.
type workload struct {
	seed    uint64
	name    string
	model   string
	sglang  bool
	tokens  int
	leave   bool // one client in four goes away before the end
	pooling bool
}

// rng gives each request random numbers of its own, whatever runs beside it.
func (w *workload) rng(i int) *rand.Rand {
	var h uint64
	for _, c := range w.name {
		h = h*131 + uint64(c)
	}
	return rand.New(rand.NewPCG(w.seed^h, uint64(i)))
}

func sentence(rng *rand.Rand, words int) string {
	out := make([]string, words)
	for i := range out {
		out[i] = vocabulary[rng.IntN(len(vocabulary))]
	}
	return strings.Join(out, " ")
}

// system is what every chat begins with.
func (w *workload) system() string { return sentence(rand.New(rand.NewPCG(w.seed, 7)), systemWords) }

// sharedPrompt is the beginning of every chat in tokens.
func (w *workload) sharedPrompt() []int { return simengine.Tokenize("<|system|> " + w.system()) }

// request makes the i-th request.
func (w *workload) request(i int) (httpRequest, error) {
	rng := w.rng(i)
	id := fmt.Sprintf("%016x%016x", rng.Uint64(), rng.Uint64())
	r := httpRequest{header: http.Header{"Content-Type": {jsonType}}}
	b := body{Model: w.model, User: fmt.Sprintf("user-%d", rng.IntN(9)), Simulate: simulatedAnswer{Tokens: w.tokens}}
	if w.sglang {
		b.RID = id
	} else {
		b.RequestID = id
	}
	if w.pooling {
		r.path = w.pool(&b, i, rng)
	} else {
		r.path = w.chat(&b, &r, i, rng)
	}
	var err error
	r.body, err = json.Marshal(b)
	return r, err
}

// chat varies what a client asks for, in turn.
func (w *workload) chat(b *body, r *httpRequest, i int, rng *rand.Rand) (path string) {
	user := sentence(rng, userWords)
	b.Messages = []message{{"system", w.system()}, {"user", user}}
	b.N = new(1)
	b.MaxTokens = new(w.tokens)
	switch i % 4 {
	case 0: // a tool is called
		b.Temperature, b.TopP, b.TopK = new(0.7), new(0.9), new(40)
		b.MaxTokens = new(w.tokens + 16)
		b.Stream, b.StreamOptions = true, &streamOptions{IncludeUsage: true}
		b.Tools = []tool{{"function", toolFunction{"get_weather", json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"},"reason":{"type":"string"}}}`)}}}
		r.header.Set("X-Session-Id", "session-"+b.User)
	case 1:
		b.Messages, b.Prompt = nil, "<|system|> "+w.system()+" "+user
		b.Temperature, b.TopP, b.TopK = new(1.0), new(0.95), new(20)
	case 2: // as little as possible is asked for
		b.MaxTokens, b.N = nil, nil
		b.Temperature, b.TopK = new(0.0), new(-1)
	case 3: // a stream without usage
		b.Stream = true
		b.TopP = new(1.0)
		if w.leave {
			b.Simulate.LeaveAfter = max(w.tokens/3, 1)
		}
	}
	return map[bool]string{true: "/v1/completions", false: "/v1/chat/completions"}[b.Prompt != ""]
}

func (w *workload) pool(b *body, i int, rng *rand.Rand) (path string) {
	texts := []string{sentence(rng, 12), sentence(rng, 9), sentence(rng, 15)}
	switch i % 3 {
	case 0:
		b.Input = texts
		return "/v1/embeddings"
	case 1:
		b.Query, b.Documents = sentence(rng, 6), texts
		return "/v1/rerank"
	}
	b.Text1, b.Text2 = sentence(rng, 6), texts
	return "/v1/score"
}
