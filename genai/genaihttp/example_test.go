package genaihttp_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"

	"github.com/infertel/infertel-go/genai"
	"github.com/infertel/infertel-go/genai/genaihttp"
)

func answer(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, `{"id":"c1","model":"qwen3-8b","choices":[{"index":0,"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":1}}`)
}

func told(_ context.Context, f genai.Finished) {
	fmt.Println(f.Operation, f.RequestModel, f.FinishReasons, *f.Usage.InputTokens, *f.Usage.OutputTokens)
}

// A handler that answers requests by itself is wrapped, and is observed as it is.
func Example() {
	inst, err := genai.New(genai.WithOnEnd(told))
	if err != nil {
		fmt.Println(err)
		return
	}
	handler := genaihttp.NewHandler(http.HandlerFunc(answer), inst)

	w := httptest.NewRecorder()
	handler.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/v1/chat/completions", strings.NewReader(`{"model":"qwen3-8b"}`)))
	handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/v1/models", nil)) // not observed
	// Output: chat qwen3-8b [stop] 3 1
}

// A gateway wraps its reverse proxy.
func ExampleNewHandler() {
	engine := httptest.NewServer(http.HandlerFunc(answer))
	defer engine.Close()
	target, err := url.Parse(engine.URL)
	if err != nil {
		fmt.Println(err)
		return
	}

	inst, err := genai.New(genai.WithEngine(genai.EngineVLLM), genai.WithOnEnd(told))
	if err != nil {
		fmt.Println(err)
		return
	}
	mux := http.NewServeMux()
	mux.Handle("/v1/", genaihttp.NewHandler(httputil.NewSingleHostReverseProxy(target), inst))

	w := httptest.NewRecorder()
	mux.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/v1/chat/completions", strings.NewReader(`{"model":"qwen3-8b"}`)))
	fmt.Println(w.Code)
	// Output:
	// chat qwen3-8b [stop] 3 1
	// 200
}

// A client gives its requests spans through its transport.
func ExampleNewTransport() {
	engine := httptest.NewServer(http.HandlerFunc(answer))
	defer engine.Close()

	inst, err := genai.New(genai.WithOnEnd(told))
	if err != nil {
		fmt.Println(err)
		return
	}
	client := &http.Client{Transport: genaihttp.NewTransport(nil, inst)}
	resp, err := client.Post(engine.URL+"/v1/chat/completions", "application/json", strings.NewReader(`{"model":"qwen3-8b"}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, resp.Body) // the span ends with the body
	// Output: chat qwen3-8b [stop] 3 1
}

// A gateway with paths of its own says which operation each of them is.
func ExampleWithOperation() {
	inst, err := genai.New(genai.WithOnEnd(told))
	if err != nil {
		fmt.Println(err)
		return
	}
	handler := genaihttp.NewHandler(http.HandlerFunc(answer), inst, genaihttp.WithOperation(func(r *http.Request) (genai.Operation, bool) {
		return genai.OperationChat, r.URL.Path == "/ask"
	}))
	handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/ask", strings.NewReader(`{"model":"qwen3-8b"}`)))
	// Output: chat qwen3-8b [stop] 3 1
}

// The server is asked for the usage of a stream, and the client gets what it
// asked for.
func ExampleWithIncludeUsage() {
	inst, err := genai.New(genai.WithOnEnd(told))
	if err != nil {
		fmt.Println(err)
		return
	}
	stream := func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, `data: {"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":"stop"}]}`+"\n\n")
		if strings.Contains(string(body), "include_usage") {
			_, _ = io.WriteString(w, `data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":1}}`+"\n\n")
		}
		_, _ = io.WriteString(w, "data: [DONE]\n\n")
	}
	handler := genaihttp.NewHandler(http.HandlerFunc(stream), inst, genaihttp.WithIncludeUsage())

	w := httptest.NewRecorder()
	handler.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/v1/chat/completions", strings.NewReader(`{"model":"qwen3-8b","stream":true}`)))
	fmt.Println(strings.Contains(w.Body.String(), "usage"))
	// Output:
	// chat qwen3-8b [stop] 3 1
	// false
}
