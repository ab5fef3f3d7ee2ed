package sglang_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/infertel/infertel-go/sglang"
)

func TestLevelOfNewRequests(t *testing.T) {
	for _, tc := range []struct {
		env      string
		option   *sglang.Level
		want     sglang.Level
		reported string
	}{
		{"", nil, 3, ""},
		{"0", nil, 0, ""},
		{" 2 ", nil, 2, ""},
		{"7", nil, 7, ""},
		{"-1", nil, 3, "SGLANG_TRACE_LEVEL: trace level is -1, want 0 or more; taking 3"},
		{"high", nil, 3, `SGLANG_TRACE_LEVEL: trace level is "high", want an integer of 0 or more; taking 3`},
		{"1.5", nil, 3, `SGLANG_TRACE_LEVEL: trace level is "1.5", want an integer of 0 or more; taking 3`},
		{"99999999999999999999", nil, 3, `SGLANG_TRACE_LEVEL: trace level is "99999999999999999999", want a smaller number; taking 3`},
		{"2", new(sglang.Level(4)), 4, ""},
		{"2", new(sglang.LevelOff), 0, ""},
		{"high", new(sglang.Level(1)), 1, ""},
		{"2", new(sglang.Level(-2)), 3, "trace level is -2, want 0 or more; taking 3"},
	} {
		t.Setenv(sglang.EnvTraceLevel, tc.env)
		var opts []sglang.Option
		if tc.option != nil {
			opts = append(opts, sglang.WithTraceLevel(*tc.option))
		}
		l := newLab(t, sglang.EngineConfig{}, opts...)
		if got := l.TraceLevel(); got != tc.want {
			t.Errorf("%q and %v: level %d, want %d", tc.env, tc.option, got, tc.want)
		}
		if tc.reported != "" {
			l.reported(tc.reported)
		} else {
			l.reported()
		}
	}
}

// A request keeps its level for its life, here and where it is resumed.
func TestLevelChangesNewRequestsOnly(t *testing.T) {
	l := newLab(t, sglang.EngineConfig{}, sglang.WithTraceLevel(1))
	old, oldThread := l.request()
	h, _ := over(oldThread.Handover())
	if err := l.SetTraceLevel(3); err != nil {
		t.Fatal(err)
	}
	record := func(r *sglang.RequestSpan, th *sglang.ThreadSpan) int {
		resumed := l.Resume(h).StartThread(sglang.Thread{Label: sglang.ThreadScheduler}, t0)
		resumed.RecordStage(sglang.DecodeLoop(0), ms(1), ms(2))
		resumed.End(ms(3))
		late := r.StartThread(sglang.Thread{Label: sglang.ThreadScheduler}, t0)
		late.RecordStage(sglang.DecodeLoop(0), ms(1), ms(2))
		late.End(ms(3))
		th.RecordStage(sglang.DecodeLoop(0), ms(1), ms(2))
		finish(r, th)
		n := 0
		for _, s := range l.spans.GetSpans() {
			if s.Name == "decode_loop" {
				n++
			}
		}
		l.spans.Reset()
		return n
	}
	if n := record(old, oldThread); n != 0 {
		t.Errorf("%d stages of a higher level on a request that started before", n)
	}
	r, th := l.request()
	if n := record(r, th); n != 2 {
		t.Errorf("%d stages on a request that started after, want 2", n)
	}
	if err := l.SetTraceLevel(-1); err == nil || err.Error() != "sglang: trace level is -1, want 0 or more" || l.TraceLevel() != 3 {
		t.Errorf("got %v and level %d", err, l.TraceLevel())
	}
}

