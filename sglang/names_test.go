package sglang_test

import (
	"maps"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/infertel/infertel-go/sglang"
)

func values(s tracetest.SpanStub) map[attribute.Key]any {
	out := map[attribute.Key]any{}
	for _, kv := range s.Attributes {
		out[kv.Key] = kv.Value.AsInterface()
	}
	return out
}

func TestNames(t *testing.T) {
	const rid, host = "5f2c9a7be1d34c0f", "9f86d081884c7d65"
	all := sglang.Thread{Label: sglang.ThreadScheduler, HostID: host, PID: 5001, TPRank: new(0), PPRank: new(1), DPRank: new(12)}
	for _, tc := range []struct {
		role    sglang.PDRole
		native  bool
		thread  sglang.Thread
		request string
		name    string
		label   string
	}{
		{sglang.PDRoleNone, false, all, "Req 5f2c9a7b", "Scheduler [TP 0] [PP 1] [DP 12] (host:9f86d081 | pid:5001)", "Scheduler"},
		{sglang.PDRoleNone, false, sglang.Thread{Label: sglang.ThreadTokenizer, HostID: host, PID: 4242}, "Req 5f2c9a7b", "Tokenizer (host:9f86d081 | pid:4242)", "Tokenizer"},
		{sglang.PDRoleNone, false, sglang.Thread{Label: sglang.MultiTokenizer(7), HostID: "h1", PID: 1}, "Req 5f2c9a7b", "MultiTokenizer-7 (host:h1 | pid:1)", "MultiTokenizer-7"},
		{sglang.PDRoleNone, false, sglang.Thread{Label: sglang.ThreadDPController, HostID: host, PID: 1}, "Req 5f2c9a7b", "DP Controller (host:9f86d081 | pid:1)", "DP Controller"},
		{sglang.PDRoleNone, false, sglang.Thread{Label: sglang.ThreadScheduler, HostID: host, PID: 1, PPRank: new(0)}, "Req 5f2c9a7b", "Scheduler [PP 0] (host:9f86d081 | pid:1)", "Scheduler"},
		{sglang.PDRolePrefill, false, all, "prefill Req 5f2c9a7b", "Prefill Scheduler [TP 0] [PP 1] [DP 12] (host:9f86d081 | pid:5001)", "Prefill Scheduler"},
		{sglang.PDRoleDecode, false, sglang.Thread{Label: sglang.ThreadTokenizer, HostID: host, PID: 1}, "decode Req 5f2c9a7b", "Decode Tokenizer (host:9f86d081 | pid:1)", "Decode Tokenizer"},
		{sglang.PDRoleNone, true, all, " Req 5f2c9a7b", "Scheduler [TP 0]  [PP 1]  [DP 12] (host:9f86d081 | pid:5001)", "Scheduler"},
		{sglang.PDRoleNone, true, sglang.Thread{Label: sglang.ThreadTokenizer, HostID: host, PID: 1}, " Req 5f2c9a7b", "Tokenizer(host:9f86d081 | pid:1)", "Tokenizer"},
		{sglang.PDRolePrefill, true, sglang.Thread{Label: sglang.ThreadTokenizer, HostID: host, PID: 1}, "prefill Req 5f2c9a7b", "PrefillTokenizer(host:9f86d081 | pid:1)", "PrefillTokenizer"},
	} {
		var opts []sglang.Option
		if tc.native {
			opts = append(opts, sglang.WithNativeNames())
		}
		l := newLab(t, sglang.EngineConfig{PDRole: tc.role}, opts...)
		r := l.StartRequest(t.Context(), sglang.Request{RID: rid}, t0)
		th := r.StartThread(tc.thread, t0)
		finish(r, th)
		spans := l.spans.GetSpans()
		if spans[1].Name != tc.request || spans[0].Name != tc.name {
			t.Errorf("names %q and %q, want %q and %q", spans[1].Name, spans[0].Name, tc.request, tc.name)
		}
		want := map[attribute.Key]any{"host_id": tc.thread.HostID, "pid": int64(tc.thread.PID), "thread_label": tc.label}
		for key, rank := range map[attribute.Key]*int{"tp_rank": tc.thread.TPRank, "pp_rank": tc.thread.PPRank, "dp_rank": tc.thread.DPRank} {
			if rank != nil {
				want[key] = int64(*rank)
			}
		}
		if got := values(spans[0]); !maps.Equal(got, want) {
			t.Errorf("%s has the attributes %v, want %v", tc.name, got, want)
		}
		for _, s := range spans {
			if s.SpanKind != trace.SpanKindInternal {
				t.Errorf("%s is of kind %v", s.Name, s.SpanKind)
			}
			if s.InstrumentationScope.Name != sglang.ScopeName || s.InstrumentationScope.Version != sglang.Version {
				t.Errorf("%s has the scope %v", s.Name, s.InstrumentationScope)
			}
		}
		l.reported()
	}
}

