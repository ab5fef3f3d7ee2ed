package e2e

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

// engine answers like an inference server, with the bodies that one wrote, and
// keeps what it sent so that it can be compared with what the client saw.
type engine struct {
	t      *testing.T
	prefix string
	mu     sync.Mutex
	sent   []byte
	parent string
}

func (e *engine) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	request, _ := io.ReadAll(r.Body)
	streamed := bytes.Contains(request, []byte(`"stream":true`))
	name := map[string]string{"/v1/chat/completions": "chat", "/v1/completions": "completions", "/v1/embeddings": "embeddings"}[r.URL.Path]
	contentType, suffix := "application/json", ".json"
	if streamed {
		name, contentType, suffix = name+"-stream", "text/event-stream; charset=utf-8", ".sse"
	}
	if bytes.Contains(request, []byte(`"tools"`)) {
		name += "-tools"
	}
	b := body(e.t, e.prefix+name+suffix)
	e.mu.Lock()
	e.sent, e.parent = b, r.Header.Get("traceparent")
	e.mu.Unlock()
	w.Header().Set("Content-Type", contentType)
	for len(b) > 0 {
		n := min(len(b), 100)
		_, _ = w.Write(b[:n])
		w.(http.Flusher).Flush()
		b = b[n:]
	}
}

// tap keeps the bytes that the client reads.
type tap struct{ seen bytes.Buffer }

func (s *tap) RoundTrip(r *http.Request) (*http.Response, error) {
	s.seen.Reset()
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err == nil {
		resp.Body = struct {
			io.Reader
			io.Closer
		}{io.TeeReader(resp.Body, &s.seen), resp.Body}
	}
	return resp, err
}

// TestOpenAIClient runs the official Go client through the gateway.
func TestOpenAIClient(t *testing.T) {
	e := &engine{t: t, prefix: "vllm-"}
	g := startGateway(t, "vllm", e)
	seen := &tap{}
	client := openai.NewClient(option.WithBaseURL(g.url+"/v1/"), option.WithAPIKey("none"), option.WithHTTPClient(&http.Client{Transport: seen}))
	ctx := context.Background()
	var want []string // names of the spans
	same := func(what string) {
		t.Helper()
		e.mu.Lock()
		defer e.mu.Unlock()
		if !bytes.Equal(seen.seen.Bytes(), e.sent) {
			t.Errorf("%s: the client saw %d bytes, the engine sent %d", what, seen.seen.Len(), len(e.sent))
		}
		if e.parent == "" {
			t.Errorf("%s: no trace context went upstream", what)
		}
	}
	messages := []openai.ChatCompletionMessageParamUnion{openai.UserMessage("Name a prime over 10.")}
	tools := []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(openai.FunctionDefinitionParam{Name: "get_weather"})}

	chat, err := client.Chat.Completions.New(ctx, openai.ChatCompletionNewParams{Model: "qwen3-8b", Messages: messages, Temperature: openai.Float(0)})
	if err != nil || chat.Choices[0].Message.Content != "11 is prime." || chat.Usage.PromptTokens != 26 {
		t.Fatalf("chat: %+v, %v", chat, err)
	}
	same("chat")
	want = append(want, "chat qwen3-8b")

	chat, err = client.Chat.Completions.New(ctx, openai.ChatCompletionNewParams{Model: "qwen3-8b", Messages: messages, Tools: tools})
	if err != nil || len(chat.Choices[0].Message.ToolCalls) != 2 {
		t.Fatalf("chat with tools: %+v, %v", chat, err)
	}
	same("chat with tools")
	want = append(want, "chat qwen3-8b")

	for _, withTools := range []bool{false, true} {
		p := openai.ChatCompletionNewParams{Model: "qwen3-8b", Messages: messages}
		if withTools {
			p.Tools = tools
		}
		stream := client.Chat.Completions.NewStreaming(ctx, p)
		var acc openai.ChatCompletionAccumulator
		for stream.Next() {
			acc.AddChunk(stream.Current())
		}
		if err := stream.Err(); err != nil {
			t.Fatal(err)
		}
		if withTools && (len(acc.Choices[0].Message.ToolCalls) != 2 || acc.Usage.PromptTokens != 212) || !withTools && acc.Choices[0].Message.Content != "你好，世界🌍" {
			t.Errorf("stream, tools %v: %+v", withTools, acc.ChatCompletion)
		}
		if err := stream.Close(); err != nil {
			t.Error(err)
		}
		if got, sent := seen.seen.String(), string(e.sent); !strings.HasPrefix(sent, got) || !strings.Contains(got, "[DONE]") {
			t.Errorf("stream: the client saw %d bytes of %d", len(got), len(sent))
		}
		want = append(want, "chat qwen3-8b")
	}

	if _, err := client.Completions.New(ctx, openai.CompletionNewParams{Model: "llama-3.2-1b", Prompt: openai.CompletionNewParamsPromptUnion{OfString: openai.String("The capital of France is")}}); err != nil {
		t.Fatal(err)
	}
	same("completions")
	want = append(want, "text_completion llama-3.2-1b")

	embeddings, err := client.Embeddings.New(ctx, openai.EmbeddingNewParams{Model: "bge-m3", Input: openai.EmbeddingNewParamsInputUnion{OfArrayOfStrings: []string{"first text", "second text"}}})
	if err != nil || len(embeddings.Data) != 2 || len(embeddings.Data[0].Embedding) != 3 {
		t.Fatalf("embeddings: %+v, %v", embeddings, err)
	}
	same("embeddings")
	want = append(want, "embeddings bge-m3")

	if code := g.stop(); code != 0 {
		t.Errorf("exit status %d\n%s", code, &g.stderr)
	}
	var got []string
	for _, s := range g.receiver.FlatSpans() {
		if s.Status != "UNSET" || s.Attrs["gen_ai.usage.input_tokens"] == nil {
			t.Errorf("%s: %s %q, %v", s.Name, s.Status, s.StatusMessage, s.Attrs)
		}
		got = append(got, s.Name)
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("spans are %q, want %q", got, want)
	}
}
