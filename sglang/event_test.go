package sglang_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/infertel/infertel-go/sglang"
)

func batch(id string) sglang.Batch {
	return sglang.Batch{ID: id, Size: 4, Mode: sglang.ForwardModeDecode}
}

func TestEventsBelongToTheStageThatCoversThem(t *testing.T) {
	l := newLab(t, sglang.EngineConfig{})
	r, th := l.request()
	th.Schedule(batch("before all"), ms(1))
	th.RecordStage(sglang.PrefillWaiting, ms(5), ms(10))
	th.StartStage(sglang.PrefillForward, ms(10))
	th.Schedule(batch("at the start"), ms(10))
	th.RecordStage(sglang.ChunkedPrefill, ms(10), ms(15))
	th.Schedule(batch("at the end of a chunk"), ms(15))
	th.Schedule(batch("told before its chunk"), ms(17))
	th.RecordStage(sglang.ChunkedPrefill, ms(16), ms(20))
	th.Schedule(batch("told after its chunk"), ms(12))
	th.EndStage(sglang.PrefillForward, ms(30))
	th.Schedule(batch("at the end of all chunks"), ms(20))
	th.Schedule(batch("between"), ms(30))
	th.StartStage(sglang.DecodeForward, ms(31))
	th.Retract(ms(40))
	th.Schedule(batch("late, in the first stage"), ms(6))
	th.Schedule(batch("at the end"), ms(100))
	finish(r, th)
	l.tree(`
	Req 5f2c9a7b 0-100
	  Scheduler (host:9f86d081 | pid:5001) 0-100 @1 schedule{batch_size=4 bid=before all forward_mode=decode} @30 schedule{batch_size=4 bid=between forward_mode=decode} @100 schedule{batch_size=4 bid=at the end forward_mode=decode}
	    prefill_waiting 5-10 @6 schedule{batch_size=4 bid=late, in the first stage forward_mode=decode}
	    prefill_forward 10-30 @15 schedule{batch_size=4 bid=at the end of a chunk forward_mode=decode} @20 schedule{batch_size=4 bid=at the end of all chunks forward_mode=decode} <- prefill_waiting
	      chunked_prefill 10-15 @10 schedule{batch_size=4 bid=at the start forward_mode=decode} @12 schedule{batch_size=4 bid=told after its chunk forward_mode=decode}
	      chunked_prefill 16-20 @17 schedule{batch_size=4 bid=told before its chunk forward_mode=decode}
	    decode_forward 31-100 @40 retract <- prefill_forward
	`)
	l.reported()
}

// The deepest stage has the event, whichever of them ended last. Of two as deep
// it is the inner one by time.
func TestEventsBelongToTheDeepestStage(t *testing.T) {
	l := newLab(t, sglang.EngineConfig{})
	r, th := l.request()
	th.StartStage(sglang.DecodeForward, ms(10))
	th.Retract(ms(12))
	th.Retract(ms(22))
	th.Retract(ms(28))
	th.RecordStage(sglang.SpecVerify(1), ms(20), ms(25))
	th.RecordStage(sglang.DecodeLoop(0), ms(10), ms(30))
	th.StartStage(sglang.DecodeLoop(1), ms(30))
	th.RecordStage(sglang.SpecDraft, ms(11), ms(13)) // deeper, though outside of its parent
	th.Retract(ms(31))
	th.EndStage(sglang.DecodeLoop(1), ms(40))
	finish(r, th)
	l.tree(`
	Req 5f2c9a7b 0-100
	  Scheduler (host:9f86d081 | pid:5001) 0-100
	    decode_forward 10-100
	      decode_loop 10-30{decode_ct=0} @28 retract
	      spec_verify 20-25{accepted_tokens=1 num_correct_drafts=1} @22 retract
	      decode_loop 30-40{decode_ct=1} @31 retract
	        spec_draft 11-13 @12 retract
	`)
	l.reported()
}

