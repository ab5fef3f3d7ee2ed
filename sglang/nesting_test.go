package sglang_test

import (
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/infertel/infertel-go/sglang"
)

func TestNestingByWhatIsOpen(t *testing.T) {
	l := newLab(t, sglang.EngineConfig{}, sglang.WithTraceLevel(4))
	r, th := l.request()
	th.StartStage(sglang.PrefillForward, ms(10))
	th.StartStage(sglang.ChunkedPrefill, ms(10))
	th.RecordStage(sglang.SpecDraft, ms(11), ms(12))
	th.EndStage(sglang.ChunkedPrefill, ms(20))
	// Nested although its times are outside: what is open decides.
	th.RecordStage(sglang.RunBatchCPU(0), ms(1), ms(5))
	th.EndStage(sglang.PrefillForward, ms(30))
	th.RecordStage(sglang.DecodeWaiting, ms(30), ms(31))
	finish(r, th)
	l.tree(`
	Req 5f2c9a7b 0-100
	  Scheduler (host:9f86d081 | pid:5001) 0-100
	    prefill_forward 10-30
	      run_batch_cpu 1-5{pp_mb_id=0}
	      chunked_prefill 10-20
	        spec_draft 11-12
	    decode_waiting 30-31 <- prefill_forward
	`)
	l.reported()
}

// A stage above the level is not there: what is nested in it belongs to what is
// around it, and no link leads to it.
func TestNestingAroundWhatTheLevelLeavesOut(t *testing.T) {
	l := newLab(t, sglang.EngineConfig{}, sglang.WithTraceLevel(2))
	r, th := l.request()
	th.StartStage(sglang.RunBatchCPU(0), ms(1))
	th.RecordStage(sglang.RequestProcess, ms(1), ms(2))
	th.EndStage(sglang.RunBatchCPU(0), ms(3))
	th.StartStage(sglang.PrefillForward, ms(10))
	th.StartStage(sglang.ChunkedPrefill, ms(10))
	th.RecordStage(sglang.SpecDraft, ms(11), ms(12))
	th.EndStage(sglang.ChunkedPrefill, ms(20))
	th.EndStage(sglang.PrefillForward, ms(30))
	finish(r, th)
	l.tree(`
	Req 5f2c9a7b 0-100
	  Scheduler (host:9f86d081 | pid:5001) 0-100
	    request_process 1-2
	    prefill_forward 10-30 <- request_process
	      spec_draft 11-12
	`)
	l.reported()
}

func TestDecodeForwardEndsWithItsThread(t *testing.T) {
	l := newLab(t, sglang.EngineConfig{})
	r, th := l.request()
	th.StartStage(sglang.DecodeForward, ms(10))
	th.RecordStage(sglang.DecodeLoop(0), ms(10), ms(20))
	th.Retract(ms(25))
	// The second round, after the retraction: it nests in the first, and the
	// iterations count on.
	th.RecordStage(sglang.PrefillForward, ms(40), ms(50))
	th.StartStage(sglang.DecodeForward, ms(60))
	th.RecordStage(sglang.DecodeLoop(1), ms(60), ms(70))
	finish(r, th)
	l.tree(`
	Req 5f2c9a7b 0-100
	  Scheduler (host:9f86d081 | pid:5001) 0-100
	    decode_forward 10-100 @25 retract
	      decode_loop 10-20{decode_ct=0}
	      prefill_forward 40-50
	      decode_forward 60-100
	        decode_loop 60-70{decode_ct=1}
	`)
	l.reported()

	// An end that it is given is not taken, but ends what is within it.
	r, th = l.request()
	th.StartStage(sglang.DecodeForward, ms(10))
	th.StartStage(sglang.DecodeLoop(0), ms(10))
	th.EndStage(sglang.DecodeForward, ms(20))
	th.RecordStage(sglang.DecodeLoop(1), ms(20), ms(30))
	finish(r, th)
	l.tree(`
	Req 5f2c9a7b 0-100
	  Scheduler (host:9f86d081 | pid:5001) 0-100
	    decode_forward 10-100
	      decode_loop 10-20{decode_ct=0}
	      decode_loop 20-30{decode_ct=1}
	`)
	l.reported(
		"stage decode_forward was ended with 1 open stages within it",
		"stage decode_forward was given an end 80ms before that of its thread",
	)

	// Recorded with the thread's end there is nothing to report.
	l = newLab(t, sglang.EngineConfig{})
	r, th = l.request()
	th.RecordStage(sglang.DecodeForward, ms(10), ms(100))
	finish(r, th)
	l.tree(`
	Req 5f2c9a7b 0-100
	  Scheduler (host:9f86d081 | pid:5001) 0-100
	    decode_forward 10-100
	`)
	l.reported()
}

