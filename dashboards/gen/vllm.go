package main

import (
	"fmt"

	"github.com/grafana/grafana-foundation-sdk/go/units"

	"github.com/infertel/infertel-go/semconv"
)

const (
	engineLabels = serviceLabel + ", " + string(semconv.EngineModelNameKey) + ", " + string(semconv.EngineIndexKey)
	engineLegend = "{{" + serviceLabel + "}} {{" + string(semconv.EngineModelNameKey) + "}} {{" + string(semconv.EngineIndexKey) + "}}"
	failures     = "abort|error" // as vllm.FinishReason has them
)

// ofVLLM leaves the series of SGLang out, which shares some names.
var ofVLLM = scope(fmt.Sprintf(`%s=~"$service",%s=~"$instance",%s=~"$model",%s=~"$engine",%s=""`,
	serviceLabel, instanceLabel, semconv.EngineModelNameKey, semconv.EngineIndexKey, semconv.CallKindKey))

func vllmBoard() board {
	all := scope(semconv.CallTypeKey + `="gen_ai"`)
	of := func(service string) string { return all.of(semconv.MetricGenAIVLLMRequestSuccess, service) }
	service := matches(serviceLabel, "$service")
	return board{
		name: "vllm", title: "infertel / vLLM",
		text: "Traffic, latency and scheduler of vLLM engines, V0 and V1.",
		variables: []variable{
			{"service", "Service", "service.name of the processes that report.", serviceLabel, of("")},
			{"instance", "Instance", "service.instance.id, to look at one process.", instanceLabel, of(service)},
			{"model", "Model", "V1 only: V0 metrics name no model and are shown for All.", string(semconv.EngineModelNameKey), of(service)},
			{"engine", "Engine", "Index of the EngineCore. V1 only: V0 metrics have none and are shown for All.", string(semconv.EngineIndexKey), of(service)},
		},
		rows: []row{
			{"Overview", vllmOverview()},
			{"Traffic", vllmTraffic()},
			{"Latency", vllmLatency()},
			{"Scheduler", vllmScheduler()},
			{"V0 only", vllmV0()},
			telemetryRow(12),
			{"How to read this", []panel{{title: "Notes", width: columns, text: vllmNotes()}}},
		},
	}
}

func vllmRate(m ...named) string {
	var rates []string
	for _, m := range m {
		rates = append(rates, rate(ofVLLM.of(m)))
	}
	return either(rates...)
}

// What averages are made of. V1 and V0 name tokens differently.
var (
	vllmRequests  = vllmRate(semconv.MetricGenAIVLLMRequestSuccess)
	vllmPrompt    = vllmRate(semconv.MetricGenAIVLLMPromptTokens, semconv.MetricNumPromptTokensIter)
	vllmGenerated = vllmRate(semconv.MetricGenAIVLLMGenerationTokens, semconv.MetricNumGenerationTokensIter)
	vllmFailed    = rate(ofVLLM.of(semconv.MetricGenAIVLLMRequestSuccess, matches(string(semconv.FinishedReasonKey), failures)))
	// The filter keeps to V1, which alone reports the stages of a request.
	vllmV1Requests = rate(ofVLLM.of(semconv.MetricGenAIVLLMRequestSuccess, string(semconv.EngineIndexKey)+`!=""`))
)

func vllmOverview() []panel {
	const w = 4
	return []panel{
		{title: "Requests", kind: number, width: w, unit: units.RequestsPerSecond,
			text:    "Requests that finished, per second, whatever their finish reason.",
			queries: []query{{sum(vllmRequests), ""}}},
		{title: "Aborted or failed", kind: number, width: w, unit: units.PercentUnit, limits: []float64{0.05, 0.2},
			text:    "Share of finished requests whose finish reason is abort, which mostly means that the client went away, or error.",
			queries: []query{{mean("("+sum(vllmFailed)+" or 0 * "+sum(vllmRequests)+")", sum(vllmRequests)), ""}}},
		{title: "Time to first token", kind: number, width: w, unit: units.Seconds,
			text:    "Average time from arrival to the first token.",
			queries: []query{{mean(sum(vllmRate(semconv.MetricGenAILLMFirstTokenSeconds)), sum(vllmRequests)), ""}}},
		{title: "Time per output token", kind: number, width: w, unit: units.Seconds,
			text:    "Average time between tokens of an answer, once it has begun.",
			queries: []query{{mean(sum(vllmRate(semconv.MetricGenAIServerTimePerOutputToken)), sum(vllmGenerated)), ""}}},
		{title: "Waiting", kind: number, width: w, unit: units.Short,
			text:    "Requests in the queues of all selected engines.",
			queries: []query{{sum(vllmWaiting), ""}}},
		{title: "KV cache", kind: number, width: w, unit: units.PercentUnit, limits: []float64{0.9, 0.97}, top: 1,
			text:    "Share of the KV cache in use, of the fullest of the selected engines.",
			queries: []query{{"max(" + vllmCache + ")", ""}}},
	}
}

