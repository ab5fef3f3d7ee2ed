package sglang_test

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/propagation"

	"github.com/infertel/infertel-go/internal/sdktest"
	"github.com/infertel/infertel-go/sglang"
)

// What is said of text from outside is bounded, as the text is.
func TestReportsAreBounded(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	for name, provoke := range map[string]func(l *lab) error{
		"label": func(l *lab) error {
			r := l.StartRequest(t.Context(), sglang.Request{RID: "r"}, t0)
			r.StartThread(sglang.Thread{Label: sglang.ThreadLabel(long)}, t0).End(t0)
			r.Abort(sglang.AbortReason{}, sglang.Outcome{}, t0)
			return nil
		},
		"rid": func(l *lab) error {
			l.StartRequest(t.Context(), sglang.Request{RID: long}, time.Time{}).End(counted, time.Now())
			return nil
		},
		"environment": func(*lab) error {
			t.Setenv(sglang.EnvTraceLevel, long)
			_, err := sglang.NewEngine(sglang.EngineConfig{})
			return err
		},
		"hand-over": func(l *lab) error {
			l.Resume(sglang.ExtractHandover(propagation.MapCarrier{sglang.HandoverField: long})).End(counted, t0)
			l.Resume(sglang.ExtractHandover(propagation.MapCarrier{sglang.HandoverField: "9" + long})).End(counted, t0)
			return nil
		},
		"stage in a hand-over": func(l *lab) error {
			l.Resume(sglang.ExtractHandover(propagation.MapCarrier{sglang.HandoverField: "3-" + long})).End(counted, t0)
			return nil
		},
		"number in a hand-over": func(l *lab) error {
			l.Resume(sglang.ExtractHandover(propagation.MapCarrier{sglang.HandoverField: strings.Repeat("9", 1<<20)})).End(counted, t0)
			return nil
		},
		"role":  func(*lab) error { _, err := sglang.ParsePDRole(long); return err },
		"stage": func(*lab) error { _, err := sglang.ParseStage(long); return err },
		"parameter": func(l *lab) error {
			w := httptest.NewRecorder()
			l.LevelHandler().ServeHTTP(w, httptest.NewRequest("GET", "/set_trace_level?level="+long, nil))
			return fmt.Errorf("%s", w.Body)
		},
		"method": func(l *lab) error {
			w := httptest.NewRecorder()
			l.LevelHandler().ServeHTTP(w, httptest.NewRequest(long, "/set_trace_level", nil))
			return fmt.Errorf("%s", w.Body)
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, sglang.EngineConfig{})
			errs := sdktest.HandleErrors(t)
			err := provoke(l)
			said := errs.Take()
			if err != nil {
				said = append(said, err)
			}
			if len(said) == 0 {
				t.Error("nothing was said")
			}
			for _, err := range said {
				if n := len(err.Error()); n > 512 {
					t.Errorf("said %d bytes: %.100s...", n, err)
				}
			}
		})
	}
}

func TestThreadsOfARequestAreBounded(t *testing.T) {
	l := newLab(t, sglang.EngineConfig{})
	r := l.StartRequest(t.Context(), sglang.Request{RID: "r"}, t0)
	for range 2000 { // one that has ended does not count
		r.StartThread(sglang.Thread{Label: sglang.ThreadScheduler, PID: 1}, t0).End(ms(1))
	}
	for i := range 1025 {
		if i == 1024 {
			l.reported()
		}
		r.StartThread(sglang.Thread{Label: sglang.ThreadScheduler, PID: 2}, t0).RecordStage(sglang.PrefillWaiting, ms(1), ms(2))
	}
	l.reported(`request "r" has 1024 open threads; a further one is not recorded`)
	r.Abort(sglang.AbortReason{}, sglang.Outcome{}, ms(3))
	if n := len(l.spans.GetSpans()); n != 1+2000+2*1024 {
		t.Errorf("%d spans", n)
	}
}

// At most 128 finish reasons are kept, as many choices as a request may have.
func TestFinishReasonsAreBounded(t *testing.T) {
	for _, n := range []int{127, 128, 129} {
		l := newLab(t, sglang.EngineConfig{})
		r := l.StartRequest(t.Context(), sglang.Request{RID: "r"}, t0)
		reasons := make([]string, n)
		for i := range reasons {
			reasons[i] = "stop"
		}
		r.End(sglang.Outcome{FinishReasons: reasons, PromptTokens: new(0), CompletionTokens: new(0), CachedTokens: new(0)}, ms(1))
		got, _ := values(l.spans.GetSpans()[0])["gen_ai.response.finish_reasons"].(string)
		if kept := strings.Count(got, `"stop"`); kept != min(n, 128) {
			t.Errorf("%d of %d reasons were kept", kept, n)
		}
	}
}