func TestUnbalancedStages(t *testing.T) {
	t.Run("end without start", func(t *testing.T) {
		l := newLab(t, sglang.EngineConfig{})
		r, th := l.request()
		th.EndStage(sglang.PrefillForward, ms(1))
		th.EndStage(sglang.PrefillForward, ms(1))
		th.EndStage(sglang.RunBatchCPU(0), ms(1)) // above the level, so not looked at
		th.RecordStage(sglang.PrefillWaiting, ms(1), ms(2))
		finish(r, th)
		l.tree(`
	Req 5f2c9a7b 0-100
	  Scheduler (host:9f86d081 | pid:5001) 0-100
	    prefill_waiting 1-2
		`)
		l.reported("stage prefill_forward was ended but is not open")
	})
	t.Run("end out of order", func(t *testing.T) {
		l := newLab(t, sglang.EngineConfig{})
		r, th := l.request()
		th.StartStage(sglang.PrefillForward, ms(1))
		th.StartStage(sglang.ChunkedPrefill, ms(2))
		th.StartStage(sglang.SpecDraft, ms(3))
		th.EndStage(sglang.PrefillForward, ms(9))
		th.EndStage(sglang.ChunkedPrefill, ms(10))
		th.RecordStage(sglang.DecodeWaiting, ms(11), ms(12))
		finish(r, th)
		l.tree(`
	Req 5f2c9a7b 0-100
	  Scheduler (host:9f86d081 | pid:5001) 0-100
	    prefill_forward 1-9
	      chunked_prefill 2-9
	        spec_draft 3-9
	    decode_waiting 11-12 <- prefill_forward
		`)
		l.reported("stage prefill_forward was ended with 2 open stages within it", "stage chunked_prefill was ended but is not open")
	})
	t.Run("the same stage twice", func(t *testing.T) {
		l := newLab(t, sglang.EngineConfig{})
		r, th := l.request()
		th.StartStage(sglang.PrefillForward, ms(1))
		th.StartStage(sglang.PrefillForward, ms(2))
		th.EndStage(sglang.PrefillForward, ms(3))
		th.EndStage(sglang.PrefillForward, ms(4))
		finish(r, th)
		l.tree(`
	Req 5f2c9a7b 0-100
	  Scheduler (host:9f86d081 | pid:5001) 0-100
	    prefill_forward 1-4
	      prefill_forward 2-3
		`)
		l.reported()
	})
	t.Run("the end of a stage that was too deep", func(t *testing.T) {
		l := newLab(t, sglang.EngineConfig{})
		r, th := l.request()
		for range 126 {
			th.StartStage(sglang.SpecDraft, ms(1))
		}
		th.StartStage(sglang.PrefillForward, ms(2))
		th.StartStage(sglang.ChunkedPrefill, ms(3))
		for range 2 { // left out, with their ends
			th.StartStage(sglang.PrefillForward, ms(4))
			th.StartStage(sglang.ChunkedPrefill, ms(5))
		}
		for range 2 {
			th.EndStage(sglang.ChunkedPrefill, ms(6))
			th.EndStage(sglang.PrefillForward, ms(7))
		}
		th.StartStage(sglang.ChunkedPrefill, ms(8)) // left out, and ends with what it is in
		th.EndStage(sglang.PrefillForward, ms(9))
		th.StartStage(sglang.ChunkedPrefill, ms(10))
		th.EndStage(sglang.ChunkedPrefill, ms(11))
		finish(r, th)
		got := strings.Fields(show(l.spans.GetSpans()))
		for _, want := range []string{"2-9", "3-9", "10-11"} {
			if !slices.Contains(got, want) {
				t.Errorf("no stage %s", want)
			}
		}
		l.reported("was started within 128 open stages", "stage prefill_forward was ended with 1 open stages", "a thread ended with the stage spec_draft open")
	})
	t.Run("starts without end", func(t *testing.T) {
		l := newLab(t, sglang.EngineConfig{})
		r, th := l.request()
		for range 1000 {
			th.StartStage(sglang.DecodeForward, ms(1))
			th.RecordStage(sglang.DecodeForward, ms(1), ms(100))
		}
		finish(r, th)
		if n := len(l.spans.GetSpans()); n != 128+2 {
			t.Errorf("%d spans, want 130", n)
		}
		l.reported("stage decode_forward was started within 128 open stages; it is left out")
	})
	t.Run("thread ends with open stages", func(t *testing.T) {
		l := newLab(t, sglang.EngineConfig{})
		r, th := l.request()
		th.StartStage(sglang.PrefillForward, ms(1))
		th.StartStage(sglang.ChunkedPrefill, ms(2))
		finish(r, th)
		l.tree(`
	Req 5f2c9a7b 0-100
	  Scheduler (host:9f86d081 | pid:5001) 0-100
	    prefill_forward 1-100
	      chunked_prefill 2-100
		`)
		l.reported("a thread ended with the stage chunked_prefill open")
	})
	t.Run("request ends with open threads", func(t *testing.T) {
		l := newLab(t, sglang.EngineConfig{})
		r, th := l.request()
		other := r.StartThread(sglang.Thread{Label: sglang.ThreadTokenizer, PID: 1}, t0)
		th.StartStage(sglang.DecodeForward, ms(2))
		other.RecordStage(sglang.Tokenize, ms(1), ms(2))
		finish(r, nil)
		l.tree(`
	Req 5f2c9a7b 0-100
	  Scheduler (host:9f86d081 | pid:5001) 0-100
	    decode_forward 2-100
	  Tokenizer (host:9f86d081 | pid:1) 0-100
	    tokenize 1-2
		`)
		l.reported("ended with 2 open threads; they end with it")
	})
	t.Run("everything after the end", func(t *testing.T) {
		l := newLab(t, sglang.EngineConfig{})
		r, th := l.request()
		finish(r, th)
		l.reported()
		th.StartStage(sglang.PrefillForward, ms(1))
		th.EndStage(sglang.PrefillForward, ms(2))
		th.RecordStage(sglang.PrefillForward, ms(1), ms(2))
		th.Retract(ms(1))
		th.Schedule(sglang.Batch{ID: "b"}, ms(1))
		th.End(ms(2))
		th.Abort(sglang.AbortReason{}, ms(2))
		r.Dispatched(ms(3))
		r.FirstToken(ms(3))
		r.Output(ms(3))
		r.End(counted, ms(4))
		r.Abort(sglang.AbortReason{}, sglang.Outcome{}, ms(4))
		late := r.StartThread(sglang.Thread{Label: sglang.ThreadScheduler}, ms(5))
		late.RecordStage(sglang.PrefillForward, ms(5), ms(6))
		late.End(ms(7))
		l.tree(`
	Req 5f2c9a7b 0-100
	  Scheduler (host:9f86d081 | pid:5001) 0-100
		`)
		l.reported("stage prefill_forward was told to a thread that had ended", "a milestone of request \"5f2c9a7be1d34c0f\" was told after its end")
		if got := l.points()["num_requests_total"]; got != 1 {
			t.Errorf("the request was counted %v times", got)
		}
	})
}

