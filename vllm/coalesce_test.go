package vllm_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/infertel/infertel-go/internal/sdktest"
	"github.com/infertel/infertel-go/vllm"
)

// tokensOf writes what an event has as "ids texts count logprobs", - for what it
// lacks.
func tokensOf(e spanEvent) string {
	var out []string
	for _, k := range []string{"ids", "texts", "count", "logprobs"} {
		if v, ok := e.attrs["gen_ai.token."+k]; ok {
			out = append(out, fmt.Sprint(v))
		} else {
			out = append(out, "-")
		}
	}
	return strings.Join(out, " ")
}

// The attributes of a merged event tell of the same tokens.
func TestMergedEventsAgree(t *testing.T) {
	one := func(i int, fields string) vllm.Iteration {
		it := vllm.Iteration{At: at(float64(i + 1))}
		for _, f := range fields {
			switch f {
			case 'i':
				it.TokenIDs = []int{i}
			case 't':
				it.TokenTexts = []string{fmt.Sprint("t", i)}
			case 'c':
				it.TokenCount = new(1)
			case 'l':
				it.LogProbs = []float64{float64(-i)}
			}
		}
		return it
	}
	for name, c := range map[string]struct {
		fields []string // of each iteration, one token each
		limit  int
		want   []string
	}{
		"all alike":               {[]string{"itcl", "itcl", "itcl", "itcl"}, 2, []string{"[0 1] [t0 t1] 2 [0 -1]", "[2 3] [t2 t3] 2 [-2 -3]"}},
		"some counted":            {[]string{"i", "ic", "i"}, 1, []string{"[0 1 2] - 3 -"}},
		"none counted":            {[]string{"i", "it", "il"}, 1, []string{"[0 1 2] - - -"}},
		"alike ones are joined":   {[]string{"ic", "t", "t", "il", "il"}, 3, []string{"[0] - 1 -", "- [t1 t2] - -", "[3 4] - - [-3 -4]"}},
		"counts alone":            {[]string{"c", "c", "c"}, 1, []string{"- - 3 -"}},
		"one told nothing":        {[]string{"c", "", "c"}, 1, []string{"- - - -"}},
		"one without tokens":      {[]string{"ic", "", "ic"}, 1, []string{"[0 2] - - -"}},
		"one without its tokens":  {[]string{"ic", "c", "ic"}, 1, []string{"[0 2] - - -"}},
		"nothing in common":       {[]string{"tl", "i", "l"}, 1, []string{"[1] - - -"}},
		"nothing but some texts":  {[]string{"tc", "l", "t"}, 1, []string{"- [t0 t2] - -"}},
		"log probabilities alone": {[]string{"lc", "c", "l"}, 1, []string{"- - - [0 -2]"}},
		"texts in common":         {[]string{"tc", "itl", "tl"}, 1, []string{"- [t0 t1 t2] 3 -"}},
		"no need to merge":        {[]string{"ic", "", "l"}, 3, []string{"[0] - 1 -", "- - - -", "- - - [-2]"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBed(t, sdktrace.WithRawSpanLimits(limitedTo(c.limit)))
			r := b.v1(vllm.EngineConfig{}, vllm.WithGranularity(vllm.GranularityEvents), vllm.WithEventCoalescing(), vllm.WithEventLimit(c.limit)).
				StartRequest(context.Background(), vllm.Request{ID: "r"}, at(0))
			for i, fields := range c.fields {
				r.Decode(one(i, fields))
			}
			r.Finish(vllm.OutcomeV1{At: at(20), FinishReason: vllm.FinishReasonAbort})
			var got []string
			for _, e := range b.request().events {
				got = append(got, tokensOf(e))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("events %q, want %q", got, c.want)
			}
		})
	}
}