// What a time may be: from the second second of the epoch to the year 2242.
func TestTimesThatCannotBe(t *testing.T) {
	const most = 1 << 33
	for _, tc := range []struct {
		at time.Time
		ok bool
	}{
		{time.Unix(0, 1), false},
		{time.Unix(0, 999_999_999), false},
		{time.Unix(1, 0), true},
		{time.Unix(most-1, 0), true},
		{time.Unix(most, 0), false},
		{time.Unix(-1, 0), false},
		{time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC), false},
	} {
		l := newLab(t, sglang.EngineConfig{})
		r := l.StartRequest(t.Context(), sglang.Request{RID: "r"}, tc.at)
		th := r.StartThread(sglang.Thread{Label: sglang.ThreadTokenizer}, tc.at)
		_, carrier := over(th.Handover())
		r.FirstToken(ms(1))
		r.Output(ms(3))
		th.End(tc.at)
		r.End(sglang.Outcome{PromptTokens: new(3), CompletionTokens: new(0), CachedTokens: new(0)}, ms(4))
		spans, points := l.spans.GetSpans(), l.points()
		if points["num_requests_total"] != 1 || points["prompt_tokens_total"] != 3 || points["sglang_inter_token_latency_seconds"] != 0.002 {
			t.Errorf("%v: metrics %v", tc.at, points)
		}
		if tc.ok {
			if len(spans) != 2 || !spans[0].StartTime.Equal(tc.at) || !spans[1].StartTime.Equal(tc.at) {
				t.Errorf("%v: spans\n%s", tc.at, show(spans))
			}
			l.errors.Take()
			continue
		}
		// Another time is not put in its place: not the clock's, not a guess.
		if len(spans) != 0 || r.Recording() || carrier[sglang.HandoverField] != "0" {
			t.Errorf("%v: spans\n%s\nhanded over %v", tc.at, show(spans), carrier)
		}
		for _, name := range []string{"gen_ai_server_time_to_first_token", "gen_ai_server_request_duration", "gen_ai_server_time_per_output_token"} {
			if v, ok := points[name]; ok {
				t.Errorf("%v: %s is %v", tc.at, name, v)
			}
		}
		l.reported(`request "r" was started at`)

		// On a request that has a start, a thread takes it; else it is left out.
		r, th = l.request()
		r.StartThread(sglang.Thread{Label: sglang.ThreadScheduler, PID: 7}, tc.at).End(ms(1))
		l.reported("taking the request's start")
		h := th.Handover()
		finish(r, th)
		n := len(l.spans.GetSpans())
		l.tree(`
	Req 5f2c9a7b 0-100
	  Scheduler (host:9f86d081 | pid:5001) 0-100
	  Scheduler (host:9f86d081 | pid:7) 0-1
		`)
		l = newLab(t, sglang.EngineConfig{})
		l.Resume(h).StartThread(sglang.Thread{Label: sglang.ThreadScheduler, PID: 7}, tc.at).End(ms(1))
		if got := len(l.spans.GetSpans()); got != 0 {
			t.Errorf("%v: %d spans of %d more", tc.at, got, n)
		}
		l.reported("which cannot be; it is not recorded")
	}
}

// A resumed thread that starts without a time starts now, and says so.
func TestResumedThreadWithoutATime(t *testing.T) {
	l := newLab(t, sglang.EngineConfig{})
	r, th := l.request()
	before := time.Now().Round(0) // the clocks differ by nanoseconds
	resumed := l.Resume(th.Handover()).StartThread(sglang.Thread{Label: sglang.ThreadScheduler}, time.Time{})
	resumed.RecordStage(sglang.PrefillWaiting, before, before.Add(time.Second))
	resumed.End(before.Add(time.Second))
	if s := l.spans.GetSpans()[0]; !s.StartTime.Equal(before) || !s.EndTime.Equal(before.Add(time.Second)) {
		t.Errorf("its stage is %v to %v, want one second from %v", s.StartTime, s.EndTime, before)
	}
	s := l.spans.GetSpans()[1]
	if s.StartTime.Before(before) || s.StartTime.After(time.Now()) {
		t.Errorf("the thread started at %v, it is %v", s.StartTime, time.Now())
	}
	if !s.Parent.IsRemote() {
		t.Error("the thread's parent is not remote, although it was resumed")
	}
	l.reported("a thread was started without a time; taking now")
	finish(r, th)
}
