// Code generated from semconv/registry. DO NOT EDIT.

package semconv

import (
	"go.opentelemetry.io/otel/attribute"
)

// SGLang's own names, which have no namespace.
const (
	// RIDKey is the key of "rid": identifier of the request.
	//
	// Type: string.
	// Examples: "5f2c9a7b1d3e4f60".
	// Source: sglang.request.
	RIDKey = attribute.Key("rid")

	// ModuleKey is the key of "module": part of the engine that the span stands
	// for.
	//
	// Type: string.
	// Values: sglang::request.
	// Source: sglang.request.
	ModuleKey = attribute.Key("module")

	// BootstrapRoomKey is the key of "bootstrap_room": identifier that the two
	// traces of one request share under prefill-decode disaggregation.
	//
	// Type: string (hexadecimal).
	// Examples: "0x1f".
	// Source: sglang.request, when PD.
	BootstrapRoomKey = attribute.Key("bootstrap_room")

	// HostIDKey is the key of "host_id": identifier of the host, which tells equal
	// process ids on different nodes apart.
	//
	// Type: string.
	// Examples: "9f86d081884c7d65".
	// Source: sglang.thread.
	HostIDKey = attribute.Key("host_id")

	// PIDKey is the key of "pid": identifier of the process or thread.
	//
	// Type: int.
	// Examples: 4242.
	// Source: sglang.thread.
	PIDKey = attribute.Key("pid")

	// ThreadLabelKey is the key of "thread_label": label of the thread.
	//
	// Type: string.
	// Examples: "Tokenizer", "Scheduler", "Prefill Scheduler".
	// Source: sglang.thread.
	ThreadLabelKey = attribute.Key("thread_label")

	// TPRankKey is the key of "tp_rank": rank in tensor parallelism.
	//
	// Type: int.
	// Examples: 0.
	// Source: sglang.thread, when set.
	TPRankKey = attribute.Key("tp_rank")

	// PPRankKey is the key of "pp_rank": rank in pipeline parallelism.
	//
	// Type: int.
	// Examples: 0.
	// Source: sglang.thread, when set.
	PPRankKey = attribute.Key("pp_rank")

	// DPRankKey is the key of "dp_rank": rank in data parallelism.
	//
	// Type: int.
	// Examples: 0.
	// Source: sglang.thread, when set.
	DPRankKey = attribute.Key("dp_rank")

	// DecodeCTKey is the key of "decode_ct": number of the decode iteration,
	// counted from 0 and carried on after a retraction.
	//
	// Type: int.
	// Examples: 0, 17.
	// Source: sglang.stage decode_loop.
	DecodeCTKey = attribute.Key("decode_ct")

	// NumCorrectDraftsKey is the key of "num_correct_drafts": draft tokens that the
	// verification accepted, without the bonus token.
	//
	// Type: int.
	// Examples: 3.
	// Source: sglang.stage spec_verify.
	NumCorrectDraftsKey = attribute.Key("num_correct_drafts")

	// AcceptedTokensKey is the key of "accepted_tokens": same value as
	// num_correct_drafts, under the name that older dashboards read.
	//
	// Type: int.
	// Examples: 3.
	// Source: sglang.stage spec_verify.
	AcceptedTokensKey = attribute.Key("accepted_tokens")

	// PPMicroBatchIDKey is the key of "pp_mb_id": number of the micro-batch in
	// pipeline parallelism.
	//
	// Type: int.
	// Examples: 0.
	// Source: sglang.stage run_batch_cpu.
	PPMicroBatchIDKey = attribute.Key("pp_mb_id")

	// BatchIDKey is the key of "bid": identifier of the batch.
	//
	// Type: string.
	// Examples: "b-12".
	// Source: event schedule.
	BatchIDKey = attribute.Key("bid")

	// BatchSizeKey is the key of "batch_size": requests in the batch.
	//
	// Type: int.
	// Examples: 8.
	// Source: event schedule.
	BatchSizeKey = attribute.Key("batch_size")

	// ForwardModeKey is the key of "forward_mode": what the batch computes.
	//
	// Type: string.
	// Values: decode, prefill, prebuilt.
	// Source: event schedule, when known.
	ForwardModeKey = attribute.Key("forward_mode")

	// AbortTypeKey is the key of "type": kind of the end reason of an aborted
	// request.
	//
	// Type: string.
	// Examples: "abort".
	// Source: sglang.thread when aborted, when set.
	AbortTypeKey = attribute.Key("type")

	// AbortMessageKey is the key of "message": text of the end reason of an aborted
	// request.
	//
	// Type: string.
	// Examples: "client disconnected".
	// Source: sglang.thread when aborted, when set.
	AbortMessageKey = attribute.Key("message")

	// AbortStatusCodeKey is the key of "status_code": HTTP status that the aborted
	// request was answered with.
	//
	// Type: int.
	// Examples: 400, 503.
	// Source: sglang.thread when aborted, when set.
	AbortStatusCodeKey = attribute.Key("status_code")

	// AbortErrTypeKey is the key of "err_type": class of the error that ended the
	// request.
	//
	// Type: string.
	// Examples: "BadRequestError".
	// Source: sglang.thread when aborted, when set.
	AbortErrTypeKey = attribute.Key("err_type")

	// AbortReasonKey is the key of "reason": end reason of a request that was
	// aborted without a structured one.
	//
	// Type: string.
	// Examples: "client disconnected".
	// Source: sglang.thread when aborted, when set.
	AbortReasonKey = attribute.Key("reason")
)

