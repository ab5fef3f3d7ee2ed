package simengine

import (
	"slices"
	"time"
)

// schedule chooses what the next iteration computes. extra is the time that it
// takes longer, for blocks that were swapped.
func (c *core) schedule() (batch []entry, mode Mode, extra time.Duration) {
	if c.config().Policy == Retract {
		if batch := c.prebuilt(); len(batch) > 0 {
			return nil, 0, 0
		}
		if batch = c.prefillBatch(); len(batch) > 0 {
			return batch, ModePrefill, 0
		}
		return c.decodeBatch(), ModeDecode, 0
	}
	return c.mixedBatch()
}

// mixedBatch serves the running requests first and then admits waiting ones, all
// within the token budget.
func (c *core) mixedBatch() (batch []entry, mode Mode, extra time.Duration) {
	budget, evicted := c.config().TokenBudget, false
	for i := 0; i < len(c.running) && budget > 0; i++ {
		r := c.running[i]
		n := r.next(budget)
		if !c.makeRoom(r, n, &evicted) {
			break // r itself had to go, and it was the last
		}
		batch = append(batch, entry{r, n.prompt})
		budget -= n.tokens
	}
	if evicted {
		return batch, ModeMixed, extra
	}
	for len(c.swapped) > 0 && len(c.running) < c.config().MaxBatch && budget > 0 {
		r := c.swapped[0]
		need := blocksFor(r.computed, c.config().BlockSize)
		if !c.kv.grow(&r.blocks, need+1) {
			return batch, ModeMixed, extra
		}
		c.swapped = c.swapped[1:]
		c.cpuFree += need
		r.state = stateRunning
		c.running = append(c.running, r)
		extra += time.Duration(need) * swapBlock
		n := r.next(budget)
		if !c.kv.grow(&r.blocks, blocksFor(r.computed+n.tokens, c.config().BlockSize)) {
			break
		}
		batch = append(batch, entry{r, n.prompt})
		budget -= n.tokens
	}
	for i := 0; i < len(c.waiting) && len(c.running) < c.config().MaxBatch && budget > 0; {
		r := c.waiting[i]
		if c.pull(r) {
			i++ // others need not wait for its KV cache
			continue
		}
		n, ok := c.admit(r, budget)
		if !ok {
			break
		}
		batch = append(batch, entry{r, n.prompt})
		budget -= n.tokens
	}
	return batch, ModeMixed, extra
}

// need is what the next iteration of a request computes.
type need struct {
	tokens int // that enter the KV cache
	prompt int // of those, tokens of the prompt or of what is computed again
}

func (r *Request) next(budget int) need {
	if left := r.prefillTo - r.computed; r.prefillTo > 0 && left > 0 {
		n := min(left, budget)
		return need{n, n}
	}
	return need{1, 0}
}

// makeRoom allocates the blocks that r needs, and takes them from the newest
// requests if there are none. It reports whether r is still running.
func (c *core) makeRoom(r *Request, n need, evicted *bool) bool {
	for !c.kv.grow(&r.blocks, blocksFor(r.computed+n.tokens, c.config().BlockSize)) {
		victim := c.running[len(c.running)-1]
		c.evict(victim)
		*evicted = true
		if victim == r {
			return false
		}
	}
	return true
}

// evict takes a running request's KV cache away.
func (c *core) evict(r *Request) {
	c.running = remove(c.running, r)
	c.since.Preempted++
	c.kv.release(r.blocks)
	r.blocks = nil
	need := blocksFor(r.computed, c.config().BlockSize)
	if c.config().Policy == Swap && need <= c.cpuFree {
		c.cpuFree -= need
		r.state = stateSwapped
		c.swapped = append(c.swapped, r)
	} else {
		// Everything is computed again, what was put out as well.
		r.state, r.computed, r.prefillTo = stateWaiting, 0, len(r.Prompt)+r.generated
		c.waiting = slices.Insert(c.waiting, 0, r)
	}
	c.tellRanks(Event{Kind: Evicted, At: c.engine.sim.Now(), Request: r})
}

// admit takes the request from the queue into the running ones, with as much of
// its prompt as the budget allows.
func (c *core) admit(r *Request, budget int) (need, bool) {
	cfg := c.config()
	if r.state == stateWaiting && r.computed == 0 {
		hits := c.kv.match(r.hashes)
		shared := c.kv.share(r.hashes[:hits])
		blocks := append([]int(nil), shared...)
		n := min(r.prefillTo-hits*cfg.BlockSize, budget)
		if !c.kv.grow(&blocks, blocksFor(hits*cfg.BlockSize+n, cfg.BlockSize)) {
			c.kv.release(shared)
			return need{}, false
		}
		r.blocks, r.computed = blocks, hits*cfg.BlockSize
		if !r.scheduled {
			r.cached = r.computed
			c.since.Queried += len(r.Prompt)
			c.since.Hit += r.computed
		}
	} else if !c.kv.grow(&r.blocks, blocksFor(r.computed+r.next(budget).tokens, cfg.BlockSize)) {
		return need{}, false
	}
	r.state = stateRunning
	c.waiting = remove(c.waiting, r)
	c.running = append(c.running, r)
	return r.next(budget), true
}

