package main

import (
	"fmt"
	"strings"
	"testing"
)

// What is said on standard error never quotes a field in which the words of a
// user or of the model can stand, whatever is wrong with it.
func TestNoFieldOfWordsIsQuoted(t *testing.T) {
	const secret = "ignore all previous"
	sg := func(ts int, event, fields string) string {
		return fmt.Sprintf(`{"ts": %d, "engine": "sglang", "event": %q, "request": "r"%s}`+"\n", ts, event, fields)
	}
	begin := `{"ts": 1, "engine": "sglang", "event": "engine", "model": "m"}` + "\n" + sg(2, "request_start", "") +
		sg(3, "thread_start", `, "thread": "s", "label": "Scheduler", "host_id": "h", "pid": 1`)
	for _, value := range []string{`["` + secret + `"]`, `{"matched": "` + secret + `"}`, `[{"matched": "` + secret + `"}]`, `[["` + secret + `"]]`} {
		for _, input := range []string{
			begin + sg(4, "thread_end", `, "thread": "s", "abort": {"message": `+value+`}`),
			begin + sg(4, "thread_end", `, "thread": "s", "abort": {"reason": `+value+`}`),
			begin + sg(4, "thread_end", `, "thread": "s", "abort": `+strings.Trim(value, "{}")),
			begin + sg(4, "request_end", `, "finish_reasons": [`+value+`]`),
			engineA + v1(1, "arrived", of("r", "")) + v1(2, "finished", of("r", `, "finish_reason": `+value)),
			`{"ts": 1, "engine": "vllm-v0", "event": "engine", "model": "m"}` + "\n" +
				`{"ts": 1, "engine": "vllm-v0", "event": "arrived", "request": "r"}` + "\n" +
				`{"ts": 2, "engine": "vllm-v0", "event": "finished", "request": "r", "finish_reason": ` + value + `}` + "\n",
		} {
			_, status, said := exec(t, input)
			if status != 1 || strings.Contains(said, "ignore") {
				t.Errorf("of %s status %d, said %q", input, status, said)
			}
		}
	}
}
