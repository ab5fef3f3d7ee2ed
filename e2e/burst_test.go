package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/infertel/infertel-go/e2e/internal/bed"
	"github.com/infertel/infertel-go/genai/otlp"
	"github.com/infertel/infertel-go/sglang"
	"github.com/infertel/infertel-go/vllm"
)

// A burst: so many requests end at once.
const (
	sglangRequests, sglangSteps = 64, 1000  // a span for each step
	vllmRequests, vllmSteps     = 256, 1024 // an event for each step
)

// burst makes what so many requests record, as fast as it can.
type burst struct {
	name   string
	run    func(t *testing.T, tp trace.TracerProvider)
	spans  map[string]int // that must arrive, by name
	events int            // on all of them
}

func at(step int) time.Time { return time.Unix(1_800_000_000, int64(step)*int64(10*time.Millisecond)) }

func together(requests int, f func(i int)) {
	var wg sync.WaitGroup
	for i := range requests {
		wg.Go(func() { f(i) })
	}
	wg.Wait()
}

var bursts = []burst{{
	name: "sglang",
	run: func(t *testing.T, tp trace.TracerProvider) {
		engine, err := sglang.NewEngine(sglang.EngineConfig{Model: "Qwen/Qwen3-8B"}, sglang.WithTracerProvider(tp), sglang.WithTraceLevel(3))
		if err != nil {
			t.Fatal(err)
		}
		together(sglangRequests, func(i int) {
			req := engine.StartRequest(t.Context(), sglang.Request{RID: fmt.Sprintf("%08x", i)}, at(0))
			thread := req.StartThread(sglang.Thread{Label: sglang.ThreadScheduler, TPRank: new(0)}, at(0))
			thread.StartStage(sglang.DecodeForward, at(0))
			for step := range sglangSteps {
				thread.RecordStage(sglang.DecodeLoop(step), at(step), at(step+1))
			}
			thread.EndStage(sglang.DecodeForward, at(sglangSteps))
			thread.End(at(sglangSteps))
			req.Dispatched(at(0))
			req.FirstToken(at(1))
			req.Output(at(sglangSteps))
			req.End(sglang.Outcome{FinishReasons: []string{"length"}, PromptTokens: new(0), CompletionTokens: new(sglangSteps), CachedTokens: new(0)}, at(sglangSteps))
		})
	},
	spans: map[string]int{"Req": sglangRequests, "Scheduler": sglangRequests, "decode_forward": sglangRequests, "decode_loop": sglangRequests * sglangSteps},
}, {
	name: "vllm",
	run: func(t *testing.T, tp trace.TracerProvider) {
		engine, err := vllm.NewEngineV1(vllm.EngineConfig{Model: "qwen3-8b"}, vllm.WithTracerProvider(tp), vllm.WithGranularity(vllm.GranularityEvents))
		if err != nil {
			t.Fatal(err)
		}
		defer engine.Close()
		together(vllmRequests, func(i int) {
			req := engine.StartRequest(t.Context(), vllm.Request{ID: fmt.Sprintf("req-%d", i), PromptTokens: 48}, at(0))
			req.Queued(at(0)) // the first event
			req.Scheduled(at(1))
			req.Prefill(vllm.Iteration{At: at(2), TokenIDs: []int{i}})
			for step := 2; step < vllmSteps; step++ {
				req.Decode(vllm.Iteration{At: at(step + 1), TokenIDs: []int{step}, TokenTexts: []string{" token"}})
			}
			req.Finish(vllm.OutcomeV1{At: at(vllmSteps + 1), FinishReason: vllm.FinishReasonLength, CompletionTokens: new(vllmSteps - 1)})
		})
	},
	spans:  map[string]int{"llm_request": vllmRequests, "wait": vllmRequests, "prefill": vllmRequests, "decode": vllmRequests},
	events: vllmRequests * vllmSteps,
}}

// arrived counts the spans and events in the Collector's file.
func arrived(t *testing.T, c *bed.Collector) (spans map[string]int, events int) {
	t.Helper()
	spans = map[string]int{}
	eachLine(t, c.Traces, func(line []byte) {
		var request otlpJSON
		if err := json.Unmarshal(line, &request); err != nil {
			t.Fatal(err)
		}
		for _, rs := range request.ResourceSpans {
			for _, ss := range rs.ScopeSpans {
				for _, s := range ss.Spans {
					var name string
					fmt.Sscan(s.Name, &name)
					spans[name]++
					events += len(s.Events)
				}
			}
		}
	})
	return spans, events
}

func total(spans map[string]int) (n int) {
	for _, k := range spans {
		n += k
	}
	return n
}

// TestBurst: through genai/otlp a burst arrives whole at a Collector with default
// limits.
func TestBurst(t *testing.T) {
	for _, b := range bursts {
		t.Run(b.name, func(t *testing.T) {
			t.Setenv("OTEL_SPAN_EVENT_COUNT_LIMIT", fmt.Sprint(vllmSteps)) // as anyone must who wants so many events
			// A slow machine may take its time: what counts here is how much arrives.
			t.Setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "60000")
			t.Setenv("OTEL_BSP_EXPORT_TIMEOUT", "300000")
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			defer cancel()
			c := bed.StartCollector(t)
			providers, err := otlp.Setup(t.Context(), otlp.WithEndpoint(c.Endpoint))
			if err != nil {
				t.Fatal(err)
			}
			b.run(t, providers.TracerProvider())
			if err := providers.Shutdown(ctx); err != nil {
				t.Error(err)
			}
			if l := providers.Losses(); l.Total() > 0 {
				t.Errorf("lost %+v", l)
			}
			stopped(t, c)
			spans, events := arrived(t, c)
			for name, n := range b.spans {
				if spans[name] != n {
					t.Errorf("%d spans %s arrived of %d", spans[name], name, n)
				}
			}
			if total(spans) != total(b.spans) || events != b.events {
				t.Errorf("%d spans and %d events arrived, want %d and %d", total(spans), events, total(b.spans), b.events)
			}
		})
	}
}

// TestBurstWithDefaults shows why genai/otlp is needed: the SDK's batch processor
// and exporter, as they are, lose spans of the same burst.
func TestBurstWithDefaults(t *testing.T) {
	for _, b := range bursts {
		t.Run(b.name, func(t *testing.T) {
			t.Setenv("OTEL_SPAN_EVENT_COUNT_LIMIT", fmt.Sprint(vllmSteps))
			c := bed.StartCollector(t)
			e, err := otlptracegrpc.New(t.Context(), otlptracegrpc.WithEndpointURL(c.Endpoint))
			if err != nil {
				t.Fatal(err)
			}
			tp := sdktrace.NewTracerProvider(sdktrace.WithBatcher(e))
			b.run(t, tp)
			if err := tp.Shutdown(context.Background()); err != nil {
				t.Logf("at least it says so: %v", err)
			}
			c.Stop()
			spans, events := arrived(t, c)
			if total(spans) >= total(b.spans) {
				t.Errorf("all %d spans and %d events arrived", total(spans), events)
			}
			t.Logf("%d of %d spans arrived", total(spans), total(b.spans))
		})
	}
}
