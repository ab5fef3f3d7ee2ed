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
