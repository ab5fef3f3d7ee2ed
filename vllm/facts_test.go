package vllm_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/infertel/infertel-go/vllm"
)

// both runs the facts of a record live and recorded.
func both(t *testing.T, rec vllm.RequestRecordV1, check func(t *testing.T, b *bed), opts ...vllm.OptionV1) {
	t.Helper()
	for name, tell := range map[string]func(*vllm.EngineV1){
		"live":     func(e *vllm.EngineV1) { live(e, rec) },
		"recorded": func(e *vllm.EngineV1) { e.RecordRequest(context.Background(), rec) },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBed(t)
			b.t = t
			tell(b.v1(vllm.EngineConfig{}, opts...))
			check(t, b)
		})
	}
}

func iterations(its ...vllm.Iteration) (recs []vllm.IterationRecord) {
	for i, it := range its {
		recs = append(recs, vllm.IterationRecord{Iteration: it, Prefill: i == 0})
	}
	return recs
}

// The last token is the latest iteration's, if those told can have put out all of
// the tokens; else decode is left out and that is said.
func TestLastToken(t *testing.T) {
	one := new(1)
	for name, c := range map[string]struct {
		iterations []vllm.Iteration
		tokens     *int
		last       time.Time
		decode     any
	}{
		"only the first of many":          {[]vllm.Iteration{{At: at(5)}}, new(50), time.Time{}, absent},
		"only the first, counted":         {[]vllm.Iteration{{At: at(5), TokenCount: one}}, new(50), time.Time{}, absent},
		"the first and the last told":     {[]vllm.Iteration{{At: at(5)}}, new(50), at(8), 3 * ms},
		"the only one":                    {[]vllm.Iteration{{At: at(5)}}, one, time.Time{}, int64(0)},
		"no more told":                    {[]vllm.Iteration{{At: at(5)}}, nil, time.Time{}, int64(0)},
		"none":                            {[]vllm.Iteration{{At: at(5)}}, new(0), time.Time{}, int64(0)},
		"two that told nothing":           {[]vllm.Iteration{{At: at(5)}, {At: at(7)}}, new(50), time.Time{}, 2 * ms},
		"one that told nothing":           {[]vllm.Iteration{{At: at(5), TokenCount: one}, {At: at(7)}}, new(50), time.Time{}, 2 * ms},
		"two that are too few":            {[]vllm.Iteration{{At: at(5), TokenCount: one}, {At: at(7), TokenIDs: []int{1, 2}}}, new(4), time.Time{}, absent},
		"two that are enough":             {[]vllm.Iteration{{At: at(5), TokenCount: one}, {At: at(7), TokenIDs: []int{1, 2}}}, new(3), time.Time{}, 2 * ms},
		"the first had none, one in all":  {[]vllm.Iteration{{At: at(5), TokenCount: new(0)}}, one, time.Time{}, int64(0)},
		"the first had none, several":     {[]vllm.Iteration{{At: at(5), TokenIDs: []int{}}}, new(2), time.Time{}, absent},
		"the first had none, more follow": {[]vllm.Iteration{{At: at(5), TokenTexts: []string{}}, {At: at(9), TokenCount: one}}, one, time.Time{}, 4 * ms},
	} {
		t.Run(name, func(t *testing.T) {
			rec := vllm.RequestRecordV1{Request: vllm.Request{ID: "r"}, Arrival: at(0), Queued: at(1), Scheduled: at(2), Iterations: iterations(c.iterations...),
				Outcome: vllm.OutcomeV1{At: at(10), FinishReason: vllm.FinishReasonStop, CompletionTokens: c.tokens, LastToken: c.last}}
			both(t, rec, func(t *testing.T, b *bed) {
				r := b.request()
				has(t, r.attrs, map[string]any{"gen_ai.latency.time_in_model_decode": c.decode, "gen_ai.latency.time_to_first_token": 5 * ms, "gen_ai.latency.time_in_model_prefill": 3 * ms})
				if c.decode == absent {
					b.oneReport("decode", "end")
				} else {
					b.noReports()
				}
			})
		})
	}
}