// The engine's own labels have the prefix of the role already.
func TestLabelThatHasTheRole(t *testing.T) {
	for _, tc := range []struct {
		role     sglang.PDRole
		native   bool
		given    sglang.ThreadLabel
		label    string
		reported bool
	}{
		{sglang.PDRolePrefill, false, "Prefill Tokenizer", "Prefill Tokenizer", false},
		{sglang.PDRolePrefill, false, "PrefillTokenizer", "Prefill Tokenizer", false},
		{sglang.PDRolePrefill, true, "PrefillTokenizer", "PrefillTokenizer", false},
		{sglang.PDRolePrefill, true, "Prefill Tokenizer", "PrefillTokenizer", false},
		{sglang.PDRoleDecode, false, "Decode MultiTokenizer-3", "Decode MultiTokenizer-3", false},
		{sglang.PDRoleDecode, false, "Decode DP Controller", "Decode DP Controller", false},
		{sglang.PDRoleDecode, false, "Decode Detokenizer", "Decode Decode Detokenizer", true},
		{sglang.PDRoleDecode, false, "Prefill Tokenizer", "Decode Prefill Tokenizer", true},
		{sglang.PDRoleNone, false, "Prefill Tokenizer", "Prefill Tokenizer", true},
		{sglang.PDRoleNone, false, " Tokenizer", " Tokenizer", true},
	} {
		var opts []sglang.Option
		if tc.native {
			opts = append(opts, sglang.WithNativeNames())
		}
		l := newLab(t, sglang.EngineConfig{PDRole: tc.role}, opts...)
		r := l.StartRequest(t.Context(), sglang.Request{RID: "r"}, t0)
		th := r.StartThread(sglang.Thread{Label: tc.given}, t0)
		if !tc.reported && tc.given[len(tc.given)-4:] == "izer" {
			th.RecordStage(sglang.Tokenize, ms(1), ms(2)) // the process is known
		}
		finish(r, th)
		for _, s := range l.spans.GetSpans() {
			if got := values(s)["thread_label"]; got != nil && (got != tc.label || !strings.HasPrefix(s.Name, tc.label)) {
				t.Errorf("%s on %q: %v, named %s, want %s", tc.given, tc.role, got, s.Name, tc.label)
			}
		}
		if errs := l.errors.Take(); len(errs) > 0 != tc.reported {
			t.Errorf("%s on %q: reported %v", tc.given, tc.role, errs)
		}
	}
}

func TestDefaultsOfAThread(t *testing.T) {
	l := newLab(t, sglang.EngineConfig{}, sglang.WithHostID("host-of-the-engine"))
	r := l.StartRequest(t.Context(), sglang.Request{RID: "r"}, t0)
	th := r.StartThread(sglang.Thread{}, t0)
	finish(r, th)
	got := values(l.spans.GetSpans()[0])
	if got["host_id"] != "host-of-the-engine" || got["thread_label"] != "unknown" {
		t.Errorf("the thread has the attributes %v", got)
	}
	if pid, _ := got["pid"].(int64); pid <= 0 {
		t.Errorf("pid is %v", got["pid"])
	} else if _, err := os.Stat("/proc/self/task"); err == nil {
		// On Linux it is a thread of this process.
		if _, err := os.Stat("/proc/self/task/" + attributes([]attribute.KeyValue{attribute.Int64("pid", pid)})[len("{pid="):len(attributes([]attribute.KeyValue{attribute.Int64("pid", pid)}))-1]); err != nil {
			t.Errorf("pid %d is no thread of this process", pid)
		}
	}
	l.reported(`thread label is "", want Tokenizer`)
}