func vllmTraffic() []panel {
	reason := string(semconv.FinishedReasonKey)
	return []panel{
		{title: "Requests by finish reason", kind: stacked, width: 12, unit: units.RequestsPerSecond,
			text: "Requests that finished, per second, by the reason why: stop, length, abort (mostly a client that went away), error. " +
				"_OTHER stands for a reason that was not told.",
			queries: []query{{by(reason, vllmRequests), "{{" + reason + "}}"}}},
		{title: "Requests by engine", width: 12, unit: units.RequestsPerSecond,
			text:    "Requests that finished, per second, by service, model and engine index.",
			queries: []query{{by(engineLabels, vllmRequests), engineLegend}}},
		{title: "Prompt tokens", kind: stacked, width: 12, unit: tokensPerSecond,
			text:    "Prompt tokens processed per second. V1 adds those of a request when it ends, unless the shim reports iterations.",
			queries: []query{{by(engineLabels, vllmPrompt), engineLegend}}},
		{title: "Generated tokens", kind: stacked, width: 12, unit: tokensPerSecond,
			text:    "Tokens generated per second. V1 adds those of a request when it ends, unless the shim reports iterations.",
			queries: []query{{by(engineLabels, vllmGenerated), engineLegend}}},
		{title: "What is asked for", width: 24, unit: units.Short,
			text: "What a V1 request asks for on average: the most tokens that it lets the engine generate, and the number of candidates. " +
				"Requests that do not say count as nothing asked for.",
			queries: []query{
				{mean(sum(vllmRate(semconv.MetricGenAIVLLMRequestParamsMaxTokens)), sum(vllmV1Requests)), "max_tokens"},
				{mean(sum(vllmRate(semconv.MetricGenAIVLLMRequestParamsN)), sum(vllmV1Requests)), "n"},
			}},
	}
}

func vllmLatency() []panel {
	perEngine := func(m named, count string) []query {
		return []query{{mean(by(engineLabels, vllmRate(m)), by(engineLabels, count)), engineLegend}}
	}
	queue := sum(vllmRate(semconv.MetricGenAIVLLMRequestQueueTimeSeconds))
	prefill := sum(vllmRate(semconv.MetricGenAIVLLMRequestPrefillTimeSeconds))
	decode := sum(vllmRate(semconv.MetricGenAIVLLMRequestDecodeTimeSeconds))
	inference := sum(vllmRate(semconv.MetricGenAIVLLMRequestInferenceTimeSeconds))
	whole := "(" + queue + " + " + inference + ")"
	requests := sum(vllmV1Requests)
	return []panel{
		{title: "Time to first token", width: 8, unit: units.Seconds,
			text:    "Average time from arrival to the first token. Requests that ended without one count in the divisor, so many aborts make it look better.",
			queries: perEngine(semconv.MetricGenAILLMFirstTokenSeconds, vllmRequests)},
		{title: "Time per output token", width: 8, unit: units.Seconds,
			text:    "Average time between tokens: the time from the first to the last token of requests, divided by the generated tokens.",
			queries: perEngine(semconv.MetricGenAIServerTimePerOutputToken, vllmGenerated)},
		{title: "Request duration", width: 8, unit: units.Seconds,
			text:    "Average time from arrival to finish.",
			queries: perEngine(semconv.MetricGenAIServerRequestDuration, vllmRequests)},
		{title: "Queue, prefill and decode of a request", kind: stacked, width: 12, unit: units.Seconds,
			text: "Where the time of a V1 request goes on average. Queue is from entering the queue to being scheduled first, and holds " +
				"the transfer of KV cache where there is one. Pauses by preemption lie in prefill and decode.",
			queries: []query{{mean(queue, requests), "queue"}, {mean(prefill, requests), "prefill"}, {mean(decode, requests), "decode"}}},
		{title: "Share of queue, prefill and decode", kind: stacked, width: 12, unit: units.PercentUnit, top: 1,
			text: "The same as shares of queue and inference together. A growing share of queue means too little capacity, " +
				"of prefill longer prompts or a colder prefix cache, of decode longer answers or a fuller batch.",
			queries: []query{{mean(queue, whole), "queue"}, {mean(prefill, whole), "prefill"}, {mean(decode, whole), "decode"}}},
	}
}

var (
	vllmWaiting = either(ofVLLM.of(semconv.MetricGenAIVLLMNumRequestsWaiting), ofVLLM.of(semconv.MetricNumWaitingSys))
	vllmRunning = either(ofVLLM.of(semconv.MetricGenAIVLLMNumRequestsRunning), ofVLLM.of(semconv.MetricNumRunningSys))
	vllmCache   = either(ofVLLM.of(semconv.MetricGenAIVLLMKVCacheUsagePerc), ofVLLM.of(semconv.MetricGPUCacheUsageSys))
)

