package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/metric"
	noopmetric "go.opentelemetry.io/otel/metric/noop"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// inProcess is telemetry that goes nowhere.
type inProcess struct{ tp *sdktrace.TracerProvider }

func (p inProcess) TracerProvider() trace.TracerProvider { return p.tp }
func (p inProcess) MeterProvider() metric.MeterProvider  { return noopmetric.NewMeterProvider() }
func (p inProcess) Flush(context.Context) error          { return nil }
func (p inProcess) Close(context.Context) error          { return nil }

// FuzzLines feeds lines that may be anything: no panic, and every line is taken
// or said to be bad.
func FuzzLines(f *testing.F) {
	files, err := filepath.Glob("testdata/*.jsonl")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Add(`{"ts":1,"engine":"vllm-v1","event":"engine","model":"m"}` + "\n" + `{"ts":1,"engine":"vllm-v1","event":"arrived"`)
	f.Fuzz(func(t *testing.T, text string) {
		s := newShim(inProcess{sdktrace.NewTracerProvider()}, io.Discard)
		for i, l := range strings.Split(text, "\n") {
			if err := s.feed(context.Background(), "", i, []byte(l)); err != nil {
				t.Fatal(err)
			}
		}
		s.close()
		if s.feed(context.Background(), "", 0, []byte("{}")) == nil {
			t.Error("a closed shim took a line")
		}
	})
}

// FuzzField reads every type of field from anything: what cannot be read is an
// error, and a value that is read is in its range.
func FuzzField(f *testing.F) {
	for _, s := range []string{`1`, `-1`, `1.5`, `1e3`, `"x"`, `true`, `null`, `[1]`, `["a"]`, `[1.5]`, `{}`, ``, `18446744073709551616`, `NaN`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		l, err := parseLine([]byte(`{"ts": 1, "engine": "e", "event": "e", "f": ` + raw + `}`))
		if err != nil {
			return
		}
		if n := l.count("f"); n < 0 {
			t.Errorf("count %d", n)
		}
		if r := l.ratio("f"); r != nil && !(*r >= 0 && *r <= 1) {
			t.Errorf("ratio %v", *r)
		}
		if d := l.duration("f"); d != nil && *d < 0 {
			t.Errorf("duration %v", *d)
		}
		if at := l.time("f"); !at.IsZero() && at.UnixNano() <= 0 {
			t.Errorf("time %v", at)
		}
		l.text("f")
		l.flag("f")
		l.ints("f")
		l.texts("f")
		l.floats("f")
		if err := l.err(); err != nil && len(err.Error()) > 3000 { // nine types have refused it
			t.Errorf("error of %d bytes", len(err.Error()))
		}
	})
}
