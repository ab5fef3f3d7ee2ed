package main

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	metricnoop "go.opentelemetry.io/otel/metric/noop"

	"github.com/infertel/infertel-go/vllm"
)

// lengths are those over which the cost of a chunk or an iteration is compared.
var lengths = []int{10, 100, 1_000, 10_000, 100_000}

// grows is a work that grows with n. Its cost per unit is what it takes more
// than with the least n, over how much larger n is.
type grows struct {
	name    string
	least   int
	lengths []int
	setUp   func(n int) func()
}

func growing() []grows {
	ctx := context.Background()
	stream := func(observer string) func(n int) func() {
		return func(n int) func() {
			return serveOnce(observers[observer](answerStream(n)), body("vllm-chat-stream.request.json"), &discard{header: map[string][]string{}})
		}
	}
	iterations := func(opts ...vllm.OptionV1) func(n int) func() {
		return func(n int) func() {
			e := vllmEngine(spansOf(sampled), opts...)
			return func() { oursEvents(ctx, e, n) }
		}
	}
	return []grows{
		{"chunk of a stream, bare", 0, lengths, stream("bare")},
		{"chunk of a stream, content off", 0, lengths, stream("ours")},
		{"chunk of a stream, content on", 0, lengths, stream("ours, content")},
		{"V1 iteration, granularity 1", 6, lengths, iterations(vllm.WithGranularity(vllm.GranularityStages))},
		{"V1 iteration, granularity 2, coalesced", 6, lengths, iterations(vllm.WithGranularity(vllm.GranularityEvents), vllm.WithEventCoalescing())},
		{"SGLang decode_loop, level 3", 0, lengths[:4], func(n int) func() {
			e := sglangEngine(spansOf(sampled), metricnoop.NewMeterProvider())
			return func() { oursSGLang(ctx, e, n) }
		}},
	}
}

func lengthGroups() []group {
	var groups []group
	for _, g := range growing() {
		group := group{name: g.name}
		for _, n := range append([]int{g.least}, g.lengths...) {
			group.subjects = append(group.subjects, loop(fmt.Sprint(n), func() func() { return g.setUp(n) }))
		}
		groups = append(groups, group)
	}
	return groups
}

// perUnit is the cost of a unit at each length.
func (g *grows) perUnit(f figures) []float64 {
	var out []float64
	least := f.of(fmt.Sprintf("%s/%d", g.name, g.least)).ns
	for _, n := range g.lengths {
		out = append(out, max(0, (f.of(fmt.Sprintf("%s/%d", g.name, n)).ns-least)/float64(n-g.least)))
	}
	return out
}

// flatness is how much dearer the last may be than the cheapest of those of a
// thousand or more. With fewer the difference to none is lost in the rest.
const flatness = 1.5

func lengthRows() []row {
	var rows []row
	for _, g := range growing() {
		rows = append(rows, row{g.name, func(f figures) cells {
			costs := g.perUnit(f)
			texts := make([]string, len(costs))
			cheapest := slices.Min(costs[2:])
			for i, c := range costs {
				texts[i] = duration(c)
			}
			last := costs[len(costs)-1]
			return cells{"", strings.Join(texts, ", "), fmt.Sprintf("%.2f x", last/cheapest), fmt.Sprintf("<= %.1f x", flatness), last <= flatness*cheapest}
		}})
	}
	return rows
}

const goroutines = 64

// parallel measures f on one goroutine and on many. What is shared by them is
// made by setUp.
func parallel(name string, setUp func() func()) []subject {
	return []subject{
		loop(name+" 1", setUp),
		{fmt.Sprintf("%s %d", name, goroutines), func(b *testing.B) {
			f := setUp()
			b.ReportAllocs()
			b.SetParallelism(max(goroutines/runtime.GOMAXPROCS(0), 1))
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					f()
				}
			})
		}},
	}
}

func parallelGroups() []group {
	ctx := context.Background()
	groups := []group{{name: "parallel vllm"}, {name: "parallel sglang"}, {name: "parallel entry"}, {name: "parallel stream"}}
	groups[0].subjects = append(parallel("raw", func() func() {
		tracer := spansOf(sampled).Tracer("raw")
		return func() { rawStages(ctx, tracer) }
	}), parallel("ours", func() func() {
		e := vllmEngine(spansOf(sampled))
		return func() { oursStages(ctx, e) }
	})...)
	groups[1].subjects = append(parallel("raw", func() func() {
		tracer := spansOf(sampled).Tracer("raw")
		return func() { rawSGLang(ctx, tracer, 10) }
	}), parallel("ours", func() func() {
		e := sglangEngine(spansOf(sampled), metricnoop.NewMeterProvider())
		return func() { oursSGLang(ctx, e, 10) }
	})...)
	groups[2].subjects = append(
		parallel("raw", func() func() { return entryRaw(spansOf(sampled), metrics()) }),
		parallel("ours", func() func() { return entryOurs(spansOf(sampled), metrics()) })...)
	handler := func(observer string) func() func() {
		return func() func() {
			h, request := observers[observer](answerStream(chunks)), body("vllm-chat-stream.request.json")
			return func() { serveOnce(h, request, &discard{header: map[string][]string{}})() }
		}
	}
	groups[3].subjects = append(parallel("raw", handler("otelhttp")), parallel("ours", handler("ours"))...)
	return groups
}

func parallelRows() []row {
	line := func(work, group, baseline string) row {
		return row{work, func(f figures) cells {
			one, many := f.of(group+"/ours 1").ns, f.of(fmt.Sprintf("%s/ours %d", group, goroutines)).ns
			rawOne, rawMany := f.of(group+"/raw 1").ns, f.of(fmt.Sprintf("%s/raw %d", group, goroutines)).ns
			return cells{
				fmt.Sprintf("%s %s, %s: %.2f x", baseline, duration(rawOne), duration(rawMany), rawMany/rawOne), fmt.Sprintf("%s, %s", duration(one), duration(many)),
				fmt.Sprintf("%.2f x", many/one), "<= 1.1 x", many <= 1.1*one,
			}
		}}
	}
	return []row{
		line("V1 request, granularity 1, one engine", "parallel vllm", "raw"),
		line("SGLang request, 10 decode_loop, one engine", "parallel sglang", "raw"),
		line("entry span and token metric by hand, one instrumentation", "parallel entry", "raw"),
		line("500-chunk stream, one handler", "parallel stream", "otelhttp"),
	}
}