// A request with more tokens than fits in a message arrives, with the first of them.
func TestManyTokensArrive(t *testing.T) {
	for name, it := range map[string]vllm.Iteration{
		"texts":             {TokenTexts: []string{"a", "b", "c", "d", "e", "f", "g", "h"}},
		"long texts":        {TokenTexts: []string{strings.Repeat("x", 300)}},
		"ids":               {TokenIDs: []int{151644, 1 << 20, 0, 3, 1 << 17}},
		"log probabilities": {LogProbs: []float64{-0.25, -1.5, -3}},
		"everything":        {TokenIDs: []int{151644}, TokenTexts: []string{"Hello"}, LogProbs: []float64{-0.25}, TokenCount: new(1)},
	} {
		t.Run(name, func(t *testing.T) {
			bed := sdktest.New(t)
			handled := sdktest.HandleErrors(t)
			e, err := vllm.NewEngineV1(vllm.EngineConfig{Model: "m"}, vllm.WithTracerProvider(bed.Traces), vllm.WithMeterProvider(bed.Metrics),
				vllm.WithGranularity(vllm.GranularityEvents), vllm.WithEventCoalescing())
			if err != nil {
				t.Fatal(err)
			}
			r := e.StartRequest(context.Background(), vllm.Request{ID: "r"}, at(0))
			r.Queued(at(0))
			r.Scheduled(at(0))
			for i := range 110_000 {
				it.At = at(float64(i) / 100)
				r.Decode(it)
			}
			r.Finish(vllm.OutcomeV1{At: at(9000), FinishReason: vllm.FinishReasonStop})
			bed.Flush()
			if spans := bed.Receiver.FlatSpans(); len(spans) != 4 {
				t.Errorf("%d spans", len(spans))
			}
			if errs := handled.Take(); len(errs) != 1 || !containsAll(errs[0].Error(), "more than 3145728 bytes of tokens") {
				t.Errorf("reported %v", errs)
			}
		})
	}
}

// Long requests of one engine, one after the other and side by side, use the
// memory of those that have ended: each tells of its own tokens, all of them.
func TestLongRequestsShareMemory(t *testing.T) {
	const iterations, rounds = 6000, 3
	b := newBed(t)
	e := b.v1(vllm.EngineConfig{}, vllm.WithGranularity(vllm.GranularityEvents), vllm.WithEventCoalescing())
	var want []string
	for round := range rounds {
		var open []*vllm.RequestV1
		for range 2 {
			open = append(open, e.StartRequest(context.Background(), vllm.Request{ID: "r"}, at(0)))
		}
		for i := range iterations {
			for j, r := range open {
				id := (round*2+j)*iterations + i
				r.Decode(vllm.Iteration{At: at(float64(i) / 100), TokenIDs: []int{id}, TokenTexts: []string{fmt.Sprint(id)}, LogProbs: []float64{float64(-id)}})
			}
		}
		for j, r := range open {
			r.Finish(vllm.OutcomeV1{At: at(9000), FinishReason: vllm.FinishReasonStop})
			want = append(want, fmt.Sprint((round*2+j)*iterations))
		}
	}
	var got []string
	for _, s := range b.spans() {
		if s.name != "llm_request" {
			continue
		}
		var ids []int64
		var texts []string
		var logProbs []float64
		for _, ev := range s.events {
			ids = append(ids, ev.attrs["gen_ai.token.ids"].([]int64)...)
			texts = append(texts, ev.attrs["gen_ai.token.texts"].([]string)...)
			logProbs = append(logProbs, ev.attrs["gen_ai.token.logprobs"].([]float64)...)
		}
		if len(ids) != iterations || len(texts) != iterations || len(logProbs) != iterations {
			t.Fatalf("%d ids, %d texts, %d log probabilities, want %d of each", len(ids), len(texts), len(logProbs), iterations)
		}
		for i, id := range ids {
			if id != ids[0]+int64(i) || texts[i] != fmt.Sprint(id) || logProbs[i] != float64(-id) {
				t.Fatalf("token %d of the request that begins with %d is %d %q %v", i, ids[0], id, texts[i], logProbs[i])
			}
		}
		got = append(got, texts[0])
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("requests begin with %q, want %q", got, want)
	}
}
