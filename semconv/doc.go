// Package semconv names the telemetry that infertel emits: the spans, span
// events, log events and metrics that Alibaba Cloud ARMS documents for the
// inference engines vLLM and SGLang and for the OpenAI-compatible API in front
// of them. Every other package takes its names from here.
//
// The package has five parts:
//
//   - attribute keys, constructors and enum values, in the style of
//     go.opentelemetry.io/otel/semconv: [GenAIRequestModelKey],
//     [GenAIRequestModel], [GenAIOperationNameChat]. A constructor fixes the
//     type on the wire; where one key has two documented types, there are two
//     constructors, such as [GenAIRequestTopK] and [GenAIRequestTopKInt], or
//     [GenAILatencyE2ESeconds] and [GenAILatencyE2ENanoseconds].
//   - names of spans, events, stages and thread labels: [SpanLLMRequest],
//     [EventWait], [StageTokenize], [ThreadLabelScheduler].
//   - metric descriptors, typed by instrument and value, so that a gauge cannot
//     be made of a counter: [MetricVLLMIterCount], and the dimension sets that
//     go with them: [VLLMEngineV1Dimensions].
//   - a mapping between names that mean the same in different engines, engine
//     versions and OpenTelemetry: [Lookup], [FieldsOf], [Equivalent].
//   - the registry as tables, for tools that check or explain telemetry:
//     [Spans], [Stages], [LogEvents], [Metrics], [DimensionSets].
//
// All but the last two parts are usable on a hot path. The files whose names end
// in _gen.go, and docs/telemetry.md, are generated from the YAML files in the
// registry directory, which are in the format of OpenTelemetry's semantic
// conventions.
package semconv

//go:generate go -C internal/generate run . -registry ../../registry -out ../.. -doc ../../../docs/telemetry.md
