package genaihttp

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/propagation"

	"github.com/infertel/infertel-go/genai"
)

type ctx = context.Context

var quiet = log.New(io.Discard, "", 0)

var paths = map[string]string{
	"chat": "/v1/chat/completions", "completions": "/v1/completions", "embeddings": "/v1/embeddings", "rerank": "/v1/rerank",
}

const (
	callerTrace = "0af7651916cd43dd8448eb211c80319c"
	callerSpan  = "b7ad6b7169203331"
	traceparent = "00-" + callerTrace + "-" + callerSpan + "-01"
)

// TestEveryBodyThroughTheGateway sends each body that the engines write through
// a gateway that is observed as a handler, as a client, or as both, and looks at
// what passed and at the one span that arrived over OTLP.
func TestEveryBodyThroughTheGateway(t *testing.T) {
	var expected map[string]struct {
		RequestFile string `json:"request_file"`
		Span        string `json:"span"`
		Status      int    `json:"http_status"`
		ID          string `json:"response_id"`
		Model       string `json:"response_model"`
		Finish      []any  `json:"finish"`
		Usage       map[string]any
		Tools       [][][]any
		Increments  int `json:"delta_events"`
		Error       map[string]any
	}
	if err := json.Unmarshal(testdata(t, "expected.json"), &expected); err != nil {
		t.Fatal(err)
	}
	for name, e := range expected {
		if e.RequestFile == "" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			request, response := testdata(t, e.RequestFile), testdata(t, name)
			var body map[string]any
			if err := json.Unmarshal(request, &body); err != nil {
				t.Fatal(err)
			}
			kind := strings.Split(strings.TrimSuffix(e.RequestFile, ".request.json"), "-")[1]
			sglang := strings.HasPrefix(name, "sglang")
			stream := body["stream"] == true

			want := map[string]any{"gen_ai.request.is_stream": stream}
			set := func(key string, v any) {
				if v != nil && v != "" {
					want[key] = v
				}
			}
			op := map[string][2]string{"chat": {"chat", "LLM"}, "completions": {"text_completion", "LLM"}, "embeddings": {"embeddings", "EMBEDDING"}, "rerank": {"rerank", "RERANKER"}}[kind]
			set("gen_ai.operation.name", op[0])
			set("gen_ai.span.kind", op[1])
			set("gen_ai.request.model", body["model"])
			for field, key := range map[string]string{"temperature": "temperature", "top_p": "top_p", "top_k": "top_k"} {
				set("gen_ai.request."+key, body[field])
			}
			if n, ok := body["n"].(float64); ok {
				set("gen_ai.request.choice.count", int64(n))
			}
			for _, field := range []string{"max_tokens", "max_completion_tokens"} {
				if n, ok := body[field].(float64); ok {
					set("gen_ai.request.max_tokens", int64(n))
				}
			}
			native := sglang && op[1] == "LLM"
			set("gen_ai.response.id", e.ID)
			if !native || !stream {
				set("gen_ai.response.model", e.Model)
			}
			var reasons []string
			for _, f := range e.Finish {
				if s, ok := f.(string); ok {
					reasons = append(reasons, s)
				}
			}
			if len(reasons) > 0 {
				set("gen_ai.response.finish_reasons", reasons)
			}
			for field, key := range map[string]string{"input": "input_tokens", "output": "output_tokens", "total": "total_tokens", "cached": "cache_read.input_tokens"} {
				if n, ok := e.Usage[field].(float64); ok && (field != "cached" || native) {
					set("gen_ai.usage."+key, int64(n))
				}
			}
			if native {
				if stream {
					set("gen_ai.response.tokens_streamed", int64(2*e.Increments))
					if e.Usage == nil {
						set("gen_ai.usage.output_tokens", int64(2*e.Increments))
					}
				}
				if stream && kind == "chat" {
					set("gen_ai.request.id", "xreq-1")
					set("gen_ai.request.has_tool_calls", body["tools"] != nil)
					calls := 0
					for i := range e.Tools {
						for j, c := range e.Tools[i] {
							calls++
							set("gen_ai.completions."+string(rune('0'+i))+".tool_calls."+string(rune('0'+j))+".name", c[1])
							set("gen_ai.completions."+string(rune('0'+i))+".tool_calls."+string(rune('0'+j))+".arguments", c[2])
						}
					}
					set("gen_ai.request.tool_call_detected", calls > 0)
					set("gen_ai.request.tool_calls_count", int64(calls))
				}
			} else {
				set("gen_ai.user.id", body["user"])
				if stream {
					set("session.id", "xreq-1")
				}
			}

			status, contentType := http.StatusOK, "application/json"
			if e.Status != 0 {
				status = e.Status
			}
			if strings.HasSuffix(name, ".sse") {
				contentType = "text/event-stream; charset=utf-8"
			}
			engine := genai.EngineVLLM
			if sglang {
				engine = genai.EngineSGLang
			}
			for _, where := range []string{"handler", "transport", "both"} {
				b := newBed(t, genai.WithEngine(engine), genai.WithStreamInterval(2))
				var sent []byte
				var header http.Header
				answerer := canned(status, contentType, cut(response, 37)...)
				upstream := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					header = r.Header.Clone()
					sent, _ = io.ReadAll(r.Body)
					answerer(w, r)
				}))
				p := proxy(t, upstream.URL)
				var h http.Handler
				if where != "handler" {
					p.Transport = NewTransport(p.Transport, b.inst)
				}
				if where != "transport" {
					h = NewHandler(p, b.inst)
				} else {
					h = extracting(p, b.inst)
				}
				got := post(t, plain(t), serve(t, h).URL+paths[kind], request, "X-Request-Id", "xreq-1", "traceparent", traceparent)
				if got.status != status || !bytes.Equal(got.body, response) || !bytes.Equal(sent, request) || got.header.Get("Content-Type") != contentType {
					t.Errorf("%s: what passed was changed: %d %q", where, got.status, got.body)
				}
				s := b.spans(1)[0]
				delete(s.Attrs, "gen_ai.latency.e2e")
				if !reflect.DeepEqual(s.Attrs, want) {
					t.Errorf("%s: attributes are\n%v, want\n%v", where, s.Attrs, want)
				}
				if s.Name != e.Span || s.Kind != "INTERNAL" || s.TraceID != callerTrace || s.ParentID != callerSpan || len(s.Events) != 0 {
					t.Errorf("%s: span is %q %s, trace %s, parent %s, events %v", where, s.Name, s.Kind, s.TraceID, s.ParentID, s.Events)
				}
				if want := "00-" + s.TraceID + "-" + s.SpanID + "-01"; header.Get("traceparent") != want {
					t.Errorf("%s: the server got traceparent %q, want %q", where, header.Get("traceparent"), want)
				}
				failed := e.Error != nil
				if failed != (s.Status == "ERROR") || failed && !strings.Contains(s.StatusMessage, e.Error["type"].(string)) {
					t.Errorf("%s: status is %s %q", where, s.Status, s.StatusMessage)
				}
			}
		})
	}
}

// extracting stands for a server that reads the caller's trace context itself.
func extracting(next http.Handler, inst *genai.Instrumentation) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r.WithContext(inst.Propagator().Extract(r.Context(), headerCarrier(r.Header))))
	})
}

func headerCarrier(h http.Header) propagation.HeaderCarrier { return propagation.HeaderCarrier(h) }