func TestEventAttributes(t *testing.T) {
	l := newLab(t, sglang.EngineConfig{})
	r, th := l.request()
	th.Schedule(sglang.Batch{ID: "b1", Size: 0, Mode: sglang.ForwardModePrefill}, ms(1))
	th.Schedule(sglang.Batch{ID: "b2", Size: 1, Mode: sglang.ForwardModePrebuilt}, ms(2))
	th.Schedule(sglang.Batch{ID: "b3", Size: 2}, ms(3))
	th.Schedule(sglang.Batch{ID: "b4", Size: 3, Mode: 99}, ms(4))
	th.Schedule(sglang.Batch{ID: strings.Repeat("好", 100) + "\xff"}, ms(5))
	finish(r, th)
	l.tree(`
	Req 5f2c9a7b 0-100
	  Scheduler (host:9f86d081 | pid:5001) 0-100 @1 schedule{batch_size=0 bid=b1 forward_mode=prefill} @2 schedule{batch_size=1 bid=b2 forward_mode=prebuilt} @3 schedule{batch_size=2 bid=b3} @4 schedule{batch_size=3 bid=b4} @5 schedule{batch_size=0 bid=` + strings.Repeat("好", 85) + `}
	`)
}

func TestEventsByLevel(t *testing.T) {
	for level, want := range []string{"", " @1 retract", " @1 retract", " @1 retract @2 schedule", " @1 retract @2 schedule"} {
		l := newLab(t, sglang.EngineConfig{}, sglang.WithTraceLevel(sglang.Level(level)))
		r, th := l.request()
		th.Retract(ms(1))
		th.Schedule(sglang.Batch{ID: "b"}, ms(2))
		finish(r, th)
		got := ""
		for _, s := range l.spans.GetSpans() {
			for _, e := range s.Events {
				got += fmt.Sprintf(" @%s %s", after(e.Time), e.Name)
			}
		}
		if got != want {
			t.Errorf("level %d: %q, want %q", level, got, want)
		}
	}
}

// Stages are exported while their thread goes on, the oldest first, each with
// the events that were told by then.
// The depth decides before the times do, then the later start, the earlier end
// and which was told first.
func TestEventsOfStagesThatOverlap(t *testing.T) {
	l := newLab(t, sglang.EngineConfig{})
	r, th := l.request()
	th.StartStage(sglang.DecodeForward, ms(0))
	th.StartStage(sglang.DecodeLoop(0), ms(20))
	th.StartStage(sglang.PrefillForward, ms(20))
	th.StartStage(sglang.ChunkedPrefill, ms(20))
	th.StartStage(sglang.SpecDraft, ms(20))
	th.RecordStage(sglang.SpecVerify(1), ms(8), ms(40)) // starts before what it is in
	th.Retract(ms(21))
	th.EndStage(sglang.SpecDraft, ms(50))
	th.Retract(ms(22)) // the order makes no difference
	th.EndStage(sglang.DecodeLoop(0), ms(60))
	th.StartStage(sglang.PrefillForward, ms(62))
	th.StartStage(sglang.ChunkedPrefill, ms(62))
	th.StartStage(sglang.SpecDraft, ms(62))
	th.StartStage(sglang.SpecDraft, ms(62))
	th.Retract(ms(65))
	th.RecordStage(sglang.SpecVerify(1), ms(64), ms(68)) // as deep as the next is, less one
	th.StartStage(sglang.SpecDraft, ms(63))
	th.RecordStage(sglang.SpecVerify(2), ms(63), ms(69))
	th.EndStage(sglang.PrefillForward, ms(69))
	th.RecordStage(sglang.SpecDraft, ms(70), ms(90))
	th.RecordStage(sglang.SpecDraft, ms(70), ms(80)) // ends first
	th.RecordStage(sglang.SpecDraftExtend, ms(70), ms(80))
	th.Retract(ms(71))
	th.Retract(ms(85))
	th.Retract(ms(93))
	th.RecordStage(sglang.SpecDraft, ms(91), ms(96))
	th.RecordStage(sglang.SpecDraftExtend, ms(92), ms(98)) // starts last, and ends last
	th.RecordStage(sglang.SpecVerify(3), ms(91), ms(96))
	finish(r, th)
	l.tree(`
	Req 5f2c9a7b 0-100
	  Scheduler (host:9f86d081 | pid:5001) 0-100
	    decode_forward 0-100
	      decode_loop 20-60{decode_ct=0}
	        prefill_forward 20-60
	          chunked_prefill 20-60
	            spec_draft 20-50
	              spec_verify 8-40{accepted_tokens=1 num_correct_drafts=1} @21 retract @22 retract
	      prefill_forward 62-69
	        chunked_prefill 62-69
	          spec_draft 62-69
	            spec_draft 62-69
	              spec_draft 63-69
	                spec_verify 63-69{accepted_tokens=2 num_correct_drafts=2} @65 retract
	              spec_verify 64-68{accepted_tokens=1 num_correct_drafts=1}
	      spec_draft 70-90 @85 retract
	      spec_draft 70-80 @71 retract
	      spec_draft_extend 70-80
	      spec_draft 91-96
	      spec_verify 91-96{accepted_tokens=3 num_correct_drafts=3}
	      spec_draft_extend 92-98 @93 retract
	`)
	l.reported("stage decode_loop was ended with 2 open stages")
}