// pull fetches KV cache from the prefill node or the store, and reports whether
// the request has to wait for it.
func (c *core) pull(r *Request) bool {
	cfg := c.config()
	if r.state == stateTransferring {
		return true
	}
	if r.looked {
		return false
	}
	r.looked = true
	remote := cfg.Store.match(r.hashes)
	if cfg.Role == DecodeNode && r.Handover != nil {
		remote = len(r.Prompt) - 1 // the last token is computed here
	}
	if remote <= c.kv.match(r.hashes)*cfg.BlockSize {
		return false
	}
	if !c.kv.grow(&r.blocks, blocksFor(remote, cfg.BlockSize)) {
		r.looked = false // there may be room later
		return false
	}
	r.state = stateTransferring
	sim := c.engine.sim
	c.tellRanks(Event{Kind: PullStarted, At: sim.Now(), Request: r})
	sim.After(transferBase+time.Duration(remote)*transferToken, func() { c.pulled(r, remote) })
	return true
}

func (c *core) pulled(r *Request, remote int) {
	if r.state == stateDone {
		return
	}
	cfg := c.config()
	failed := cfg.Role != DecodeNode && c.engine.rng.IntN(transferFailures) == 0
	r.state = stateWaiting
	if failed {
		remote = 0
		c.kv.release(r.blocks)
		r.blocks = nil
	} else {
		r.computed, r.cached = remote, remote
		if cfg.Role == DecodeNode {
			r.cached, r.prefillTo = remote, 0
		} else {
			c.kv.publish(r.blocks, r.hashes[:remote/cfg.BlockSize])
		}
		c.since.Queried += len(r.Prompt)
		c.since.Hit += remote
	}
	c.tellRanks(Event{Kind: PullFinished, At: c.engine.sim.Now(), Request: r, Prompt: remote, Failed: failed})
	c.kick()
}

// prefillBatch goes on with a prompt that is prefilled in chunks, and then admits
// waiting requests.
func (c *core) prefillBatch() (batch []entry) {
	budget := c.config().TokenBudget
	for _, r := range c.running {
		if r.prefillTo > 0 && budget > 0 {
			n := r.next(budget)
			if !c.kv.grow(&r.blocks, blocksFor(r.computed+n.tokens, c.config().BlockSize)) {
				return nil // decode goes first and frees some, or retracts
			}
			batch = append(batch, entry{r, n.prompt})
			budget -= n.tokens
		}
	}
	for len(c.waiting) > 0 && len(c.running) < c.config().MaxBatch && budget > 0 {
		r := c.waiting[0]
		// Room for the next tokens of those that run is kept, else they would be
		// retracted at once.
		need := blocksFor(r.prefillTo, c.config().BlockSize) - c.kv.match(r.hashes)
		if n := len(c.running); n > 0 && c.kv.available() < need+n {
			break
		}
		n, ok := c.admit(r, budget)
		if !ok {
			break
		}
		batch = append(batch, entry{r, n.prompt})
		budget -= n.tokens
	}
	return batch
}

// decodeBatch serves every running request, and retracts those with the fewest
// tokens if there is no room for all.
func (c *core) decodeBatch() (batch []entry) {
	grow := 1 + c.config().DraftTokens
	for {
		need := 0
		for _, r := range c.running {
			need += max(blocksFor(r.computed+grow, c.config().BlockSize)-len(r.blocks), 0)
		}
		if need <= c.kv.available() || len(c.running) < 2 {
			break
		}
		victim := c.running[len(c.running)-1]
		for _, r := range c.running {
			if r.generated < victim.generated {
				victim = r
			}
		}
		c.evict(victim)
	}
	for _, r := range c.running {
		if r.prefillTo == 0 && c.kv.grow(&r.blocks, blocksFor(r.computed+grow, c.config().BlockSize)) {
			batch = append(batch, entry{r, 0})
		}
	}
	return batch
}

// prebuilt takes over requests whose prefill another node has done. Their first
// token has been computed there, so only the output is completed here.
func (c *core) prebuilt() (batch []*Request) {
	cfg := c.config()
	if cfg.Role != DecodeNode {
		return nil
	}
	for len(c.waiting) > 0 && len(c.running)+len(batch) < cfg.MaxBatch {
		r := c.waiting[0]
		if r.remote == 0 || !c.kv.grow(&r.blocks, blocksFor(r.remote, cfg.BlockSize)) {
			break
		}
		c.waiting = c.waiting[1:]
		r.state, r.computed, r.prefillTo = stateRunning, r.remote, 0
		r.remote = 0
		batch = append(batch, r)
	}
	if len(batch) == 0 {
		return nil
	}
	sim, start := c.engine.sim, c.engine.sim.Now()
	c.busy = true
	c.batches++
	b := Batch{ID: c.batchID(), Size: len(batch), Mode: ModePrebuilt}
	c.running = append(c.running, batch...)
	for _, r := range batch {
		r.scheduled = true
		c.tellRanks(Event{Kind: Scheduled, At: start, Request: r, Batch: b})
	}
	sim.After(prebuiltTime, func() {
		c.busy = false
		for _, r := range batch {
			if r.state == stateDone {
				continue
			}
			tokens := c.say(r, 1)
			c.tellRanks(Event{Kind: Prebuilt, Start: start, At: sim.Now(), Request: r, Batch: b, Tokens: tokens})
			c.putOut(r, tokens)
		}
		c.kick()
	})
	return batch
}
