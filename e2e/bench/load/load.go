package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	chunks = 500
	pace   = 200 * time.Microsecond // between two chunks, so that each passes by itself

	documentRequest = `{"model":"qwen3-8b","messages":[{"role":"user","content":"Name a prime over 10."}],"temperature":0,"max_completion_tokens":64}`
	streamRequest   = `{"model":"qwen3-8b","stream":true,"messages":[{"role":"user","content":"Name a prime over 10."}],"stream_options":{"include_usage":true}}`

	document = `{"id":"chatcmpl-9f0c2a7be1d34455","object":"chat.completion","created":1790000000,"model":"qwen3-8b","choices":[{"index":0,"message":{"role":"assistant","content":"11 is prime.","refusal":null},"logprobs":null,"finish_reason":"stop","stop_reason":null}],"usage":{"prompt_tokens":26,"total_tokens":32,"completion_tokens":6}}`

	chunkStart = `data: {"id":"chatcmpl-71aa5e0f3c2b4d68","object":"chat.completion.chunk","created":1790000000,"model":"qwen3-8b","choices":[{"index":0,"delta":{"content":"`
	chunkEnd   = `"},"logprobs":null,"finish_reason":null,"token_ids":null}]}` + "\n\n"
	lastChunks = `data: {"id":"chatcmpl-71aa5e0f3c2b4d68","object":"chat.completion.chunk","created":1790000000,"model":"qwen3-8b","choices":[{"index":0,"delta":{"content":""},"logprobs":null,"finish_reason":"stop","stop_reason":null}]}` + "\n\n" +
		`data: {"id":"chatcmpl-71aa5e0f3c2b4d68","object":"chat.completion.chunk","created":1790000000,"model":"qwen3-8b","choices":[],"usage":{"prompt_tokens":26,"total_tokens":526,"completion_tokens":500}}` + "\n\n" +
		"data: [DONE]\n\n"
)

// startServer answers as vLLM does. The text of each chunk is when it was sent.
func startServer() *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		if !bytes.Contains(body, []byte(`"stream":true`)) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, document)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		f := w.(http.Flusher)
		var chunk []byte
		for range chunks {
			chunk = append(append(chunk[:0], chunkStart...), strconv.FormatInt(time.Now().UnixNano(), 10)...)
			_, _ = w.Write(append(chunk, chunkEnd...))
			f.Flush()
			time.Sleep(pace)
		}
		_, _ = io.WriteString(w, lastChunks)
	}))
}

// load is what clients ask of a gateway.
type load struct {
	name              string
	requests, clients int
	request           string
	chunks            int // of each answer; 0: it is a document
}

// run puts the load on the gateway at url, once it is up.
func (l *load) run(ctx context.Context, url string) (result, error) {
	transport := &http.Transport{MaxIdleConnsPerHost: max(l.clients, 1), DisableCompression: true}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport}
	if err := awaitGateway(ctx, client, url); err != nil {
		return result{}, err
	}
	var (
		left atomic.Int64
		mu   sync.Mutex
		all  result
		last error
		wg   sync.WaitGroup
	)
	left.Store(int64(l.requests))
	for range l.clients {
		wg.Go(func() {
			for left.Add(-1) >= 0 && ctx.Err() == nil {
				waits, err := l.ask(ctx, client, url)
				if want := max(l.chunks, 1); err == nil && len(waits) != want {
					err = fmt.Errorf("%d chunks came, want %d", len(waits), want)
				}
				mu.Lock()
				if err != nil {
					all.broken++
					last = err
				} else {
					all.waits = append(all.waits, waits...)
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	// net/http's own proxy loses one in some ten thousand: it can close the body of
	// a request that its transport still looks at, and with it the connection.
	if all.broken*50 > l.requests {
		return all, fmt.Errorf("%d of %d requests failed, the last: %w", all.broken, l.requests, last)
	}
	return all, ctx.Err()
}

// ask sends one request and returns how long its answer took, or each of its
// chunks from when it was sent.
func (l *load) ask(ctx context.Context, client *http.Client, url string) (waits []time.Duration, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/v1/chat/completions", strings.NewReader(l.request))
	if err != nil {
		return waits, err
	}
	r.Header.Set("Content-Type", "application/json")
	begin := time.Now()
	resp, err := client.Do(r)
	if err != nil {
		return waits, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return waits, fmt.Errorf("status %d", resp.StatusCode)
	}
	if l.chunks == 0 {
		_, err = io.Copy(io.Discard, resp.Body)
		return append(waits, time.Since(begin)), err
	}
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		text, ok := strings.CutPrefix(lines.Text(), chunkStart)
		if !ok {
			continue
		}
		sent, _, _ := strings.Cut(text, `"`)
		if at, err := strconv.ParseInt(sent, 10, 64); err == nil {
			waits = append(waits, time.Duration(time.Now().UnixNano()-at))
		}
	}
	return waits, lines.Err()
}
