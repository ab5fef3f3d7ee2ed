// Command gen makes the Grafana dashboards beside it. The names of metrics and
// labels come from package semconv, so that they cannot drift from what is
// emitted.
//
//	go run .         # writes vllm.json, sglang.json and gateway.json
//	go run . -check  # fails if one of them is not what would be written
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	out := flag.String("out", "..", "directory of the dashboards")
	check := flag.Bool("check", false, "compare instead of writing")
	flag.Parse()
	if err := run(*out, *check); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(out string, check bool) error {
	var errs []error
	for _, b := range boards() {
		text, err := b.json()
		if err != nil {
			return fmt.Errorf("%s: %w", b.name, err)
		}
		file := filepath.Join(out, b.name+".json")
		if !check {
			errs = append(errs, os.WriteFile(file, text, 0o644))
		} else if have, err := os.ReadFile(file); err != nil || !bytes.Equal(have, text) {
			errs = append(errs, fmt.Errorf("%s: out of date, run make dashboards", file))
		}
	}
	return errors.Join(errs...)
}

func boards() []board { return []board{vllmBoard(), sglangBoard(), gatewayBoard()} }

func (b *board) json() ([]byte, error) {
	d, err := b.build()
	if err != nil {
		return nil, err
	}
	text, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return nil, err
	}
	// Go escapes these for pages of HTML. Here they would only hide what is compared.
	for escaped, plain := range map[string]string{`\u003c`: "<", `\u003e`: ">", `\u0026`: "&"} {
		text = bytes.ReplaceAll(text, []byte(escaped), []byte(plain))
	}
	return append(text, '\n'), nil
}
