package vllm_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/infertel/infertel-go/vllm"
)

// FuzzEventOrder calls the methods of a request in any order with any times: no
// panic, no negative or huge interval, and every stage within its parent or
// reported.
func FuzzEventOrder(f *testing.F) {
	f.Add([]byte("\x02\x00\x03\x01\x10\x01\x20\x02\x30\x04\x40"), uint8(0))
	f.Add([]byte{1, 3, 0, 4, 200, 1, 5, 9, 9, 9, 9, 9, 9, 13, 0}, uint8(7))
	f.Add([]byte{255, 0, 7, 7, 11, 12, 10, 8, 9, 250}, uint8(31))
	f.Fuzz(func(t *testing.T, script []byte, mode uint8) {
		b := newBed(t)
		opts := []vllm.OptionV1{vllm.WithGranularity(vllm.Granularity(mode % 3)), vllm.WithEventLimit(int(mode/3) - 2)}
		if mode%2 == 0 {
			opts = append(opts, vllm.WithEventCoalescing())
		}
		e := b.v1(vllm.EngineConfig{PDRole: vllm.PDRole(mode / 5 % 3)}, opts...)
		next := func() byte {
			if len(script) == 0 {
				return 0
			}
			v := script[0]
			script = script[1:]
			return v
		}
		// Times mostly lie around the request, some far away or not at all.
		when := func() time.Time {
			switch v := next(); {
			case v == 255:
				return time.Time{}
			case v == 254:
				return time.Unix(0, 0)
			case v == 253:
				return time.Unix(1<<40, 0)
			case v == 252:
				return time.Unix(-1<<40, 0)
			case v == 251:
				return t0.Add(-24 * time.Hour)
			case v == 250:
				return t0.Add(24 * time.Hour)
			default:
				return at(float64(v) - 20)
			}
		}
		tokens := func() vllm.Iteration {
			it := vllm.Iteration{At: when()}
			if n := next(); n%2 == 0 {
				it.TokenIDs = make([]int, n%5)
				it.TokenTexts = make([]string, n%3)
				it.TokenCount = new(int(int8(n)))
				it.NoToken = n%7 == 0
			}
			return it
		}
		arrival := when()
		if arrival.IsZero() || arrival.Unix() == 0 || arrival.Unix() < 0 || arrival.Unix() > 1<<39 {
			arrival = at(0) // an arrival that is not known starts now, which is years away
		}
		req := e.StartRequest(context.Background(), vllm.Request{ID: "r"}, arrival)
		var stages []vllm.StageSpan
		var transfers []vllm.KVTransferSpan
		finished := false
		for len(script) > 0 {
			switch next() % 14 {
			case 0:
				req.Queued(when())
			case 1:
				req.Scheduled(when())
			case 2:
				req.Prefill(tokens())
			case 3, 4, 5:
				req.Decode(tokens())
			case 6:
				req.Preempted(when())
			case 7:
				stages = append(stages, req.StartWait(when()))
			case 8:
				stages = append(stages, req.StartPrefill(when()))
			case 9:
				stages = append(stages, req.StartDecode(when()))
			case 10:
				transfers = append(transfers, req.StartKVTransfer(when()))
			case 11:
				if n := len(stages); n > 0 {
					stages[int(next())%n].End(when())
				}
			case 12:
				if n := len(transfers); n > 0 {
					transfers[int(next())%n].End(vllm.KVTransfer{CachedTokens: int(int8(next()))}, when())
				}
			case 13:
				req.Tokenized(time.Duration(int8(next())))
				if next()%16 == 0 && !finished {
					finished = true
					req.Finish(vllm.OutcomeV1{At: when(), FrontendFirstToken: when(), LastToken: when()})
				}
			}
		}
		req.Finish(vllm.OutcomeV1{At: at(255), FinishReason: vllm.FinishReasonStop, Err: errors.New("x")})
		sound(t, b, b.spans(), b.reports())
	})
}
