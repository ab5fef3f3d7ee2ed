package otlp

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"go.opentelemetry.io/otel"
)

// This file reports what the SDK and the exporters would not use without a word,
// or without saying which variable they mean.

// checkEnv reports the choices that none of the signals can use.
func checkEnv(signals []string) {
	checkBools("OTEL_SDK_DISABLED", "OTEL_EXPORTER_OTLP_INSECURE")
	checkChoice("OTEL_EXPORTER_OTLP_COMPRESSION", getenv, "gzip", "none")
	for _, signal := range signals {
		checkBools(signalEnv(signal, "INSECURE")[0])
		checkChoice(signalEnv(signal, "COMPRESSION")[0], getenv, "gzip", "none")
	}
	if slices.Contains(signals, "traces") {
		checkSampler()
	}
	if slices.Contains(signals, "metrics") {
		checkChoice("OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE", lower, "cumulative", "delta", "lowmemory")
		checkChoice("OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION", lower, "explicit_bucket_histogram", "base2_exponential_bucket_histogram")
		checkChoice("OTEL_METRICS_EXEMPLAR_FILTER", getenv, "trace_based", "always_on", "always_off")
	}
	for _, name := range headerVariables(signals) {
		parseHeaders(name, getenv(name), true)
	}
}

// lower returns the value of a variable whose case does not matter.
func lower(name string) string { return strings.ToLower(getenv(name)) }

func checkBools(names ...string) {
	for _, name := range names {
		checkChoice(name, lower, "true", "false")
	}
}

// checkChoice reports a variable that is set and, as read, none of the choices.
func checkChoice(name string, read func(string) string, choices ...string) {
	if v := read(name); v != "" && !slices.Contains(choices, v) {
		last := len(choices) - 1
		badEnv(name, getenv(name), strings.Join(choices[:last], ", ")+" or "+choices[last])
	}
}

// checkSampler names the variables; the SDK also says that it takes the default.
func checkSampler() {
	const ratio = "traceidratio"
	checkChoice("OTEL_TRACES_SAMPLER", lower, "always_on", "always_off", ratio,
		"parentbased_always_on", "parentbased_always_off", "parentbased_"+ratio)
	const name = "OTEL_TRACES_SAMPLER_ARG"
	v := getenv(name)
	if v == "" || !strings.HasSuffix(lower("OTEL_TRACES_SAMPLER"), ratio) {
		return
	}
	if f, err := strconv.ParseFloat(v, 64); err != nil || !(f >= 0 && f <= 1) {
		badEnv(name, v, "a number from 0 to 1")
	}
}

// headerVariables returns the variables with headers that are in use, each once.
func headerVariables(signals []string) []string {
	var names []string
	for _, signal := range signals {
		if name, _ := firstEnv(signalEnv(signal, "HEADERS")...); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// headers returns the headers that the environment says for a signal.
func headers(signal string) map[string]string {
	name, v := firstEnv(signalEnv(signal, "HEADERS")...)
	return parseHeaders(name, v, false)
}

// parseHeaders returns the entries that gRPC can send: with one that it cannot,
// every export would fail. The others are reported by their number, as they can
// hold a secret.
func parseHeaders(name, list string, report bool) map[string]string {
	out := map[string]string{}
	for i, entry := range strings.Split(list, ",") {
		if strings.TrimSpace(entry) == "" {
			continue
		}
		key, value, ok := strings.Cut(entry, "=")
		key = strings.ToLower(strings.TrimSpace(key))
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if ok && err == nil && validHeader(key, value) {
			out[key] = value
		} else if report {
			otel.Handle(fmt.Errorf("otlp: entry %d of %s is not used, want key=value, in ASCII, the value percent-encoded", i+1, name))
		}
	}
	return out
}

func validHeader(key, value string) bool {
	for _, r := range key {
		if (r < 'a' || r > 'z') && (r < '0' || r > '9') && !strings.ContainsRune("-_.", r) {
			return false
		}
	}
	for _, r := range value {
		if (r < ' ' || r > '~') && !strings.HasSuffix(key, "-bin") {
			return false
		}
	}
	return key != ""
}
