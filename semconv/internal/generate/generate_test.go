package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

const (
	registryDir = "../../registry"
	packageDir  = "../.."
	docFile     = "../../../docs/telemetry.md"
)

// TestFresh fails when a generated file is not what the registry says.
func TestFresh(t *testing.T) {
	if err := run(registryDir, packageDir, docFile, true); err != nil {
		t.Error(err)
	}
}

func TestCheckNamesWhatIsStale(t *testing.T) {
	dir := t.TempDir()
	doc := filepath.Join(dir, "telemetry.md")
	if err := run(registryDir, dir, doc, false); err != nil {
		t.Fatal(err)
	}
	if err := run(registryDir, dir, doc, true); err != nil {
		t.Errorf("freshly written: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "spans_gen.go"), []byte("package semconv\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := run(registryDir, dir, doc, true); err == nil || !strings.Contains(err.Error(), "spans_gen.go: out of date") {
		t.Errorf("edited file: %v", err)
	}
}

func TestFileOfRemovedSection(t *testing.T) {
	dir := t.TempDir()
	doc := filepath.Join(dir, "telemetry.md")
	old := filepath.Join(dir, "attributes_gone_gen.go")
	if err := os.WriteFile(old, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := run(registryDir, dir, doc, true); err == nil || !strings.Contains(err.Error(), "no longer generated") {
		t.Errorf("check: %v", err)
	}
	if err := run(registryDir, dir, doc, false); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(old); !os.IsNotExist(err) {
		t.Errorf("the old file is still there: %v", err)
	}
}

// TestDeterministic guards against output in map order.
func TestDeterministic(t *testing.T) {
	var first map[string][]byte
	for range 5 {
		groups, err := load(os.DirFS(registryDir))
		if err != nil {
			t.Fatal(err)
		}
		r, err := resolve(groups)
		if err != nil {
			t.Fatal(err)
		}
		files, err := generate(r)
		if err != nil {
			t.Fatal(err)
		}
		files["doc"] = markdown(r)
		if first == nil {
			first = files
		}
		for name, text := range files {
			if !bytes.Equal(text, first[name]) {
				t.Errorf("%s differs between two runs", name)
			}
			if n := bytes.Count(text, []byte("\n")); strings.HasSuffix(name, ".go") && n > 500 {
				t.Errorf("%s has %d lines, split the section", name, n)
			}
		}
	}
}

// small is a registry with one of everything. Each case of TestErrors breaks one
// line of it.
const small = `groups:
  - id: registry.a
    type: attribute_group
    brief: Attributes.
    stability: development
    attributes:
      - id: a.model
        type: string
        brief: Model.
        examples: [m]
        stability: development
      - id: a.kind
        type:
          members:
            - {id: x, value: X, brief: One., stability: development}
            - {id: y, value: Y, brief: Two., stability: development}
        brief: Kind.
        stability: development
      - id: a.calls
        type: template[string]
        brief: Calls.
        examples: [c]
        stability: development
        annotations:
          infertel:
            forms: [{key: "a.calls.{i}.c.{j}.name", go: ACallsName, brief: Name., examples: [n]}]
  - id: span.s
    type: span
    span_kind: internal
    brief: A span.
    stability: development
    attributes:
      - ref: a.model
        requirement_level: required
      - ref: a.kind
        requirement_level: {conditionally_required: set}
        annotations:
          infertel: {enum: [X]}
    annotations:
      infertel: {names: [s]}
  - id: span.stage.t
    type: span
    span_kind: internal
    brief: A stage.
    stability: development
    attributes: []
    annotations:
      infertel: {stage: t, level: 1, process: frontend}
  - id: event.e
    type: event
    name: E
    brief: An event.
    stability: development
    attributes: []
    annotations:
      infertel: {spans: [s]}
  - id: dimensions.d
    type: attribute_group
    brief: Dimensions.
    stability: development
    attributes:
      - ref: a.model
        requirement_level: required
    annotations:
      infertel: {go: D, dimension_set: d}
  - id: metric.m
    type: metric
    extends: dimensions.d
    metric_name: m
    instrument: counter
    unit: '{token}'
    brief: A metric.
    stability: development
    annotations:
      infertel: {value: int, reporters: [{source: s.metrics, dimensions: d}]}
  - id: mapping.model
    type: attribute_group
    brief: Model.
    stability: development
    attributes: []
    annotations:
      infertel: {meaning: [{source: s, kind: attribute, name: a.model}]}
`

func TestSmall(t *testing.T) {
	r, err := build(small)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.spans) != 1 || len(r.stages) != 1 || len(r.events) != 1 || len(r.metrics) != 1 || len(r.meanings) != 1 || len(r.attributes) != 3 {
		t.Errorf("got %+v", r)
	}
	if _, err := generate(r); err != nil {
		t.Error(err)
	}
}

func build(text string) (*registry, error) {
	groups, err := load(fstest.MapFS{"r.yaml": {Data: []byte(text)}})
	if err != nil {
		return nil, err
	}
	return resolve(groups)
}

func TestErrors(t *testing.T) {
	for _, test := range []struct {
		name     string
		old, new string
		want     []string
	}{
		{"unknown field of a group", "    span_kind: internal\n    brief: A span.", "    span_kin: internal\n    brief: A span.",
			[]string{"r.yaml:29: group span.s: unknown field \"span_kin\"", "expected one of annotations, attributes, brief"}},
		{"unknown field of an annotation", "{names: [s]}", "{nams: [s]}", []string{"group span.s: unknown field \"nams\"", "names"}},
		{"unknown field of a member", "{id: x, value: X, brief: One.,", "{id: x, value: X, brieff: One.,", []string{"group registry.a: unknown field \"brieff\""}},
		{"unknown requirement", "{conditionally_required: set}", "{when: set}", []string{"group span.s: unknown field \"when\"", "expected one of conditionally_required"}},
		{"requirement without condition", "{conditionally_required: set}", "conditionally_required", []string{"group span.s", "conditionally_required without a condition"}},
		{"empty condition", "{conditionally_required: set}", "{conditionally_required: ''}", []string{"group span.s", "expected a condition"}},
		{"opt-in without condition", "{conditionally_required: set}", "opt_in", []string{"group span.s", "opt_in without a condition"}},
		{"condition in two places", "{enum: [X]}", "{enum: [X], when: set}", []string{"group span.s", "annotation when with requirement_level conditionally_required"}},
		{"field twice", "    name: E\n", "    name: E\n    name: F\n", []string{"group event.e: field \"name\" stands twice"}},
		{"list for a map", "infertel: {names: [s]}", "infertel: [names]", []string{"group span.s: expected a map of"}},
		{"map for a list", "names: [s]", "names: {a: s}", []string{"group span.s: expected a list"}},
		{"wrong scalar", "level: 1", "level: high", []string{"group span.stage.t", "high"}},
		{"duplicate group", "id: span.stage.t", "id: span.s", []string{"group span.s: duplicate group id, first at r.yaml:27"}},
		{"duplicate attribute", "- id: a.kind", "- id: a.model", []string{"group registry.a: duplicate attribute id a.model"}},
		{"unknown reference", "      - ref: a.kind", "      - ref: a.knd", []string{"group span.s: ref to unknown attribute \"a.knd\""}},
		{"definition outside the registry", "      - ref: a.kind", "      - id: a.kind", []string{"group span.s: attribute \"a.kind\" without a ref"}},
		{"reference inside the registry", "- id: a.kind", "- ref: a.kind", []string{"group registry.a: attribute \"a.kind\" without an id"}},
		{"attribute twice", "- ref: a.kind\n        requirement_level: {conditionally_required: set}\n        annotations:\n          infertel: {enum: [X]}",
			"- ref: a.model\n        requirement_level: required", []string{"group span.s", "stands twice"}},
		{"unknown type", "        type: string\n", "        type: text\n", []string{"group registry.a: attribute a.model: type \"text\", expected one of string, int"}},
		{"structured value on a span", "infertel: {enum: [X]}", "infertel: {type: any}", []string{"group span.s: attribute a.kind: type \"any\""}},
		{"no examples", "        examples: [m]\n", "", []string{"group registry.a: attribute a.model: no examples"}},
		{"no brief", "        brief: Kind.\n", "", []string{"group registry.a: attribute a.kind: no brief"}},
		{"group without brief", "    brief: A span.\n", "", []string{"group span.s: no brief"}},
		{"no attributes", "brief: An event.\n    stability: development\n    attributes: []\n", "brief: An event.\n    stability: development\n", []string{"group event.e: no attributes"}},
		{"stability", "brief: A span.\n    stability: development", "brief: A span.\n    stability: stable", []string{"group span.s: stability \"stable\", expected development"}},
		{"member twice", "{id: y, value: Y", "{id: x, value: Y", []string{"group registry.a: attribute a.kind: member x stands twice"}},
		{"member of another type", "value: Y", "value: 2", []string{"attribute a.kind: member y has value 2, expected string"}},
		{"enum value without a member", "{enum: [X]}", "{enum: [Z]}", []string{"group span.s: attribute a.kind: enum value \"Z\""}},
		{"template form", "a.calls.{i}.c.{j}.name", "a.calls.{i}.name", []string{"attribute a.calls: form \"a.calls.{i}.name\", expected a.calls.{i}, then one {j}"}},
		{"template without forms", "template[string]", "template[int]", []string{"attribute a.calls: type template[int], expected template[string]"}},
		{"span kind", "span_kind: internal\n    brief: A span.", "span_kind: server\n    brief: A span.", []string{"group span.s: span_kind \"server\", expected internal"}},
		{"group type", "    type: event", "    type: evnt", []string{"group event.e: type \"evnt\", expected one of attribute_group, span, event, metric"}},
		{"process", "process: frontend", "process: backend", []string{"group span.stage.t: process \"backend\", expected one of frontend"}},
		{"level", "level: 1", "level: 5", []string{"group span.stage.t: level 5, expected 1 to 4"}},
		{"unknown span of an event", "{spans: [s]}", "{spans: [t]}", []string{"group event.e: span \"t\", expected one of s"}},
		{"unknown child", "{names: [s]}", "{names: [s], children: [t]}", []string{"group span.s: child \"t\", expected one of s"}},
		{"unknown parent stage", "process: frontend}", "process: frontend, nested_under: [u]}", []string{"group span.stage.t: nested_under \"u\", expected one of t"}},
		{"unknown abort group", "{names: [s]}", "{names: [s], on_abort: no}", []string{"group span.s: on_abort names \"no\""}},
		{"instrument", "instrument: counter", "instrument: histogram", []string{"group metric.m: instrument \"histogram\", expected one of counter, gauge"}},
		{"unit", "'{token}'", "'{tokens}'", []string{"group metric.m: unit \"{tokens}\", expected one of s, ns, 1, or {x}"}},
		{"no unit", "    unit: '{token}'\n", "", []string{"group metric.m: unit \"\""}},
		{"value type", "value: int", "value: long", []string{"group metric.m: annotation value \"long\", expected one of int, double"}},
		{"unknown dimension set", "dimensions: d}", "dimensions: e}", []string{"group metric.m: unknown dimension set \"e\", expected one of d"}},
		{"dimensions at odds", "    extends: dimensions.d\n", "    attributes: []\n", []string{"group metric.m: attributes , expected those of the dimension sets: a.model"}},
		{"unknown base", "extends: dimensions.d", "extends: dimensions.e", []string{"group metric.m: extends \"dimensions.e\""}},
		{"range", "value: int,", "value: int, range: [1],", []string{"group metric.m: range of 1 values, expected 2"}},
		{"unknown source", "source: s,", "source: t,", []string{"group mapping.model: source \"t\", expected one of"}},
		{"field that nobody reports", "kind: attribute, name: a.model", "kind: attribute, name: b.model", []string{"group mapping.model: attribute b.model is not reported by s"}},
		{"field kind", "kind: attribute, name", "kind: label, name", []string{"group mapping.model: kind \"label\", expected one of attribute, dimension, metric"}},
		{"group for nothing", "infertel: {meaning: [{source: s, kind: attribute, name: a.model}]}", "infertel: {}", []string{"group mapping.model: stands for nothing"}},
		{"one Go name for two", "go: ACallsName", "go: AModel", []string{"attributes a.model and a.calls.{i}.c.{j}.name would both be AModel in Go"}},
		{"not YAML", "groups:", "groups: [", []string{"r.yaml: yaml:"}},
		{"empty", small, "", []string{"r.yaml: empty, expected a list of groups"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if !strings.Contains(small, test.old) {
				t.Fatalf("%q is not in the registry", test.old)
			}
			_, err := build(strings.Replace(small, test.old, test.new, 1))
			if err == nil {
				t.Fatal("no error")
			}
			for _, want := range test.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q\nwant   %q", err, want)
				}
			}
		})
	}
}

