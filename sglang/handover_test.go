package sglang_test

import (
	"context"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/propagation"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/infertel/infertel-go/sglang"
)

// over sends a hand-over through a text map and reads it again.
func over(h sglang.Handover) (sglang.Handover, propagation.MapCarrier) {
	c := propagation.MapCarrier{}
	h.Inject(c)
	return sglang.ExtractHandover(c), c
}

func TestLinksWithinAThread(t *testing.T) {
	l := newLab(t, sglang.EngineConfig{})
	r, th := l.request()
	th.RecordStage(sglang.RequestProcess, ms(1), ms(2))
	th.RecordStage(sglang.PrefillWaiting, ms(9), ms(8)) // left out, so not linked to
	th.StartStage(sglang.PrefillForward, ms(10))
	th.RecordStage(sglang.ChunkedPrefill, ms(10), ms(15))
	th.EndStage(sglang.PrefillForward, ms(20))
	th.RecordStage(sglang.DecodeWaiting, ms(20), ms(21))
	th.StartStage(sglang.DecodeForward, ms(21))
	th.RecordStage(sglang.DecodeLoop(0), ms(21), ms(30))
	finish(r, th)
	l.tree(`
	Req 5f2c9a7b 0-100
	  Scheduler (host:9f86d081 | pid:5001) 0-100
	    request_process 1-2
	    prefill_forward 10-20 <- request_process
	      chunked_prefill 10-15
	    decode_waiting 20-21 <- prefill_forward
	    decode_forward 21-100 <- decode_waiting
	      decode_loop 21-30{decode_ct=0}
	`)
}

// A thread hands over the first-level stage that is open, else the one that
// ended last, also after its own end, else what it was handed itself.
func TestHandoverNamesTheStageAtWork(t *testing.T) {
	for _, tc := range []struct {
		name  string
		level sglang.Level
		do    func(th *sglang.ThreadSpan) sglang.Handover
		want  string
	}{
		{"none", 3, func(th *sglang.ThreadSpan) sglang.Handover { return th.Handover() }, "request_process 10-11"},
		{"open", 3, func(th *sglang.ThreadSpan) sglang.Handover {
			th.RecordStage(sglang.Tokenize, ms(1), ms(2))
			th.StartStage(sglang.APIServerDispatch, ms(2))
			h := th.Handover()
			th.EndStage(sglang.APIServerDispatch, ms(3))
			return h
		}, "request_process 10-11 <- api_server_dispatch"},
		{"nested", 4, func(th *sglang.ThreadSpan) sglang.Handover {
			th.StartStage(sglang.APIServerDispatch, ms(2))
			th.StartStage(sglang.Tokenize, ms(2))
			h := th.Handover()
			th.EndStage(sglang.Tokenize, ms(3))
			th.EndStage(sglang.APIServerDispatch, ms(3))
			return h
		}, "request_process 10-11 <- api_server_dispatch"},
		{"ended", 3, func(th *sglang.ThreadSpan) sglang.Handover {
			th.RecordStage(sglang.Tokenize, ms(1), ms(2))
			th.RecordStage(sglang.APIServerDispatch, ms(2), ms(3))
			return th.Handover()
		}, "request_process 10-11 <- api_server_dispatch"},
		{"thread ended", 3, func(th *sglang.ThreadSpan) sglang.Handover {
			th.RecordStage(sglang.Tokenize, ms(1), ms(2))
			th.End(ms(3))
			return th.Handover()
		}, "request_process 10-11 <- tokenize"},
		{"left out by the level", 1, func(th *sglang.ThreadSpan) sglang.Handover {
			th.RecordStage(sglang.Tokenize, ms(1), ms(2))
			th.StartStage(sglang.APIServerDispatch, ms(2))
			return th.Handover()
		}, "prefill_forward 11-12 <- tokenize"},
	} {
		for _, way := range []string{"carried", "in one process"} {
			t.Run(tc.name+" "+way, func(t *testing.T) {
				l := newLab(t, sglang.EngineConfig{}, sglang.WithTraceLevel(tc.level))
				r := l.StartRequest(t.Context(), sglang.Request{RID: "r"}, t0)
				th := r.StartThread(sglang.Thread{Label: sglang.ThreadTokenizer, PID: 1}, t0)
				h := tc.do(th)
				at, from := r, h
				if way == "carried" {
					h, _ = over(h)
					at, from = l.Resume(h), sglang.Handover{}
				}
				next := at.StartThread(sglang.Thread{Label: sglang.ThreadScheduler, PID: 2, From: from}, ms(9))
				next.RecordStage(sglang.RequestProcess, ms(10), ms(11))
				next.RecordStage(sglang.PrefillForward, ms(11), ms(12))
				next.End(ms(20))
				finish(r, nil)
				got := show(l.spans.GetSpans())
				if !strings.Contains(got, "\n    "+tc.want+"\n") && !strings.HasSuffix(got, "\n    "+tc.want) {
					t.Errorf("the tree is\n%s\nwant in it %s", got, tc.want)
				}
				if !strings.HasPrefix(got, "Req r 0-100\n") || strings.Count(got, "\n  Scheduler ") != 1 {
					t.Errorf("the tree is\n%s", got)
				}
			})
		}
	}
}

