package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
)

// callsTime is when a client that waits for ever is given up.
const callsTime = time.Minute

// result is what a client made of an answer.
type result struct {
	Text   []string `json:"text"`  // of each choice
	Tools  []tool   `json:"tools"` // of the first choice
	Finish []string `json:"finish"`
	Input  int64    `json:"input"`
	Output int64    `json:"output"`
	ID     string   `json:"id"`
	// Vectors has the length of each embedding.
	Vectors []int `json:"vectors"`
	// Error is the status and the type of the error that the client returned.
	Error string `json:"error"`
}

type tool struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// nodeClient makes the calls with OpenAI's client for Node.js.
func nodeClient(t *testing.T, base string, calls []call) []result {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatal("Node.js 18 or newer is needed, as node in PATH: ", err)
	}
	if _, err := os.Stat("npm/node_modules/openai/package.json"); err != nil {
		t.Fatal("the npm clients are not installed: run scripts/npm.sh: ", err)
	}
	input, err := json.Marshal(map[string]any{"base": base + "/v1", "calls": calls})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), callsTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, node, "client.mjs")
	cmd.Dir = "npm"
	cmd.Stdin = bytes.NewReader(input)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	output, err := cmd.Output()
	var results []result
	if err == nil {
		err = json.Unmarshal(output, &results)
	}
	if err != nil {
		t.Fatalf("client.mjs: %v\n%s%s", err, output, &stderr)
	}
	return results
}

// goClient makes the calls with OpenAI's client for Go.
func goClient(t *testing.T, base string, calls []call) []result {
	t.Helper()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	client := openai.NewClient(option.WithBaseURL(base+"/v1/"), option.WithAPIKey("none"), option.WithMaxRetries(0), option.WithHTTPClient(&http.Client{Transport: transport}))
	ctx, cancel := context.WithTimeout(t.Context(), callsTime)
	defer cancel()
	var results []result
	for _, c := range calls {
		var headers []option.RequestOption
		for k, v := range c.Headers {
			headers = append(headers, option.WithHeader(k, v))
		}
		var r result
		err := goCall(ctx, client, c, &r, headers)
		var api *openai.Error
		switch {
		case errors.As(err, &api):
			r.Error = strings.TrimSpace(fmt.Sprint(api.StatusCode, " ", api.Type))
		case err != nil:
			r.Error = err.Error()
		}
		results = append(results, r)
	}
	return results
}

func goCall(ctx context.Context, client openai.Client, c call, r *result, with []option.RequestOption) error {
	switch c.Kind {
	case "embeddings":
		answer, err := client.Embeddings.New(ctx, param.Override[openai.EmbeddingNewParams](c.Request), with...)
		if err != nil {
			return err
		}
		for _, e := range answer.Data {
			r.Vectors = append(r.Vectors, len(e.Embedding))
		}
		r.Input = answer.Usage.PromptTokens
	case "completions":
		p := param.Override[openai.CompletionNewParams](c.Request)
		if !c.Stream {
			answer, err := client.Completions.New(ctx, p, with...)
			if err == nil {
				r.completion(answer)
			}
			return err
		}
		stream := client.Completions.NewStreaming(ctx, p, with...)
		defer stream.Close()
		for stream.Next() {
			piece := stream.Current()
			r.completion(&piece)
		}
		return stream.Err()
	case "chat":
		p := param.Override[openai.ChatCompletionNewParams](c.Request)
		if !c.Stream {
			answer, err := client.Chat.Completions.New(ctx, p, with...)
			if err == nil {
				r.chat(answer)
			}
			return err
		}
		stream := client.Chat.Completions.NewStreaming(ctx, p, with...)
		defer stream.Close()
		var whole openai.ChatCompletionAccumulator
		for stream.Next() {
			whole.AddChunk(stream.Current())
			if c.Leaves {
				break
			}
		}
		r.chat(&whole.ChatCompletion)
		return stream.Err()
	}
	return nil
}

func (r *result) chat(answer *openai.ChatCompletion) {
	r.ID, r.Input, r.Output = answer.ID, answer.Usage.PromptTokens, answer.Usage.CompletionTokens
	for _, choice := range answer.Choices {
		r.Text, r.Finish = append(r.Text, choice.Message.Content), append(r.Finish, choice.FinishReason)
		for _, t := range choice.Message.ToolCalls {
			r.Tools = append(r.Tools, tool{t.Function.Name, t.Function.Arguments})
		}
	}
}

func (r *result) completion(answer *openai.Completion) {
	r.ID = answer.ID
	if n := answer.Usage; n.PromptTokens > 0 {
		r.Input, r.Output = n.PromptTokens, n.CompletionTokens
	}
	for _, choice := range answer.Choices {
		for int(choice.Index) >= len(r.Text) {
			r.Text, r.Finish = append(r.Text, ""), append(r.Finish, "")
		}
		r.Text[choice.Index] += choice.Text
		if choice.FinishReason != "" {
			r.Finish[choice.Index] = string(choice.FinishReason)
		}
	}
}
