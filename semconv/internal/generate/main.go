// Command generate turns the registry into the Go files of package semconv and the reference in docs/telemetry.md.
//
// With -check it writes nothing and fails if a file is not what it would write.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	in := flag.String("registry", "../../registry", "directory of the registry's YAML files")
	out := flag.String("out", "../..", "directory of the Go package")
	doc := flag.String("doc", "../../../docs/telemetry.md", "file of the reference")
	check := flag.Bool("check", false, "compare instead of writing")
	flag.Parse()
	if err := run(*in, *out, *doc, *check); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(in, out, doc string, check bool) error {
	groups, err := load(os.DirFS(in))
	if err != nil {
		return err
	}
	r, err := resolve(groups)
	if err != nil {
		return err
	}
	files, err := generate(r)
	if err != nil {
		return err
	}
	paths := map[string][]byte{doc: markdown(r)}
	for name, text := range files {
		paths[filepath.Join(out, name)] = text
	}
	// A section that was renamed must not leave its old file behind.
	old, err := filepath.Glob(filepath.Join(out, "*_gen.go"))
	if err != nil {
		return err
	}
	for _, name := range old {
		if _, ok := paths[name]; ok {
			continue
		}
		if check {
			return fmt.Errorf("%s: no longer generated, run go generate ./semconv", name)
		}
		if err := os.Remove(name); err != nil {
			return err
		}
	}
	var stale []error
	for _, name := range keys(paths) {
		if check {
			if have, err := os.ReadFile(name); err != nil || !bytes.Equal(have, paths[name]) {
				stale = append(stale, fmt.Errorf("%s: out of date, run go generate ./semconv", name))
			}
			continue
		}
		if err := os.WriteFile(name, paths[name], 0o644); err != nil {
			return err
		}
	}
	return errors.Join(stale...)
}

// generate returns the Go files by name.
func generate(r *registry) (map[string][]byte, error) {
	sources := map[string]*source{
		"names_gen.go":        emitNames(r),
		"metrics_gen.go":      emitMetrics(r),
		"dimensions_gen.go":   emitDimensions(r),
		"spans_gen.go":        emitSpans(r),
		"stages_gen.go":       emitStages(r),
		"metric_table_gen.go": emitMetricTable(r),
		"mapping_gen.go":      emitMapping(r),
	}
	for _, s := range r.sections {
		sources["attributes_"+s.name+"_gen.go"] = emitAttributes(s)
	}
	files := map[string][]byte{}
	for name, src := range sources {
		text, err := src.gofmt(name)
		if err != nil {
			return nil, err
		}
		files[name] = text
	}
	return files, nil
}
