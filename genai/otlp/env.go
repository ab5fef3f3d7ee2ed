package otlp

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel"
)

// maxMillis keeps durations far from overflowing (24 days).
const maxMillis = 1<<31 - 1

// getenv returns the value of a variable as the exporters read it.
func getenv(name string) string { return strings.TrimSpace(os.Getenv(name)) }

// signalEnv returns the variables that say the same for one signal and for all,
// in the order in which they count.
func signalEnv(signal, suffix string) []string {
	return []string{
		"OTEL_EXPORTER_OTLP_" + strings.ToUpper(signal) + "_" + suffix,
		"OTEL_EXPORTER_OTLP_" + suffix,
	}
}

// intEnv returns the integer of the first variable that holds one between lo and
// hi, or def. A value that cannot be used is reported.
func intEnv(def, lo, hi int, names ...string) int {
	for _, name := range names {
		v := getenv(name)
		if v == "" {
			continue
		}
		if n, err := strconv.Atoi(v); err == nil && lo <= n && n <= hi {
			return n
		}
		badEnv(name, v, fmt.Sprintf("an integer from %d to %d", lo, hi))
	}
	return def
}

// millisEnv is intEnv for durations in milliseconds.
func millisEnv(def time.Duration, names ...string) time.Duration {
	return time.Duration(intEnv(int(def/time.Millisecond), 1, maxMillis, names...)) * time.Millisecond
}

// checkInts reports the variables that hold no integer. The SDK reads them and
// takes its default without a word.
func checkInts(names ...string) {
	for _, name := range names {
		v := os.Getenv(name)
		if _, err := strconv.Atoi(v); v != "" && err != nil {
			badEnv(name, v, "an integer, without spaces")
		}
	}
}

// firstInt returns the first of the variables' values that is an integer, or def.
func firstInt(def int, names ...string) int {
	for _, name := range names {
		if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
			return n
		}
	}
	return def
}

func badEnv(name, value, want string) {
	otel.Handle(fmt.Errorf("otlp: %s is %q, want %s; it is not used", name, value, want))
}

// exportEnabled reports whether a signal is to be exported.
func exportEnabled(signal string) (bool, error) {
	name := "OTEL_" + strings.ToUpper(signal) + "_EXPORTER"
	switch v := getenv(name); v {
	case "", "otlp":
		return true, nil
	case "none":
		return false, nil
	default:
		return false, fmt.Errorf("otlp: %s is %q, want otlp or none", name, v)
	}
}

// checkProtocol returns an error for a protocol that is not spoken here.
func checkProtocol(signal string) error {
	name, v := firstEnv(signalEnv(signal, "PROTOCOL")...)
	if v == "" || v == "grpc" {
		return nil
	}
	return fmt.Errorf("otlp: %s is %q, want grpc, the only protocol here (collectors take it on port 4317)", name, v)
}

// firstEnv returns the first of the variables that is set, and its value.
func firstEnv(names ...string) (name, value string) {
	for _, name := range names {
		if v := getenv(name); v != "" {
			return name, v
		}
	}
	return "", ""
}

// compression returns gzip or none, as the environment says for a signal.
func compression(signal string) string {
	if _, v := firstEnv(signalEnv(signal, "COMPRESSION")...); v == "gzip" {
		return v
	}
	return "none"
}
