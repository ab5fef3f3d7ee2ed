package main

import (
	"fmt"

	"github.com/grafana/grafana-foundation-sdk/go/units"

	"github.com/infertel/infertel-go/semconv"
)

var ofSGLang = scope(fmt.Sprintf(`%s=~"$service",%s=~"$instance",%s=%q`,
	serviceLabel, instanceLabel, semconv.CallKindKey, semconv.CallKindCustomEntry.Value.AsString()))

const serviceLegend = "{{" + serviceLabel + "}}"

func sglangBoard() board {
	all := scope(is(string(semconv.CallKindKey), semconv.CallKindCustomEntry.Value.AsString()))
	return board{
		name: "sglang", title: "infertel / SGLang",
		text: "Traffic, latency and scheduler of SGLang.",
		variables: []variable{
			{"service", "Service", "service.name of the processes that report.", serviceLabel, all.of(semconv.MetricNumRequestsTotal)},
			{"instance", "Instance", "service.instance.id, to look at one process.", instanceLabel,
				all.of(semconv.MetricNumRequestsTotal, matches(serviceLabel, "$service"))},
		},
		rows: []row{
			{"Overview", sglangOverview()},
			{"Traffic", sglangTraffic()},
			{"Latency", sglangLatency()},
			{"Scheduler", sglangScheduler()},
			telemetryRow(12),
			{"How to read this", []panel{{title: "Notes", width: columns, text: sglangNotes()}}},
		},
	}
}

func sglangRate(m named) string { return rate(ofSGLang.of(m)) }

var (
	sglangRequests  = sglangRate(semconv.MetricNumRequestsTotal)
	sglangGenerated = sglangRate(semconv.MetricGenerationTokensTotal)
	sglangReports   = sglangRate(semconv.MetricSGLangLogCount)
)

// perService averages one metric's growth over another's, by service.
func perService(m named, count string) []query {
	return []query{{mean(by(serviceLabel, sglangRate(m)), by(serviceLabel, count)), serviceLegend}}
}

func sglangOverview() []panel {
	const w = 4
	return []panel{
		{title: "Requests", kind: number, width: w, unit: units.RequestsPerSecond,
			text:    "Requests that ended, per second.",
			queries: []query{{sum(sglangRequests), ""}}},
		{title: "Time to first token", kind: number, width: w, unit: units.Seconds,
			text:    "Average time from arrival to the first output.",
			queries: []query{{mean(sum(sglangRate(semconv.MetricGenAIServerTimeToFirstToken)), sum(sglangRequests)), ""}}},
		{title: "Inter-token latency", kind: number, width: w, unit: units.Seconds,
			text:    "Average time per token after the first output.",
			queries: []query{{mean(sum(sglangRate(semconv.MetricSGLangInterTokenLatencySeconds)), sum(sglangGenerated)), ""}}},
		{title: "Generated tokens", kind: number, width: w, unit: tokensPerSecond,
			text:    "Tokens per second of the requests that ended.",
			queries: []query{{sum(sglangGenerated), ""}}},
		{title: "Queue", kind: number, width: w, unit: units.Short,
			text:    "Requests in the queue of a scheduler, on average.",
			queries: []query{{mean(sum(sglangRate(semconv.MetricSGLangNumQueueReqs)), sum(sglangReports)), ""}}},
		{title: "KV cache", kind: number, width: w, unit: units.PercentUnit, limits: []float64{0.9, 0.97}, top: 1,
			text:    "Share of the KV cache in use, on average.",
			queries: []query{{mean(sum(sglangRate(semconv.MetricSGLangTokenUsage)), sum(sglangReports)), ""}}},
	}
}

func sglangTraffic() []panel {
	return []panel{
		{title: "Requests", kind: stacked, width: 12, unit: units.RequestsPerSecond,
			text:    "Requests that ended, per second. SGLang's metrics do not say how they ended: aborts and errors are in the traces.",
			queries: []query{{by(serviceLabel, sglangRequests), serviceLegend}}},
		{title: "Tokens", width: 12, unit: tokensPerSecond,
			text: "Tokens per second of the requests that ended: prompts, of these the ones taken from a cache, and answers.",
			queries: []query{
				{sum(sglangRate(semconv.MetricPromptTokensTotal)), "prompt"},
				{sum(sglangRate(semconv.MetricGenAISGLangCachedTokensTotal)), "prompt, cached"},
				{sum(sglangGenerated), "generated"},
			}},
	}
}

