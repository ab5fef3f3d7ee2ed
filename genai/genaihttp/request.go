package genaihttp

import (
	"io"
	"net/http"
	"sync/atomic"

	"github.com/infertel/infertel-go/genai"
	"github.com/infertel/infertel-go/genai/wire"
)

// requestHead takes what the headers say of a request.
func requestHead(op genai.Operation, h http.Header) wire.RequestHead {
	return wire.RequestHead{
		Operation:       op,
		RequestID:       first(h, "X-Request-Id"),
		SessionID:       first(h, "X-Session-Id"),
		ContentEncoding: first(h, "Content-Encoding"),
	}
}

// maxUnread is how much of a body that a handler did not read net/http reads
// itself when the body is closed.
const maxUnread = 256 << 10

// requestBody looks at a request body as it is read.
type requestBody struct {
	io.ReadCloser
	exchange *wire.Exchange
	short    bool        // net/http reads it to its end if nobody else does
	touched  atomic.Bool // somebody reads it, or has closed it
	over     atomic.Bool // it was read to its end

	// On a server: the request that was received, and its copy that has this body.
	received, copied *http.Request
}

// open makes b look at the body of r, a copy of a request that a server received.
func (b *requestBody) open(r, received *http.Request, x *wire.Exchange) {
	b.ReadCloser, b.exchange, b.received, b.copied = r.Body, x, received, r
	b.short = r.ProtoMajor == 1 && !r.Close && first(r.Header, "Expect") == "" && r.ContentLength > 0 && r.ContentLength <= maxUnread
	r.Body = b
}

// takeTrailer takes over trailers that were not announced, which make a map of
// their own.
func (b *requestBody) takeTrailer() {
	if b.received != nil && b.copied.Trailer == nil {
		b.copied.Trailer = b.received.Trailer
	}
}

func (b *requestBody) Read(p []byte) (int, error) {
	b.touched.Store(true)
	return b.read(p)
}

func (b *requestBody) read(p []byte) (int, error) {
	// A transport looks once more for the end, at a time when a server that has
	// begun to answer may have closed the body. That read must not fail.
	if b.over.Load() {
		return 0, io.EOF
	}
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF && !b.over.Swap(true) {
		b.takeTrailer()
	}
	if n > 0 && n <= len(p) {
		b.exchange.RequestBody(p[:n])
	}
	return n, err
}

func (b *requestBody) Close() error {
	b.lookAtUnread()
	return b.ReadCloser.Close()
}

// lookAtUnread reads a body that nobody has read, such as that of a request
// whose upstream cannot be reached, so that the span of the failure has the
// attributes of the request. It does so where net/http would now read the body
// itself, before the answer goes out, to use the connection again.
func (b *requestBody) lookAtUnread() {
	if b != nil && b.short && b.touched.CompareAndSwap(false, true) {
		_, _ = copyTo(ignore, readerFunc(b.read))
	}
}

func ignore(p []byte) (int, error) { return len(p), nil }

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