func TestLevelHandler(t *testing.T) {
	l := newLab(t, sglang.EngineConfig{})
	h := l.LevelHandler()
	for _, tc := range []struct {
		method, query string
		status        int
		body          string
		level         sglang.Level
	}{
		{"GET", "?level=1", 200, "success", 1},
		{"POST", "?level=4", 200, "success", 4},
		{"POST", "?level=0", 200, "success", 0},
		{"GET", "?level=9&other=1", 200, "success", 9},
		{"GET", "?level=1&level=2", 200, "success", 2},
		{"GET", "", 422, "query parameter level is missing, want /set_trace_level?level=N with an integer N of 0 or more\n", 2},
		{"GET", "?level=", 422, "trace level is \"\", want an integer of 0 or more\n", 2},
		{"POST", "?level=-1", 422, "trace level is -1, want 0 or more\n", 2},
		{"GET", "?level=-99999999999999999999", 422, "trace level is \"-99999999999999999999\", want an integer of 0 or more\n", 2},
		{"GET", "?level=99999999999999999999", 422, "trace level is \"99999999999999999999\", want a smaller number\n", 2},
		{"GET", "?level=1.5", 422, "trace level is \"1.5\", want an integer of 0 or more\n", 2},
		{"GET", "?level=%3Cscript%3E", 422, "trace level is \"<script>\", want an integer of 0 or more\n", 2},
		{"PUT", "?level=1", 405, "method is \"PUT\", want GET or POST\n", 2},
		{"HEAD", "?level=1", 405, "method is \"HEAD\", want GET or POST\n", 2},
	} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(tc.method, "/set_trace_level"+tc.query, nil))
		if w.Code != tc.status || w.Body.String() != tc.body || l.TraceLevel() != tc.level {
			t.Errorf("%s %s: %d %q and level %d, want %d %q and %d", tc.method, tc.query, w.Code, w.Body, l.TraceLevel(), tc.status, tc.body, tc.level)
		}
		if !strings.HasPrefix(w.Header().Get("Content-Type"), "text/plain") || tc.status == 405 && w.Header().Get("Allow") != "GET, POST" {
			t.Errorf("%s %s: header %v", tc.method, tc.query, w.Header())
		}
	}
	// Over the network, and without an Engine.
	srv := httptest.NewServer((*sglang.Engine)(nil).LevelHandler())
	defer srv.Close()
	resp, err := http.Get(srv.URL + "/set_trace_level?level=3")
	if err != nil || resp.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("got %v, %v", resp, err)
	}
	if err == nil {
		resp.Body.Close()
	}
	http.DefaultClient.CloseIdleConnections()
}

// The level is changed while requests run, and threads of one request are used
// from several goroutines.
func TestConcurrentUse(t *testing.T) {
	l := newLab(t, sglang.EngineConfig{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := range 100 {
			_ = l.SetTraceLevel(sglang.Level(i % 5))
			_ = l.RecordScheduler(t.Context(), sglang.SchedulerStats{})
		}
	})
	for range 8 {
		wg.Go(func() {
			for range 10 {
				r := l.StartRequest(t.Context(), sglang.Request{RID: "r"}, t0)
				shared := r.StartThread(sglang.Thread{Label: sglang.ThreadScheduler}, t0)
				var threads sync.WaitGroup
				for range 3 {
					threads.Go(func() {
						use(nil, shared)
						own := l.Resume(shared.Handover()).StartThread(sglang.Thread{Label: sglang.ThreadScheduler}, t0)
						use(r, own)
						other := r.StartThread(sglang.Thread{Label: sglang.ThreadScheduler}, t0)
						use(r, other)
					})
				}
				threads.Wait()
			}
		})
	}
	wg.Wait()
	seen := map[string]int{}
	for _, s := range l.spans.GetSpans() {
		seen[s.SpanContext.SpanID().String()]++
		if s.EndTime.Before(s.StartTime) {
			t.Errorf("%s ends before it starts", s.Name)
		}
	}
	for id, n := range seen {
		if n != 1 {
			t.Errorf("span %s was exported %d times", id, n)
		}
	}
	if got := l.points()["num_requests_total"]; got != 80 {
		t.Errorf("%v requests were counted, want 80", got)
	}
}
