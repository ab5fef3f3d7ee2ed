package sglang

import (
	"fmt"

	"go.opentelemetry.io/otel/attribute"

	"github.com/infertel/infertel-go/semconv"
)

// Stage is one of the documented stages of a thread, together with the value of
// its attribute where it has one. Each has a trace level; a request whose level
// is lower does not record it. The table gives level, process, and the
// deployment that alone has the stage:
//
//	Tokenize                 1  frontend
//	APIServerDispatch        2  frontend
//	DPCDispatch              2  DP controller  data parallelism
//	RequestProcess           2  scheduler      not disaggregated
//	PrefillWaiting           1  scheduler
//	PrefillForward           1  scheduler
//	ChunkedPrefill           3  scheduler      (within PrefillForward)
//	DecodeWaiting            1  scheduler
//	DecodeForward            1  scheduler      (ends with its thread)
//	DecodeLoop(n)            3  scheduler      (within DecodeForward)
//	SpecDraft                2  scheduler      speculative decoding (within a forward)
//	SpecVerify(n)            2  scheduler      speculative decoding (within a forward)
//	SpecDraftExtend          3  scheduler      speculative decoding (within a forward)
//	RunBatchCPU(n)           4  scheduler      pipeline parallelism
//	PrefillPrepare           1  scheduler      Prefill node
//	PrefillBootstrap         1  scheduler      Prefill node
//	PrefillTransferKVCache   1  scheduler      Prefill node
//	DecodePrepare            1  scheduler      Decode node
//	DecodeBootstrap          1  scheduler      Decode node
//	DecodeTransferred        1  scheduler      Decode node
//	FakeOutput               3  scheduler      Decode node
//
// A stage recorded by another process or in another deployment is still
// recorded, and reported once. Source: sglang.stage.
type Stage uint64

// The stages without an attribute. [DecodeLoop], [SpecVerify] and [RunBatchCPU]
// make the others.
const (
	// Tokenize is the tokenization of the prompt.
	Tokenize Stage = iota + 1
	// APIServerDispatch hands the request from the frontend to the scheduler.
	APIServerDispatch
	// DPCDispatch hands the request on in the data parallelism controller.
	DPCDispatch
	// RequestProcess lasts from the request's arrival in the scheduler to its entry
	// in the waiting queue.
	RequestProcess
	// PrefillWaiting is the wait in the queue until prefill is scheduled.
	PrefillWaiting
	// PrefillForward is the forward computation of the prefill.
	PrefillForward
	// ChunkedPrefill is the prefill of one chunk.
	ChunkedPrefill
	// DecodeWaiting is the wait from the end of prefill to the scheduling of the
	// first decode. On a Decode node it means something else: the wait from the
	// end of the KV cache transfer to the start of the forward computation.
	DecodeWaiting
	// DecodeForward is the whole decode, from its first scheduling to the end of
	// the request. It has no end of its own: once started it stays open until its
	// thread ends, and an end that it is given counts for nothing. After a
	// retraction the second round therefore nests in the first one.
	DecodeForward
	decodeLoop
	// SpecDraft is the generation of candidate tokens by the draft model.
	SpecDraft
	specVerify
	// SpecDraftExtend is the extend pass of the draft model.
	SpecDraftExtend
	runBatchCPU
	// PrefillPrepare is the preparation on the Prefill node once the request has
	// arrived.
	PrefillPrepare
	// PrefillBootstrap sets up the transfer connection to the Decode node.
	PrefillBootstrap
	// PrefillTransferKVCache sends the KV cache to the Decode node.
	PrefillTransferKVCache
	// DecodePrepare is the preparation on the Decode node once the request has
	// arrived.
	DecodePrepare
	// DecodeBootstrap sets up the transfer connection to the Prefill node.
	DecodeBootstrap
	// DecodeTransferred is the wait for the transfer of the KV cache to finish.
	DecodeTransferred
	// FakeOutput completes the output of the prefill stage on the Decode node.
	FakeOutput

	stageCount = iota + 1
)

// A Stage holds its number in the low byte and above it the attribute's value
// plus one, so that stages are constants and are passed without an allocation.
const stageBits = 8

func withValue(s Stage, n int) Stage {
	const most = 1<<(63-stageBits) - 1 // does not fit an int of 32 bits
	if n < 0 {
		return s
	}
	return s | Stage(min(uint64(n), most)+1)<<stageBits
}

