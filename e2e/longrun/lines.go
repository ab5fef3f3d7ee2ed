package main

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// engines are what a run has, by number: two of vLLM V1 are told apart by index.
const engines = 4

// lines writes the events of engines. It remembers the first error.
type lines struct {
	io.Writer
	err error
	at  int64 // nanoseconds
}

func (w *lines) say(engine int, event, request, more string) {
	w.at += int64(time.Millisecond)
	name := []string{"vllm-v0", "vllm-v1", "vllm-v1", "sglang"}[engine]
	if engine == 2 {
		more += `,"engine_index":1`
	}
	if request != "" {
		more += fmt.Sprintf(`,"request":%q`, request)
	}
	if _, err := fmt.Fprintf(w, `{"ts":%d,"engine":%q,"event":%q%s}`+"\n", w.at, name, event, more); err != nil && w.err == nil {
		w.err = err
	}
}

func (w *lines) declare() {
	for e := range engines {
		w.say(e, "engine", "", `,"model":"m"`)
	}
}

// request tells of a request to its end, or all but the end.
func (w *lines) request(engine int, id string, ends bool) {
	if engine < 3 {
		w.say(engine, "arrived", id, `,"prompt_tokens":7`)
	}
	switch engine {
	case 0:
		w.say(engine, "scheduled", id, "")
		w.say(engine, "first_token", id, "")
		if ends {
			w.say(engine, "finished", id, `,"finish_reason":"stop","num_sequences":1,"completion_tokens":3`)
		}
	case 1, 2:
		w.say(engine, "queued", id, "")
		w.say(engine, "scheduled", id, "")
		w.say(engine, "prefill", id, `,"token_count":1`)
		for range 3 {
			w.say(engine, "decode", id, `,"token_count":1`)
		}
		if ends {
			w.say(engine, "finished", id, `,"finish_reason":"stop","completion_tokens":4`)
		}
	case 3:
		w.say(engine, "request_start", id, "")
		for _, thread := range []string{"Tokenizer", "Scheduler"} {
			w.say(engine, "thread_start", id, fmt.Sprintf(`,"thread":%q,"label":%q,"pid":1`, thread, thread))
		}
		w.say(engine, "stage_start", id, `,"thread":"Tokenizer","stage":"tokenize"`)
		w.say(engine, "stage_end", id, `,"thread":"Tokenizer","stage":"tokenize"`)
		w.say(engine, "thread_end", id, `,"thread":"Tokenizer"`)
		w.say(engine, "stage_start", id, `,"thread":"Scheduler","stage":"prefill_forward"`)
		w.say(engine, "schedule", id, `,"thread":"Scheduler","bid":"b","batch_size":1`)
		// The stage and the thread are left open: they end with the request.
		if ends {
			w.say(engine, "request_end", id, `,"finish_reasons":["stop"],"prompt_tokens":7,"completion_tokens":4`)
		}
	}
}

func (w *lines) stats() {
	w.say(1, "stats", "", `,"running":1,"waiting":0,"kv_cache_usage":0.5`)
	w.say(3, "stats", "", `,"running":1,"queued":0,"used_tokens":1,"token_usage":0.5,"gen_throughput":1`)
}

// isRequest reports whether a span stands for a whole request.
func isRequest(name string) bool { return name == "llm_request" || strings.HasPrefix(name, "Req ") }
