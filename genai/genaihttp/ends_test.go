package genaihttp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/infertel/infertel-go/genai"
)

// TestEveryWayToEnd: each ends the span once, with what was known by then.
func TestEveryWayToEnd(t *testing.T) {
	two := chunk("a") + chunk("b")
	for _, c := range []struct {
		name    string
		handler http.HandlerFunc
		client  func(t *testing.T, url string)
		outcome genai.Outcome
		message string
	}{
		{"the client cancels", stall(two), cancelling, genai.OutcomeDisconnected, "disconnected"},
		{"the client resets", stall(two), resetting, genai.OutcomeDisconnected, "disconnected"},
		{"the client closes the body", stall(two), closing, genai.OutcomeDisconnected, "disconnected"},
		{"the handler returns early", streaming(nil, two), draining, genai.OutcomeTruncated, "cut off"},
		{"the handler panics", panicking("boom", two), draining, genai.OutcomePanic, "panicked"},
		{"the handler aborts", panicking(http.ErrAbortHandler, two), draining, genai.OutcomeTruncated, "cut off"},
		{"the handler aborts after the end", panicking(http.ErrAbortHandler, two+finish+endMark), draining, genai.OutcomeSuccess, ""},
		{"the handler panics after the end", panicking("boom", two+finish+endMark), draining, genai.OutcomePanic, "panicked"},
		{"a write fails", failingWrites(two), draining, genai.OutcomeDisconnected, "disconnected"},
		{"the server reports an error", streaming(nil, two, `data: {"error":{"message":"secret prompt","type":"overloaded_error","code":503}}`+"\n\n", endMark), draining, genai.OutcomeStreamError, "overloaded_error"},
		{"the engine aborts", streaming(nil, two, strings.Replace(finish, "stop", "abort", 1), endMark), draining, genai.OutcomeAborted, "aborted"},
		{"it ends well", streaming(nil, two, finish, endMark), draining, genai.OutcomeSuccess, ""},
		{"the client leaves after the end", stall(two + finish + endMark), closing, genai.OutcomeSuccess, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBed(t, genai.WithContent(genai.ContentSpan))
			server := httptest.NewUnstartedServer(NewHandler(c.handler, b.inst))
			server.Config.ErrorLog = quiet
			server.Start()
			defer server.Close()
			c.client(t, server.URL+chatPath)
			var f genai.Finished
			select {
			case f = <-b.ends:
			case <-time.After(10 * time.Second):
				t.Fatal("the call did not end")
			}
			b.ends <- f
			s := b.spans(1)[0]
			if f.Outcome != c.outcome || !strings.Contains(s.StatusMessage, c.message) || (s.Status == "ERROR") != (c.outcome != genai.OutcomeSuccess) {
				t.Errorf("outcome %v, status %s %q", f.Outcome, s.Status, s.StatusMessage)
			}
			if strings.Contains(s.StatusMessage, "secret") || len(s.Events) > 0 {
				t.Errorf("status %q, events %v", s.StatusMessage, s.Events)
			}
			if got := fmt.Sprint(s.Attrs["gen_ai.output.messages"]); !strings.Contains(got, `"content":"ab"`) {
				t.Errorf("output is %s", got)
			}
			if s.Attrs["gen_ai.usage.input_tokens"] != nil {
				t.Error("usage is invented")
			}
		})
	}
}

// stall sends pieces and waits until the client is gone.
func stall(pieces string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		streaming(nil, pieces)(w, r)
		select {
		case <-r.Context().Done():
		case <-time.After(10 * time.Second):
		}
	}
}

func panicking(v any, pieces string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		streaming(nil, pieces)(w, r)
		panic(v)
	}
}

// failingWrites goes on after its client is gone for the server.
func failingWrites(pieces string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		streaming(nil, pieces)(w, r)
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(-time.Second))
		for range 3 {
			_, _ = io.WriteString(w, ": more\n\n")
			_ = http.NewResponseController(w).Flush()
		}
	}
}

func open(t *testing.T, ctx context.Context, url string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(chatStream))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := plain(t).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 100)
	if _, err := io.ReadFull(resp.Body, buf); err != nil {
		t.Fatal(err)
	}
	return resp
}

func cancelling(t *testing.T, url string) {
	ctx, cancel := context.WithCancel(context.Background())
	resp := open(t, ctx, url)
	cancel()
	_, _ = io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
}

func closing(t *testing.T, url string) { open(t, context.Background(), url).Body.Close() }

func draining(t *testing.T, url string) {
	resp := open(t, context.Background(), url)
	_, _ = io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
}

func resetting(t *testing.T, url string) {
	address := strings.TrimSuffix(strings.TrimPrefix(url, "http://"), chatPath)
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", chatPath, len(chatStream), chatStream)
	if _, err := conn.Read(make([]byte, 400)); err != nil {
		t.Fatal(err)
	}
	_ = conn.(*net.TCPConn).SetLinger(0)
	conn.Close()
}

// TestPanicsPassOnUntouched looks at the value that leaves the handler.
func TestPanicsPassOnUntouched(t *testing.T) {
	b := newBed(t)
	for _, v := range []any{"boom", http.ErrAbortHandler, errors.New("x")} {
		func() {
			defer func() {
				if got := recover(); got != v {
					t.Errorf("%v became %v", v, got)
				}
			}()
			NewHandler(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(v) }), b.inst).
				ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, chatPath, nil))
		}()
	}
	for _, s := range b.spans(3) {
		if s.Status != "ERROR" || len(s.Events) != 0 {
			t.Errorf("span is %s with events %v", s.Status, s.Events)
		}
	}
}
