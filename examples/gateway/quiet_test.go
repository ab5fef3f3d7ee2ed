package main

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// upstream answers each connection with the given bytes and closes it.
func upstream(t *testing.T, answer string) *url.URL {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			// To the end of the request, which is told by its last bytes.
			for seen := ""; !strings.Contains(seen, "}]}"); {
				buf := make([]byte, 4096)
				n, err := c.Read(buf)
				if seen += string(buf[:n]); err != nil {
					break
				}
			}
			_, _ = io.WriteString(c, answer)
			_ = c.(*net.TCPConn).CloseWrite()
			_, _ = io.Copy(io.Discard, c)
			c.Close()
		}
	}()
	return &url.URL{Scheme: "http", Host: l.Addr().String()}
}

// TestNothingOfAnAnswerIsLogged, however broken it is.
func TestNothingOfAnAnswerIsLogged(t *testing.T) {
	const said = "SECRET words of the model"
	for answer, log := range map[string]string{
		said + "\r\n\r\n":                                                                           "could not be read",
		"HTTP/1.1 abc " + said + "\r\n\r\n":                                                         "could not be read",
		"HTTP/1.1 200 OK\r\n" + said + "\r\n\r\n":                                                   "could not be read",
		"HTTP/1.1 200 OK\r\nContent-Length: " + said + "\r\n\r\n":                                   "could not be read",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n" + said + "\r\n":          "could not be read",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n" + said + "\r\n\r\n": "could not be read",
		"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n" + said:                                     "unexpected EOF",
		"": "EOF",
	} {
		var stderr bytes.Buffer
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodPost, "/v1/chat/completions?q=SECRET", strings.NewReader(`{"messages":[{"content":"SECRET"}]}`))
		func() {
			defer func() { _ = recover() }() // the proxy aborts where the head has been sent
			newProxy([]*url.URL{upstream(t, answer)}, &stderr).ServeHTTP(w, r)
		}()
		if got := stderr.String(); strings.Contains(got, "SECRET") || !strings.Contains(got, log) {
			t.Errorf("%q: logged %q, want %q", answer, got, log)
		}
	}
	var stderr bytes.Buffer
	w := httptest.NewRecorder()
	newProxy([]*url.URL{{Scheme: "http", Host: "127.0.0.1:1"}}, &stderr).ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/", nil))
	if got := stderr.String(); w.Code != http.StatusBadGateway || !strings.Contains(got, "127.0.0.1:1: connect: connection refused") {
		t.Errorf("status %d, logged %q", w.Code, got)
	}
}
