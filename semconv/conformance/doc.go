// Package conformance holds exported telemetry against what is documented for
// vLLM and SGLang: undocumented, missing, mistyped and misplaced spans, events,
// attributes, metrics and log events. In a test:
//
//	spans := tracetest.NewSpanRecorder()
//	tp := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans))
//	// … let what is under test emit its spans to tp …
//	conformance.Assert(t, conformance.CheckSpans(spans.Ended()))
//
// [CheckSpans], [CheckMetrics] and [CheckLogs] take the types of the
// OpenTelemetry SDK, for tests with a span recorder or a manual reader;
// [CheckOTLPSpans], [CheckOTLPMetrics] and [CheckOTLPLogs] take OTLP protobuf,
// for what has been on the wire. Both judge alike. [Assert] makes a test fail
// with what they found. Where they find nothing they return nil.
//
// # What is judged
//
// Traces usually hold spans of other instrumentation, such as otelhttp, which
// are nobody's violation. So these spans are judged, and no others:
//
//   - every span in a scope of infertel ([Scopes]), whatever its name;
//   - a span in any other scope that has a documented name and a sign that it is
//     meant: an attribute documented for that name, or, for a stage of SGLang,
//     which may have none, a parent that is judged. It is what another
//     implementation of the same telemetry looks like, so it must not pass
//     unseen. A client span of an instrumented OpenAI client can look like it
//     too; [WithScopes] then says which scopes are meant.
//
// Metrics and log events are judged likewise: all in infertel's scopes, and those
// with a documented name in others.
//
// # What a trace must hold
//
// Parents, links, containment in time and what else concerns two spans is judged
// where both are given. A parent or link that points to a span that is not given
// is not judged, so hand over a trace whole. Nothing is judged across traces:
// checking traces one by one finds the same as checking them together, and takes
// less memory.
//
// # What is not judged
//
// A condition that cannot be told from the telemetry is not guessed. A value
// that is documented as present when set may be there or not. Where it is not
// known whether a request was aborted, what an aborted request may lack may be
// lacking. Clocks of other hosts may differ, so spans are only held against the
// interval of a parent in their own process. Of attributes, events and links
// that an SDK limit has dropped, absence says nothing. A span that comes twice,
// as after an export that was tried again, is judged once.
package conformance