func sglangLatency() []panel {
	return []panel{
		{title: "Time to first token", width: 12, unit: units.Seconds,
			text:    "Average time from arrival to the first output. Requests that ended without one count in the divisor, so many aborts make it look better.",
			queries: perService(semconv.MetricGenAIServerTimeToFirstToken, sglangRequests)},
		{title: "Request duration", width: 12, unit: units.Seconds,
			text:    "Average time from arrival to finish.",
			queries: perService(semconv.MetricGenAIServerRequestDuration, sglangRequests)},
		{title: "Inter-token latency", width: 12, unit: units.Seconds,
			text: "Average time per token after the first output: the intervals between consecutive outputs, divided by the generated tokens. " +
				"This is the pace at which text appears.",
			queries: perService(semconv.MetricSGLangInterTokenLatencySeconds, sglangGenerated)},
		{title: "Time per output token", width: 12, unit: units.Seconds,
			text: "Average over requests of duration divided by output tokens. Unlike the inter-token latency it holds queue and prefill " +
				"too, and each request weighs the same. Embedding requests count in the divisor only.",
			queries: perService(semconv.MetricGenAIServerTimePerOutputToken, sglangRequests)},
	}
}

func sglangScheduler() []panel {
	const w = 8
	scheduler := func(title, unit, text string, m named) panel {
		return panel{title: title, width: w, unit: unit, text: text, queries: perService(m, sglangReports)}
	}
	optional := " Right where every report has it; where some have none, the true value is higher."
	cache := scheduler("KV cache usage", units.PercentUnit, "Share of the KV cache in use.", semconv.MetricSGLangTokenUsage)
	cache.top, cache.limits = 1, []float64{0.9, 0.97}
	hits := scheduler("Cache hit rate", units.PercentUnit, "Share of the prompt tokens found in the cache, as the scheduler logs it."+optional, semconv.MetricGenAISGLangCacheHitRate)
	hits.top = 1
	return []panel{
		scheduler("Requests running", units.Short, "Requests in the running batch of a scheduler.", semconv.MetricSGLangNumRunningReqs),
		scheduler("Requests in the queue", units.Short, "Requests in the queue of a scheduler.", semconv.MetricSGLangNumQueueReqs),
		cache,
		scheduler("Tokens in the KV cache", units.Short, "Tokens held in the KV cache of a scheduler.", semconv.MetricSGLangNumUsedTokens),
		scheduler("Generation throughput", tokensPerSecond, "Tokens generated per second by a scheduler, as it logs it.", semconv.MetricSGLangGenThroughput),
		scheduler("Accept length", units.Short, "Tokens accepted per verification of speculative decoding."+optional, semconv.MetricSGLangSpecAcceptLength),
		hits,
		{title: "Cached share of prompts", width: w, unit: units.PercentUnit, top: 1,
			text:    "Share of the prompt tokens of ended requests that came from a cache.",
			queries: perService(semconv.MetricGenAISGLangCachedTokensTotal, sglangRate(semconv.MetricPromptTokensTotal))},
		{title: "Statistics reports", width: w, unit: units.CountsPerSecond,
			text:    "Statistics reports per second. An idle scheduler reports none, and then there are no averages of snapshots either.",
			queries: []query{{by(serviceLabel, sglangReports), serviceLegend}}},
	}
}

func sglangNotes() string {
	return fmt.Sprintf(`- **Snapshots.** The scheduler logs its state every so many batches, and each report adds the momentary value to a counter. The cumulative number means nothing; its growth divided by that of `+"`%[1]s`"+` is the average of what was reported.
- **One scheduler.** With data parallelism every scheduler reports, and the average is that of one scheduler: multiply by their number for the whole, or select an instance.
- **Averages.** Every duration is a counter of seconds, so what is shown is a mean over the requests (or tokens) of the window. For percentiles, or for one slow request, look at the traces.
- **When things count.** Tokens and seconds of a request count when it ends. "Generation throughput" is what the scheduler does meanwhile.
- **Failures and retractions** are in no metric. Look for thread spans with status ERROR and for the event `+"`%[2]s`"+`.
- **Models.** SGLang's metrics name no model: select by service. A request counts on both its prefill and its decode node: give them a service.name each, and select one.
- **The first value of a counter** is not growth to Prometheus: what a process did before its first export is missing from rates.`,
		semconv.MetricSGLangLogCount.Name(), semconv.EventRetract)
}
