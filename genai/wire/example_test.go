package wire_test

import (
	"context"
	"fmt"

	"github.com/infertel/infertel-go/genai"
	"github.com/infertel/infertel-go/genai/wire"
)

// A proxy that is not built on net/http hands on the bytes that pass, in pieces
// of any size.
func Example() {
	inst, err := genai.New(genai.WithOnEnd(func(_ context.Context, f genai.Finished) {
		fmt.Println(f.Operation, f.RequestModel, f.FinishReasons, *f.Usage.OutputTokens, f.Outcome)
	}))
	if err != nil {
		fmt.Println(err)
		return
	}
	op, ok := wire.OperationOf("/v1/chat/completions")
	if !ok {
		return // not a request to observe
	}
	_, x := wire.Start(context.Background(), inst, wire.RequestHead{Operation: op, RequestID: "r-1"})
	x.RequestBody([]byte(`{"model":"qwen3-8b","stream":true,"mess`))
	x.RequestBody([]byte(`ages":[{"role":"user","content":"hi"}]}`))
	x.ResponseHead(wire.ResponseHead{Status: 200, ContentType: "text/event-stream"})
	for _, piece := range []string{
		`data: {"id":"c1","choices":[{"index":0,"delta":{"con`, `tent":"Hello"},"finish_reason":"stop"}]}` + "\n\n",
		`data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":1,"total_tokens":4}}` + "\n\ndata: [DONE]\n\n",
	} {
		x.ResponseBody([]byte(piece))
	}
	x.End(nil)
	// Output: chat qwen3-8b [stop] 1 success
}
