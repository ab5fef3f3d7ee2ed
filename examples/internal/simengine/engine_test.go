package simengine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/infertel/infertel-go/examples/internal/simengine"
)

var start = time.Unix(1_700_000_000, 0)

// setup is an engine under load.
type setup struct {
	name   string
	config simengine.Config
	prefix int // tokens that all prompts share
	store  bool
	leave  bool // every fourth client goes away
	pool   bool
}

var setups = []setup{
	{name: "preempt", config: simengine.Config{Policy: simengine.Preempt, Blocks: 60, PrefixCache: true, TokenBudget: 48}, prefix: 24, leave: true},
	{name: "swap", config: simengine.Config{Policy: simengine.Swap, Blocks: 66, CPUBlocks: 30, TokenBudget: 512}, leave: true},
	{name: "retract", config: simengine.Config{Policy: simengine.Retract, Blocks: 60, PrefixCache: true, TokenBudget: 64, DraftTokens: 3}, prefix: 24, leave: true},
	{name: "ranks", config: simengine.Config{Policy: simengine.Retract, Blocks: 50, TokenBudget: 64, TP: 2, PP: 2, DP: 2}, leave: true},
	{name: "store", config: simengine.Config{Policy: simengine.Preempt, Blocks: 60, PrefixCache: true, TokenBudget: 512}, prefix: 24, store: true, leave: true},
	{name: "pooling", config: simengine.Config{Policy: simengine.Preempt, Blocks: 60, TokenBudget: 512}, pool: true},
}

// recorder writes down all events and holds what they must add up to.
type recorder struct {
	log      strings.Builder
	finished map[string]int
	released map[string]int
	ranks    int            // that were seen
	put      map[string]int // tokens out of iterations of the first rank
	seen     map[string]int // tokens that reached the client
	kinds    map[simengine.Kind]int
	backward []string
}

func newRecorder() *recorder {
	return &recorder{finished: map[string]int{}, released: map[string]int{}, put: map[string]int{}, seen: map[string]int{}, kinds: map[simengine.Kind]int{}}
}

func (r *recorder) Observe(e simengine.Event) {
	id := ""
	if e.Request != nil {
		id = e.Request.ID
	}
	stats := simengine.Stats{}
	if e.Stats != nil {
		stats = *e.Stats
	}
	fmt.Fprintln(&r.log, e.Kind, id, e.Start.UnixNano(), e.At.UnixNano(), e.DP, e.TP, e.PP, e.Batch, e.Tokens, e.Prompt, e.First, e.Last, e.Count, e.Draft != nil, e.Reason, e.Failed, stats)
	r.kinds[e.Kind]++
	if !e.Start.IsZero() && e.At.Before(e.Start) {
		r.backward = append(r.backward, fmt.Sprint(e.Kind, " of ", id))
	}
	switch e.Kind {
	case simengine.Finished:
		r.finished[id]++
	case simengine.Released:
		r.released[id]++
		r.ranks = max(r.ranks, 2*e.PP+e.TP+1)
	case simengine.Prefill, simengine.Decode, simengine.Prebuilt:
		if e.TP == 0 && e.PP == 0 {
			r.put[id] += len(e.Tokens)
		}
	case simengine.Delivered:
		r.seen[id] += len(e.Tokens)
	}
}

func prompt(i, shared, length int) []int {
	out := make([]int, length)
	for j := range out {
		out[j] = j
		if j >= shared {
			out[j] = i*1000 + j
		}
	}
	return out
}

const outTokens = 20

func requestOf(s *setup, i int) *simengine.Request {
	r := &simengine.Request{ID: fmt.Sprint("r", i), Prompt: prompt(i, s.prefix, 60), Tokens: outTokens, MaxTokens: outTokens + i%2, Pooling: s.pool}
	if s.leave && i%4 == 3 {
		r.LeaveAfter = 5
	}
	return r
}