// Text from outside is cut between characters, valid and bounded: one invalid
// byte would make the exporter lose the batch.
func TestTextIsBounded(t *testing.T) {
	long := strings.Repeat("好", 1000)
	for _, tc := range []struct{ rid, name string }{
		{"好的一二三四五六七八", "Req 好的一二三四五六"},
		{"abc", "Req abc"},
		{"", "Req"},
		{"a\xffb", "Req a\uFFFDb"},
		{long, "Req " + strings.Repeat("好", 8)},
	} {
		l := newLab(t, sglang.EngineConfig{Model: long})
		r := l.StartRequest(t.Context(), sglang.Request{RID: tc.rid}, t0)
		th := r.StartThread(sglang.Thread{Label: sglang.ThreadLabel(long + "\xff"), HostID: long, PID: 1}, t0)
		th.Abort(sglang.AbortReason{Type: new(long), Message: new(long), ErrType: new("\xff"), Reason: new(long)}, ms(1))
		r.End(sglang.Outcome{FinishReasons: []string{long, "\xff"}, PromptTokens: new(0), CompletionTokens: new(0), CachedTokens: new(0)}, ms(1))
		spans := l.spans.GetSpans()
		if got := spans[1].Name; got != tc.name {
			t.Errorf("rid %q: named %q, want %q", tc.rid, got, tc.name)
		}
		for _, s := range spans {
			if len(s.Name) > 256 || !utf8.ValidString(s.Name) || len(s.Status.Description) > 256 {
				t.Errorf("name of %d bytes, description of %d", len(s.Name), len(s.Status.Description))
			}
			for k, v := range values(s) {
				text, ok := v.(string)
				limit := 256
				switch k {
				case "message", "reason":
					limit = 1024
				case "gen_ai.response.finish_reasons":
					limit = 270
				}
				if ok && (len(text) > limit || !utf8.ValidString(text)) {
					t.Errorf("%s has %d bytes", k, len(text))
				}
			}
		}
	}
}

func TestConfigIsChecked(t *testing.T) {
	_, err := sglang.NewEngine(sglang.EngineConfig{PDRole: 3})
	if want := "sglang: EngineConfig.PDRole is 3, want PDRoleNone, PDRolePrefill or PDRoleDecode"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if _, err := sglang.NewEngine(sglang.EngineConfig{}, nil); err != nil {
		t.Error(err)
	}
}

func TestParsePDRole(t *testing.T) {
	for _, r := range []sglang.PDRole{sglang.PDRoleNone, sglang.PDRolePrefill, sglang.PDRoleDecode} {
		if got, err := sglang.ParsePDRole(r.String()); got != r || err != nil {
			t.Errorf("%v: got %v and %v", r, got, err)
		}
	}
	_, err := sglang.ParsePDRole("producer")
	if want := `sglang: PD role is "producer", want prefill, decode or none`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// Nothing panics and nothing is emitted without an Engine.
func TestNil(t *testing.T) {
	var tr *sglang.Engine
	if tr.TraceLevel() != sglang.LevelOff || tr.SetTraceLevel(1) != nil || tr.RecordScheduler(t.Context(), sglang.SchedulerStats{}) != nil {
		t.Error("a nil Engine does something")
	}
	r := tr.StartRequest(t.Context(), sglang.Request{}, t0)
	th := r.StartThread(sglang.Thread{}, t0)
	if r.Recording() {
		t.Error("a nil request records")
	}
	if r.Context() == nil {
		t.Error("a nil request has no context")
	}
	use(r, th)
	r = tr.Resume(th.Handover())
	use(r, r.StartThread(sglang.Thread{}, t0))
	use(nil, &sglang.ThreadSpan{})
}

// use calls every method once.
func use(r *sglang.RequestSpan, th *sglang.ThreadSpan) {
	th.StartStage(sglang.PrefillForward, ms(1))
	th.EndStage(sglang.PrefillForward, ms(2))
	th.RecordStage(sglang.DecodeWaiting, ms(2), ms(3))
	th.Retract(ms(3))
	th.Schedule(sglang.Batch{ID: "b"}, ms(3))
	th.Handover()
	th.End(ms(4))
	th.Abort(sglang.AbortReason{}, ms(4))
	r.Dispatched(ms(5))
	r.FirstToken(ms(6))
	r.Output(ms(7))
	r.End(counted, ms(8))
	r.Abort(sglang.AbortReason{}, sglang.Outcome{}, ms(8))
}