// How many tokens there were: as told, 0 included, else what the iterations told,
// of which one that told nothing is at least one. Only what is known is counted.
func TestCompletionTokens(t *testing.T) {
	const counter = "gen_ai_vllm_generation_tokens" + dims
	for name, c := range map[string]struct {
		iterations []vllm.Iteration
		tokens     *int
		attr       int64
		counted    any
	}{
		"told":             {[]vllm.Iteration{{At: at(5)}}, new(7), 7, 7.0},
		"none told":        {[]vllm.Iteration{{At: at(5)}}, new(0), 0, 0.0},
		"counted":          {[]vllm.Iteration{{At: at(5), TokenCount: new(1)}, {At: at(6), TokenCount: new(3)}}, nil, 4, 4.0},
		"by their lists":   {[]vllm.Iteration{{At: at(5), TokenIDs: []int{1}}, {At: at(6), TokenTexts: []string{"a", "b"}}, {At: at(7), LogProbs: []float64{1, 2, 3}}}, nil, 6, 6.0},
		"the count wins":   {[]vllm.Iteration{{At: at(5), TokenCount: new(2), TokenIDs: []int{1}}}, nil, 2, 2.0},
		"empty":            {[]vllm.Iteration{{At: at(5), TokenIDs: []int{}}, {At: at(6), TokenCount: new(0)}}, nil, 0, 0.0},
		"negative":         {[]vllm.Iteration{{At: at(5), TokenCount: new(-4)}, {At: at(6), TokenCount: new(2)}}, nil, 2, 2.0},
		"not told by one":  {[]vllm.Iteration{{At: at(5), TokenCount: new(3)}, {At: at(6)}}, nil, 4, absent},
		"not told by any":  {[]vllm.Iteration{{At: at(5)}, {At: at(6)}}, nil, 2, absent},
		"no token":         {[]vllm.Iteration{{At: at(4), NoToken: true, TokenCount: new(512)}, {At: at(5), TokenCount: new(1)}}, nil, 1, 1.0},
		"more than an int": {[]vllm.Iteration{{At: at(5), TokenCount: new(math.MaxInt)}, {At: at(6), TokenCount: new(math.MaxInt)}}, nil, math.MaxInt64, absent},
	} {
		t.Run(name, func(t *testing.T) {
			rec := vllm.RequestRecordV1{Request: vllm.Request{ID: "r"}, Arrival: at(0), Queued: at(1), Scheduled: at(2), Iterations: iterations(c.iterations...),
				Outcome: vllm.OutcomeV1{At: at(10), FinishReason: vllm.FinishReasonAbort, CompletionTokens: c.tokens}}
			both(t, rec, func(t *testing.T, b *bed) {
				has(t, b.request().attrs, map[string]any{"gen_ai.usage.completion_tokens": c.attr, "gen_ai.latency.time_to_first_token": 5 * ms})
				got, ok := b.points()[counter]
				if ok != (c.counted != absent) || ok && got != c.counted {
					t.Errorf("counted %v (%v), want %v", got, ok, c.counted)
				}
			})
		})
	}
	b := newBed(t)
	b.v1(vllm.EngineConfig{}).RecordRequest(context.Background(), vllm.RequestRecordV1{Arrival: at(0), FirstToken: at(1), Outcome: vllm.OutcomeV1{At: at(2), FinishReason: vllm.FinishReasonAbort}})
	if n, ok := b.points()[counter]; ok {
		t.Errorf("%v tokens of a request that told of a token and not of how many", n)
	}
}

// A negative count is recorded as 0, on the event too, and said once.
func TestNegativeTokenCount(t *testing.T) {
	b := newBed(t)
	e := b.v1(vllm.EngineConfig{}, vllm.WithGranularity(vllm.GranularityEvents))
	for range 2 {
		live(e, vllm.RequestRecordV1{Request: vllm.Request{ID: "r"}, Arrival: at(0), Queued: at(1), Scheduled: at(2), Iterations: iterations(vllm.Iteration{At: at(5), TokenCount: new(-4)}),
			Outcome: vllm.OutcomeV1{At: at(10), FinishReason: vllm.FinishReasonStop}})
	}
	has(t, b.request().events[1].attrs, map[string]any{"gen_ai.token.count": int64(0)})
	b.oneReport("-4 tokens in an iteration", "want 0 or more")
}

