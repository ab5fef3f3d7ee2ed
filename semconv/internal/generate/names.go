package main

import (
	"slices"
	"strings"
	"unicode"
)

// initialisms are the words that Go writes in capitals throughout, and the few with a spelling of their own.
var initialisms = map[string]string{
	"ai": "AI", "api": "API", "bid": "BID", "cpu": "CPU", "ct": "CT", "dp": "DP", "dpc": "DPC", "e2e": "E2E",
	"gen": "Gen", "genai": "GenAI", "gpu": "GPU", "id": "ID", "ids": "IDs", "kv": "KV", "llm": "LLM", "pd": "PD",
	"pp": "PP", "rid": "RID", "rpc": "RPC", "sglang": "SGLang", "tp": "TP", "vllm": "VLLM", "logprobs": "LogProbs", "opentelemetry": "OpenTelemetry",
}

// goName turns a dotted, underscored or camel-case name into an exported Go name.
func goName(name string) string {
	var b strings.Builder
	for _, w := range words(name) {
		l := strings.ToLower(w)
		if s, ok := initialisms[l]; ok {
			b.WriteString(s)
			continue
		}
		b.WriteString(strings.ToUpper(l[:1]) + l[1:])
	}
	return b.String()
}

// unexported turns a name into the Go name of a parameter.
func unexported(name string) string {
	w := words(name)
	return strings.ToLower(w[0]) + goName(strings.Join(w[1:], "_"))
}

func words(name string) []string {
	return strings.FieldsFunc(splitCamel(name), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// splitCamel puts a space where a lower-case letter meets an upper-case one.
func splitCamel(name string) string {
	var b strings.Builder
	lower := false
	for _, r := range name {
		if lower && unicode.IsUpper(r) {
			b.WriteByte(' ')
		}
		lower = unicode.IsLower(r)
		b.WriteRune(r)
	}
	return b.String()
}

// prometheusName is the name that a metric has in Prometheus when the unit and type suffixes of OpenTelemetry's
// translation are on, as the Collector's Prometheus exporter has them by default.
func prometheusName(name, unit, instrument string) string {
	parts := strings.Split(name, "_")
	var suffixes []string
	main, per, _ := strings.Cut(unit, "/")
	if main == "s" {
		suffixes = append(suffixes, "seconds")
	}
	if per == "s" {
		suffixes = append(suffixes, "per_second")
	}
	for _, s := range suffixes {
		if !slices.Contains(parts, s) {
			parts = append(parts, s)
		}
	}
	move := func(s string) {
		parts = append(slices.DeleteFunc(parts, func(p string) bool { return p == s }), s)
	}
	switch {
	case instrument == "counter":
		move("total")
	case unit == "1":
		move("ratio")
	}
	return strings.Join(parts, "_")
}
