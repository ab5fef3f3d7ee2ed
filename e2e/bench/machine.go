package main

import (
	"bytes"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
)

// root is the directory of the library, found from where the program is run.
func root() string {
	dir := must(os.Getwd())
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if b, err := os.ReadFile(filepath.Join(dir, "go.mod")); err == nil && bytes.HasPrefix(b, []byte("module github.com/infertel/infertel-go\n")) {
			return dir
		}
	}
	log.Fatal("bench: there is no go.mod of github.com/infertel/infertel-go above this directory: run it within the repository")
	return ""
}

// machine describes where the figures were taken.
func machine() string {
	return fmt.Sprintf("%s, %d cores, %s/%s, %s", cpuModel(), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version())
}

// cpuModel is what the system says of its processor, as far as it does.
func cpuModel() string {
	b, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return "unknown processor"
	}
	for l := range strings.Lines(string(b)) {
		if key, value, ok := strings.Cut(l, ":"); ok && strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "unknown processor"
}

// modules are the versions of what is measured.
func modules() []string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return nil
	}
	var out []string
	for _, m := range info.Deps {
		switch m.Path {
		case "go.opentelemetry.io/otel", "go.opentelemetry.io/otel/sdk", "go.opentelemetry.io/otel/sdk/metric", "github.com/felixge/httpsnoop",
			"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp":
			out = append(out, m.Path+" "+m.Version)
		}
	}
	return out
}