// Each kind of value that cannot be is said once, whatever was said of others.
func TestEachKindIsReported(t *testing.T) {
	b := newBed(t)
	e, e0 := b.v1(vllm.EngineConfig{}, vllm.WithGranularity(vllm.GranularityEvents)), b.v0()
	back := new(-time.Second)
	for range 3 {
		e.RecordRequest(context.Background(), vllm.RequestRecordV1{Request: vllm.Request{ID: "r", PromptTokens: -3}, Arrival: at(0), Tokenize: back,
			Iterations: iterations(vllm.Iteration{At: at(0.5), TokenCount: new(-2)}),
			Outcome:    vllm.OutcomeV1{At: at(1), FinishReason: vllm.FinishReasonAbort, CompletionTokens: new(math.MinInt), Detokenize: back}})
		has(t, b.request().attrs, map[string]any{"gen_ai.usage.prompt_tokens": int64(0), "gen_ai.usage.completion_tokens": int64(0),
			"gen_ai.latency.time_in_tokenize": absent, "gen_ai.latency.time_in_detokenize": absent})
		e0.RecordRequest(context.Background(), vllm.RequestRecordV0{Request: vllm.Request{ID: "r", PromptTokens: -3}, Arrival: at(0),
			Outcome: vllm.OutcomeV0{At: at(1), FinishReason: vllm.FinishReasonAbort, CompletionTokens: -1, NumSequences: -1, TimeInScheduler: back, ModelForward: back, ModelExecute: back}})
		has(t, b.request().attrs, map[string]any{"gen_ai.usage.num_sequences": int64(0), "gen_ai.latency.time_in_scheduler": absent,
			"gen_ai.latency.time_in_model_forward": absent, "gen_ai.latency.time_in_model_execute": absent})
	}
	reports := b.reports()
	for _, w := range []string{"-2 tokens in an iteration", "prompt tokens", "completion tokens", "the tokenization", "the detokenization",
		"sequences", "the time in the scheduler", "the time of the forward pass", "the time of execution"} {
		n := len(slices.DeleteFunc(slices.Clone(reports), func(r string) bool { return !strings.Contains(r, w) }))
		want := 1
		if strings.HasSuffix(w, "t tokens") || strings.HasSuffix(w, "n tokens") {
			want = 2 // of each engine
		}
		if n != want {
			t.Errorf("%q was reported %d times, want %d: %q", w, n, want, reports)
		}
	}
	if len(reports) != 11 {
		t.Errorf("%d reports: %q", len(reports), reports)
	}
}

// A request that finished before it arrived has no latency, and its span no length.
// A request that finished before it arrived has a span without length.
func TestFinishBeforeArrival(t *testing.T) {
	b := newBed(t)
	e, e0 := b.v1(vllm.EngineConfig{}), b.v0()
	for range 2 {
		e.StartRequest(context.Background(), vllm.Request{ID: "r"}, at(5)).Finish(vllm.OutcomeV1{At: at(1), FinishReason: vllm.FinishReasonAbort})
	}
	e0.StartRequest(context.Background(), vllm.Request{ID: "r"}, at(5)).Finish(vllm.OutcomeV0{At: at(1), FinishReason: vllm.FinishReasonAbort})
	for _, s := range b.spans() {
		has(t, s.attrs, map[string]any{"gen_ai.latency.e2e": absent})
		if s.start != s.end || s.start != at(5).Sub(t0) {
			t.Errorf("%+v", s)
		}
	}
	p := b.points()
	for k := range p {
		if strings.HasPrefix(k, "gen_ai_server_request_duration") {
			t.Errorf("%s = %v", k, p[k])
		}
	}
	if r := b.reports(); len(r) != 2 || !containsAll(r[0], "finished before it arrived", "e2e") {
		t.Errorf("reports %q", r)
	}
}

// Without an arrival and a finish the span lies around all that is known.
func TestRecordWithoutEnds(t *testing.T) {
	for name, c := range map[string]struct {
		rec        vllm.RequestRecordV1
		start, end float64
	}{
		"transfers":    {vllm.RequestRecordV1{KVTransfers: []vllm.KVTransferRecord{{Start: at(3), End: at(4)}, {Start: at(2), End: at(9)}}}, 2, 9},
		"their ends":   {vllm.RequestRecordV1{KVTransfers: []vllm.KVTransferRecord{{End: at(4)}}}, 4, 4},
		"preemptions":  {vllm.RequestRecordV1{PreemptedAt: []time.Time{at(7), at(6)}, Queued: at(8)}, 6, 8},
		"wait":         {vllm.RequestRecordV1{Queued: at(2), Scheduled: at(3)}, 2, 3},
		"first token":  {vllm.RequestRecordV1{FirstToken: at(2)}, 2, 2},
		"iterations":   {vllm.RequestRecordV1{Iterations: iterations(vllm.Iteration{At: at(6)}, vllm.Iteration{At: at(4)})}, 4, 6},
		"frontend":     {vllm.RequestRecordV1{Outcome: vllm.OutcomeV1{FrontendFirstToken: at(3), LastToken: at(8)}}, 3, 8},
		"not the last": {vllm.RequestRecordV1{Scheduled: at(9), Outcome: vllm.OutcomeV1{LastToken: at(8)}}, 8, 9},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBed(t)
			b.v1(vllm.EngineConfig{}).RecordRequest(context.Background(), c.rec)
			r := b.request()
			if r.start != at(c.start).Sub(t0) || r.end != at(c.end).Sub(t0) {
				t.Errorf("llm_request is [%v, %v], want [%g, %g] ms", r.start, r.end, c.start, c.end)
			}
			has(t, r.attrs, map[string]any{"gen_ai.latency.e2e": absent})
		})
	}
}