// DecodeLoop is one decode iteration. ct is its number, the attribute decode_ct:
// it counts from 0 and goes on counting after a retraction. A negative ct means
// that the number is not known yet; [ThreadSpan.EndStage] can bring it.
// Source: sglang.stage.
func DecodeLoop(ct int) Stage { return withValue(decodeLoop, ct) }

// SpecVerify is the verification of draft tokens by the target model.
// correctDrafts is how many of them it accepted, without the bonus token: the
// attributes num_correct_drafts and, for older dashboards, accepted_tokens. A
// negative number means that it is not known yet, as is usual at the start of a
// live stage; [ThreadSpan.EndStage] can bring it. Source: sglang.stage.
func SpecVerify(correctDrafts int) Stage { return withValue(specVerify, correctDrafts) }

// RunBatchCPU is the CPU side of running a batch under pipeline parallelism.
// microBatch is the number of the micro-batch, the attribute pp_mb_id. A
// negative number means that it is not known yet. Source: sglang.stage.
func RunBatchCPU(microBatch int) Stage { return withValue(runBatchCPU, microBatch) }

// stageTable holds of each stage what is needed at every call.
var stageTable = [stageCount]struct {
	name  string
	level Level
}{
	Tokenize:               {semconv.StageTokenize, 1},
	APIServerDispatch:      {semconv.StageAPIServerDispatch, 2},
	DPCDispatch:            {semconv.StageDPCDispatch, 2},
	RequestProcess:         {semconv.StageRequestProcess, 2},
	PrefillWaiting:         {semconv.StagePrefillWaiting, 1},
	PrefillForward:         {semconv.StagePrefillForward, 1},
	ChunkedPrefill:         {semconv.StageChunkedPrefill, 3},
	DecodeWaiting:          {semconv.StageDecodeWaiting, 1},
	DecodeForward:          {semconv.StageDecodeForward, 1},
	decodeLoop:             {semconv.StageDecodeLoop, 3},
	SpecDraft:              {semconv.StageSpecDraft, 2},
	specVerify:             {semconv.StageSpecVerify, 2},
	SpecDraftExtend:        {semconv.StageSpecDraftExtend, 3},
	runBatchCPU:            {semconv.StageRunBatchCPU, 4},
	PrefillPrepare:         {semconv.StagePrefillPrepare, 1},
	PrefillBootstrap:       {semconv.StagePrefillBootstrap, 1},
	PrefillTransferKVCache: {semconv.StagePrefillTransferKVCache, 1},
	DecodePrepare:          {semconv.StageDecodePrepare, 1},
	DecodeBootstrap:        {semconv.StageDecodeBootstrap, 1},
	DecodeTransferred:      {semconv.StageDecodeTransferred, 1},
	FakeOutput:             {semconv.StageFakeOutput, 3},
}

// number returns the stage without its value, 0 if it is none.
func (s Stage) number() Stage {
	if n := s & (1<<stageBits - 1); n < stageCount {
		return n
	}
	return 0
}

// value returns the attribute's value, -1 if there is none.
func (s Stage) value() int64 { return int64(s>>stageBits) - 1 }

// String returns the name of the stage's span, such as "prefill_forward".
func (s Stage) String() string {
	if n := s.number(); n != 0 {
		return stageTable[n].name
	}
	return fmt.Sprintf("Stage(%d)", uint64(s))
}

// Level returns the lowest trace level at which the stage is recorded, 0 if s is
// none of the stages.
func (s Stage) Level() Level { return stageTable[s.number()].level }

// ParseStage returns the stage whose span has the given name, without a value.
func ParseStage(name string) (Stage, error) {
	for n := range stageTable {
		if n > 0 && stageTable[n].name == name {
			return Stage(n), nil
		}
	}
	return 0, fmt.Errorf("sglang: stage is %q, want one of the documented ones, such as %s", shown(name), semconv.StageTokenize)
}

// appendAttributes adds the attributes of the stage's span.
func (s Stage) appendAttributes(a []attribute.KeyValue) []attribute.KeyValue {
	v := s.value()
	if v < 0 {
		return a
	}
	switch s.number() {
	case decodeLoop:
		return append(a, semconv.DecodeCTKey.Int64(v))
	case specVerify:
		return append(a, semconv.NumCorrectDraftsKey.Int64(v), semconv.AcceptedTokensKey.Int64(v))
	case runBatchCPU:
		return append(a, semconv.PPMicroBatchIDKey.Int64(v))
	}
	return a
}
