package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"
)

// TestLoadReachesTheServer, without a gateway between: every answer and every
// chunk is counted, and no chunk arrives before it was sent.
func TestLoadReachesTheServer(t *testing.T) {
	server := startServer()
	defer server.Close()
	for _, l := range []load{
		{name: "idle"},
		{name: "document", requests: 20, clients: 3, request: documentRequest},
		{name: "stream", requests: 3, clients: 2, request: streamRequest, chunks: chunks},
	} {
		r, err := l.run(context.Background(), server.URL)
		if err != nil || len(r.waits) != l.requests*max(l.chunks, 1) {
			t.Errorf("%s: %d answers, %v", l.name, len(r.waits), err)
		}
		for _, d := range r.waits {
			if d <= 0 {
				t.Errorf("%s: one took %v", l.name, d)
			}
		}
	}
	lost := load{name: "a document that should be a stream", requests: 1, clients: 1, request: documentRequest, chunks: chunks}
	if _, err := lost.run(context.Background(), server.URL); err == nil {
		t.Error("a missing chunk goes unnoticed")
	}
}

func TestTable(t *testing.T) {
	us := func(n int) time.Duration { return time.Duration(n) * time.Microsecond }
	loads := []load{{name: "document", requests: 10}, {name: "stream", requests: 2, chunks: 5}}
	results := map[string][]result{
		"without idle": {{cpu: us(100)}}, "with idle": {{cpu: us(200)}},
		"without document": {{cpu: us(1100), waits: []time.Duration{us(10), us(20)}}, {cpu: us(1100)}},
		"with document":    {{cpu: us(1400), waits: []time.Duration{us(15), us(50)}}, {cpu: us(1400)}},
		"without stream":   {{cpu: us(1100), waits: []time.Duration{us(1)}}},
		"with stream":      {{cpu: us(1220), waits: []time.Duration{us(2)}}},
	}
	var b bytes.Buffer
	write(&b, loads, results)
	for _, want := range []string{
		"document, CPU a request 100µs 120µs 20µs", "document, p50 of a request 20µs 50µs 30µs",
		"stream, CPU a request 500µs 510µs 10µs", "stream, CPU a chunk 100µs 102µs 2µs", "stream, p99 of a chunk's way 1µs 2µs 1µs",
	} {
		if !strings.Contains(strings.Join(strings.Fields(b.String()), " "), want) {
			t.Errorf("%q is missing in\n%s", want, &b)
		}
	}
}
