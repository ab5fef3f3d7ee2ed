package sglang_test

import (
	"math"
	"testing"

	"github.com/infertel/infertel-go/semconv"
	"github.com/infertel/infertel-go/sglang"
)

// stages returns each documented stage with a value where it takes one.
func stages(t *testing.T) map[string]sglang.Stage {
	t.Helper()
	out := map[string]sglang.Stage{
		semconv.StageDecodeLoop:  sglang.DecodeLoop(0),
		semconv.StageSpecVerify:  sglang.SpecVerify(3),
		semconv.StageRunBatchCPU: sglang.RunBatchCPU(1),
	}
	for _, d := range semconv.Stages() {
		s, err := sglang.ParseStage(d.Name)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := out[d.Name]; !ok {
			out[d.Name] = s
		}
	}
	return out
}

func TestStagesAreTheDocumentedOnes(t *testing.T) {
	all := stages(t)
	if len(all) != 21 || len(semconv.Stages()) != 21 {
		t.Fatalf("%d stages, %d documented, want 21", len(all), len(semconv.Stages()))
	}
	for _, d := range semconv.Stages() {
		s := all[d.Name]
		if s.String() != d.Name || int(s.Level()) != d.Level {
			t.Errorf("%v has the level %d, want %s with %d", s, s.Level(), d.Name, d.Level)
		}
	}
	if s, err := sglang.ParseStage("Tokenize"); err == nil {
		t.Errorf("ParseStage took %q for %v", "Tokenize", s)
	}
	if got := sglang.Stage(77).String(); got != "Stage(77)" {
		t.Errorf("an unknown stage is called %q", got)
	}
}

// Every stage at every level, with the process and the deployment that it is
// documented for.
func TestStageByLevel(t *testing.T) {
	labels := map[semconv.Process]sglang.ThreadLabel{
		semconv.ProcessFrontend:     sglang.ThreadTokenizer,
		semconv.ProcessDPController: sglang.ThreadDPController,
		semconv.ProcessScheduler:    sglang.ThreadScheduler,
	}
	for _, d := range semconv.Stages() {
		s := stages(t)[d.Name]
		for level := sglang.LevelOff; level <= 5; level++ {
			role := sglang.PDRoleNone
			switch d.Deployment {
			case semconv.DeploymentPDPrefill:
				role = sglang.PDRolePrefill
			case semconv.DeploymentPDDecode:
				role = sglang.PDRoleDecode
			}
			l := newLab(t, sglang.EngineConfig{PDRole: role}, sglang.WithTraceLevel(level))
			r := l.StartRequest(t.Context(), sglang.Request{RID: "r"}, t0)
			th := r.StartThread(sglang.Thread{Label: labels[d.Process]}, t0)
			th.StartStage(s, ms(1))
			th.EndStage(s, ms(2))
			th.RecordStage(s, ms(2), ms(3))
			th.End(ms(4))
			finish(r, nil)
			got := map[string]int{}
			for _, span := range l.spans.GetSpans() {
				got[span.Name]++
			}
			want := 2
			if int(level) < d.Level {
				want = 0
			}
			total := want + 2
			if level == sglang.LevelOff {
				total = 0
			}
			if n := len(l.spans.GetSpans()); got[d.Name] != want || n != total {
				t.Errorf("%s at level %d: %d of it in %d spans, want %d in %d", d.Name, level, got[d.Name], n, want, total)
			}
			if !d.EndsWithThread {
				l.reported()
			}
		}
	}
}

func TestStageAttributes(t *testing.T) {
	l := newLab(t, sglang.EngineConfig{}, sglang.WithTraceLevel(4))
	r, th := l.request()
	th.RecordStage(sglang.DecodeLoop(0), ms(1), ms(2))
	th.RecordStage(sglang.DecodeLoop(-1), ms(2), ms(3))
	th.RecordStage(sglang.DecodeLoop(math.MaxInt32), ms(3), ms(4))
	th.RecordStage(sglang.SpecVerify(0), ms(4), ms(5))
	th.RecordStage(sglang.RunBatchCPU(7), ms(5), ms(6))
	// A number that is known at the end only.
	th.StartStage(sglang.SpecVerify(-1), ms(6))
	th.EndStage(sglang.SpecVerify(3), ms(7))
	// A number that is known at the start only.
	th.StartStage(sglang.RunBatchCPU(2), ms(7))
	th.EndStage(sglang.RunBatchCPU(-1), ms(8))
	finish(r, th)
	l.tree(`
	Req 5f2c9a7b 0-100
	  Scheduler (host:9f86d081 | pid:5001) 0-100
	    decode_loop 1-2{decode_ct=0}
	    decode_loop 2-3 <- decode_loop
	    decode_loop 3-4{decode_ct=2147483647} <- decode_loop
	    spec_verify 4-5{accepted_tokens=0 num_correct_drafts=0} <- decode_loop
	    run_batch_cpu 5-6{pp_mb_id=7} <- spec_verify
	    spec_verify 6-7{accepted_tokens=3 num_correct_drafts=3} <- run_batch_cpu
	    run_batch_cpu 7-8{pp_mb_id=2} <- spec_verify
	`)
	l.reported()
}