func vllmScheduler() []panel {
	return []panel{
		{title: "Requests running", width: 8, unit: units.Short,
			text:    "Requests in the running batch, which is the batch size of decode. On V0 these are sequences.",
			queries: []query{{by(engineLabels, vllmRunning), engineLegend}}},
		{title: "Requests waiting", width: 8, unit: units.Short,
			text:    "Requests that wait to be scheduled. On V0 these are sequences.",
			queries: []query{{by(engineLabels, vllmWaiting), engineLegend}}},
		{title: "KV cache usage", width: 8, unit: units.PercentUnit, top: 1, limits: []float64{0.9, 0.97},
			text:    "Share of the KV cache (V0: on the GPU) in use. Of replicas with the same engine index the fullest is shown. Near 100 % requests wait or are preempted.",
			queries: []query{{"max by (" + engineLabels + ") (" + vllmCache + ")", engineLegend}}},
		{title: "Prefix cache hit ratio", width: 8, unit: units.PercentUnit, top: 1,
			text: "Share of the tokens looked up in the prefix cache that were found. V1 only.",
			queries: []query{{mean(by(engineLabels, vllmRate(semconv.MetricGenAIVLLMPrefixCacheHits)),
				by(engineLabels, vllmRate(semconv.MetricGenAIVLLMPrefixCacheQueries))), engineLegend}}},
		{title: "Preemptions", width: 8, unit: units.CountsPerSecond,
			text: "Preemptions per second: a request loses its KV cache to others and is computed again (V0 may swap it out instead). " +
				"More than a few mean that the KV cache is too small for the batch.",
			queries: []query{{by(engineLabels, vllmRate(semconv.MetricGenAIVLLMNumPreemptions, semconv.MetricNumPreemptionIter)), engineLegend}}},
		{title: "Scheduling iterations", width: 8, unit: units.CountsPerSecond,
			text:    "Iterations of the scheduler per second. Running requests without iterations mean a stuck engine.",
			queries: []query{{by(engineLabels, vllmRate(semconv.MetricVLLMIterCount)), engineLegend}}},
	}
}

func vllmV0() []panel {
	return []panel{
		{title: "Tokens per iteration", width: 8, unit: units.Short,
			text: "Tokens, of prompts and answers, that one scheduling iteration works on: how full the batches are.",
			queries: []query{{mean(by(serviceLabel, vllmRate(semconv.MetricNumTokensIter)),
				by(serviceLabel, rate(ofVLLM.of(semconv.MetricVLLMIterCount, is(string(semconv.EngineIndexKey), ""))))), "{{" + serviceLabel + "}}"}}},
		{title: "Sequences swapped out", width: 8, unit: units.Short,
			text:    "Sequences whose KV cache is on the CPU for want of room on the GPU.",
			queries: []query{{by(serviceLabel, ofVLLM.of(semconv.MetricNumSwappedSys)), "{{" + serviceLabel + "}}"}}},
		{title: "CPU KV cache usage", width: 8, unit: units.PercentUnit, top: 1,
			text:    "Share of the KV cache on the CPU in use, of the fullest replica.",
			queries: []query{{"max by (" + serviceLabel + ") (" + ofVLLM.of(semconv.MetricCPUCacheUsageSys) + ")", "{{" + serviceLabel + "}}"}}},
	}
}

func vllmNotes() string {
	return fmt.Sprintf(`- **Averages.** Every duration is a counter of seconds, so what is shown is a mean over the requests (or tokens) of the window. For percentiles, or for one slow request, look at the traces.
- **When things count.** Seconds, tokens and finish reasons of a request count when it ends. A long answer shows up late, and at once.
- **Real queueing time** is wait minus kv_transfer. `+"`%[1]s`"+` holds both; on a node that pulls KV cache (consumer) much of it may be the transfer. Only traces tell them apart: on the span `+"`%[2]s`"+`, `+"`%[3]s`"+` minus `+"`%[4]s`"+`, or the spans `+"`%[5]s` and `%[6]s`"+`.
- **Prefill-decode disaggregation.** A request counts on both of its nodes. A producer has no decode time, a consumer no prefill time. Select one engine to see its own numbers.
- **V0 and V1.** V0 metrics name neither model nor engine index: select V0 by its service. In metrics both count seconds; on spans V0 has seconds, V1 nanoseconds.
- **Gauges** (running, waiting, cache) exist only where the shim is handed scheduler statistics. No line is not 0.
- **The first value of a counter** is not growth to Prometheus: what a process did before its first export is missing from rates.`,
		semconv.MetricGenAIVLLMRequestQueueTimeSeconds.Name(), semconv.SpanLLMRequest, semconv.GenAILatencyTimeInQueueKey,
		semconv.GenAILatencyTimeInKVTransferKey, semconv.SpanWait, semconv.SpanKVTransfer)
}
