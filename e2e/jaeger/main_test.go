package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"reflect"
	"slices"
	"testing"
	"time"

	"go.opentelemetry.io/collector/pdata/ptrace"
)

// limit bounds a run, but for the time it takes to build Jaeger.
const limit = 5 * time.Minute

// The traces of the reference emitter stand in Jaeger as they were sent, each
// whole and under its entry span, with all events and links.
func TestTraces(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	otlp, query := address(t), address(t)
	j, err := start(ctx, otlp, query)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := j.stop(); err != nil {
			t.Error(err)
		}
	})
	ctx, cancel = context.WithTimeout(ctx, limit)
	defer cancel()
	e, endpoint := startTee(t, otlp)
	emit(ctx, t, endpoint)
	a := &api{t: t, ctx: ctx, base: "http://" + query}
	t.Run("as sent", func(t *testing.T) { asSent(t, a.in(t), e.taken) })
	t.Run("as shown", func(t *testing.T) { asShown(t, a.in(t), e.taken) })
	t.Run("as found", func(t *testing.T) { asFound(t, a.in(t), e.taken) })
	t.Run("web UI", func(t *testing.T) {
		if page := a.in(t).get("/trace/0123"); !bytes.Contains(page, []byte("<title>Jaeger UI</title>")) {
			t.Errorf("got %s", page)
		}
	})
}

func address(t *testing.T) string {
	t.Helper()
	a, err := freeAddress()
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// emit runs the reference emitter as the README says. It fails if anything was
// refused.
func emit(ctx context.Context, t *testing.T, endpoint string) {
	t.Helper()
	cmd := exec.CommandContext(ctx, "go", "run", "./examples/reference")
	cmd.Dir = "../.."
	cmd.Env = append(os.Environ(), "OTEL_EXPORTER_OTLP_ENDPOINT="+endpoint, "OTEL_METRICS_EXPORTER=none", "OTEL_LOGS_EXPORTER=none")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("the reference emitter: %v: %s", err, out)
	}
}

// api asks Jaeger's query service.
type api struct {
	t    *testing.T
	ctx  context.Context
	base string
}

func (a *api) in(t *testing.T) *api { return &api{t, a.ctx, a.base} }

func (a *api) get(path string) []byte {
	a.t.Helper()
	r, err := http.NewRequestWithContext(a.ctx, http.MethodGet, a.base+path, nil)
	if err != nil {
		a.t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		a.t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		a.t.Fatalf("GET %s: %s, %v: %s", path, answer.Status, err, body)
	}
	return body
}

func (a *api) json(path string, out any) {
	a.t.Helper()
	if err := json.Unmarshal(a.get(path), out); err != nil {
		a.t.Fatalf("GET %s: %v", path, err)
	}
}

// asSent compares what Jaeger gives out with what it took, to the last attribute.
func asSent(t *testing.T, a *api, taken map[string][]span) {
	if len(taken) < 20 {
		t.Fatalf("only %d traces were taken", len(taken))
	}
	total := 0
	for id, want := range taken {
		var answer struct{ Result json.RawMessage }
		a.json("/api/v3/traces/"+id+"?raw_traces=true", &answer) // else Jaeger sorts events by name
		td, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces(answer.Result)
		if err != nil {
			t.Fatal(err)
		}
		want, got := sorted(want), sorted(byTrace(td)[id])
		if len(got) != len(want) {
			t.Errorf("trace %s has %d spans, want %d", id, len(got), len(want))
			continue
		}
		for i := range want {
			if want[i].instant() {
				lengthen(&want[i], &got[i])
			}
			if !reflect.DeepEqual(got[i], want[i]) {
				t.Fatalf("got %s\nwant %s", &got[i], &want[i])
			}
		}
		total += len(want)
	}
	t.Logf("%d spans in %d traces", total, len(taken))
}

// lengthen allows for what Jaeger does to a span without duration, which it takes
// for a negative one: it is a nanosecond longer, with a warning.
func lengthen(want, got *span) {
	want.End = want.End.Add(time.Nanosecond)
	delete(got.Attributes, "@jaeger@warnings")
}

// asFound searches for traces by what people search for.
func asFound(t *testing.T, a *api, taken map[string][]span) {
	for key, value := range map[string]string{"gen_ai.request.model": "qwen3-8b", "gen_ai.operation.name": "embeddings", "gen_ai.response.finish_reasons": `["length"]`} {
		var want []string
		for id, spans := range taken {
			if slices.ContainsFunc(spans, func(s span) bool { return shownValue(s.Attributes[key]) == value }) {
				want = append(want, id)
			}
		}
		tags, err := json.Marshal(map[string]string{key: value})
		if err != nil {
			t.Fatal(err)
		}
		var answer struct{ Data []uiTrace }
		a.json("/api/traces?"+url.Values{"service": {"reference"}, "limit": {"1000"}, "lookback": {"1h"}, "tags": {string(tags)}}.Encode(), &answer)
		var got []string
		for _, trace := range answer.Data {
			got = append(got, trace.TraceID)
		}
		slices.Sort(got)
		slices.Sort(want)
		if len(want) == 0 || !slices.Equal(got, want) {
			t.Errorf("%s=%s finds %v, want %v", key, value, got, want)
		}
	}
}

// shownValue is an attribute as text.
func shownValue(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	text, _ := json.Marshal(v)
	return string(text)
}
