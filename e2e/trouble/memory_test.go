package trouble

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/infertel/infertel-go/e2e/internal/process"
	"github.com/infertel/infertel-go/genai/otlp"
	"github.com/infertel/infertel-go/internal/otlpreceiver"
	"github.com/infertel/infertel-go/internal/otlpreceiver/otlptest"
)

// heapBound is what the gateway may hold when its collector is stuck: both queues
// full, and as much again for what is being made and sent.
const heapBound = 4 * otlp.QueueBytes

// What waits for a stuck collector is bounded, however much comes: full queues
// take what they may and no more. When the collector goes on, that arrives.
func TestMemoryWithAStuckCollector(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("a word and another, ", 400) // 8,000 bytes
	message := fmt.Sprintf(`{"role":"user","content":%q}`, text)
	request := `{"model":"m","messages":[` + strings.Repeat(message+",", 15) + message + `]}` // 128 kB
	answer, err := json.Marshal(map[string]any{
		"id": "x", "object": "chat.completion", "model": "m",
		"choices": []any{map[string]any{"index": 0, "message": map[string]any{"role": "assistant", "content": text}, "finish_reason": "stop"}},
		"usage":   map[string]any{"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
	})
	if err != nil {
		t.Fatal(err)
	}
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(answer)
	}))
	t.Cleanup(upstream.Close)
	program, err := process.Build("gateway", false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = program.Remove() })

	r := otlptest.New(t)
	stuck := make(chan struct{})
	free := sync.OnceFunc(func() { close(stuck) })
	t.Cleanup(free)
	for _, s := range []otlpreceiver.Signal{otlpreceiver.Traces, otlpreceiver.Logs} {
		r.SetHook(s, func(ctx context.Context, _ int) otlpreceiver.Reply {
			select {
			case <-stuck:
			case <-ctx.Done():
			}
			return otlpreceiver.Reply{}
		})
	}
	gateway, url := launch(t, program, upstream.URL, r.Endpoint(),
		"OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_AND_EVENT",
		"OTEL_EXPORTER_OTLP_TIMEOUT="+never, "OTEL_BSP_EXPORT_TIMEOUT="+never, "OTEL_BLRP_EXPORT_TIMEOUT="+never)
	tr := &trouble{T: t, gateway: gateway, url: url}
	send := func(n int) process.Stats {
		t.Helper()
		client := &http.Client{Timeout: clientTimeout}
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() {
				for range n / 2 {
					resp, err := client.Post(url+"/v1/chat/completions", "application/json", strings.NewReader(request))
					if err != nil {
						t.Error(err)
						continue
					}
					got, err := io.ReadAll(resp.Body)
					if err != nil || string(got) != string(answer) {
						t.Errorf("%d bytes, %v", len(got), err)
					}
					resp.Body.Close()
				}
			})
		}
		wg.Wait()
		tr.sent += n
		s, err := gateway.Stats()
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("after %d requests: %v", tr.sent, s)
		return s
	}
	send(2)
	filled := send(700) // 91 MB of each signal
	after := send(700)
	lost := func(signal string) int { return int(lostMetric(r, signal, "queue_full")) }
	tr.eventually("the metric tells of full queues", func() bool { return lost("traces") > 0 && lost("logs") > 0 })
	if n := len(r.Spans()) + len(r.Logs()); n > 0 {
		t.Errorf("%d items arrived although the collector is stuck", n)
	}
	if after.Heap > heapBound || after.Heap > filled.Heap+filled.Heap/10+8<<20 {
		t.Errorf("the heap is %.0f MiB, and %.0f MiB after as many requests again; the bound is %d MiB",
			process.MiB(filled.Heap), process.MiB(after.Heap), heapBound>>20)
	}

	began := time.Now()
	free()
	tr.eventually("what waited arrives", func() bool {
		return len(r.Spans())+lost("traces") == tr.sent && len(r.Logs())+lost("logs") == tr.sent
	})
	t.Logf("%d spans and %d log records waited and arrived within %v", len(r.Spans()), len(r.Logs()), time.Since(began).Round(time.Millisecond))
	if _, err := gateway.Interrupt(clientTimeout); err != nil {
		t.Error(err)
	}
}
