package vllm

import "time"

// KVTransfer is how a transfer of KV cache from a remote engine ended. Its
// gen_ai.kv_transfer.direction is always recv. Source: vllm.v1.kv_transfer.
type KVTransfer struct {
	// CachedTokens is gen_ai.kv_transfer.cached_tokens: the tokens that the
	// connector found on the remote side.
	CachedTokens int
	// Failed is gen_ai.kv_transfer.failed: whether the connector reported that
	// loading failed for the request.
	Failed bool
}

// KVTransferSpan is a transfer of KV cache that runs. To end it after
// [RequestV1.Finish] does nothing. The zero KVTransferSpan does nothing.
// Source: vllm.v1.kv_transfer.
type KVTransferSpan struct {
	request *RequestV1
	place   int
}

// StartKVTransfer starts a span kv_transfer at the given time: the engine pulls
// KV cache from the remote side while the request waits. A request may have
// several. It makes a span within wait, and so none when the wait is incomplete.
// Its length counts for gen_ai.latency.time_in_kv_transfer (int, ns).
// Source: vllm.v1.kv_transfer.
func (r *RequestV1) StartKVTransfer(at time.Time) KVTransferSpan {
	return KVTransferSpan(r.startStage(stageKVTransfer, at))
}

// End tells how the transfer ended and ends it at the given time. As
// [StageSpan.End] otherwise.
func (t KVTransferSpan) End(result KVTransfer, at time.Time) {
	t.request.endStage(t.place, at, result)
}
