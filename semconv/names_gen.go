// Code generated from semconv/registry. DO NOT EDIT.

package semconv

// Names of spans. Those that hold a model, an identifier or a rank are built where they are used.
const (
	// SpanLLMRequest: the name of vllm.v0.llm_request and vllm.v1.llm_request.
	SpanLLMRequest = "llm_request"
	// SpanWait: time in the queue before the request is first scheduled.
	SpanWait = "wait"
	// SpanKVTransfer: pulling the KV cache from the remote side, while the request
	// waits.
	SpanKVTransfer = "kv_transfer"
	// SpanPrefill: first scheduling to first token.
	SpanPrefill = "prefill"
	// SpanDecode: first token to last token.
	SpanDecode = "decode"
)

// Names of the stage spans of SGLang.
const (
	// StageTokenize: tokenizing the prompt.
	StageTokenize = "tokenize"
	// StageAPIServerDispatch: handing the request from the frontend to the
	// scheduler.
	StageAPIServerDispatch = "api_server_dispatch"
	// StageDPCDispatch: handing the request on in the data parallelism controller.
	StageDPCDispatch = "dpc_dispatch"
	// StageRequestProcess: arrival in the scheduler to entry in its waiting queue.
	StageRequestProcess = "request_process"
	// StagePrefillWaiting: waiting in the queue until prefill is scheduled.
	StagePrefillWaiting = "prefill_waiting"
	// StagePrefillForward: forward computation of the prefill.
	StagePrefillForward = "prefill_forward"
	// StageChunkedPrefill: prefill of one chunk.
	StageChunkedPrefill = "chunked_prefill"
	// StageDecodeWaiting: waiting between the end of prefill and the first decode.
	StageDecodeWaiting = "decode_waiting"
	// StageDecodeForward: the whole decode, from its first scheduling to the end of
	// the request.
	StageDecodeForward = "decode_forward"
	// StageDecodeLoop: one decode iteration.
	StageDecodeLoop = "decode_loop"
	// StageSpecDraft: generation of candidate tokens by the draft model.
	StageSpecDraft = "spec_draft"
	// StageSpecVerify: verification of the draft tokens by the target model.
	StageSpecVerify = "spec_verify"
	// StageSpecDraftExtend: extend pass of the draft model.
	StageSpecDraftExtend = "spec_draft_extend"
	// StageRunBatchCPU: CPU side of running a batch under pipeline parallelism.
	StageRunBatchCPU = "run_batch_cpu"
	// StagePrefillPrepare: preparation on the Prefill node once the request has
	// arrived.
	StagePrefillPrepare = "prefill_prepare"
	// StagePrefillBootstrap: setting up the transfer connection to the Decode node.
	StagePrefillBootstrap = "prefill_bootstrap"
	// StagePrefillTransferKVCache: sending the KV cache to the Decode node.
	StagePrefillTransferKVCache = "prefill_transfer_kv_cache"
	// StageDecodePrepare: preparation on the Decode node once the request has
	// arrived.
	StageDecodePrepare = "decode_prepare"
	// StageDecodeBootstrap: setting up the transfer connection to the Prefill node.
	StageDecodeBootstrap = "decode_bootstrap"
	// StageDecodeTransferred: waiting for the transfer of the KV cache to finish.
	StageDecodeTransferred = "decode_transferred"
	// StageFakeOutput: completing the output of the prefill stage on the Decode
	// node.
	StageFakeOutput = "fake_output"
)

// Names of span events and log events.
const (
	// EventInferenceOperationDetails: content of one call, as a log event that
	// belongs to the entry span.
	EventInferenceOperationDetails = "gen_ai.client.inference.operation.details"
	// EventRetract: the request is rolled back and queued again for want of
	// resources.
	EventRetract = "retract"
	// EventSchedule: the request is put into a batch.
	EventSchedule = "schedule"
	// EventWait: the request starts to wait, on arrival in the queue or after a
	// preemption.
	EventWait = "WAIT"
	// EventPrefill: one prefill iteration, recomputation after a preemption
	// included.
	EventPrefill = "PREFILL"
	// EventDecode: one decode iteration.
	EventDecode = "DECODE"
	// EventPreempted: the engine takes the KV cache blocks of the request away.
	EventPreempted = "PREEMPTED"
)

// Labels of SGLang threads, and what precedes them under prefill-decode disaggregation.
const (
	// ThreadLabelTokenizer: the frontend process.
	ThreadLabelTokenizer = "Tokenizer"
	// ThreadLabelMultiTokenizerPrefix: one of several frontend processes, by
	// number.
	ThreadLabelMultiTokenizerPrefix = "MultiTokenizer-"
	// ThreadLabelDPController: the controller that spreads requests over data
	// parallel ranks.
	ThreadLabelDPController = "DP Controller"
	// ThreadLabelScheduler: a scheduler process.
	ThreadLabelScheduler = "Scheduler"
	// ThreadLabelPrefixPrefill: put before the label on a Prefill node.
	ThreadLabelPrefixPrefill = "Prefill "
	// ThreadLabelPrefixDecode: put before the label on a Decode node.
	ThreadLabelPrefixDecode = "Decode "
)

// Trace level of SGLang, which limits its stages and events.
const (
	// SGLangTraceLevelEnv is the environment variable that holds the level.
	SGLangTraceLevelEnv = "SGLANG_TRACE_LEVEL"
	// SGLangTraceLevelDefault is the level where none is given.
	SGLangTraceLevelDefault = 3
	// SGLangTraceLevelOff is the level without any native span.
	SGLangTraceLevelOff = 0
	// SGLangTraceLevelPath is the path of the request that sets the level at run time.
	SGLangTraceLevelPath = "/set_trace_level"
	// SGLangTraceLevelParameter is its query parameter.
	SGLangTraceLevelParameter = "level"
)