// Whether an event came too late does not depend on which stage was exported last.
func TestLateEventAfterAShorterStage(t *testing.T) {
	l := newLab(t, sglang.EngineConfig{})
	r, th := l.request()
	th.RecordStage(sglang.PrefillWaiting, ms(0), ms(1000))
	for i := range 129 {
		th.RecordStage(sglang.PrefillForward, ms(float64(i)), ms(float64(i+1)))
	}
	th.Retract(ms(500))
	finish(r, th)
	l.reported("an event was told after 128 later stages had ended")
}

// The SDK drops the oldest events of a span that is full, and does not say so.
func TestDroppedEventsAreReported(t *testing.T) {
	for _, tc := range []struct {
		env           string
		limits        *sdktrace.SpanLimits
		events, kept  int
		open, dropped bool
	}{
		{events: 128, kept: 128},
		{events: 129, kept: 128, dropped: true},
		{events: 129, kept: 128, open: true, dropped: true},
		{env: "3", events: 3, kept: 3},
		{env: "3", events: 4, kept: 3, dropped: true},
		{env: "0", events: 1, dropped: true},
		{limits: &sdktrace.SpanLimits{EventCountLimit: -1}, events: 200, kept: 200},
		{env: "200", limits: &sdktrace.SpanLimits{EventCountLimit: 2}, events: 3, kept: 2, dropped: true},
	} {
		t.Setenv("OTEL_SPAN_EVENT_COUNT_LIMIT", tc.env)
		spans := tracetest.NewInMemoryExporter()
		o := []sdktrace.TracerProviderOption{sdktrace.WithSyncer(spans)}
		if tc.limits != nil {
			limits := sdktrace.NewSpanLimits()
			limits.EventCountLimit = tc.limits.EventCountLimit
			o = append(o, sdktrace.WithRawSpanLimits(limits))
		}
		l := newLab(t, sglang.EngineConfig{}, sglang.WithTracerProvider(sdktrace.NewTracerProvider(o...)))
		r, th := l.request()
		if tc.open {
			th.StartStage(sglang.DecodeForward, ms(0))
		}
		for i := range tc.events {
			th.Retract(ms(float64(i) / 10))
		}
		finish(r, th)
		for _, s := range spans.GetSpans() {
			if n := len(s.Events); n > 0 && n != tc.kept {
				t.Errorf("%+v: %d events", tc, n)
			}
		}
		if tc.dropped {
			l.reported("raise OTEL_SPAN_EVENT_COUNT_LIMIT")
		} else {
			l.reported()
		}
	}
}

// An ID that is cut does not keep the text it was cut from.
func TestWaitingEventsKeepNoLongText(t *testing.T) {
	l := newLab(t, sglang.EngineConfig{})
	r, th := l.request()
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	th.StartStage(sglang.DecodeForward, ms(0))
	for i := range 100 {
		th.Schedule(batch(strings.Repeat("b", 1<<20)), ms(float64(i)))
	}
	if after := heap(); after > before+4<<20 {
		t.Errorf("100 events keep %d bytes", after-before)
	}
	finish(r, th)
}

