package wire

import (
	"testing"

	"github.com/infertel/infertel-go/genai"
)

// TestDuplicateMembers: the last one that can be read counts, as with the
// engines, and one that cannot be read leaves the others alone.
func TestDuplicateMembers(t *testing.T) {
	for body, want := range map[string][2]int{
		`{"n":2,"n":3,"max_tokens":8,"max_tokens":9}`:                            {3, 9},
		`{"n":2,"n":1.5,"max_tokens":16,"max_tokens":2.5}`:                       {2, 16},
		`{"n":2,"n":"7","max_completion_tokens":64,"max_completion_tokens":0.5}`: {2, 64},
		`{"n":2,"n":1e400,"max_tokens":16,"max_tokens":-1e400}`:                  {2, 16},
	} {
		x := observe(t, genai.EngineVLLM)
		x.RequestBody([]byte(body))
		r := x.Request()
		if r.ChoiceCount == nil || r.MaxTokens == nil || *r.ChoiceCount != want[0] || *r.MaxTokens != want[1] {
			t.Errorf("%s: request is %+v", body, r)
		}
		x.End(nil)
	}
	x := observe(t, genai.EngineVLLM)
	x.RequestBody([]byte(`{"model":"a","model":"b","user":"u","user":"v","stream":true,"stream":false}`))
	if r := x.Request(); r.Model != "b" || r.UserID != "v" || r.Stream {
		t.Errorf("request is %+v", r)
	}
	x.End(nil)
}

// TestManyChoicesOfManyPrompts: their product does not overflow.
func TestManyChoicesOfManyPrompts(t *testing.T) {
	x := observe(t, genai.EngineVLLM)
	x.RequestBody([]byte(`{"n":4611686018427387904,"stream":true,"prompt":["a","b","c"]}`))
	x.ResponseHead(ResponseHead{Status: 200, ContentType: "text/event-stream"})
	x.ResponseBody([]byte(stop + "\n\n"))
	if x.complete() {
		t.Error("one choice of many makes the answer complete")
	}
	x.End(nil)
}
