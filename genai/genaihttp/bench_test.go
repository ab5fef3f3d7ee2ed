package genaihttp

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/infertel/infertel-go/genai"
)

// BenchmarkHandler compares an observed handler with the bare one on the same
// bytes: a document, and a stream of 500 chunks.
func BenchmarkHandler(b *testing.B) {
	document := testdata(b, "vllm-chat.json")
	var pieces [][]byte
	for _, word := range []string{"The", " capital", " of", " France", " is", " Paris", ".", " It", " lies", " on", " the", " Seine", "\\n"} {
		pieces = append(pieces, []byte(`data: {"id":"chatcmpl-71aa5e0f3c2b4d68","object":"chat.completion.chunk","created":1790000000,"model":"qwen3-8b","choices":[{"index":0,"delta":{"content":"`+word+`"},"logprobs":null,"finish_reason":null,"token_ids":null}]}`+"\n\n"))
	}
	last := []byte(finish + usage + endMark)
	serve := map[string]http.HandlerFunc{
		"document": func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write(document)
		},
		"stream": func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			w.Header().Set("Content-Type", "text/event-stream")
			f := w.(http.Flusher)
			for i := range 500 {
				_, _ = w.Write(pieces[i%len(pieces)])
				f.Flush()
			}
			_, _ = w.Write(last)
			f.Flush()
		},
	}
	requests := map[string][]byte{"document": testdata(b, "vllm-chat.request.json"), "stream": testdata(b, "vllm-chat-stream.request.json")}
	for _, kind := range []string{"document", "stream"} {
		run := func(name string, h http.Handler) {
			b.Run(kind+"/"+name, func(b *testing.B) {
				w := &discard{header: http.Header{}}
				b.ReportAllocs()
				for b.Loop() {
					clear(w.header)
					h.ServeHTTP(w, httptest.NewRequest(http.MethodPost, chatPath, bytes.NewReader(requests[kind])))
				}
			})
		}
		run("bare", serve[kind])
		for _, v := range []struct {
			name    string
			engine  genai.Engine
			content genai.ContentMode
			sampler sdktrace.Sampler
		}{
			{"vllm", genai.EngineVLLM, genai.ContentNone, sdktrace.AlwaysSample()},
			{"sglang", genai.EngineSGLang, genai.ContentNone, sdktrace.AlwaysSample()},
			{"content", genai.EngineVLLM, genai.ContentSpan, sdktrace.AlwaysSample()},
			{"unsampled", genai.EngineVLLM, genai.ContentSpan, sdktrace.NeverSample()},
		} {
			inst, err := genai.New(
				genai.WithTracerProvider(sdktrace.NewTracerProvider(sdktrace.WithSampler(v.sampler))),
				genai.WithMeterProvider(sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewManualReader()))),
				genai.WithEngine(v.engine), genai.WithContent(v.content))
			if err != nil {
				b.Fatal(err)
			}
			run(v.name, NewHandler(serve[kind], inst))
		}
		off, err := genai.New()
		if err != nil {
			b.Fatal(err)
		}
		run("off", NewHandler(serve[kind], off))
	}
}

// discard is a response writer that costs nothing.
type discard struct{ header http.Header }

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) WriteHeader(int)             {}
func (d *discard) Write(p []byte) (int, error) { return len(p), nil }
func (d *discard) Flush()                      {}
