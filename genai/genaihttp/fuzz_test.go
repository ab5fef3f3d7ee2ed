package genaihttp

import (
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/infertel/infertel-go/genai"
)

// FuzzBodies sends bodies, cut at random, through a handler and a transport:
// every byte passes, one call ends, and both see in it what one sees of the
// uncut bodies.
func FuzzBodies(f *testing.F) {
	for i, s := range samples(f) {
		if len(s.request)+len(s.response) < 5000 {
			f.Add(s.request, s.response, uint64(i), uint8(i))
		}
	}
	f.Add([]byte("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"), []byte("\x1f\x8bnot gzip"), uint64(1), uint8(8+16))
	f.Add([]byte(nil), []byte(nil), uint64(2), uint8(0))
	f.Add([]byte(asks), []byte(whole), uint64(3), uint8(4))
	f.Fuzz(func(t *testing.T, request, response []byte, seed uint64, mode uint8) {
		run := func(transport, whole bool) genai.Finished {
			x := exchange{t: t, request: request, response: response, mode: mode, whole: whole, rnd: rand.New(rand.NewPCG(seed, uint64(mode)))}
			return x.run(transport)
		}
		want := run(false, true)
		for _, transport := range []bool{false, true} {
			if got := run(transport, false); !reflect.DeepEqual(got, want) {
				t.Errorf("transport %v: in pieces\n%+v\nwant\n%+v", transport, got, want)
			}
		}
	})
}

type exchange struct {
	t                 *testing.T
	request, response []byte
	mode              uint8
	whole             bool // not in pieces
	rnd               *rand.Rand
}

func (x *exchange) has(bit int) bool { return x.mode>>bit&1 == 1 }

// body gives b in pieces of random length, with or without its end in the last.
func (x *exchange) body(b []byte) io.Reader {
	if x.whole {
		return bytes.NewReader(b)
	}
	r := io.Reader(&pieces{bytes.NewReader(b), x.rnd})
	if x.rnd.IntN(2) == 0 {
		r = iotest.DataErrReader(r)
	}
	return r
}

type pieces struct {
	io.Reader
	rnd *rand.Rand
}

func (p *pieces) Read(b []byte) (int, error) { return p.Reader.Read(b[:min(len(b), p.rnd.IntN(40))]) }

// answer reads the request and gives the head of the answer with its body.
func (x *exchange) answer(r *http.Request) (*http.Response, error) {
	sent, err := io.ReadAll(r.Body)
	if err != nil || !bytes.Equal(sent, x.request) {
		x.t.Errorf("the server got %q, %v, want %q", sent, err, x.request)
	}
	h := http.Header{"Content-Type": {"application/json"}}
	if x.has(2) {
		h.Set("Content-Type", "text/event-stream")
	}
	if x.has(3) {
		h.Set("Content-Encoding", "gzip")
	}
	status := http.StatusOK
	if x.has(6) {
		status = http.StatusServiceUnavailable
	}
	return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(x.body(x.response)), Request: r}, nil
}

func (x *exchange) run(transport bool) (f genai.Finished) {
	ends := 0
	opts := []genai.Option{
		genai.WithTracerProvider(sdktrace.NewTracerProvider()), genai.WithEngine(genai.Engine(x.mode & 1)),
		genai.WithOnEnd(func(_ context.Context, got genai.Finished) { f = got; ends++ }),
	}
	if x.has(1) {
		opts = append(opts, genai.WithContent(genai.ContentSpan))
	}
	inst, err := genai.New(opts...)
	if err != nil {
		x.t.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodPost, [...]string{chatPath, "/v1/rerank"}[x.mode>>7], x.body(x.request))
	if x.has(4) {
		r.Header.Set("Content-Encoding", "gzip")
	}
	w := httptest.NewRecorder()
	if transport {
		resp, err := NewTransport(roundTripper(x.answer), inst).RoundTrip(r)
		if err != nil {
			x.t.Fatal(err)
		}
		_, _ = io.Copy(w, resp.Body)
		resp.Body.Close()
	} else {
		NewHandler(http.HandlerFunc(x.serve), inst).ServeHTTP(w, r)
	}
	if got := w.Body.Bytes(); !bytes.Equal(got, x.response) {
		x.t.Errorf("the client got %q, want %q", got, x.response)
	}
	if ends != 1 {
		x.t.Errorf("%d calls ended, want 1", ends)
	}
	// What depends on the clock is of no interest here.
	f.StartTime, f.EndTime, f.FirstTokenTime = time.Time{}, time.Time{}, time.Time{}
	f.Duration, f.TimeToFirstToken = 0, 0
	return f
}

// serve writes the answer in one of the ways in which handlers do.
func (x *exchange) serve(w http.ResponseWriter, r *http.Request) {
	resp, _ := x.answer(r)
	for name, v := range resp.Header {
		w.Header()[name] = v
	}
	w.WriteHeader(resp.StatusCode)
	if x.rnd.IntN(3) == 0 {
		_, _ = io.Copy(w, resp.Body)
		return
	}
	buf := make([]byte, 64)
	for {
		n, err := resp.Body.Read(buf)
		_, _ = w.Write(buf[:n])
		if x.rnd.IntN(2) == 0 {
			_ = http.NewResponseController(w).Flush()
		}
		if err != nil {
			return
		}
	}
}

// FuzzUsageFilter holds a stream in pieces against the same stream at once, and
// sees that nothing is lost but events of the usage.
func FuzzUsageFilter(f *testing.F) {
	for i, s := range []string{whole, usage, usage + usage, strings.ReplaceAll(whole, "\n", "\r\n"), "\n\n\r\n" + usage, "data: x", usage[:len(usage)-1], ": " + usage} {
		f.Add([]byte(s), uint64(i))
	}
	f.Fuzz(func(t *testing.T, b []byte, seed uint64) {
		if len(b) > maxHeld {
			return
		}
		through := func(pieces ...[]byte) (out []byte) {
			f := &usageFilter{}
			for _, p := range pieces {
				out = append(out, f.pass(p)...)
			}
			return append(out, f.held...)
		}
		at := min(int(seed%uint64(len(b)+1)), len(b))
		want := through(b)
		for _, got := range [][]byte{through(b[:at], b[at:]), through(cut(b, 1)...)} {
			if !bytes.Equal(got, want) {
				t.Errorf("%q became %q in pieces and %q at once", b, got, want)
			}
		}
		if bytes.Count(b, []byte(`"usage"`)) == bytes.Count(want, []byte(`"usage"`)) && !bytes.Equal(b, want) {
			t.Errorf("%q became %q", b, want)
		}
	})
}