func TestNoFiles(t *testing.T) {
	if _, err := load(fstest.MapFS{}); err == nil {
		t.Error("an empty directory is no registry")
	}
}

func TestGoName(t *testing.T) {
	for name, want := range map[string]string{
		"gen_ai.request.model":      "GenAIRequestModel",
		"gen_ai.latency.e2e":        "GenAILatencyE2E",
		"genai_llm_usage_tokens":    "GenAILLMUsageTokens",
		"gpu_cache_usage_sys":       "GPUCacheUsageSys",
		"rpcType":                   "RPCType",
		"WAIT":                      "Wait",
		"prefill_transfer_kv_cache": "PrefillTransferKVCache",
		"vllm.v0.llm_request":       "VLLMV0LLMRequest",
		"opentelemetry":             "OpenTelemetry",
	} {
		if got := goName(name); got != want {
			t.Errorf("goName(%q) = %s, want %s", name, got, want)
		}
	}
	for name, want := range map[string]string{"engine_index": "engineIndex", "modelName": "modelName", "rpcType": "rpcType", "id": "id"} {
		if got := unexported(name); got != want {
			t.Errorf("unexported(%q) = %s, want %s", name, got, want)
		}
	}
}

func TestPrometheusName(t *testing.T) {
	for _, test := range []struct{ name, unit, instrument, want string }{
		{"request_duration", "s", "counter", "request_duration_seconds_total"},
		{"wait_seconds", "s", "counter", "wait_seconds_total"},
		{"requests_total", "{request}", "counter", "requests_total"},
		{"total_requests", "{request}", "counter", "requests_total"},
		{"usage", "1", "gauge", "usage_ratio"},
		{"usage", "1", "counter", "usage_total"},
		{"throughput", "{token}/s", "counter", "throughput_per_second_total"},
		{"running", "{request}", "gauge", "running"},
	} {
		if got := prometheusName(test.name, test.unit, test.instrument); got != test.want {
			t.Errorf("%s in %q, %s: %s, want %s", test.name, test.unit, test.instrument, got, test.want)
		}
	}
}
