package simengine

import (
	"fmt"
	"slices"
	"time"
)

// core is the scheduler of one DP rank, with the workers that it drives.
type core struct {
	engine *Engine
	rank   int
	kv     *cache

	waiting, running, swapped []*Request

	cpuFree int
	busy    bool
	batches int
	since   Stats // counts since the last report
	lastAt  time.Time
	steps   int
}

// entry is a request's share of a batch.
type entry struct {
	request *Request
	prompt  int // tokens of the prompt to compute, 0: decode
}

func (c *core) config() *Config { return &c.engine.config }

// receive takes a request from the frontend.
func (c *core) receive(r *Request) {
	if r.state == stateDone {
		return
	}
	sim := c.engine.sim
	start := sim.Now()
	switch {
	case c.config().Role != Both && r.Handover != nil && !r.Handover.Ready:
		sim.After(prepareTime, func() {
			prepared := sim.Now()
			c.tellRanks(Event{Kind: Prepared, Start: start, At: prepared, Request: r})
			r.Handover.connect(sim, bootstrapTime, func() { c.connected(r, prepared) })
		})
	default:
		sim.After(receiveTime, func() {
			c.tellRanks(Event{Kind: Received, Start: start, At: sim.Now(), Request: r})
			c.enqueue(r)
		})
	}
}

// connected goes on when prefill and decode node have found each other.
func (c *core) connected(r *Request, since time.Time) {
	if r.state == stateDone {
		return
	}
	sim := c.engine.sim
	connected := sim.Now()
	c.tellRanks(Event{Kind: Bootstrapped, Start: since, At: connected, Request: r})
	if c.config().Role == PrefillNode {
		c.enqueue(r)
		return
	}
	r.Handover.whenSent(func() {
		if r.state == stateDone {
			return
		}
		c.tellRanks(Event{Kind: Transferred, Start: connected, At: sim.Now(), Request: r})
		// The prefill node has computed the prompt and the first token.
		r.remote = len(r.Prompt)
		c.enqueue(r)
	})
}

func (c *core) enqueue(r *Request) {
	if r.state == stateDone {
		return
	}
	c.waiting = append(c.waiting, r)
	c.kick()
}

// kick starts an iteration if none is under way.
func (c *core) kick() {
	if c.busy {
		return
	}
	c.dropLeaving()
	batch, mode, took := c.schedule()
	if len(batch) == 0 {
		return
	}
	c.busy = true
	c.run(batch, mode, took)
}

// run computes a batch.
func (c *core) run(entries []entry, mode Mode, extra time.Duration) {
	e, cfg := c.engine, c.config()
	c.batches++
	batch := Batch{ID: c.batchID(), Size: len(entries), Mode: mode, Micro: c.batches % cfg.PP}
	took := iterationBase + extra + time.Duration(e.rng.Int64N(int64(jitterTime)))
	var draft *Draft
	speculate := cfg.DraftTokens > 0 && mode == ModeDecode
	for _, en := range entries {
		if en.prompt > 0 {
			took += time.Duration(en.prompt) * prefillToken / time.Duration(cfg.TP)
		} else {
			took += decodeRequest
		}
	}
	if speculate {
		draft = &Draft{Draft: time.Duration(cfg.DraftTokens) * draftTime, Verify: took, Extend: extendTime}
		took += draft.Draft + draft.Extend
	}
	batch.CPU = cpuTime
	start := e.sim.Now()
	for _, en := range entries {
		if r := en.request; !r.scheduled {
			r.scheduled = true
			c.tellRanks(Event{Kind: Scheduled, At: start, Request: r, Batch: batch})
		}
	}
	e.sim.After(took, func() { c.complete(entries, batch, draft, start) })
}

func (c *core) batchID() string { return fmt.Sprintf("%s-%d-%d", c.config().Name, c.rank, c.batches) }

// complete takes the output of a batch.
func (c *core) complete(entries []entry, batch Batch, draft *Draft, start time.Time) {
	c.busy = false
	took := c.engine.sim.Now().Sub(start)
	for _, en := range entries {
		r := en.request
		if r.state == stateDone {
			continue
		}
		r.times.Scheduler += scheduleTime
		r.times.Execute += took - scheduleTime
		r.times.Forward += took - batch.CPU
		if en.prompt > 0 {
			c.completePrefill(r, en.prompt, batch, start)
		} else {
			c.completeDecode(r, batch, draft, start)
		}
	}
	c.steps++
	c.since.Iterations++
	if c.steps%c.config().StatsEvery == 0 || len(c.running)+len(c.waiting)+len(c.swapped) == 0 {
		c.report()
	}
	c.kick()
}

func (c *core) completePrefill(r *Request, n int, batch Batch, start time.Time) {
	r.computed += n
	c.since.Prompt += n
	ev := Event{Kind: Prefill, Start: start, At: c.engine.sim.Now(), Request: r, Batch: batch, Prompt: n}
	if r.computed >= r.prefillTo {
		r.prefillTo = 0
		ev.Last = true
		c.kv.publish(r.blocks, r.hashes)
		if !r.Pooling {
			ev.Tokens = c.say(r, 1)
		}
	}
	c.tellRanks(ev)
	if ev.Last {
		c.putOut(r, ev.Tokens)
	}
}

