package main

import (
	"context"

	metricnoop "go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/trace"
	tracenoop "go.opentelemetry.io/otel/trace/noop"

	"github.com/infertel/infertel-go/genai"
	"github.com/infertel/infertel-go/sglang"
	"github.com/infertel/infertel-go/vllm"
)

// offGroup holds calls on what does not record, for each reason there is.
func offGroup() group {
	ctx := context.Background()
	noSDK := tracenoop.NewTracerProvider()
	iteration := func(name string, start func() *vllm.RequestV1) subject {
		return loop("vllm Decode, "+name, func() func() {
			r := start()
			it := vllm.Iteration{At: ms(4), TokenIDs: tokenIDs, TokenTexts: tokenTexts, TokenCount: new(1), LogProbs: logProbs}
			return func() { r.Decode(it) }
		})
	}
	request := func(tp trace.TracerProvider, opts ...vllm.OptionV1) func() *vllm.RequestV1 {
		return func() *vllm.RequestV1 { return vllmEngine(tp, opts...).StartRequest(ctx, vllmRequest, ms(0)) }
	}
	events := vllm.WithGranularity(vllm.GranularityEvents)
	stage := func(name string, start func() *sglang.RequestSpan) subject {
		return loop("sglang RecordStage, "+name, func() func() {
			th, i := start().StartThread(sglang.Thread{Label: sglang.ThreadScheduler}, us(1)), 0
			from, to := us(2), us(3) // what a caller has
			return func() { th.RecordStage(sglang.DecodeLoop(i), from, to); i++ }
		})
	}
	at := func(tp trace.TracerProvider, level sglang.Level) func() *sglang.RequestSpan {
		return func() *sglang.RequestSpan {
			e := sglangEngine(tp, metricnoop.NewMeterProvider())
			_ = e.SetTraceLevel(level)
			return e.StartRequest(ctx, sglang.Request{RID: sglangRID}, us(0))
		}
	}
	first := func(name string, inst *genai.Instrumentation) subject {
		return loop("genai FirstToken, "+name, func() func() {
			_, call := inst.Start(ctx, chatRequest)
			return func() { call.FirstToken(t0) }
		})
	}
	return group{"off", []subject{
		iteration("nil", func() *vllm.RequestV1 { return nil }),
		iteration("no SDK", request(noSDK, events)),
		iteration("unsampled", request(spansOf(unsampled), events)),
		iteration("granularity 0", request(spansOf(sampled), vllm.WithGranularity(vllm.GranularityRequest))),
		iteration("granularity 1", request(spansOf(sampled), vllm.WithGranularity(vllm.GranularityStages))),
		stage("nil", func() *sglang.RequestSpan { return nil }),
		stage("no SDK", at(noSDK, 4)),
		stage("unsampled", at(spansOf(unsampled), 4)),
		stage("level 0", at(spansOf(sampled), 0)),
		stage("level 1", at(spansOf(sampled), 1)),
		first("nil", nil),
		first("unsampled", must(genai.New(genai.WithTracerProvider(spansOf(unsampled)), genai.WithMeterProvider(metricnoop.NewMeterProvider())))),
	}}
}

// startGroups hold starting and ending what is not recorded, beside the same
// with the SDK alone.
func startGroups() []group {
	ctx := context.Background()
	finished := vllm.OutcomeV1{At: ms(126), FinishReason: vllm.FinishReasonAbort, CompletionTokens: new(0)}
	aborted := sglang.Outcome{PromptTokens: new(48), CompletionTokens: new(0), CachedTokens: new(0)}
	var groups []group
	for name, tp := range map[string]trace.TracerProvider{"no SDK": tracenoop.NewTracerProvider(), "unsampled": spansOf(unsampled)} {
		groups = append(groups, group{"start " + name, []subject{
			loop("raw", func() func() {
				tracer := tp.Tracer("raw")
				return func() {
					_, s := tracer.Start(ctx, "llm_request", trace.WithTimestamp(ms(0)))
					s.End(trace.WithTimestamp(ms(126)))
				}
			}),
			loop("vllm", func() func() {
				e := vllmEngine(tp)
				return func() { e.StartRequest(ctx, vllmRequest, ms(0)).Finish(finished) }
			}),
			loop("sglang", func() func() {
				e := sglangEngine(tp, metricnoop.NewMeterProvider())
				return func() { e.StartRequest(ctx, sglang.Request{RID: sglangRID}, ms(0)).End(aborted, ms(126)) }
			}),
		}})
	}
	return groups
}

func offRows() []row {
	var rows []row
	for _, s := range offGroup().subjects {
		rows = append(rows, callRow(s.name, "off/"+s.name, 20))
	}
	for _, engine := range []string{"vllm", "sglang"} {
		rows = append(rows,
			ratioRow("start and end of a request, unsampled, "+engine, "start unsampled/raw", "start unsampled/"+engine, 1.10, 0),
			// Without an SDK there is hardly anything to compare with.
			ratioRow("start and end of a request, no SDK, "+engine, "start no SDK/raw", "start no SDK/"+engine, 0, 0))
	}
	return rows
}