// RID returns the attribute "rid": identifier of the request.
func RID(val string) attribute.KeyValue {
	return RIDKey.String(val)
}

// The values of module.
var (
	// ModuleSGLangRequest is the attribute module with the value sglang::request:
	// the request span.
	ModuleSGLangRequest = ModuleKey.String("sglang::request")
)

// BootstrapRoom returns the attribute "bootstrap_room": identifier that the two
// traces of one request share under prefill-decode disaggregation.
//
// The value is a hexadecimal number as text.
func BootstrapRoom(val string) attribute.KeyValue {
	return BootstrapRoomKey.String(val)
}

// HostID returns the attribute "host_id": identifier of the host, which tells
// equal process ids on different nodes apart.
func HostID(val string) attribute.KeyValue {
	return HostIDKey.String(val)
}

// PID returns the attribute "pid": identifier of the process or thread.
func PID(val int) attribute.KeyValue {
	return PIDKey.Int(val)
}

// ThreadLabel returns the attribute "thread_label": label of the thread.
func ThreadLabel(val string) attribute.KeyValue {
	return ThreadLabelKey.String(val)
}

// TPRank returns the attribute "tp_rank": rank in tensor parallelism.
func TPRank(val int) attribute.KeyValue {
	return TPRankKey.Int(val)
}

// PPRank returns the attribute "pp_rank": rank in pipeline parallelism.
func PPRank(val int) attribute.KeyValue {
	return PPRankKey.Int(val)
}

// DPRank returns the attribute "dp_rank": rank in data parallelism.
func DPRank(val int) attribute.KeyValue {
	return DPRankKey.Int(val)
}

// DecodeCT returns the attribute "decode_ct": number of the decode iteration,
// counted from 0 and carried on after a retraction.
func DecodeCT(val int) attribute.KeyValue {
	return DecodeCTKey.Int(val)
}

// NumCorrectDrafts returns the attribute "num_correct_drafts": draft tokens
// that the verification accepted, without the bonus token.
func NumCorrectDrafts(val int) attribute.KeyValue {
	return NumCorrectDraftsKey.Int(val)
}

// AcceptedTokens returns the attribute "accepted_tokens": same value as
// num_correct_drafts, under the name that older dashboards read.
func AcceptedTokens(val int) attribute.KeyValue {
	return AcceptedTokensKey.Int(val)
}

// PPMicroBatchID returns the attribute "pp_mb_id": number of the micro-batch in
// pipeline parallelism.
func PPMicroBatchID(val int) attribute.KeyValue {
	return PPMicroBatchIDKey.Int(val)
}

// BatchID returns the attribute "bid": identifier of the batch.
func BatchID(val string) attribute.KeyValue {
	return BatchIDKey.String(val)
}

// BatchSize returns the attribute "batch_size": requests in the batch.
func BatchSize(val int) attribute.KeyValue {
	return BatchSizeKey.Int(val)
}

// The values of forward_mode.
var (
	// ForwardModeDecode is the attribute forward_mode with the value decode: a
	// decode batch.
	ForwardModeDecode = ForwardModeKey.String("decode")
	// ForwardModePrefill is the attribute forward_mode with the value prefill: a
	// prefill batch.
	ForwardModePrefill = ForwardModeKey.String("prefill")
	// ForwardModePrebuilt is the attribute forward_mode with the value prebuilt: a
	// batch whose prefill another node did.
	ForwardModePrebuilt = ForwardModeKey.String("prebuilt")
)

// AbortType returns the attribute "type": kind of the end reason of an aborted
// request.
func AbortType(val string) attribute.KeyValue {
	return AbortTypeKey.String(val)
}

// AbortMessage returns the attribute "message": text of the end reason of an
// aborted request.
func AbortMessage(val string) attribute.KeyValue {
	return AbortMessageKey.String(val)
}

// AbortStatusCode returns the attribute "status_code": HTTP status that the
// aborted request was answered with.
func AbortStatusCode(val int) attribute.KeyValue {
	return AbortStatusCodeKey.Int(val)
}

// AbortErrType returns the attribute "err_type": class of the error that ended
// the request.
func AbortErrType(val string) attribute.KeyValue {
	return AbortErrTypeKey.String(val)
}

// AbortReason returns the attribute "reason": end reason of a request that was
// aborted without a structured one.
func AbortReason(val string) attribute.KeyValue {
	return AbortReasonKey.String(val)
}
