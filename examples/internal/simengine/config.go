package simengine

import (
	"errors"
	"fmt"
	"time"
)

// Policy is what a scheduler does when the KV cache is full.
type Policy uint8

// The policies.
const (
	// Preempt frees the newest request's blocks; it starts again with the tokens
	// that it has so far. Batches mix prefill and decode.
	Preempt Policy = iota
	// Swap moves the newest request's blocks to the CPU and back.
	Swap
	// Retract frees the blocks of the request with the fewest tokens; it starts
	// again. A batch is either prefill or decode.
	Retract
)

// Role is the part that an engine plays where prefill and decode run on different
// nodes.
type Role uint8

// The roles.
const (
	Both Role = iota
	PrefillNode
	DecodeNode
)

// Config describes an engine. Counts that are 0 mean 1 where one is needed.
type Config struct {
	Name   string // makes the random numbers of engines with the same seed differ
	Seed   uint64
	Policy Policy
	Role   Role

	TP, PP, DP int

	Blocks, BlockSize int // of the KV cache of each DP rank
	CPUBlocks         int // Swap
	PrefixCache       bool
	Store             *Store // KV cache from outside, if there is one

	MaxBatch    int // requests in a batch
	TokenBudget int // tokens in an iteration: longer prompts are prefilled in chunks
	DraftTokens int // of speculative decoding, 0: none
	StatsEvery  int // iterations between two reports of the scheduler
}

func (c *Config) normalize() error {
	for _, n := range []*int{&c.TP, &c.PP, &c.DP, &c.MaxBatch, &c.StatsEvery} {
		*n = max(*n, 1)
	}
	var errs []error
	if c.Blocks < 1 || c.BlockSize < 1 {
		errs = append(errs, fmt.Errorf("simengine: the KV cache has %d blocks of %d tokens, want 1 or more of 1 or more", c.Blocks, c.BlockSize))
	}
	if c.TokenBudget < 1 {
		errs = append(errs, fmt.Errorf("simengine: the token budget is %d, want 1 or more", c.TokenBudget))
	}
	if c.DraftTokens < 0 {
		errs = append(errs, fmt.Errorf("simengine: %d draft tokens, want 0 or more", c.DraftTokens))
	}
	return errors.Join(errs...)
}

// How long things take.
const (
	tokenizeBase     = 150 * time.Microsecond
	tokenizeToken    = 8 * time.Microsecond
	dispatchTime     = 300 * time.Microsecond
	controllerTime   = 180 * time.Microsecond
	receiveTime      = 120 * time.Microsecond
	hopTime          = 60 * time.Microsecond // between two processes
	iterationBase    = 3200 * time.Microsecond
	prefillToken     = 140 * time.Microsecond
	decodeRequest    = 260 * time.Microsecond
	draftTime        = 900 * time.Microsecond // for each draft token
	extendTime       = 700 * time.Microsecond
	jitterTime       = 400 * time.Microsecond
	cpuTime          = 450 * time.Microsecond
	scheduleTime     = 150 * time.Microsecond
	rankSkew         = 15 * time.Microsecond
	detokenizeToken  = 18 * time.Microsecond
	deliverTime      = 400 * time.Microsecond // from scheduler to client, more than all rank skews
	prepareTime      = 250 * time.Microsecond
	bootstrapTime    = 1800 * time.Microsecond
	transferBase     = 2200 * time.Microsecond
	transferToken    = 25 * time.Microsecond
	prebuiltTime     = 350 * time.Microsecond
	swapBlock        = 20 * time.Microsecond
	maxRanks         = 16 // so that no rank is later than the client
	transferFailures = 16 // one pull from the store in so many fails
)