// A value too large to be held is a bound, not another stage or number.
func TestStageValueIsBounded(t *testing.T) {
	for _, s := range []sglang.Stage{sglang.DecodeLoop(math.MaxInt), sglang.DecodeLoop(math.MinInt)} {
		if s.String() != "decode_loop" || s.Level() != 3 {
			t.Errorf("%v with the level %d", s, s.Level())
		}
	}
	for _, n := range []int{math.MaxInt32, math.MaxInt} {
		l := newLab(t, sglang.EngineConfig{})
		r, th := l.request()
		th.RecordStage(sglang.DecodeLoop(n), ms(1), ms(2))
		finish(r, th)
		if got, want := values(l.spans.GetSpans()[0])["decode_ct"], min(int64(n), 1<<55-1); got != want {
			t.Errorf("decode_ct %d is recorded as %v, want %d", n, got, want)
		}
	}
}

// The value that comes with a stage's end is there, whatever made the stage's
// span begin before.
func TestValueToldAtTheEnd(t *testing.T) {
	for name, begin := range map[string]func(*sglang.ThreadSpan){
		"nothing":    func(*sglang.ThreadSpan) {},
		"a handover": func(th *sglang.ThreadSpan) { th.Handover() },
		"stages": func(th *sglang.ThreadSpan) {
			for range 129 {
				th.RecordStage(sglang.SpecDraft, ms(2), ms(3))
			}
		},
		"events": func(th *sglang.ThreadSpan) {
			for range 257 {
				th.Retract(ms(2))
			}
		},
	} {
		for _, s := range []struct {
			start, end sglang.Stage
			want       string
		}{
			{sglang.SpecVerify(-1), sglang.SpecVerify(3), "{accepted_tokens=3 num_correct_drafts=3}"},
			{sglang.SpecVerify(9), sglang.SpecVerify(0), "{accepted_tokens=0 num_correct_drafts=0}"},
			{sglang.DecodeLoop(-1), sglang.DecodeLoop(7), "{decode_ct=7}"},
			{sglang.DecodeLoop(7), sglang.DecodeLoop(-1), "{decode_ct=7}"},
			{sglang.RunBatchCPU(-1), sglang.RunBatchCPU(1), "{pp_mb_id=1}"},
		} {
			l := newLab(t, sglang.EngineConfig{}, sglang.WithTraceLevel(4))
			r, th := l.request()
			th.StartStage(s.start, ms(1))
			begin(th)
			th.EndStage(s.end, ms(10))
			finish(r, th)
			for _, span := range l.spans.GetSpans() {
				if span.Name == s.end.String() && attributes(span.Attributes) != s.want {
					t.Errorf("%s, which %s began, has %s, want %s", span.Name, name, attributes(span.Attributes), s.want)
				}
			}
		}
	}
}

// The stages of the other kind of node are out of place.
func TestStageOfTheOtherNode(t *testing.T) {
	for role, s := range map[sglang.PDRole]sglang.Stage{
		sglang.PDRolePrefill: sglang.DecodePrepare, sglang.PDRoleDecode: sglang.PrefillPrepare, sglang.PDRoleNone: sglang.FakeOutput,
	} {
		l := newLab(t, sglang.EngineConfig{PDRole: role})
		r, th := l.request()
		th.RecordStage(s, ms(1), ms(2))
		finish(r, th)
		if n := len(l.spans.GetSpans()); n != 3 {
			t.Errorf("%d spans", n)
		}
		l.reported("stage " + s.String() + " was recorded on a node with the PD role")
	}
}

func TestStageOutOfPlaceIsRecordedAndReported(t *testing.T) {
	l := newLab(t, sglang.EngineConfig{PDRole: sglang.PDRoleDecode})
	r, th := l.request()
	th.RecordStage(sglang.Tokenize, ms(1), ms(2))
	th.RecordStage(sglang.Tokenize, ms(2), ms(3))
	th.RecordStage(sglang.RequestProcess, ms(3), ms(4))
	th.RecordStage(sglang.PrefillPrepare, ms(4), ms(5))
	th.RecordStage(sglang.DecodePrepare, ms(5), ms(6))
	th.RecordStage(sglang.Stage(200), ms(6), ms(7))
	th.RecordStage(0, ms(6), ms(7))
	finish(r, th)
	l.tree(`
	decode Req 5f2c9a7b 0-100
	  Decode Scheduler (host:9f86d081 | pid:5001) 0-100
	    tokenize 1-2
	    tokenize 2-3 <- tokenize
	    request_process 3-4 <- tokenize
	    prefill_prepare 4-5 <- request_process
	    decode_prepare 5-6 <- prefill_prepare
	`)
	l.reported(
		"stage tokenize was recorded by a thread of the scheduler, it is documented for the frontend",
		`stage request_process was recorded on a node with the PD role "decode", it is documented for the deployment non_pd`,
		"Stage(200) is not one of the stages",
	)
}