// A thread without a stage of its own, as the controller at level 1, hands on
// the stage that it was handed.
func TestHandoverPassesThrough(t *testing.T) {
	l := newLab(t, sglang.EngineConfig{}, sglang.WithTraceLevel(1))
	r := l.StartRequest(t.Context(), sglang.Request{RID: "r"}, t0)
	tok := r.StartThread(sglang.Thread{Label: sglang.ThreadTokenizer, PID: 1}, t0)
	tok.RecordStage(sglang.Tokenize, ms(1), ms(2))
	h, _ := over(tok.Handover())
	tok.End(ms(3))
	dpc := l.Resume(h).StartThread(sglang.Thread{Label: sglang.ThreadDPController, PID: 2}, ms(3))
	dpc.RecordStage(sglang.DPCDispatch, ms(3), ms(4))
	h, _ = over(dpc.Handover())
	dpc.End(ms(4))
	if after, _ := over(dpc.Handover()); !reflect.DeepEqual(after, h) {
		t.Errorf("the hand-over is %v after the thread's end, %v before", after, h)
	}
	sch := l.Resume(h).StartThread(sglang.Thread{Label: sglang.ThreadScheduler, PID: 3, DPRank: new(1)}, ms(5))
	sch.RecordStage(sglang.PrefillWaiting, ms(5), ms(6))
	sch.RecordStage(sglang.PrefillForward, ms(6), ms(7))
	sch.End(ms(8))
	finish(r, nil)
	l.tree(`
	Req r 0-100
	  Tokenizer (host:9f86d081 | pid:1) 0-3
	    tokenize 1-2
	  DP Controller (host:9f86d081 | pid:2) 3-4
	  Scheduler [DP 1] (host:9f86d081 | pid:3) 5-8
	    prefill_waiting 5-6 <- tokenize
	    prefill_forward 6-7 <- prefill_waiting
	`)
	l.reported()
}

