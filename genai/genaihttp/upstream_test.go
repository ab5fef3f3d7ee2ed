package genaihttp

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/infertel/infertel-go/genai"
)

// rawServer answers each request with the given bytes and then closes the
// connection, or resets it.
func rawServer(t testing.TB, answer string, reset bool) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	t.Cleanup(func() { l.Close(); <-done })
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			// The body is the last that comes of a request.
			for seen := []byte(nil); !bytes.Contains(seen, chatStream); {
				buf := make([]byte, 4096)
				n, err := c.Read(buf)
				if seen = append(seen, buf[:n]...); err != nil {
					break
				}
			}
			_, _ = io.WriteString(c, answer)
			if reset {
				_ = c.(*net.TCPConn).SetLinger(0)
			}
			c.Close()
		}
	}()
	return "http://" + l.Addr().String()
}

// chunked is the chunked form of a body, without its end.
func chunked(pieces ...string) string {
	var b strings.Builder
	for _, p := range pieces {
		fmt.Fprintf(&b, "%x\r\n%s\r\n", len(p), p)
	}
	return b.String()
}

// got is everything of an answer that a client sees.
func got(t testing.TB, client *http.Client, url string) string {
	t.Helper()
	resp, err := client.Post(url+chatPath, "application/json", bytes.NewReader(chatStream))
	if err != nil {
		return fmt.Sprintf("no answer: %T", err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	resp.Header.Del("Date")
	return fmt.Sprintf("%d %v %d %v %q %v %v", resp.StatusCode, resp.Header, resp.ContentLength, resp.TransferEncoding, body, err, resp.Trailer)
}

// TestTheUpstreamDies at any point of its answer: the client sees what it would
// see without us, and the span says so unless the answer was whole already.
func TestTheUpstreamDies(t *testing.T) {
	const (
		head   = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
		jhead  = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
		coding = "Transfer-Encoding: chunked\r\n\r\n"
	)
	doc := string(testdata(t, "vllm-chat.json"))
	length := func(n int) string { return fmt.Sprintf("Content-Length: %d\r\n\r\n", n) }
	for name, c := range map[string]struct {
		answer string
		whole  bool
	}{
		"at once":                           {"", false},
		"within the head":                   {head[:30], false},
		"no HTTP at all":                    {"I am the answer of the model\r\n\r\n", false},
		"after the head, chunked":           {head + coding, false},
		"after the head, with a length":     {head + length(10), false},
		"after the head, until it closes":   {head + "\r\n", false},
		"within a chunk":                    {head + coding + "ff\r\n" + chunk("a"), false},
		"between chunks":                    {head + coding + chunked(role, chunk("a")), false},
		"in the size of a chunk":            {head + coding + chunked(role) + "f", false},
		"a size that is none":               {head + coding + chunked(role) + "the model said\r\n", false},
		"after the finish, chunked":         {head + coding + chunked(role, chunk("a"), finish), true},
		"after the mark, chunked":           {head + coding + chunked(whole), true},
		"within the trailers":               {head + coding + chunked(whole) + "0\r\nX-Tra", true},
		"a broken trailer":                  {head + coding + chunked(whole) + "0\r\nthe model said\r\n\r\n", true},
		"within a length":                   {head + length(len(whole)) + whole[:200], false},
		"whole but longer by its length":    {head + length(len(whole)+5) + whole, true},
		"until it closes, cut off":          {head + "\r\n" + whole[:len(role)+20], false},
		"until it closes, whole":            {head + "\r\n" + whole, true},
		"a document within its length":      {jhead + length(len(doc)) + doc[:len(doc)/2], false},
		"a document short of one byte":      {jhead + length(len(doc)) + doc[:len(doc)-1], false},
		"a document without the last chunk": {jhead + coding + chunked(doc), true},
		"a document within a chunk":         {jhead + coding + chunked(doc[:100]) + "fff\r\n" + doc[100:200], false},
		"a document that closes early":      {jhead + "\r\n" + doc[:200], false},
		"an error that is cut off":          {"HTTP/1.1 500 Oops\r\n" + length(100) + `{"error":{"type":"x"`, false},
		"a hint, and then nothing":          {"HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\n", false},
	} {
		for _, reset := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, reset %v", name, reset), func(t *testing.T) {
				upstream := rawServer(t, c.answer, reset)
				b := newBed(t)
				observed := proxy(t, upstream)
				direct := plain(t)
				direct.Transport = NewTransport(direct.Transport, b.inst)
				for _, pair := range []struct {
					name       string
					bare, seen string
					b, o       *http.Client
				}{
					{"handler", serve(t, proxy(t, upstream)).URL, serve(t, NewHandler(observed, b.inst)).URL, plain(t), plain(t)},
					{"transport", upstream, upstream, plain(t), direct},
				} {
					want, is := got(t, pair.b, pair.bare), got(t, pair.o, pair.seen)
					// How much of its last bytes a reset connection delivers is up to chance, and
					// so is whether the proxy flushes a head before it breaks off.
					chance := reset || pair.name == "handler" && strings.HasPrefix(name, "after the head")
					if want != is && !chance {
						t.Errorf("%s: without us the client got\n%s\nwith us\n%s", pair.name, want, is)
					}
					f := b.end()
					if (f.Outcome == genai.OutcomeSuccess) != c.whole && !reset || reset && !c.whole && f.Outcome == genai.OutcomeSuccess {
						t.Errorf("%s: outcome %v, %v", pair.name, f.Outcome, f.Err)
					}
				}
				b.Flush()
				if n := len(b.Receiver.Spans()); n != 2 {
					t.Errorf("%d spans arrived, want 2", n)
				}
				if leaked := strings.Contains(everything(t, b.Bed), "the model said"); leaked {
					t.Error("a text of the server is exported")
				}
			})
		}
	}
}