func (c *core) completeDecode(r *Request, batch Batch, draft *Draft, start time.Time) {
	n := 1
	if draft != nil {
		correct := 0
		for correct < c.config().DraftTokens && c.engine.rng.IntN(10) < 7 {
			correct++
		}
		correct = min(correct, r.limit()-r.generated-1)
		own := *draft
		own.Correct = correct
		draft = &own
		n += correct
		c.since.Verified++
		c.since.Accepted += n
	}
	ev := Event{Kind: Decode, Start: start, At: c.engine.sim.Now(), Request: r, Batch: batch, Count: r.iterations, Draft: draft, Tokens: c.say(r, n)}
	r.computed += n
	r.iterations++
	c.tellRanks(ev)
	c.putOut(r, ev.Tokens)
}

// say lets the model put out the next n tokens.
func (c *core) say(r *Request, n int) []Token {
	out := make([]Token, n)
	for i := range out {
		out[i] = generate(r, r.generated+i, c.engine.rng)
	}
	r.generated += n
	c.since.Generated += n
	return out
}

// putOut passes tokens on, and ends a request that has said all.
func (c *core) putOut(r *Request, tokens []Token) {
	e := c.engine
	e.deliver(r, tokens)
	if r.generated < r.limit() {
		return
	}
	r.state = stateDone
	reason := r.reason()
	if r.Handover != nil && c.config().Role == PrefillNode {
		c.send(r, reason, len(tokens))
		return
	}
	c.release(r, reason)
	e.finishSoon(r, reason, len(tokens))
}

// send transfers the KV cache to the decode node, or lets it lie ready there.
func (c *core) send(r *Request, reason Reason, tokens int) {
	sim, start := c.engine.sim, c.engine.sim.Now()
	took := transferBase + time.Duration(len(r.Prompt))*transferToken
	if r.Handover.Ready {
		took = 0
	}
	c.running = remove(c.running, r)
	sim.After(took, func() {
		if !r.Handover.Ready {
			c.tellRanks(Event{Kind: Sent, Start: start, At: sim.Now(), Request: r})
		}
		c.release(r, reason)
		r.Handover.arrived()
		c.engine.finishSoon(r, reason, tokens)
		c.kick()
	})
}

// dropLeaving ends the requests whose clients are gone.
func (c *core) dropLeaving() {
	for _, list := range [][]*Request{c.running, c.swapped, c.waiting} {
		for _, r := range slices.Clone(list) {
			if !r.leaving || r.state == stateTransferring {
				continue // a transfer that is under way writes to the blocks
			}
			c.release(r, ReasonAbort)
			c.engine.finishSoon(r, ReasonAbort, 0)
		}
	}
}

// release takes a request that has ended out of the scheduler.
func (c *core) release(r *Request, reason Reason) {
	if r.released {
		return
	}
	r.state, r.released = stateDone, true
	if slices.Contains(c.swapped, r) {
		c.cpuFree += blocksFor(r.computed, c.config().BlockSize)
	}
	c.running, c.waiting, c.swapped = remove(c.running, r), remove(c.waiting, r), remove(c.swapped, r)
	c.kv.release(r.blocks)
	r.blocks = nil
	c.tellRanks(Event{Kind: Released, At: c.engine.sim.Now(), Request: r, Reason: reason})
}

func remove(list []*Request, r *Request) []*Request {
	if i := slices.Index(list, r); i >= 0 {
		return slices.Delete(list, i, i+1)
	}
	return list
}

// report tells the scheduler's statistics.
func (c *core) report() {
	now := c.engine.sim.Now()
	s := c.since
	c.since = Stats{}
	s.Running, s.Waiting, s.Swapped = len(c.running), len(c.waiting), len(c.swapped)
	s.UsedBlocks, s.Blocks, s.BlockSize = c.kv.used, len(c.kv.blocks), c.config().BlockSize
	s.CPUBlocks = c.config().CPUBlocks
	s.CPUUsed = s.CPUBlocks - c.cpuFree
	if d := now.Sub(c.lastAt); d > 0 && !c.lastAt.IsZero() {
		s.Throughput = float64(s.Generated) / d.Seconds()
	}
	if s.Queried > 0 {
		s.CacheHitRate = float64(s.Hit) / float64(s.Queried)
	}
	if s.Verified > 0 {
		s.AcceptLength = float64(s.Accepted) / float64(s.Verified)
	}
	c.lastAt = now
	c.engine.tell(Event{Kind: Iterated, At: now, DP: c.rank, Count: c.steps, Stats: &s})
}

// tellRanks tells what happened once for each rank. The workers run a little one
// after the other; those of a pipeline each have their part of an iteration.
func (c *core) tellRanks(ev Event) {
	cfg := c.config()
	ev.DP = c.rank
	start, at := ev.Start, ev.At
	for p := range cfg.PP {
		for t := range cfg.TP {
			ev.PP, ev.TP = p, t
			skew := time.Duration(p*cfg.TP+t) * rankSkew
			ev.At = at.Add(skew)
			if !start.IsZero() {
				ev.Start = start.Add(skew)
			}
			if length := at.Sub(start); cfg.PP > 1 && (ev.Kind == Prefill || ev.Kind == Decode) {
				ev.Start = start.Add(length*time.Duration(p)/time.Duration(cfg.PP) + skew)
				ev.At = start.Add(length*time.Duration(p+1)/time.Duration(cfg.PP) + skew)
			}
			c.engine.tell(ev)
		}
	}
}
