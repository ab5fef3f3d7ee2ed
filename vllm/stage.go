package vllm

import (
	"context"
	"slices"
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

// stageFact is a stage that was started by hand, or a transfer.
type stageFact struct {
	kind stageKind
	interval
	transfer KVTransfer // of a kv_transfer
	ended    bool
	wait     int // of a kv_transfer: which of the waits it lies in, from 0; or noWait
}

const noWait = -1

// StageSpan is a wait, prefill or decode of a request that was started by hand, for
// engines whose states do not follow vLLM's. End it with [StageSpan.End]. One that is
// not ended takes the end that the lifecycle has for its kind, as
// [RequestV1.Scheduled] for wait, and makes no span without. One that is ended is
// never moved: where the lifecycle would make a span of the same kind that overlaps
// with it, that is left out. To end it after [RequestV1.Finish] does nothing. The
// zero StageSpan does nothing.
type StageSpan struct {
	request *RequestV1
	place   int // in the request's extra stages
}

// StartWait starts a span wait at the given time: the request waits to be
// scheduled. Its length counts for gen_ai.latency.time_in_queue (int, ns); that of
// several is summed. [RequestV1.Queued] and [RequestV1.Scheduled] make one of their
// own. Source: vllm.v1.wait.
func (r *RequestV1) StartWait(at time.Time) StageSpan { return r.startStage(stageWait, at) }

// StartPrefill starts a span prefill at the given time. Its length counts for
// gen_ai.latency.time_in_model_prefill (int, ns); that of several is summed.
// [RequestV1.Scheduled] and the first iteration make one of their own. Where a
// decode was started by hand, or [OutcomeV1.CompletionTokens] tells of tokens, and
// no iteration was told, the first token was there when the last prefill before
// that decode ended. A [PDRoleConsumer] has no prefill. Source: vllm.v1.prefill.
func (r *RequestV1) StartPrefill(at time.Time) StageSpan { return r.startStage(stagePrefill, at) }

// StartDecode starts a span decode at the given time. Its length counts for
// gen_ai.latency.time_in_model_decode (int, ns); that of several is summed. The
// first and the last iteration make one of their own. A [PDRoleProducer] has no
// decode. Source: vllm.v1.decode.
func (r *RequestV1) StartDecode(at time.Time) StageSpan { return r.startStage(stageDecode, at) }

// End ends the stage at the given time. Only the first call counts. A zero time
// is an end that is not known, and a stage that ends before it starts is left out:
// both are reported as the package describes.
func (s StageSpan) End(at time.Time) { s.request.endStage(s.place, at, KVTransfer{}) }

func (r *RequestV1) startStage(k stageKind, at time.Time) StageSpan {
	if r == nil || !r.lock() {
		return StageSpan{}
	}
	defer r.mu.Unlock()
	r.extra = append(r.extra, stageFact{kind: k, interval: interval{start: pointOf(at)}})
	return StageSpan{r, len(r.extra) - 1}
}

func (r *RequestV1) endStage(place int, at time.Time, result KVTransfer) {
	if r == nil || !r.lock() {
		return
	}
	defer r.mu.Unlock()
	if s := &r.extra[place]; !s.ended {
		s.ended = true
		s.end, s.transfer = pointOf(at), result
	}
}

// stages are the intervals that the lifecycle calls come to: the first wait,
// prefill and decode. One that is not to be had has no ends.
type stages [stageKVTransfer]interval

// settle decides what the stages are, where some were started by hand: these take
// an end that they lack from the lifecycle, and the lifecycle makes none that
// overlaps with one of them or lacks an end itself.
func (r *RequestV1) settle(s *stages) {
	for k := range s {
		i := &s[k]
		if r.complete(stageKind(k), *i); !r.byHand(stageKind(k)) {
			continue
		}
		if _, ok := i.length(); ok && r.overlapsByHand(stageKind(k), *i) || i.problem() != backwards {
			*i = interval{}
		}
	}
}

// complete gives the earliest stage of a kind that was started by hand and not
// ended the end of i, and one whose start is not known the start.
func (r *RequestV1) complete(k stageKind, i interval) {
	var open *stageFact
	for n := range r.extra {
		x := &r.extra[n]
		switch {
		case x.kind != k:
		case !x.start.known():
			if x.end.known() && i.start.known() && x.end.sub(i.start) >= 0 {
				x.start = i.start
			}
		case !x.ended && (open == nil || x.start.sub(open.start) < 0):
			open = x
		}
	}
	if open != nil && i.end.known() && i.end.sub(open.start) >= 0 {
		open.end, open.ended = i.end, true
	}
}

func (r *RequestV1) byHand(k stageKind) bool {
	return slices.ContainsFunc(r.extra, func(x stageFact) bool { return x.kind == k })
}

func (r *RequestV1) overlapsByHand(k stageKind, i interval) bool {
	return slices.ContainsFunc(r.extra, func(x stageFact) bool {
		_, ok := x.length()
		return ok && x.kind == k && x.overlaps(i)
	})
}

// firstByHand returns when the first token was there, from stages that were
// started by hand: when the last prefill before the first decode ended, else when
// that decode started. decoded is whether there is one.
func (r *RequestV1) firstByHand() (first point, decoded bool) {
	var decode, prefill point
	for i := range r.extra {
		if x := &r.extra[i]; x.kind == stageDecode {
			decode = earlier(decode, x.start)
		}
	}
	for i := range r.extra {
		x := &r.extra[i]
		if _, ok := x.length(); ok && x.kind == stagePrefill && (!decode.known() || decode.sub(x.end) >= 0) {
			prefill = later(prefill, x.end)
		}
	}
	if prefill.known() {
		return prefill, decode.known()
	}
	return decode, decode.known()
}

// spans makes the spans of the request's stages and returns whether each lies
// within its parent, and whether a transfer found no wait to lie in.
func (r *RequestV1) spans(s *scratch, of *stages, whole stretch) (inside, homeless bool) {
	e := r.engine
	s.attrs = append(s.attrs[:0],
		semconv.GenAIRequestID(r.asked.ID), semconv.GenAIRequestModelName(e.model),
		semconv.GenAIEngineIndex(e.index), r.role.attribute())
	homeless = r.house(of)
	inside = true
	wait := 0
	r.eachStage(of, func(k stageKind, i interval) {
		place := r.place(i)
		inside = inside && place.within(whole)
		ctx, span := e.tracer.Start(r.ctx, k.String(), s.startAt(r.at(place.from))...)
		span.SetAttributes(s.attrs...)
		if k == stageWait {
			inside = r.transferSpans(ctx, s, place, wait) && inside
			wait++
		}
		span.End(s.endAt(r.at(place.to))...)
	})
	return inside, homeless
}

// eachStage calls f for each stage, kv_transfer excepted, that makes a span.
func (r *RequestV1) eachStage(of *stages, f func(stageKind, interval)) {
	for k := range of {
		if _, ok := of[k].length(); ok && stageKind(k).onRole(r.role) {
			f(stageKind(k), of[k])
		}
	}
	for i := range r.extra {
		x := &r.extra[i]
		if _, ok := x.length(); ok && x.kind != stageKVTransfer && x.kind.onRole(r.role) {
			f(x.kind, x.interval)
		}
	}
}

// house finds the wait for each transfer: the first that it lies within, else the
// first that had not ended when it started, else the last. It returns whether one
// found none, for there is none.
func (r *RequestV1) house(of *stages) (homeless bool) {
	for n := range r.extra {
		x := &r.extra[n]
		if x.wait = noWait; x.kind != stageKVTransfer {
			continue
		}
		if _, ok := x.length(); !ok {
			continue
		}
		place, wait, fits := r.place(x.interval), 0, 0
		r.eachStage(of, func(k stageKind, i interval) {
			if k != stageWait {
				return
			}
			fit := 1
			if p := r.place(i); place.within(p) {
				fit = 3
			} else if place.from <= p.to {
				fit = 2
			}
			if fit > fits || fit == 1 && fits == 1 {
				x.wait, fits = wait, fit
			}
			wait++
		})
		homeless = homeless || x.wait == noWait
	}
	return homeless
}

// transferSpans makes the spans of the transfers that lie in a wait. They carry
// the attributes that are in s and three more.
func (r *RequestV1) transferSpans(ctx context.Context, s *scratch, place stretch, wait int) (inside bool) {
	inside = true
	common := len(s.attrs)
	for i := range r.extra {
		x := &r.extra[i]
		if x.kind != stageKVTransfer || x.wait != wait {
			continue
		}
		p := r.place(x.interval)
		inside = inside && p.within(place)
		_, span := r.engine.tracer.Start(ctx, semconv.SpanKVTransfer, s.startAt(r.at(p.from))...)
		s.attrs = append(s.attrs[:common],
			semconv.GenAIKVTransferDirectionRecv,
			semconv.GenAIKVTransferCachedTokens(max(x.transfer.CachedTokens, 0)),
			semconv.GenAIKVTransferFailed(x.transfer.Failed))
		span.SetAttributes(s.attrs...)
		span.End(s.endAt(r.at(p.to))...)
	}
	s.attrs = s.attrs[:common]
	return inside
}