// What travels is W3C trace context and one more field, through headers as well
// as maps.
func TestHandoverCarrier(t *testing.T) {
	l := newLab(t, sglang.EngineConfig{}, sglang.WithTraceLevel(2))
	state, _ := trace.ParseTraceState("vendor=1")
	parent := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}, TraceFlags: trace.FlagsSampled, TraceState: state})
	r := l.StartRequest(trace.ContextWithSpanContext(t.Context(), parent), sglang.Request{RID: "r"}, t0)
	th := r.StartThread(sglang.Thread{Label: sglang.ThreadTokenizer, PID: 1}, t0)
	_, c := over(th.Handover())
	if len(c) != 3 || c[sglang.HandoverField] != "2" || c["tracestate"] != "vendor=1" {
		t.Errorf("the carrier holds %v", c)
	}
	th.RecordStage(sglang.Tokenize, ms(1), ms(2))
	header := http.Header{}
	th.Handover().Inject(propagation.HeaderCarrier(header))
	th.End(ms(3))
	finish(r, nil)
	var request, tokenize trace.SpanContext
	for _, s := range l.spans.GetSpans() {
		switch s.Name {
		case "Req r":
			request = s.SpanContext
		case "tokenize":
			tokenize = s.SpanContext
		}
	}
	if got, want := header.Get("traceparent"), "00-"+parent.TraceID().String()+"-"+request.SpanID().String()+"-01"; got != want {
		t.Errorf("traceparent is %q, want %q", got, want)
	}
	if got, want := header.Get(sglang.HandoverField), "2-"+tokenize.SpanID().String(); got != want {
		t.Errorf("%s is %q, want %q", sglang.HandoverField, got, want)
	}
	// Nothing to put it in, or to read it from.
	th.Handover().Inject(nil)
	sglang.ExtractHandover(nil)
}

const traceparent = "00-0102030405060708090a0b0c0d0e0f10-0102030405060708-"