func TestStagesAreHeldBackWithinABound(t *testing.T) {
	l := newLab(t, sglang.EngineConfig{})
	r, th := l.request()
	th.StartStage(sglang.DecodeForward, ms(0))
	for i := range 128 {
		th.RecordStage(sglang.DecodeLoop(i), ms(float64(10*i)), ms(float64(10*i+10)))
	}
	if n := len(l.spans.GetSpans()); n != 0 {
		t.Fatalf("%d spans were exported, want all to be held back", n)
	}
	th.Schedule(batch("late"), ms(5))
	th.RecordStage(sglang.DecodeLoop(128), ms(1280), ms(1290))
	spans := l.spans.GetSpans()
	if got, want := show(spans), "decode_loop 0-10{decode_ct=0} @5 schedule{batch_size=4 bid=late forward_mode=decode}"; got != want {
		t.Errorf("exported is\n%s\nwant\n%s", got, want)
	}
	l.reported()
	// Now the stage is gone: the event goes to the one around it.
	th.Schedule(batch("too late"), ms(5))
	l.reported("an event was told after 128 later stages had ended")
	th.End(ms(2000))
	r.End(counted, ms(2000))
	spans = l.spans.GetSpans()
	if n := len(spans); n != 129+3 {
		t.Errorf("%d spans, want 132", n)
	}
	for _, s := range spans {
		if s.Name == "decode_forward" && (len(s.Events) != 1 || after(s.Events[0].Time) != "5") {
			t.Errorf("decode_forward has the events %v", s.Events)
		}
	}
}

// More events than the bound are written to the stage that is open at their
// time, oldest first, and nothing is lost that the SDK keeps.
func TestEventsWaitWithinABound(t *testing.T) {
	l := newLab(t, sglang.EngineConfig{})
	r, th := l.request()
	th.Retract(ms(-1))
	th.StartStage(sglang.PrefillForward, ms(0))
	for i := range 256 {
		if i == 255 {
			l.reported()
		}
		th.Retract(ms(float64(i)))
	}
	l.reported("more than 256 events wait for stages of a thread")
	th.Retract(ms(256))
	th.EndStage(sglang.PrefillForward, ms(300))
	th.End(ms(301))
	r.End(counted, ms(301))
	for _, s := range l.spans.GetSpans() {
		switch s.Name {
		case "prefill_forward":
			if n := len(s.Events) + s.DroppedEvents; n != 257 || after(s.Events[len(s.Events)-1].Time) != "256" {
				t.Errorf("%d events on the stage, want 257", n)
			}
		case "Scheduler (host:9f86d081 | pid:5001)":
			if len(s.Events) != 1 {
				t.Errorf("%d events on the thread, want 1", len(s.Events))
			}
		}
	}
	// Events whose stage is known by then make no report.
	l = newLab(t, sglang.EngineConfig{})
	r, th = l.request()
	th.StartStage(sglang.DecodeForward, ms(0))
	for i := range 100 {
		for range 4 {
			th.Retract(ms(float64(10*i + 1)))
		}
		th.RecordStage(sglang.DecodeLoop(i), ms(float64(10*i)), ms(float64(10*i+10)))
	}
	finish(r, th)
	for _, s := range l.spans.GetSpans() {
		if want := 4; s.Name == "decode_loop" && len(s.Events) != want {
			t.Errorf("decode_loop %s has %d events, want %d", after(s.StartTime), len(s.Events), want)
		}
	}
	for _, err := range l.errors.Take() {
		if strings.Contains(err.Error(), "event") {
			t.Error(err)
		}
	}
}

// A thread's memory does not grow with its stages and events.
func TestThreadMemoryIsBounded(t *testing.T) {
	l := newLab(t, sglang.EngineConfig{})
	r, th := l.request()
	th.StartStage(sglang.DecodeForward, ms(0))
	step := func(i int) {
		at := ms(float64(i))
		th.Schedule(sglang.Batch{ID: "b"}, at)
		th.RecordStage(sglang.DecodeLoop(i), at, ms(float64(i+1)))
		if i%1000 == 0 {
			l.spans.Reset()
		}
	}
	heap := func() uint64 {
		l.spans.Reset()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	for i := range 2000 {
		step(i)
	}
	before := heap()
	for i := 2000; i < 20000; i++ {
		step(i)
	}
	if after := heap(); after > before+128<<10 {
		t.Errorf("the heap grew by %d bytes", after-before)
	}
	th.End(ms(1e6))
	r.End(counted, ms(1e6))
}
