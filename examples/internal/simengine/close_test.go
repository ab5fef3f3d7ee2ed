package simengine_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/infertel/infertel-go/examples/internal/simengine"
)

// A run that is cut short at any moment leaves nothing behind once the engine is
// closed, and nothing comes of what was under way.
func TestClose(t *testing.T) {
	for i := range setups {
		s := &setups[i]
		t.Run(s.name, func(t *testing.T) {
			for after := time.Millisecond; after < 200*time.Millisecond; after += 9300 * time.Microsecond {
				cutShort(t, after, func(sim *simengine.Sim, rec *recorder) ([]*simengine.Engine, func(int) []*simengine.Request) {
					c := s.config
					c.BlockSize, c.MaxBatch = 4, 8
					return []*simengine.Engine{newEngine(t, sim, c, rec)}, func(i int) []*simengine.Request { return []*simengine.Request{requestOf(s, i)} }
				})
			}
		})
	}
	t.Run("two nodes", func(t *testing.T) {
		for after := time.Millisecond; after < 100*time.Millisecond; after += 2300 * time.Microsecond {
			cutShort(t, after, func(sim *simengine.Sim, rec *recorder) ([]*simengine.Engine, func(int) []*simengine.Request) {
				var engines []*simengine.Engine
				for _, role := range []simengine.Role{simengine.PrefillNode, simengine.DecodeNode} {
					engines = append(engines, newEngine(t, sim, simengine.Config{Policy: simengine.Retract, Role: role, Blocks: 200, BlockSize: 4, MaxBatch: 8, TokenBudget: 512}, rec))
				}
				return engines, func(i int) []*simengine.Request {
					h := &simengine.Handover{Room: uint64(i)}
					id := fmt.Sprint("r", i)
					return []*simengine.Request{
						{ID: id + " prefill", Prompt: prompt(i, 0, 40), Tokens: 1, MaxTokens: 1, Handover: h},
						{ID: id + " decode", Prompt: prompt(i, 0, 40), Tokens: 9, MaxTokens: 9, Handover: h},
					}
				}
			})
		}
	})
}

func newEngine(t *testing.T, sim *simengine.Sim, c simengine.Config, obs simengine.Observer) *simengine.Engine {
	t.Helper()
	e, err := simengine.NewEngine(sim, c, obs)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// cutShort closes engines at a moment of their work on six requests, of which
// each engine gets its part.
func cutShort(t *testing.T, after time.Duration, build func(*simengine.Sim, *recorder) ([]*simengine.Engine, func(int) []*simengine.Request)) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	sim, rec := simengine.NewSim(start, 0), newRecorder()
	engines, parts := build(sim, rec)
	var all []*simengine.Request
	for i := range 6 {
		for n, r := range parts(i) {
			if err := engines[n].Submit(r); err != nil {
				t.Fatal(err)
			}
			all = append(all, r)
		}
	}
	sim.After(after, cancel)
	_ = sim.Run(ctx) // an error if the work was not done by then
	for _, e := range engines {
		e.Close()
	}
	if err := sim.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	for _, e := range engines {
		if !e.Idle() || e.Open() != 0 {
			t.Errorf("closed after %v: blocks or requests are left over", after)
		}
	}
	for _, r := range all {
		released := rec.released[r.ID]
		if rec.finished[r.ID] != 1 || released == 0 {
			t.Errorf("closed after %v: %s finished %d times and was released %d times", after, r.ID, rec.finished[r.ID], released)
		}
		if released > rec.ranks {
			t.Errorf("closed after %v: %s was released %d times on %d ranks", after, r.ID, released, rec.ranks)
		}
	}
}
