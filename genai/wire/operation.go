package wire

import (
	"strings"

	"github.com/infertel/infertel-go/genai"
)

// paths maps the end of a path, as vLLM and SGLang serve it, to its operation.
var paths = []struct {
	suffix    string
	operation genai.Operation
}{
	{"/chat/completions", genai.OperationChat},
	{"/completions", genai.OperationTextCompletion},
	{"/embeddings", genai.OperationEmbeddings},
	{"/rerank", genai.OperationRerank},
	{"/score", genai.OperationRerank},
}

// OperationOf returns the operation that a POST to the path of a URL asks for,
// and whether it is one that is documented. Any prefix is allowed:
// /v1/completions and /team/v1/completions are the same operation.
func OperationOf(path string) (genai.Operation, bool) {
	path = strings.TrimSuffix(path, "/")
	for _, p := range paths {
		if strings.HasSuffix(path, p.suffix) {
			return p.operation, true
		}
	}
	return 0, false
}
