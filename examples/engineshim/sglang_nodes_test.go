package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
)

// connections feeds lines, each from the connection that it names before a colon,
// and returns the spans as "name model start-end status".
func connections(t *testing.T, lines ...string) (spans []string, bad int) {
	t.Helper()
	exporter := tracetest.NewInMemoryExporter()
	s := newShim(inProcess{sdktrace.NewTracerProvider(sdktrace.WithSyncer(exporter))}, io.Discard)
	for i, l := range lines {
		origin, text, _ := strings.Cut(l, ":")
		if err := s.feed(context.Background(), origin, i, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	s.close()
	for _, s := range exporter.GetSpans() {
		text := fmt.Sprintf("%s %g-%g", s.Name, float64(s.StartTime.UnixNano()-t0)/1e6, float64(s.EndTime.UnixNano()-t0)/1e6)
		for _, kv := range s.Attributes {
			if kv.Key == "gen_ai.response.model" {
				text += " " + kv.Value.AsString()
			}
		}
		spans = append(spans, text)
	}
	slices.Sort(spans)
	return spans, s.badLines()
}

func TestSGLangNodes(t *testing.T) {
	prefill, decode := sg(0, "engine", `, "model": "mp", "pd_role": "prefill"`), sg(0, "engine", `, "model": "md", "pd_role": "decode"`)
	start := func(ms float64, id string) string { return sg(ms, "request_start", of(id, "")) }
	end := func(ms float64, id string) string { return sg(ms, "request_end", of(id, allTokens)) }
	for name, tc := range map[string]struct {
		lines []string
		want  []string
		bad   int
	}{
		"a role and a model for each connection": {
			lines: []string{"P:" + prefill, "D:" + decode, "P:" + start(1, "a"), "P:" + end(2, "a"), "D:" + start(1, "b"), "D:" + end(3, "b")},
			want:  []string{"decode Req b 1-3 md", "prefill Req a 1-2 mp"},
		},
		"one id on two nodes": {
			lines: []string{
				"P:" + prefill, "P:" + start(1, "r"), "D:" + decode, "D:" + start(2, "r"), "P:" + sg(2, "thread_start", of("r", scheduler)), "D:" + sg(2, "thread_start", of("r", scheduler)),
				"P:" + sg(3, "thread_end", of("r", inThread)), "D:" + sg(4, "thread_end", of("r", inThread)), "P:" + end(5, "r"), "D:" + end(6, "r"),
			},
			want: []string{"Decode Scheduler (host:h | pid:1) 2-4", "Prefill Scheduler (host:h | pid:1) 2-3", "decode Req r 2-6 md", "prefill Req r 1-5 mp"},
		},
		"one id on two equal nodes": {
			lines: []string{"A:" + decode, "B:" + decode, "A:" + start(1, "r"), "B:" + start(2, "r"), "A:" + end(3, "r"), "B:" + end(4, "r")},
			want:  []string{"decode Req r 1-3 md", "decode Req r 2-4 md"},
		},
		"two processes of a node": {
			lines: []string{"D:" + decode, "F:" + prefill, "S:" + prefill, "D:" + start(1, "r"), "F:" + start(1, "r"), "S:" + sg(2, "thread_start", of("r", scheduler)), "S:" + sg(3, "thread_end", of("r", inThread)), "F:" + end(4, "r"), "D:" + end(5, "r")},
			want:  []string{"Prefill Scheduler (host:h | pid:1) 2-3", "decode Req r 1-5 md", "prefill Req r 1-4 mp"},
		},
		"of two equal nodes the open one, and the newest": {
			lines: []string{
				"A:" + decode, "B:" + decode, "S:" + decode, "A:" + start(1, "r"), "B:" + start(2, "r"),
				// Each ends with the request that it is taken for.
				"S:" + sg(3, "thread_start", of("r", scheduler)), "B:" + end(4, "r"),
				"S:" + sg(5, "thread_start", of("r", scheduler)), "A:" + end(6, "r"),
			},
			want: []string{"Decode Scheduler (host:h | pid:1) 3-4", "Decode Scheduler (host:h | pid:1) 5-6", "decode Req r 1-6 md", "decode Req r 2-4 md"},
		},
		"a process that declares nothing": {
			lines: []string{"P:" + prefill, "D:" + decode, "P:" + start(1, "a"), "D:" + start(1, "b"), "X:" + start(2, "x"), "X:" + sg(2, "thread_start", of("a", scheduler)), "X:" + sg(2, "thread_start", of("b", scheduler)), "P:" + end(3, "a"), "D:" + end(3, "b"), "X:" + end(3, "x")},
			want:  []string{"Decode Scheduler (host:h | pid:1) 2-3", "Prefill Scheduler (host:h | pid:1) 2-3", "decode Req b 1-3 md", "decode Req x 2-3 md", "prefill Req a 1-3 mp"},
		},
		"the other node's requests are not this one's": {
			lines: []string{"P:" + prefill, "D:" + decode, "P:" + start(1, "a"), "D:" + end(2, "a"), "P:" + end(3, "a")},
			want:  []string{"prefill Req a 1-3 mp"},
			bad:   1,
		},
		"one engine in place of another": {
			lines: []string{"P:" + prefill, "D:" + decode, "P:" + start(1, "a"), "D:" + start(1, "b"), "P:" + sg(2, "engine", `, "model": "new"`), "P:" + start(3, "a"), "P:" + end(4, "a"), "D:" + end(9, "b")},
			want:  []string{"Req a 3-4 new", "decode Req b 1-9 md", "prefill Req a 1-2"},
		},
		"the same engine again": {
			lines: []string{"P:" + prefill, "P:" + start(1, "a"), "P:" + prefill, "P:" + end(3, "a")},
			want:  []string{"prefill Req a 1-3 mp"},
		},
		"an engine declared after its requests": {
			lines: []string{"P:" + start(1, "a"), "P:" + prefill, "P:" + start(1, "b"), "P:" + end(3, "a"), "P:" + end(3, "b")},
			want:  []string{"Req a 1-3", "prefill Req b 1-3 mp"},
		},
		"twice on one connection": {
			lines: []string{"P:" + prefill, "P:" + start(1, "a"), "P:" + start(2, "a"), "P:" + end(3, "a")},
			want:  []string{"prefill Req a 1-3 mp"},
			bad:   1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, bad := connections(t, tc.lines...)
			if !slices.Equal(got, tc.want) || bad != tc.bad {
				t.Errorf("%d bad lines, spans\n%q, want\n%q", bad, got, tc.want)
			}
		})
	}
}

// A shim that runs for long does not remember every connection that there was.
func TestSGLangForgetsConnections(t *testing.T) {
	h := newSGLang(inProcess{sdktrace.NewTracerProvider()}).(*sglangEngines)
	for i := range 3 * maxConnections {
		l, err := parseLine([]byte(sg(0, "engine", fmt.Sprintf(`, "model": "%d"`, i%2))))
		if err != nil {
			t.Fatal(err)
		}
		l.origin = fmt.Sprint(i)
		if err := h.handle(context.Background(), l); err != nil {
			t.Fatal(err)
		}
	}
	if len(h.declared) != maxConnections || len(h.connections) != maxConnections {
		t.Errorf("%d connections, %d of them declared", len(h.connections), len(h.declared))
	}
}

// What an engine can open is bounded, should it never tell of an end.
func TestSGLangIsBounded(t *testing.T) {
	h := newSGLang(inProcess{sdktrace.NewTracerProvider(sdktrace.WithSampler(sdktrace.NeverSample()))}).(*sglangEngines)
	feed := func(text string) error {
		l, err := parseLine([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return h.handle(context.Background(), l)
	}
	if err := feed(sg(0, "request_start", of("r", ""))); err != nil {
		t.Fatal(err)
	}
	for i := range maxThreadNames + 1 {
		err := feed(sg(0, "thread_start", of("r", fmt.Sprintf(`, "thread": "%d", "label": "Scheduler"`, i))))
		if (err != nil) != (i == maxThreadNames) {
			t.Errorf("thread %d: %v", i, err)
		}
	}
}