func TestTimesThatAreMissingOrBackward(t *testing.T) {
	t.Run("recorded stages are left out", func(t *testing.T) {
		l := newLab(t, sglang.EngineConfig{})
		r, th := l.request()
		th.RecordStage(sglang.PrefillWaiting, ms(9), ms(8))
		th.RecordStage(sglang.PrefillWaiting, time.Time{}, ms(8))
		th.RecordStage(sglang.PrefillWaiting, ms(9), time.Unix(0, 0))
		th.RecordStage(sglang.PrefillForward, ms(10), ms(10))
		finish(r, th)
		l.tree(`
	Req 5f2c9a7b 0-100
	  Scheduler (host:9f86d081 | pid:5001) 0-100
	    prefill_forward 10-10
		`)
		l.reported("stage prefill_waiting would end 1ms before it starts; it is left out", "stage prefill_waiting was recorded without its start or its end")
	})
	t.Run("live stages have no length", func(t *testing.T) {
		l := newLab(t, sglang.EngineConfig{})
		r, th := l.request()
		th.StartStage(sglang.PrefillWaiting, ms(9))
		th.EndStage(sglang.PrefillWaiting, ms(8))
		th.StartStage(sglang.PrefillForward, ms(10))
		th.EndStage(sglang.PrefillForward, time.Time{})
		th.StartStage(sglang.DecodeWaiting, time.Time{})
		th.Retract(time.Time{})
		finish(r, th)
		l.tree(`
	Req 5f2c9a7b 0-100
	  Scheduler (host:9f86d081 | pid:5001) 0-100
	    prefill_waiting 9-9
	    prefill_forward 10-10 <- prefill_waiting
		`)
		l.reported("stage prefill_waiting ended 1ms before it started; it has no length", "stage prefill_forward was ended without a time", "an event was told without a time")
	})
	t.Run("threads and requests have no length", func(t *testing.T) {
		l := newLab(t, sglang.EngineConfig{})
		r := l.StartRequest(t.Context(), sglang.Request{RID: "r"}, ms(10))
		th := r.StartThread(sglang.Thread{Label: sglang.ThreadScheduler, PID: 1}, ms(10))
		th.StartStage(sglang.DecodeForward, ms(11))
		th.End(ms(9))
		r.End(counted, ms(8))
		l.tree(`
	Req r 10-10
	  Scheduler (host:9f86d081 | pid:1) 10-10
	    decode_forward 11-11
		`)
		l.reported("a thread ended 1ms before it started", "stage decode_forward ended 2ms before it started", "\"r\" ended 2ms before it started", "ended normally without the times")
		for name, v := range l.points() {
			if v < 0 {
				t.Errorf("%s is %v", name, v)
			}
		}
	})
	t.Run("a child before its parent keeps its times", func(t *testing.T) {
		l := newLab(t, sglang.EngineConfig{})
		r := l.StartRequest(t.Context(), sglang.Request{RID: "r"}, ms(40))
		th := r.StartThread(sglang.Thread{Label: sglang.ThreadScheduler, PID: 1}, ms(0))
		th.RecordStage(sglang.PrefillForward, ms(1), ms(2))
		finish(r, th)
		l.tree(`
	Req r 40-100
	  Scheduler (host:9f86d081 | pid:1) 0-100
	    prefill_forward 1-2
		`)
		if errs := l.errors.Take(); len(errs) != 1 { // the milestones of finish lie before 40
			t.Errorf("reported: %v", errs)
		}
	})
	t.Run("starts that are missing", func(t *testing.T) {
		l := newLab(t, sglang.EngineConfig{})
		before := time.Now()
		r := l.StartRequest(t.Context(), sglang.Request{RID: "r"}, time.Time{})
		th := r.StartThread(sglang.Thread{Label: sglang.ThreadScheduler}, time.Time{})
		resumed := l.Resume(th.Handover()).StartThread(sglang.Thread{Label: sglang.ThreadScheduler}, time.Time{})
		resumed.End(time.Now())
		th.End(time.Now())
		r.End(counted, time.Now())
		for _, s := range l.spans.GetSpans() {
			if s.StartTime.Before(before) || s.EndTime.Before(s.StartTime) {
				t.Errorf("%s is %v to %v", s.Name, s.StartTime, s.EndTime)
			}
		}
		l.reported("was started without a time; taking now", "a thread was started without a time", "ended normally without the times")
	})
}

