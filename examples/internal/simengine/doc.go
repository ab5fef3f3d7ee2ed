// Package simengine is a small simulated inference engine: a frontend that
// tokenizes, streams and aborts, and behind it one or several schedulers with
// continuous batching, a paged KV cache with a prefix cache, chunked prefill,
// speculative decoding, preemption or retraction, parallel ranks, and the
// hand-over from a prefill to a decode node.
//
// It computes no tokens that mean anything and knows nothing of telemetry: an
// [Observer] is told what happens and when, as an engine's own hooks would tell.
// Everything happens on one goroutine in simulated time, see [Sim], and the same
// seed gives the same run to the nanosecond. What it holds is bounded by the
// requests that are under way, not by those that were.
package simengine