// run lets some clients send requests, each one after the other.
func run(t *testing.T, s *setup, seed uint64, requests int) (*simengine.Engine, *recorder) {
	t.Helper()
	sim, rec := simengine.NewSim(start, 0), newRecorder()
	c := s.config
	c.Name, c.Seed, c.BlockSize, c.MaxBatch, c.StatsEvery = s.name, seed, 4, 8, 3
	if s.store {
		c.Store = simengine.NewStore(4, prompt(0, s.prefix, s.prefix))
	}
	e, err := simengine.NewEngine(sim, c, rec)
	if err != nil {
		t.Fatal(err)
	}
	next := 0
	var send func()
	send = func() {
		if next == requests {
			return
		}
		r := requestOf(s, next)
		next++
		r.Deliver = func(d simengine.Delivery) {
			if d.Done {
				send()
			}
		}
		if err := e.Submit(r); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 6 {
		sim.After(time.Duration(i)*time.Millisecond, send)
	}
	if err := sim.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	return e, rec
}

// Nothing is lost under pressure: no block, no request, no token.
func TestInvariants(t *testing.T) {
	const requests = 40
	for i := range setups {
		s := &setups[i]
		t.Run(s.name, func(t *testing.T) {
			e, rec := run(t, s, 1, requests)
			if !e.Idle() {
				t.Error("blocks or requests are left over")
			}
			if len(rec.backward) > 0 {
				t.Errorf("ends before it starts: %v", rec.backward)
			}
			ranks := max(s.config.TP, 1) * max(s.config.PP, 1)
			for i := range requests {
				id := fmt.Sprint("r", i)
				if rec.finished[id] != 1 || rec.released[id] != ranks {
					t.Errorf("%s finished %d times and was released %d times, want 1 and %d", id, rec.finished[id], rec.released[id], ranks)
				}
				want := outTokens
				switch {
				case s.pool:
					want = 0
				case s.leave && i%4 == 3:
					if rec.put[id] < 5 || rec.put[id] > outTokens {
						t.Errorf("%s put out %d tokens, its client left after 5", id, rec.put[id])
					}
					continue
				}
				if rec.put[id] != want || rec.seen[id] != want {
					t.Errorf("%s put out %d tokens and its client saw %d, want %d", id, rec.put[id], rec.seen[id], want)
				}
			}
			if evicts := rec.kinds[simengine.Evicted]; !s.pool && evicts == 0 {
				t.Error("the KV cache was never full, so the test shows little")
			}
			if s.store && rec.kinds[simengine.PullFinished] == 0 {
				t.Error("nothing came from the store")
			}
		})
	}
}

// The same seed gives the same run, another one another.
func TestSeed(t *testing.T) {
	for i := range setups {
		s := &setups[i]
		t.Run(s.name, func(t *testing.T) {
			_, a := run(t, s, 1, 12)
			_, b := run(t, s, 1, 12)
			_, c := run(t, s, 2, 12)
			if a.log.String() != b.log.String() {
				t.Error("two runs with the same seed differ")
			}
			if a.log.String() == c.log.String() {
				t.Error("two runs with different seeds do not differ")
			}
		})
	}
}

// A prompt that is longer than the budget is prefilled in chunks, and the chunks
// add up to what was not in a cache.
func TestChunkedPrefill(t *testing.T) {
	for _, policy := range []simengine.Policy{simengine.Preempt, simengine.Retract} {
		sim := simengine.NewSim(start, 0)
		chunks, sum := 0, 0
		e, err := simengine.NewEngine(sim, simengine.Config{Policy: policy, Blocks: 50, BlockSize: 4, TokenBudget: 32}, simengine.ObserverFunc(func(ev simengine.Event) {
			if ev.Kind == simengine.Prefill {
				chunks++
				sum += ev.Prompt
			}
		}))
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Submit(&simengine.Request{ID: "a", Prompt: prompt(1, 0, 100), Tokens: 1, MaxTokens: 1}); err != nil {
			t.Fatal(err)
		}
		if err := sim.Run(context.Background()); err != nil {
			t.Fatal(err)
		}
		if chunks != 4 || sum != 100 {
			t.Errorf("policy %d: %d chunks with %d tokens, want 4 with 100", policy, chunks, sum)
		}
	}
}

// The second request finds what the first has computed, but for its last block.
func TestPrefixCache(t *testing.T) {
	sim := simengine.NewSim(start, 0)
	e, err := simengine.NewEngine(sim, simengine.Config{Blocks: 50, BlockSize: 4, TokenBudget: 512, PrefixCache: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	first := &simengine.Request{ID: "a", Prompt: prompt(1, 0, 40), Tokens: 1, MaxTokens: 1}
	second := &simengine.Request{ID: "b", Prompt: prompt(1, 0, 40), Tokens: 1, MaxTokens: 1}
	first.Deliver = func(d simengine.Delivery) {
		if d.Done {
			if err := e.Submit(second); err != nil {
				t.Error(err)
			}
		}
	}
	if err := e.Submit(first); err != nil {
		t.Fatal(err)
	}
	if err := sim.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	if first.Cached() != 0 || second.Cached() != 36 {
		t.Errorf("%d and %d tokens from the cache, want 0 and 36", first.Cached(), second.Cached())
	}
}

// The prefill node computes the prompt and one token, the decode node the rest.
func TestHandover(t *testing.T) {
	sim := simengine.NewSim(start, 0)
	prefill, decode := newRecorder(), newRecorder()
	node := func(role simengine.Role, obs simengine.Observer) *simengine.Engine {
		e, err := simengine.NewEngine(sim, simengine.Config{Policy: simengine.Retract, Role: role, Blocks: 100, BlockSize: 4, TokenBudget: 512}, obs)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	p, d := node(simengine.PrefillNode, prefill), node(simengine.DecodeNode, decode)
	h := &simengine.Handover{Room: 7}
	for e, tokens := range map[*simengine.Engine]int{p: 1, d: 6} {
		if err := e.Submit(&simengine.Request{ID: "a", Prompt: prompt(1, 0, 40), Tokens: tokens, MaxTokens: tokens, Handover: h}); err != nil {
			t.Fatal(err)
		}
	}
	if err := sim.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	if !p.Idle() || !d.Idle() {
		t.Error("blocks or requests are left over")
	}
	if prefill.seen["a"] != 1 || decode.seen["a"] != 6 {
		t.Errorf("prefill node gave %d tokens, decode node %d, want 1 and 6", prefill.seen["a"], decode.seen["a"])
	}
	for kind, want := range map[simengine.Kind][2]int{
		simengine.Prepared: {1, 1}, simengine.Bootstrapped: {1, 1}, simengine.Prefill: {1, 0}, simengine.Sent: {1, 0},
		simengine.Transferred: {0, 1}, simengine.Prebuilt: {0, 1}, simengine.Decode: {0, 5}, simengine.Received: {0, 0},
	} {
		if got := [2]int{prefill.kinds[kind], decode.kinds[kind]}; got != want {
			t.Errorf("kind %d came %v times on the two nodes, want %v", kind, got, want)
		}
	}
}

func TestRefusals(t *testing.T) {
	sim := simengine.NewSim(start, 0)
	if _, err := simengine.NewEngine(sim, simengine.Config{}, nil); err == nil {
		t.Error("an engine without a KV cache was made")
	}
	e, err := simengine.NewEngine(sim, simengine.Config{Blocks: 4, BlockSize: 4, TokenBudget: 8}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, r := range map[string]*simengine.Request{
		"no prompt": {ID: "a", Tokens: 1, MaxTokens: 1},
		"no tokens": {ID: "b", Prompt: []int{1}},
		"too long":  {ID: "c", Prompt: prompt(0, 0, 10), Tokens: 10, MaxTokens: 10},
	} {
		if err := e.Submit(r); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// At a speed the clock waits for real time, and a context ends the wait.
func TestSpeed(t *testing.T) {
	sim := simengine.NewSim(start, 1)
	began := time.Now()
	sim.After(20*time.Millisecond, func() {})
	if err := sim.Run(context.Background()); err != nil || time.Since(began) < 20*time.Millisecond {
		t.Errorf("20 ms took %v, %v", time.Since(began), err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	sim.After(time.Hour, func() { t.Error("an hour did not pass") })
	time.AfterFunc(10*time.Millisecond, cancel)
	if err := sim.Run(ctx); err == nil {
		t.Error("the run was not cut short")
	}
}