// The level of a resumed request is the one it was started with; what cannot be
// read of a hand-over leaves the rest of it.
func TestResume(t *testing.T) {
	for _, tc := range []struct {
		name     string
		carrier  propagation.MapCarrier
		spans    int // of a thread, tokenize (1), api_server_dispatch (2) and fake_output (3)
		child    bool
		linked   bool
		reported string
	}{
		{"everything", propagation.MapCarrier{"traceparent": traceparent + "01", "infertel-handover": "2-00f067aa0ba902b7"}, 3, true, true, ""},
		{"no stage", propagation.MapCarrier{"traceparent": traceparent + "01", "infertel-handover": "1"}, 2, true, false, ""},
		{"a high level", propagation.MapCarrier{"traceparent": traceparent + "01", "infertel-handover": "9"}, 4, true, false, ""},
		{"off", propagation.MapCarrier{"traceparent": traceparent + "01", "infertel-handover": "0"}, 0, true, false, ""},
		{"not sampled", propagation.MapCarrier{"traceparent": traceparent + "00", "infertel-handover": "4-00f067aa0ba902b7"}, 0, true, false, ""},
		{"trace context alone", propagation.MapCarrier{"traceparent": traceparent + "01"}, 4, true, false, ""},
		{"nothing", propagation.MapCarrier{}, 4, false, false, ""},
		{"malformed trace context", propagation.MapCarrier{"traceparent": "garbage", "infertel-handover": "2-00f067aa0ba902b7"}, 3, false, false, ""},
		{"malformed level", propagation.MapCarrier{"traceparent": traceparent + "01", "infertel-handover": "x-00f067aa0ba902b7"}, 4, true, false, `trace level is "x"`},
		{"negative level", propagation.MapCarrier{"traceparent": traceparent + "01", "infertel-handover": "-1"}, 4, true, false, `trace level is ""`},
		{"malformed stage", propagation.MapCarrier{"traceparent": traceparent + "01", "infertel-handover": "2-00F067AA0BA902B7"}, 3, true, false, `span ID is "00F067AA0BA902B7"`},
		{"zero stage", propagation.MapCarrier{"traceparent": traceparent + "01", "infertel-handover": "2-0000000000000000"}, 3, true, false, `span ID is "0000000000000000"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			l := newLab(t, sglang.EngineConfig{})
			r := l.Resume(sglang.ExtractHandover(tc.carrier))
			th := r.StartThread(sglang.Thread{Label: "x"}, t0)
			th.RecordStage(sglang.Tokenize, ms(1), ms(2))
			th.RecordStage(sglang.APIServerDispatch, ms(2), ms(3))
			th.RecordStage(sglang.FakeOutput, ms(3), ms(4))
			th.End(ms(4))
			r.End(counted, ms(5))
			spans := l.spans.GetSpans()
			if len(spans) != tc.spans {
				t.Errorf("%d spans, want %d:\n%s", len(spans), tc.spans, show(spans))
			}
			for _, s := range spans {
				if s.Name == "tokenize" && (len(s.Links) == 1) != tc.linked {
					t.Errorf("tokenize has the links %v", s.Links)
				}
				if strings.HasPrefix(s.Name, "x ") {
					if got := s.Parent.SpanID().String() == "0102030405060708" && s.SpanContext.TraceID() == s.Parent.TraceID(); got != tc.child {
						t.Errorf("the thread's parent is %v", s.Parent)
					}
				}
			}
			if r.Recording() != (tc.spans > 0) {
				t.Errorf("Recording is %v", r.Recording())
			}
			var want []string
			if tc.reported != "" {
				want = append(want, tc.reported)
			}
			for _, err := range l.errors.Take() {
				if s := err.Error(); !strings.Contains(s, "thread label") && !strings.Contains(s, "on a node with the PD role") && (tc.reported == "" || !strings.Contains(s, tc.reported)) {
					t.Errorf("reported %v, want %q", err, want)
				}
			}
		})
	}
}

// The process that resumes a request has neither its span nor its metrics.
func TestResumedRequestIsNotEndedHere(t *testing.T) {
	l := newLab(t, sglang.EngineConfig{})
	r := l.StartRequest(t.Context(), sglang.Request{RID: "r"}, t0)
	tok := r.StartThread(sglang.Thread{Label: sglang.ThreadTokenizer, PID: 1}, t0)
	h, _ := over(tok.Handover())
	tok.End(ms(1))

	there := newLab(t, sglang.EngineConfig{})
	s := there.Resume(h)
	s.StartThread(sglang.Thread{Label: sglang.ThreadScheduler, PID: 2}, ms(2)).StartStage(sglang.DecodeForward, ms(3))
	s.Dispatched(ms(4))
	s.FirstToken(ms(5))
	s.Output(ms(6))
	s.Abort(sglang.AbortReason{Reason: new("gone")}, sglang.Outcome{PromptTokens: new(7)}, ms(10))
	there.tree(`
	Scheduler (host:9f86d081 | pid:2) 2-10 Error
	  decode_forward 3-10
	`)
	if got := there.points(); len(got) != 0 {
		t.Errorf("metrics were reported: %v", got)
	}
	there.reported("a milestone was told to a resumed request")
	l.errors.Take()
	finish(r, nil)
	if got := l.points()["num_requests_total"]; got != 1 {
		t.Errorf("the request was counted %v times", got)
	}
}

// What is not recorded in one process is not recorded in the next.
// Whoever recorded the entry span, without an SDK here there is no request span,
// and so nothing that threads of other processes could hang under.
func TestNoSDKUnderASampledSpan(t *testing.T) {
	parent := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}, TraceFlags: trace.FlagsSampled})
	front := newLab(t, sglang.EngineConfig{}, sglang.WithTracerProvider(noop.NewTracerProvider()))
	r := front.StartRequest(trace.ContextWithRemoteSpanContext(t.Context(), parent), sglang.Request{RID: "r"}, t0)
	h, c := over(r.StartThread(sglang.Thread{Label: sglang.ThreadTokenizer}, t0).Handover())
	if c[sglang.HandoverField] != "0" {
		t.Errorf("the carrier holds %v", c)
	}
	back := newLab(t, sglang.EngineConfig{})
	resumed := back.Resume(h)
	resumed.StartThread(sglang.Thread{Label: sglang.ThreadScheduler}, t0).End(ms(1))
	if spans := back.spans.GetSpans(); resumed.Recording() || len(spans) != 0 {
		t.Errorf("recorded:\n%s", show(spans))
	}
}

// A link between requests would say that one handed the other over.
func TestHandoverOfAnotherRequest(t *testing.T) {
	l := newLab(t, sglang.EngineConfig{})
	parent := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}, TraceFlags: trace.FlagsSampled})
	ctx := trace.ContextWithRemoteSpanContext(t.Context(), parent)
	for _, ctx := range []context.Context{ctx, t.Context()} { // in the same trace, and in another one
		other := l.StartRequest(ctx, sglang.Request{RID: "other"}, t0)
		tok := other.StartThread(sglang.Thread{Label: sglang.ThreadTokenizer}, t0)
		tok.RecordStage(sglang.Tokenize, ms(1), ms(2))
		h := tok.Handover()
		finish(other, tok)
		l.reported()
		l.spans.Reset()

		r := l.StartRequest(ctx, sglang.Request{RID: "r"}, t0)
		th := r.StartThread(sglang.Thread{Label: sglang.ThreadScheduler, From: h}, t0)
		th.RecordStage(sglang.PrefillWaiting, ms(1), ms(2))
		finish(r, th)
		for _, s := range l.spans.GetSpans() {
			if len(s.Links) != 0 {
				t.Errorf("%s has the links %v", s.Name, s.Links)
			}
		}
		l.reported("a thread was handed over by one of another request")

		// Its own is taken, also from a carrier and on the other side.
		l = newLab(t, sglang.EngineConfig{})
		r = l.StartRequest(ctx, sglang.Request{RID: "r"}, t0)
		tok = r.StartThread(sglang.Thread{Label: sglang.ThreadTokenizer}, t0)
		tok.RecordStage(sglang.Tokenize, ms(1), ms(2))
		h, _ = over(tok.Handover())
		for _, r := range []*sglang.RequestSpan{r, l.Resume(h)} {
			th = r.StartThread(sglang.Thread{Label: sglang.ThreadScheduler, From: h}, t0)
			th.RecordStage(sglang.PrefillWaiting, ms(3), ms(4))
			th.End(ms(5))
		}
		finish(r, tok)
		links := 0
		for _, s := range l.spans.GetSpans() {
			links += len(s.Links)
			if strings.HasPrefix(s.Name, "Scheduler") && s.Parent.IsRemote() != (links == 2) {
				t.Errorf("after %d links the parent's being remote is %v", links, s.Parent.IsRemote())
			}
		}
		if links != 2 {
			t.Errorf("%d links, want 2", links)
		}
		l.reported()
	}
}

func TestHandoverOfWhatIsNotRecorded(t *testing.T) {
	var nobody *sglang.Engine
	never := newLab(t, sglang.EngineConfig{}, sglang.WithTracerProvider(sdktrace.NewTracerProvider(sdktrace.WithSampler(sdktrace.NeverSample()))))
	silent := newLab(t, sglang.EngineConfig{}, sglang.WithTracerProvider(noop.NewTracerProvider()))
	off := newLab(t, sglang.EngineConfig{}, sglang.WithTraceLevel(sglang.LevelOff))
	for name, tr := range map[string]*sglang.Engine{"nil": nobody, "not sampled": never.Engine, "no SDK": silent.Engine, "level 0": off.Engine} {
		t.Run(name, func(t *testing.T) {
			r := tr.StartRequest(t.Context(), sglang.Request{RID: "r"}, t0)
			th := r.StartThread(sglang.Thread{Label: sglang.ThreadTokenizer}, t0)
			h, c := over(th.Handover())
			if name == "not sampled" && !strings.HasSuffix(c["traceparent"], "-00") {
				t.Errorf("traceparent is %q, want the trace to go on unsampled", c["traceparent"])
			}
			there := newLab(t, sglang.EngineConfig{}, sglang.WithTraceLevel(4))
			s := there.Resume(h).StartThread(sglang.Thread{Label: sglang.ThreadScheduler}, t0)
			s.RecordStage(sglang.PrefillForward, ms(1), ms(2))
			s.End(ms(3))
			if spans := there.spans.GetSpans(); len(spans) != 0 {
				t.Errorf("recorded:\n%s", show(spans))
			}
		})
	}
}
