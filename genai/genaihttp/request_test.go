package genaihttp

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestABodyThatIsClosedUnread still gives the span the attributes of the
// request.
func TestABodyThatIsClosedUnread(t *testing.T) {
	for _, c := range []struct {
		name string
		body io.Reader
		want string
	}{
		{"short", bytes.NewReader(chatStream), "chat m"},
		{"long", strings.NewReader(`{"model":"m","pad":"` + strings.Repeat("x", maxUnread) + `"}`), "chat"},
		{"of unknown length", io.MultiReader(bytes.NewReader(chatStream)), "chat"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBed(t)
			h := NewHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if err := r.Body.Close(); err != nil {
					t.Error(err)
				}
				if n, err := r.Body.Read(make([]byte, 1)); n != 0 || err == nil {
					t.Errorf("a closed body gives %d bytes, %v", n, err)
				}
				w.WriteHeader(http.StatusBadGateway)
			}), b.inst)
			resp, err := plain(t).Post(serve(t, h).URL+chatPath, "application/json", c.body)
			if err == nil {
				resp.Body.Close()
			}
			if s := b.spans(1)[0]; s.Name != c.want || s.StatusMessage != "HTTP 502" {
				t.Errorf("span is %q %q, want %q", s.Name, s.StatusMessage, c.want)
			}
		})
	}
}

// TestFullDuplexLeavesTheBodyAlone: the client may be waiting for the answer
// before it sends more.
func TestFullDuplexLeavesTheBodyAlone(t *testing.T) {
	for _, duplex := range []bool{false, true} {
		b := newBed(t)
		body := &closable{Reader: bytes.NewReader(chatStream)}
		r := httptest.NewRequest(http.MethodPost, chatPath, body)
		r.ContentLength = int64(len(chatStream))
		NewHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if duplex {
				_ = http.NewResponseController(w).EnableFullDuplex()
			}
		}), b.inst).ServeHTTP(duplexWriter{httptest.NewRecorder()}, r)
		unread, _ := io.ReadAll(body)
		if left := len(unread) > 0; left != duplex {
			t.Errorf("full duplex %v: %d bytes are left", duplex, len(unread))
		}
		b.spans(1)
	}
}

type duplexWriter struct{ *httptest.ResponseRecorder }

func (duplexWriter) EnableFullDuplex() error { return nil }

// closable fails every read after it was closed, as net/http's bodies do.
type closable struct {
	io.Reader
	closed bool
}

func (c *closable) Read(p []byte) (int, error) {
	if c.closed {
		return 0, http.ErrBodyReadAfterClose
	}
	return c.Reader.Read(p)
}
func (c *closable) Close() error { c.closed = true; return nil }

// TestAReadAfterTheEndIsNoError: net/http closes a body that was read to its
// end when the answer begins, while a transport may still look for more.
func TestAReadAfterTheEndIsNoError(t *testing.T) {
	lower := &closable{Reader: strings.NewReader("body")}
	b := &requestBody{ReadCloser: lower}
	if got, err := io.ReadAll(b); string(got) != "body" || err != nil {
		t.Fatalf("read %q, %v", got, err)
	}
	_ = lower.Close()
	if _, err := b.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("the read after the end gives %v, want EOF", err)
	}
	unread := &requestBody{ReadCloser: &closable{Reader: strings.NewReader("body"), closed: true}}
	if _, err := unread.Read(make([]byte, 1)); !errors.Is(err, http.ErrBodyReadAfterClose) {
		t.Errorf("a body closed early gives %v", err)
	}
}

// TestAServerThatCannotBeReached: the transport then leaves the body unread.
func TestAServerThatCannotBeReached(t *testing.T) {
	b := newBed(t)
	client := &http.Client{Transport: NewTransport(nil, b.inst)}
	if _, err := client.Post("http://127.0.0.1:1"+chatPath, "application/json", bytes.NewReader(chatStream)); err == nil {
		t.Error("no error")
	}
	if s := b.spans(1)[0]; s.Name != "chat m" || s.StatusMessage != "the server could not be reached" {
		t.Errorf("span is %q %q", s.Name, s.StatusMessage)
	}
}

// TestAnUnreachableUpstream: a proxy then leaves the body unread.
func TestAnUnreachableUpstream(t *testing.T) {
	b := newBed(t)
	got := post(t, plain(t), serve(t, NewHandler(proxy(t, "http://127.0.0.1:1"), b.inst)).URL+chatPath, chatStream)
	if s := b.spans(1)[0]; s.Name != "chat m" || s.StatusMessage != "HTTP 502" || got.status != http.StatusBadGateway {
		t.Errorf("span is %q %q, status %d", s.Name, s.StatusMessage, got.status)
	}
}