// What a request overrides with is checked, said once, and the engine's is used.
func TestOverridesOutOfRange(t *testing.T) {
	b := newBed(t)
	e := b.v1(vllm.EngineConfig{PDRole: vllm.PDRoleConsumer}, vllm.WithGranularity(vllm.GranularityEvents))
	for range 2 {
		lived(e, vllm.Request{ID: "r", PDRole: new(vllm.PDRole(3)), Granularity: new(vllm.Granularity(3))})
		spans := b.spans()
		if got := names(spans); got != "wait decode llm_request" || len(spans[2].events) != 4 || spans[2].attrs["gen_ai.pd_role"] != "consumer" {
			t.Errorf("%s %+v", got, spans[2])
		}
	}
	if r := b.reports(); len(r) != 2 || !containsAll(strings.Join(r, "\n"), "Request.PDRole is 3", "Request.Granularity is 3, want 0, 1 or 2") {
		t.Errorf("reports %q", r)
	}
}

// Tokens are wanted where they are recorded.
func TestWantsTokens(t *testing.T) {
	for name, r := range switchedOff(t) {
		if r.WantsTokens() {
			t.Errorf("%s wants tokens", name)
		}
	}
	b := newBed(t)
	r := b.v1(vllm.EngineConfig{}, vllm.WithGranularity(vllm.GranularityEvents)).StartRequest(context.Background(), vllm.Request{}, at(0))
	if !r.WantsTokens() || !r.Recording() {
		t.Error("tokens are not wanted")
	}
	r.Finish(vllm.OutcomeV1{At: at(1)})
}

// What each role measures.
func TestMetricsOfRoles(t *testing.T) {
	for role, want := range map[vllm.PDRole][4]any{ // prefill, decode, inference, time per output token
		vllm.PDRoleNone:     {0.04, 0.02, 0.06, 0.02},
		vllm.PDRoleProducer: {0.04, 0.0, 0.04, absent},
		vllm.PDRoleConsumer: {0.0, 0.02, 0.02, 0.02},
	} {
		b := newBed(t)
		lived(b.v1(vllm.EngineConfig{PDRole: role}), vllm.Request{ID: "r"})
		p := b.points()
		for i, name := range []string{"gen_ai_vllm_request_prefill_time_seconds", "gen_ai_vllm_request_decode_time_seconds", "gen_ai_vllm_request_inference_time_seconds", "gen_ai_server_time_per_output_token"} {
			v, ok := p[name+dims]
			if ok != (want[i] != absent) || ok && fmt.Sprintf("%.6f", v) != fmt.Sprintf("%.6f", want[i]) {
				t.Errorf("%v: %s = %v (there: %v), want %v", role, name, v, ok, want[i])
			}
		}
	}
}

// With one token there is no time between tokens.
func TestOneTokenV0(t *testing.T) {
	for tokens, want := range map[int]bool{0: false, 1: false, 2: true} {
		b := newBed(t)
		b.v0().RecordRequest(context.Background(), vllm.RequestRecordV0{Arrival: at(0), Scheduled: at(1), FirstToken: at(2), Outcome: vllm.OutcomeV0{At: at(9), FinishReason: vllm.FinishReasonStop, CompletionTokens: tokens}})
		if v, ok := b.points()["gen_ai_server_time_per_output_token{}"]; ok != want || ok && math.Abs(v-0.007) > 1e-9 {
			t.Errorf("%d tokens: %v, %v", tokens, v, ok)
		}
	}
}
