package main

import (
	"bytes"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"

	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/infertel/infertel-go/genai"
	"github.com/infertel/infertel-go/genai/genaihttp"
)

// The bodies are those that engines wrote.
func body(name string) []byte {
	return must(os.ReadFile(filepath.Join(root(), "genai/wire/testdata", name)))
}

const (
	chunkStart = `data: {"id":"chatcmpl-71aa5e0f3c2b4d68","object":"chat.completion.chunk","created":1790000000,"model":"qwen3-8b","choices":[{"index":0,"delta":`
	chunkEnd   = `,"logprobs":null,"finish_reason":null,"token_ids":null}]}` + "\n\n"
	lastChunks = chunkStart + `{"content":""},"logprobs":null,"finish_reason":"stop","stop_reason":null,"token_ids":null}]}` + "\n\n" +
		`data: {"id":"chatcmpl-71aa5e0f3c2b4d68","object":"chat.completion.chunk","created":1790000000,"model":"qwen3-8b","choices":[],"usage":{"prompt_tokens":26,"total_tokens":526,"completion_tokens":500}}` + "\n\n" +
		"data: [DONE]\n\n"
	chunks = 500
)

// words are what a model writes, a line break and a quote among them.
var words = func() (pieces [][]byte) {
	for _, w := range []string{"The", " capital", " of", " France", " is", " Paris", ".", " It", " lies", " on", " the", " Seine", `\n`, ` \"la`, " ville", " lumière", `\"`, ".", " The", " city"} {
		pieces = append(pieces, []byte(chunkStart+`{"content":"`+w+`"}`+chunkEnd))
	}
	return pieces
}()

// answerStream writes a stream as vLLM does, each chunk flushed: the role, the
// text, and what ends it.
func answerStream(n int) http.HandlerFunc {
	role, last := []byte(chunkStart+`{"role":"assistant","content":""}`+chunkEnd), []byte(lastChunks)
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		f := w.(http.Flusher)
		write := func(p []byte) {
			_, _ = w.Write(p)
			f.Flush()
		}
		write(role)
		for i := range n {
			write(words[i%len(words)])
		}
		write(last)
	}
}

func answerDocument() http.HandlerFunc {
	document := body("vllm-chat.json")
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(document)
	}
}

// observers are the ways to observe a handler, by name.
var observers = map[string]func(http.Handler) http.Handler{
	"bare": func(h http.Handler) http.Handler { return h },
	"otelhttp": func(h http.Handler) http.Handler {
		return otelhttp.NewHandler(h, "gateway", otelhttp.WithTracerProvider(spansOf(sampled)), otelhttp.WithMeterProvider(metrics()))
	},
	"ours":                    ours(genai.ContentNone, sampled),
	"ours, content":           ours(genai.ContentSpan, sampled),
	"ours, unsampled":         ours(genai.ContentNone, unsampled),
	"ours, content unsampled": ours(genai.ContentSpan, unsampled),
}

func ours(content genai.ContentMode, sampler sdktrace.Sampler) func(http.Handler) http.Handler {
	return func(h http.Handler) http.Handler {
		return genaihttp.NewHandler(h, must(genai.New(genai.WithTracerProvider(spansOf(sampler)), genai.WithMeterProvider(metrics()), genai.WithContent(content))))
	}
}

// serveOnce returns a function that serves one request after another.
func serveOnce(h http.Handler, request []byte, w http.ResponseWriter) func() {
	target := &url.URL{Path: "/v1/chat/completions"}
	header := http.Header{
		"Accept": {"application/json"}, "Accept-Encoding": {"gzip, deflate"}, "Authorization": {"Bearer none"}, "Connection": {"keep-alive"},
		"Content-Length": {strconv.Itoa(len(request))}, "Content-Type": {"application/json"}, "User-Agent": {"OpenAI/Python 2.8.1"},
		"Traceparent": {"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"},
	}
	return func() {
		clear(w.Header())
		h.ServeHTTP(w, &http.Request{
			Method: http.MethodPost, URL: target, Header: header, Host: "gateway", Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
			Body: io.NopCloser(bytes.NewReader(request)), ContentLength: int64(len(request)), RemoteAddr: "127.0.0.1:1",
		})
	}
}

func served(observer string, h http.HandlerFunc, request string) subject {
	return loop(observer, func() func() {
		return serveOnce(observers[observer](h), body(request), &discard{header: http.Header{}})
	})
}

// discard is a response writer that costs nothing.
type discard struct{ header http.Header }

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) WriteHeader(int)             {}
func (d *discard) Write(p []byte) (int, error) { return len(p), nil }
func (d *discard) Flush()                      {}

func httpGroups() []group {
	document, stream := group{name: "document"}, group{name: "stream"}
	for _, o := range []string{"bare", "otelhttp", "ours", "ours, unsampled"} {
		document.subjects = append(document.subjects, served(o, answerDocument(), "vllm-chat.request.json"))
	}
	for _, o := range []string{"bare", "otelhttp", "ours", "ours, content", "ours, unsampled", "ours, content unsampled"} {
		stream.subjects = append(stream.subjects, served(o, answerStream(chunks), "vllm-chat-stream.request.json"))
	}
	return []group{document, stream}
}

func httpRows() []row {
	return []row{
		documentRow("non-streaming chat through the handler, added to the bare handler"),
		streamRow("500-chunk stream, content off, added", "stream/ours", 0.25, 60),
		streamRow("500-chunk stream, content on, added", "stream/ours, content", 0.5, 0),
		ratioRow("500-chunk stream, content on: unsampled against sampled", "stream/ours, content", "stream/ours, content unsampled", 0.8, 0),
		ratioRow("500-chunk stream, content off: unsampled against sampled", "stream/ours", "stream/ours, unsampled", 0, 0),
	}
}
