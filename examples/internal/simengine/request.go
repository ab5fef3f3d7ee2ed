package simengine

import "time"

// Request is one request to an engine. What is exported is set by the caller and
// not changed afterwards.
type Request struct {
	ID     string
	Prompt []int
	// Tokens is how many tokens the model has to say; MaxTokens cuts it short.
	Tokens, MaxTokens int
	// Pooling requests want a vector or a score and no tokens.
	Pooling bool
	// LeaveAfter is the number of tokens after which the client goes away. 0: it
	// stays.
	LeaveAfter int
	// Script turns the model's own word in a place into what it is to say. Nil
	// leaves it.
	Script func(place int, own string) string
	// Handover joins the two halves of a request on a prefill and a decode node.
	Handover *Handover
	// Deliver is told of what the frontend streams to the client.
	Deliver func(Delivery)
	// Data is the caller's.
	Data any

	state      state
	core       *core
	hashes     []uint64
	blocks     []int
	computed   int // tokens in the KV cache
	generated  int
	prefillTo  int // tokens that prefill has to compute, 0: decoding
	cached     int // tokens found in a cache when the request was first scheduled
	scheduled  bool
	looked     bool // remote KV was looked for
	remote     int  // tokens that the remote side holds
	iterations int
	firstToken bool
	leaving    bool
	released   bool
	detokenize time.Duration
	times      Times
}

type state uint8

const (
	stateNew state = iota
	stateWaiting
	stateTransferring // pulls KV cache from elsewhere
	stateRunning
	stateSwapped
	stateDone
)

// Generated is how many tokens were put out so far.
func (r *Request) Generated() int { return r.generated }

// Cached is how many prompt tokens came from a cache.
func (r *Request) Cached() int { return r.cached }

// Detokenize is the time that detokenization took so far.
func (r *Request) Detokenize() time.Duration { return r.detokenize }

// Times is how long the engine worked on a request.
type Times struct {
	Scheduler time.Duration // choosing batches
	Execute   time.Duration // running them, Forward included
	Forward   time.Duration // the forward passes alone
}

// Times returns how long the engine worked on the request so far.
func (r *Request) Times() Times { return r.times }

// limit is how many tokens the request gets at most.
func (r *Request) limit() int {
	if r.Pooling {
		return 0
	}
	return min(r.Tokens, r.MaxTokens)
}

func (r *Request) reason() Reason {
	if r.generated >= r.MaxTokens && !r.Pooling {
		return ReasonLength
	}
	return ReasonStop
}

// Reason is why a request ended.
type Reason string

// The reasons.
const (
	ReasonStop   Reason = "stop"
	ReasonLength Reason = "length"
	ReasonAbort  Reason = "abort"
)

// Delivery is what the frontend gives the client: tokens, or the end.
type Delivery struct {
	At     time.Time
	Tokens []Token
	Done   bool
	Reason Reason
}
