package simengine

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"time"
)

// Engine is a frontend with the schedulers behind it.
type Engine struct {
	config Config
	sim    *Sim
	obs    Observer
	rng    *rand.Rand
	cores  []*core
	next   int // the DP rank of the next request
	open   map[*Request]bool
	order  []*Request // open ones in the order of their arrival
}

// NewEngine returns an engine that lives in s. The error says what of c cannot be.
func NewEngine(s *Sim, c Config, obs Observer) (*Engine, error) {
	if err := c.normalize(); err != nil {
		return nil, err
	}
	if c.TP*c.PP > maxRanks {
		return nil, fmt.Errorf("simengine: TP %d by PP %d, want no more than %d ranks", c.TP, c.PP, maxRanks)
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(c.Name))
	e := &Engine{config: c, sim: s, obs: obs, rng: rand.New(rand.NewPCG(c.Seed, h.Sum64())), open: map[*Request]bool{}}
	for i := range c.DP {
		e.cores = append(e.cores, &core{engine: e, rank: i, kv: newCache(c.Blocks), cpuFree: c.CPUBlocks})
	}
	return e, nil
}

// Submit hands a request to the frontend, now. It fails for one that could never
// fit into the KV cache.
func (e *Engine) Submit(r *Request) error {
	if r.state != stateNew {
		return fmt.Errorf("simengine: request %s was submitted before", r.ID)
	}
	most := len(r.Prompt) + r.limit() + e.config.DraftTokens
	if len(r.Prompt) == 0 || r.limit() < 1 && !r.Pooling || blocksFor(most, e.config.BlockSize) > e.config.Blocks {
		return fmt.Errorf("simengine: request %s has a prompt of %d tokens and asks for %d, want a prompt, a token, and no more than the %d that the KV cache holds",
			r.ID, len(r.Prompt), r.limit(), e.config.Blocks*e.config.BlockSize)
	}
	r.state = stateWaiting
	r.core = e.cores[e.next]
	e.next = (e.next + 1) % len(e.cores)
	r.prefillTo = len(r.Prompt)
	if e.config.PrefixCache {
		r.hashes = prefixHashes(r.Prompt, e.config.BlockSize)
	}
	e.open[r] = true
	e.order = append(e.order, r)

	arrived := e.sim.Now()
	e.tell(Event{Kind: Arrived, At: arrived, Request: r, DP: r.core.rank})
	e.sim.After(tokenizeBase+time.Duration(len(r.Prompt))*tokenizeToken, func() {
		tokenized := e.sim.Now()
		e.tell(Event{Kind: Tokenized, Start: arrived, At: tokenized, Request: r, DP: r.core.rank})
		e.sim.After(dispatchTime, func() { e.dispatched(r, tokenized) })
	})
	return nil
}

func (e *Engine) dispatched(r *Request, since time.Time) {
	now := e.sim.Now()
	e.tell(Event{Kind: Dispatched, Start: since, At: now, Request: r, DP: r.core.rank})
	if len(e.cores) == 1 {
		e.sim.After(hopTime, func() { r.core.receive(r) })
		return
	}
	e.sim.After(hopTime, func() {
		start := e.sim.Now()
		e.sim.After(controllerTime, func() {
			e.tell(Event{Kind: DPDispatched, Start: start, At: e.sim.Now(), Request: r, DP: r.core.rank})
			e.sim.After(hopTime, func() { r.core.receive(r) })
		})
	})
}

// Abort tells the scheduler that the client is gone. The request ends at the end
// of the iteration that is under way.
func (e *Engine) Abort(r *Request) {
	if !e.open[r] || r.leaving {
		return
	}
	r.leaving = true
	e.sim.After(hopTime, r.core.kick)
}

// Close ends everything that is under way, now: nothing more is to come from the
// engine. It is for the end of a run that was cut short.
func (e *Engine) Close() {
	for _, r := range append([]*Request(nil), e.order...) {
		if !e.open[r] {
			continue
		}
		r.core.release(r, ReasonAbort)
		e.finish(r, ReasonAbort)
	}
}

// Open returns how many requests are under way.
func (e *Engine) Open() int { return len(e.open) }

// Idle reports whether no block of any KV cache is in use.
func (e *Engine) Idle() bool {
	for _, c := range e.cores {
		if c.kv.used != 0 || c.cpuFree != e.config.CPUBlocks || len(c.running)+len(c.waiting)+len(c.swapped) != 0 {
			return false
		}
	}
	return len(e.open) == 0
}

func (e *Engine) tell(ev Event) {
	if e.obs != nil {
		e.obs.Observe(ev)
	}
}

// deliver gives tokens to the client through the frontend.
func (e *Engine) deliver(r *Request, tokens []Token) {
	d := time.Duration(len(tokens)) * detokenizeToken
	e.sim.After(deliverTime+d, func() {
		if !e.open[r] {
			return
		}
		r.detokenize += d
		ev := Event{Kind: Delivered, At: e.sim.Now(), Request: r, DP: r.core.rank, Tokens: tokens, First: !r.firstToken}
		r.firstToken = true
		e.tell(ev)
		if r.Deliver != nil {
			r.Deliver(Delivery{At: e.sim.Now(), Tokens: tokens})
		}
		if r.LeaveAfter > 0 && r.generated >= r.LeaveAfter {
			e.Abort(r)
		}
	})
}

// finishSoon ends the request in the frontend, after what was delivered.
func (e *Engine) finishSoon(r *Request, reason Reason, tokens int) {
	e.sim.After(deliverTime+time.Duration(tokens)*detokenizeToken+hopTime, func() { e.finish(r, reason) })
}

func (e *Engine) finish(r *Request, reason Reason) {
	if !e.open[r] {
		return
	}
	delete(e.open, r)
	for i, o := range e.order {
		if o == r {
			e.order = append(e.order[:i], e.order[i+1:]...)
			break
		}
	}
	e.tell(Event{Kind: Finished, At: e.sim.Now(), Request: r, DP: r.core.rank, Reason: reason})
	if r.Deliver != nil {
		r.Deliver(Delivery{At: e.sim.Now(), Done: true, Reason: reason})
	}
}
