package sglang_test

import (
	"testing"
	"time"

	"github.com/infertel/infertel-go/sglang"
)

// Random calls in random order, with times that may be missing, equal or
// backward. Nothing panics, no interval is negative, every span that was started
// ends exactly once, under a parent that is exported too, and no link leads nowhere.
func FuzzCalls(f *testing.F) {
	f.Add([]byte{3, 0, 10, 4, 20, 8, 30, 12, 25, 16, 40})
	f.Add([]byte{4, 1, 1, 1, 2, 1, 3, 2, 9, 2, 9, 2, 9, 5, 200})
	f.Add([]byte{1, 0, 0, 9, 0, 9, 1, 9, 2, 9, 3, 9, 4, 9, 5, 9, 6})
	f.Fuzz(func(t *testing.T, program []byte) {
		if len(program) == 0 {
			return
		}
		l := newLab(t, sglang.EngineConfig{}, sglang.WithTraceLevel(sglang.Level(program[0]%6)))
		run := &machine{lab: l, program: program[1:]}
		run.request = l.StartRequest(t.Context(), sglang.Request{RID: "r"}, t0)
		for run.step() {
		}
		run.finish()
		run.check(t)
	})
}

type machine struct {
	*lab
	program []byte
	request *sglang.RequestSpan
	threads []*sglang.ThreadSpan
	resumed []*sglang.RequestSpan
}

func (m *machine) next() int {
	if len(m.program) == 0 {
		return 0
	}
	b := m.program[0]
	m.program = m.program[1:]
	return int(b)
}

func (m *machine) time() time.Time {
	switch n := m.next(); n {
	case 255:
		return time.Time{}
	case 254:
		return time.Unix(0, 0)
	default:
		return ms(float64(n) / 2)
	}
}

func (m *machine) stage() sglang.Stage {
	switch n := m.next(); n % 24 {
	case 22:
		return sglang.DecodeLoop(n - 40)
	case 23:
		return sglang.SpecVerify(n - 40)
	case 21:
		return sglang.RunBatchCPU(n - 40)
	default:
		return sglang.Stage(n % 24)
	}
}

func (m *machine) thread() *sglang.ThreadSpan {
	if len(m.threads) == 0 {
		return nil
	}
	return m.threads[m.next()%len(m.threads)]
}

func (m *machine) step() bool {
	if len(m.program) == 0 {
		return false
	}
	switch m.next() % 16 {
	case 0:
		m.threads = append(m.threads, m.request.StartThread(sglang.Thread{Label: sglang.ThreadScheduler, From: m.thread().Handover()}, m.time()))
	case 1, 2:
		m.thread().StartStage(m.stage(), m.time())
	case 3, 4:
		m.thread().EndStage(m.stage(), m.time())
	case 5, 6:
		m.thread().RecordStage(m.stage(), m.time(), m.time())
	case 7:
		m.thread().Retract(m.time())
	case 8:
		m.thread().Schedule(batch("b"), m.time())
	case 9:
		r := m.Resume(m.thread().Handover())
		m.resumed = append(m.resumed, r)
		m.threads = append(m.threads, r.StartThread(sglang.Thread{}, m.time()))
	case 10:
		m.thread().End(m.time())
	case 11:
		m.thread().Abort(sglang.AbortReason{Type: new("abort")}, m.time())
	case 12:
		m.request.FirstToken(m.time())
		m.request.Output(m.time())
	case 13:
		m.request.Dispatched(m.time())
	case 14:
		for range 200 { // past the bounds on what is held back
			m.thread().RecordStage(sglang.DecodeLoop(1), t0, m.time())
			m.thread().Retract(ms(1))
		}
	case 15:
		if m.next()%8 == 0 {
			m.request.End(sglang.Outcome{CompletionTokens: new(m.next() - 9), PromptTokens: new(0), CachedTokens: new(0)}, m.time())
		}
	}
	return true
}

func (m *machine) finish() {
	for _, r := range m.resumed {
		r.End(counted, ms(130))
	}
	m.request.Abort(sglang.AbortReason{}, sglang.Outcome{}, ms(130))
}

func (m *machine) check(t *testing.T) {
	spans := m.spans.GetSpans()
	if started := int(m.started.Load()); len(spans) != started {
		t.Errorf("%d spans were started, %d were ended", started, len(spans))
	}
	ids := map[string]bool{"0000000000000000": true}
	for _, s := range spans {
		id := s.SpanContext.SpanID().String()
		if ids[id] {
			t.Errorf("%s was ended twice", s.Name)
		}
		ids[id] = true
		if s.EndTime.Before(s.StartTime) {
			t.Errorf("%s ends before it starts", s.Name)
		}
	}
	for _, s := range spans {
		if !ids[s.Parent.SpanID().String()] {
			t.Errorf("%s has a parent that was not exported", s.Name)
		}
		for _, l := range s.Links {
			if !ids[l.SpanContext.SpanID().String()] {
				t.Errorf("%s links to a span that was not exported", s.Name)
			}
		}
	}
	for name, v := range m.points() {
		if v < 0 {
			t.Errorf("%s is %v", name, v)
		}
	}
}
