package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// plan is what one stream holds. Server, client and the check of its span make it
// from the stream's number alone.
type plan struct {
	number         int64
	input, output  int // tokens
	left           int // events after which the client leaves; 0: it stays
	pauses         []time.Duration
	contentOfEvent []string
}

func planOf(number int64, c config) plan {
	r := rand.New(rand.NewPCG(uint64(number), 1))
	p := plan{number: number, input: 1 + r.IntN(4000), output: c.chunks/4 + r.IntN(c.chunks*3/4+1)}
	for range p.output {
		p.pauses = append(p.pauses, c.chunk/2+rand.N(c.chunk)) // when is nobody's business
		p.contentOfEvent = append(p.contentOfEvent, strings.Repeat("token ", 1+r.IntN(8))+"好🌍")
	}
	if c.abandon > 0 && number%int64(c.abandon) == 0 {
		p.left = 1 + r.IntN(max(1, p.output-1))
	}
	return p
}

func (p *plan) id() string { return fmt.Sprintf("chatcmpl-%d", p.number) }

func (p *plan) request() string {
	return fmt.Sprintf(`{"model":"soak","stream":true,"stream_options":{"include_usage":true},"max_tokens":%d,"messages":[{"role":"user","content":"stream %d"}]}`, p.output, p.number)
}

// event returns the i-th event: one for each token, then the finish and the usage
// with the end.
func (p *plan) event(i int) string {
	head := fmt.Sprintf(`data: {"id":%q,"object":"chat.completion.chunk","created":1700000000,"model":"soak","choices":[`, p.id())
	switch {
	case i < p.output:
		return head + fmt.Sprintf(`{"index":0,"delta":{"content":%q},"finish_reason":null}]}`+"\n\n", p.contentOfEvent[i])
	case i == p.output:
		return head + `{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\n"
	}
	return head + fmt.Sprintf(`],"usage":{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d}}`+"\n\ndata: [DONE]\n\n", p.input, p.output, p.input+p.output)
}

func (p *plan) events() int { return p.output + 2 }
