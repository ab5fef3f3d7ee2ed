package main

import (
	"fmt"
	"strings"
	"testing"

	"go.opentelemetry.io/otel"
)

// An engine that does not tell how requests end has so many open and no more: the
// oldest is ended as aborted, others are not, and new ones are taken for ever. When
// all end at once, no span is lost.
func TestTooManyOpen(t *testing.T) {
	// More than can wait, and few enough that a slow machine exports them in time.
	t.Setenv("OTEL_BSP_MAX_QUEUE_SIZE", "2048")
	defer func(n int) { maxOpen = n }(maxOpen)
	maxOpen = 4096

	var said []string
	before := otel.GetErrorHandler()
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { said = append(said, err.Error()) }))
	defer otel.SetErrorHandler(before)

	for _, tt := range []struct{ engine, arrived, finished, name string }{
		{"vllm-v0", "arrived", "finished", "llm_request"},
		{"vllm-v1", "arrived", "finished", "llm_request"},
		{"sglang", "request_start", "request_end", "Req"},
	} {
		t.Run(tt.engine, func(t *testing.T) {
			line := func(i int, event, request string) string {
				return fmt.Sprintf(`{"ts": %d, "engine": %q, "event": %q, "request": %q, "model": "m"}`+"\n", t0+i*1000, tt.engine, event, request)
			}
			var in strings.Builder
			in.WriteString(line(0, "engine", "of no request"))
			for i := range maxOpen + 2 {
				in.WriteString(line(i, tt.arrived, fmt.Sprint("r", i)))
			}
			// The two oldest have ended, the third has not.
			in.WriteString(line(maxOpen+2, tt.finished, "r2"))
			if tt.engine != "sglang" { // of which late lines are no mistake
				in.WriteString(line(maxOpen+2, tt.finished, "r1"))
			}
			r, status, text := exec(t, in.String())
			if tt.engine != "sglang" && (status != exitLost || strings.Count(text, "\n") != 2 || !strings.Contains(text, `request "r1" is not open`)) {
				t.Errorf("exit status %d, said %.500q", status, text)
			}
			ended := map[int]int{} // by when
			for _, s := range r.FlatSpans() {
				if strings.HasPrefix(s.Name, tt.name) {
					ended[int(s.End-t0)/1000]++
				}
			}
			// r0 and r1 were ended by the two that came over the bound, the rest at the end.
			if len(ended) != 3 || ended[maxOpen] != 1 || ended[maxOpen+1] != 1 || ended[maxOpen+2] != maxOpen {
				t.Errorf("requests ended by time: %v", ended)
			}
		})
	}
	n := 0
	for _, s := range said {
		if strings.Contains(s, fmt.Sprintf("%d requests open", maxOpen)) {
			n++
		}
	}
	if n != 1 {
		t.Errorf("said %q", said)
	}
}
