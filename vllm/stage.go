package vllm

import (
	"context"
	"time"

	"github.com/infertel/infertel-go/semconv"
)

// stageKind is a kind of stage span.
type stageKind uint8

const (
	stageWait stageKind = iota
	stagePrefill
	stageDecode
	stageKVTransfer
	stageKinds
)

func (k stageKind) String() string {
	switch k {
	case stageWait:
		return semconv.SpanWait
	case stagePrefill:
		return semconv.SpanPrefill
	case stageDecode:
		return semconv.SpanDecode
	}
	return semconv.SpanKVTransfer
}

// onRole reports whether a node of that role has the stage.
func (k stageKind) onRole(r PDRole) bool {
	return !(k == stageDecode && r == PDRoleProducer || k == stagePrefill && r == PDRoleConsumer)
}

// stageFact is a stage besides the three that every request has.
type stageFact struct {
	kind stageKind
	interval
	transfer KVTransfer // of a kv_transfer
	ended    bool
	emitted  bool
}

// Stage is a wait, prefill or decode of a request that was started by hand, for
// engines whose states do not follow vLLM's. End it with [Stage.End]; one that
// is not ended when its request finishes makes no span. The zero Stage does
// nothing.
type Stage struct {
	request *RequestV1
	kind    stageKind
	place   int // in the request's extra stages, or -1
}

// StartWait starts a span wait at the given time: the request waits to be
// scheduled. Its length counts for gen_ai.latency.time_in_queue; that of several
// is summed. [RequestV1.Queued] starts the first one, [RequestV1.Scheduled] ends
// it.
func (r *RequestV1) StartWait(at time.Time) Stage { return r.startStage(stageWait, at) }

// StartPrefill starts a span prefill at the given time. Its length counts for
// gen_ai.latency.time_in_model_prefill; that of several is summed.
// [RequestV1.Scheduled] starts the first one, the first iteration ends it. A
// [PDRoleConsumer] has no prefill.
func (r *RequestV1) StartPrefill(at time.Time) Stage { return r.startStage(stagePrefill, at) }

// StartDecode starts a span decode at the given time. Its length counts for
// gen_ai.latency.time_in_model_decode; that of several is summed. The first
// iteration starts the first one, and every later iteration moves its end. A
// [PDRoleProducer] has no decode.
func (r *RequestV1) StartDecode(at time.Time) Stage { return r.startStage(stageDecode, at) }

// End ends the stage at the given time. Only the first call counts.
func (s Stage) End(at time.Time) {
	r := s.request
	if r == nil || !r.lock() {
		return
	}
	defer r.mu.Unlock()
	i := &r.stages[s.kind]
	if s.place >= 0 {
		i = &r.extra[s.place].interval
	}
	i.endAt(r.on(at))
}

func (r *RequestV1) startStage(k stageKind, at time.Time) Stage {
	if r == nil || !r.lock() {
		return Stage{}
	}
	defer r.mu.Unlock()
	t := r.on(at)
	if i := &r.stages[k]; *i == (interval{never, never}) {
		i.start = t
		return Stage{r, k, -1}
	}
	r.extra = append(r.extra, stageFact{kind: k, interval: interval{t, never}})
	return Stage{r, k, len(r.extra) - 1}
}

// TransferSpan is a transfer of KV cache that runs. The zero TransferSpan does
// nothing.
type TransferSpan struct {
	request *RequestV1
	place   int
}

// StartKVTransfer starts a span kv_transfer at the given time: the engine pulls
// KV cache from the remote side while the request waits. A request may have
// several. It makes a span within wait, and so none when the wait is incomplete.
// Its length counts for gen_ai.latency.time_in_kv_transfer.
func (r *RequestV1) StartKVTransfer(at time.Time) TransferSpan {
	if r == nil || !r.lock() {
		return TransferSpan{}
	}
	defer r.mu.Unlock()
	r.extra = append(r.extra, stageFact{kind: stageKVTransfer, interval: interval{r.on(at), never}})
	return TransferSpan{r, len(r.extra) - 1}
}

// End ends the transfer at the given time. Only the first call counts.
func (t TransferSpan) End(at time.Time, result KVTransfer) {
	r := t.request
	if r == nil || !r.lock() {
		return
	}
	defer r.mu.Unlock()
	if s := &r.extra[t.place]; !s.ended {
		s.ended = true
		s.end, s.transfer = r.on(at), result
	}
}

// spans makes the spans of the request's stages and returns whether each lies
// within the request.
func (r *RequestV1) spans(s *scratch, whole interval) (inside bool) {
	e := r.engine
	s.attrs = append(s.attrs[:0],
		semconv.GenAIRequestID(r.asked.ID), semconv.GenAIRequestModelName(e.model),
		semconv.GenAIEngineIndex(e.index), r.role.attribute())
	inside = true
	waits := 0 // complete ones to come
	r.eachStage(func(k stageKind, i interval) {
		inside = inside && i.within(whole)
		if k == stageWait {
			waits++
		}
	})
	r.eachStage(func(k stageKind, i interval) {
		ctx, span := e.tracer.Start(r.ctx, k.String(), s.startAt(r.start.Add(i.start))...)
		span.SetAttributes(s.attrs...)
		if k == stageWait {
			waits--
			inside = r.transferSpans(ctx, s, i, waits == 0) && inside
		}
		span.End(s.endAt(r.start.Add(i.end))...)
	})
	return inside
}

// eachStage calls f for each stage, kv_transfer excepted, that makes a span.
func (r *RequestV1) eachStage(f func(stageKind, interval)) {
	for k := range r.stages {
		if _, ok := r.stages[k].length(); ok && stageKind(k).onRole(r.role) {
			f(stageKind(k), r.stages[k])
		}
	}
	for i := range r.extra {
		x := &r.extra[i]
		if _, ok := x.length(); ok && x.kind != stageKVTransfer && x.kind.onRole(r.role) {
			f(x.kind, x.interval)
		}
	}
}

// transferSpans makes the spans of the transfers that started by the end of a
// wait, or of all that are left for the last one. They carry the attributes that
// are in s and three more.
func (r *RequestV1) transferSpans(ctx context.Context, s *scratch, wait interval, last bool) (inside bool) {
	inside = true
	common := len(s.attrs)
	for i := range r.extra {
		x := &r.extra[i]
		if _, ok := x.length(); !ok || x.kind != stageKVTransfer || x.emitted || !last && x.start > wait.end {
			continue
		}
		x.emitted = true
		inside = inside && x.within(wait)
		_, span := r.engine.tracer.Start(ctx, semconv.SpanKVTransfer, s.startAt(r.start.Add(x.start))...)
		s.attrs = append(s.attrs[:common],
			semconv.GenAIKVTransferDirectionRecv,
			semconv.GenAIKVTransferCachedTokens(max(x.transfer.CachedTokens, 0)),
			semconv.GenAIKVTransferFailed(x.transfer.Failed))
		span.SetAttributes(s.attrs...)
		span.End(s.endAt(r.start.Add(x.end))...)
	}
	s.attrs = s.attrs[:common]
	return inside
}