// Where a step of the wall clock lies between two readings, the monotonic clock
// tells how long it was.
func TestMonotonicClockDecidesLengths(t *testing.T) {
	l := newLab(t, sglang.EngineConfig{})
	start := time.Now()
	at := func(n int) time.Time { return start.Add(time.Duration(n) * time.Millisecond) }
	// A second back on the wall clock, 250 ms on by the monotonic one.
	back := func(n int) time.Time { return stepBack(at(n)) }
	if step := back(250).Round(0).Sub(at(250).Round(0)); step != -time.Second || back(250).Sub(start) != 250*time.Millisecond {
		t.Fatalf("the step is %v", step)
	}
	r := l.StartRequest(t.Context(), sglang.Request{RID: "r"}, start)
	th := r.StartThread(sglang.Thread{Label: sglang.ThreadScheduler, PID: 1}, start)
	th.StartStage(sglang.PrefillForward, at(10))
	th.EndStage(sglang.PrefillForward, back(250))
	th.RecordStage(sglang.DecodeWaiting, back(250), back(260))
	th.Retract(back(255))
	r.Dispatched(at(5))
	r.FirstToken(back(250))
	th.End(back(300))
	r.End(counted, back(300))
	want := map[string][2]int{"prefill_forward": {10, 250}, "decode_waiting": {250, 260}, "Scheduler (host:9f86d081 | pid:1)": {0, 300}, "Req r": {0, 300}}
	for _, s := range l.spans.GetSpans() {
		w := want[s.Name]
		if s.StartTime.UnixNano() != at(w[0]).UnixNano() || s.EndTime.UnixNano() != at(w[1]).UnixNano() {
			t.Errorf("%s is %v to %v after the start, want %v ms", s.Name, s.StartTime.Sub(start), s.EndTime.Sub(start), w)
		}
		if n := len(s.Events); (s.Name == "decode_waiting") != (n == 1) {
			t.Errorf("%s has %d events", s.Name, n)
		}
	}
	l.reported()
}

// stepBack returns the reading that a clock set back by a second would have
// given: its wall clock is earlier, its monotonic clock is not. There is no other
// way to get one in a test; the seconds lie above the 30 bits of nanoseconds.
func stepBack(t time.Time) time.Time {
	*(*uint64)(unsafe.Pointer(&t)) -= 1 << 30
	return t
}
