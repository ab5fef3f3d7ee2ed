package genaihttp

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/infertel/infertel-go/genai"
)

// TestTraceContext runs the headers that callers really send.
func TestTraceContext(t *testing.T) {
	const id, parent = callerTrace, callerSpan
	for _, c := range []struct {
		header  string
		parent  bool
		sampled bool
	}{
		{"00-" + id + "-" + parent + "-01", true, true},
		{"01-" + id + "-" + parent + "-01-more", true, true},
		{"00-0000000000000000" + id[16:] + "-" + parent + "-01", true, true},
		{"00-" + id + "-" + parent + "-00", true, false},
		{"", false, true},
		{"garbage", false, true},
		{"00-" + strings.ToUpper(id) + "-" + parent + "-01", false, true},
		{"ff-" + id + "-" + parent + "-01", false, true},
		{"00-" + id + "-" + parent + "-01-more", false, true},
		{"00-" + strings.Repeat("0", 32) + "-" + parent + "-01", false, true},
		{"00-" + id + "-" + strings.Repeat("0", 16) + "-01", false, true},
		{"00-" + id + "-" + parent + "-ff", false, true},
	} {
		for _, public := range []bool{false, true} {
			var opts []genai.Option
			if public {
				opts = append(opts, genai.WithPublicEndpoint())
			}
			b := newBed(t, opts...)
			var onward string
			h := NewHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				onward = r.Header.Get("traceparent")
				canned(200, "application/json", testdata(t, "vllm-chat.json"))(w, r)
			}), b.inst)
			post(t, plain(t), serve(t, h).URL+chatPath, chatStream, "traceparent", c.header)
			<-b.ends
			b.Flush()
			spans := b.Receiver.FlatSpans()
			if !c.sampled && !public {
				if len(spans) != 0 || !strings.HasPrefix(onward, "00-"+id) || !strings.HasSuffix(onward, "-00") {
					t.Errorf("%q: %d spans, sent on as %q", c.header, len(spans), onward)
				}
				if len(b.Receiver.LastPoints()) == 0 {
					t.Errorf("%q: no tokens were counted", c.header)
				}
				continue
			}
			if len(spans) != 1 {
				t.Fatalf("%q: %d spans", c.header, len(spans))
			}
			s := spans[0]
			if child := s.ParentID != ""; child != (c.parent && !public) {
				t.Errorf("%q, public %v: parent is %q", c.header, public, s.ParentID)
			}
			if linked := len(s.Links) > 0; linked != (c.parent && public) {
				t.Errorf("%q, public %v: links are %v", c.header, public, s.Links)
			}
			if onward != "00-"+s.TraceID+"-"+s.SpanID+"-01" {
				t.Errorf("%q: sent on as %q", c.header, onward)
			}
		}
	}
}

// TestNothingOfTheCallerBecomesALabel: users, sessions, ids, hosts and invented
// models leave the number of series alone.
func TestNothingOfTheCallerBecomesALabel(t *testing.T) {
	b := newBed(t)
	good := testdata(t, "vllm-chat.json")
	h := NewHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if bytes.Contains(body, []byte("invented")) {
			http.Error(w, `{"error":{"type":"NotFoundError"},"usage":{"prompt_tokens":1}}`, http.StatusNotFound)
			return
		}
		_, _ = w.Write(good)
	}), b.inst)
	const n = 300
	for i := range n {
		for _, model := range []string{"qwen3-8b", fmt.Sprint("invented-", i)} {
			body := fmt.Sprintf(`{"model":%q,"user":"u%d","session_id":"s%d"}`, model, i, i)
			r := httptest.NewRequest(http.MethodPost, chatPath, strings.NewReader(body))
			r.Host = fmt.Sprintf("host-%d", i)
			r.Header.Set("X-Request-Id", fmt.Sprint(i))
			h.ServeHTTP(httptest.NewRecorder(), r)
		}
	}
	b.Flush()
	series := map[string]bool{}
	for _, p := range b.Receiver.LastPoints() {
		series[fmt.Sprint(p.Name, p.Attrs)] = true
	}
	if len(series) != 3 { // input and output of the model, input of all others together
		t.Errorf("%d series: %v", len(series), series)
	}
}
