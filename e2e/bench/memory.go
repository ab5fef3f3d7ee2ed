package main

import (
	"context"
	"fmt"
	"net/http"
	"runtime"
	"sync"

	metricnoop "go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/trace"

	"github.com/infertel/infertel-go/sglang"
	"github.com/infertel/infertel-go/vllm"
)

// live is how many of a kind run at once while their memory is measured.
const live = 500

// heap returns how many bytes of heap one of many holds. start starts one, and
// the function it returns ends it.
func heap(start func(i int) (end func())) float64 {
	ends := make([]func(), live)
	before := heapInUse()
	for i := range ends {
		ends[i] = start(i)
	}
	after := heapInUse()
	for _, end := range ends {
		end()
	}
	return max(float64(after)-float64(before), 0) / live
}

func heapInUse() uint64 {
	var m runtime.MemStats
	for range 2 { // the second empties the pools
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// streamHeap is the heap of a stream that stands still after 100 chunks.
func streamHeap(observer string) float64 {
	reached, leave := make(chan struct{}), make(chan struct{})
	h := observers[observer](http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answerStream(100)(stopper{w, reached, leave}, r)
	}))
	var running sync.WaitGroup
	bytes := heap(func(i int) func() {
		running.Go(serveOnce(h, body("vllm-chat-stream.request.json"), &discard{header: http.Header{}}))
		<-reached
		if i < live-1 {
			return func() {}
		}
		return func() { close(leave); running.Wait() }
	})
	return bytes
}

// stopper stands still before it writes what ends a stream.
type stopper struct {
	http.ResponseWriter
	reached chan<- struct{}
	leave   <-chan struct{}
}

func (s stopper) Write(p []byte) (int, error) {
	if string(p) == lastChunks {
		s.reached <- struct{}{}
		<-s.leave
	}
	return s.ResponseWriter.Write(p)
}

func (s stopper) Flush() { s.ResponseWriter.(http.Flusher).Flush() }

// measureMemory adds the figures of what runs.
func measureMemory(f figures) {
	ctx := context.Background()
	add := func(name string, bytes float64) { f.add("live/"+name, figure{bytes: bytes}) }
	for range 3 {
		for _, o := range []string{"bare", "otelhttp", "ours", "ours, content", "ours, unsampled"} {
			add("stream "+o, streamHeap(o))
		}
		tracer := spansOf(sampled).Tracer("raw")
		add("vllm raw", heap(func(int) func() {
			_, s := tracer.Start(ctx, "llm_request", trace.WithTimestamp(ms(0)))
			return func() { s.End() }
		}))
		for name, g := range map[string]vllm.Granularity{"granularity 1": vllm.GranularityStages, "granularity 2": vllm.GranularityEvents} {
			e := vllmEngine(spansOf(sampled), vllm.WithGranularity(g))
			add("vllm "+name, heap(func(int) func() {
				r := startVLLM(ctx, e)
				it := vllm.Iteration{At: ms(30), TokenIDs: tokenIDs, TokenTexts: tokenTexts, TokenCount: new(1)}
				r.Prefill(it)
				for range fewIterations {
					it.At = it.At.Add(step(fewIterations))
					r.Decode(it)
				}
				return func() { r.Finish(vllmOutcome) }
			}))
		}
		e := sglangEngine(spansOf(sampled), metricnoop.NewMeterProvider())
		add("sglang", heap(func(int) func() {
			r, threads := startSGLang(ctx, e)
			return func() {
				for _, th := range threads {
					th.End(us(100))
				}
				r.End(sglang.Outcome{PromptTokens: new(48), CompletionTokens: new(0), CachedTokens: new(0)}, us(100))
			}
		}))
		add("sglang raw", heap(func(int) func() { return liveSGLang(ctx, tracer) }))
	}
}

// liveSGLang starts the spans that are open while such a request runs: the
// request, two threads and their decode_forward.
func liveSGLang(ctx context.Context, tracer trace.Tracer) func() {
	var spans []trace.Span
	request, r := tracer.Start(ctx, "Req "+sglangRID[:8], trace.WithTimestamp(us(0)))
	spans = append(spans, r)
	for range sglangRanks {
		inThread, th := tracer.Start(request, "Scheduler", trace.WithTimestamp(us(0)))
		_, forward := tracer.Start(inThread, "decode_forward", trace.WithTimestamp(us(0)))
		spans = append(spans, th, forward)
	}
	return func() {
		for _, s := range spans {
			s.End()
		}
	}
}

func memoryRows() []row {
	beyondBare := func(work, name string, most float64) row {
		return row{work, func(f figures) cells {
			bare := f.of("live/stream bare").bytes
			ours, peer := f.of("live/stream "+name).bytes-bare, f.of("live/stream otelhttp").bytes-bare
			l := cells{baseline: "otelhttp " + size(peer), ours: size(ours), result: size(ours)}
			if most > 0 {
				l.budget, l.within = "<= "+size(most), ours <= most
			}
			return l
		}}
	}
	state := func(work, raw, ours string) row {
		return row{work, func(f figures) cells {
			r, o := f.of("live/"+raw).bytes, f.of("live/"+ours).bytes
			return cells{baseline: "spans alone " + size(r), ours: size(o), result: fmt.Sprintf("%s more", size(o-r))}
		}}
	}
	return []row{
		beyondBare("running stream, content off", "ours", 8<<10),
		beyondBare("running stream, content on, 100 words so far", "ours, content", 0),
		beyondBare("running stream, unsampled", "ours, unsampled", 8<<10),
		state("running V1 request, granularity 1", "vllm raw", "vllm granularity 1"),
		state("running V1 request, granularity 2, 100 iterations so far", "vllm raw", "vllm granularity 2"),
		state("running SGLang request, level 3, TP 2", "sglang raw", "sglang"),
	}
}
