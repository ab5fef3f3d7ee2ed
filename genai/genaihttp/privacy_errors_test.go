package genaihttp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/infertel/infertel-go/genai"
	"github.com/infertel/infertel-go/genai/wire"
	"github.com/infertel/infertel-go/internal/sdktest"
)

// quoting is an error whose text quotes a prompt in every way in which errors
// are put together.
func quoting(cause error) []error {
	e := errors.New(secret + "error")
	return []error{
		e, fmt.Errorf(secret+"wrap: %w", e), errors.Join(e, errors.New(secret+"join")),
		&url.Error{Op: "Post", URL: "http://x/?q=" + secret + "url", Err: e},
		&net.OpError{Op: "dial", Net: secret + "net", Err: e},
		&net.DNSError{Err: secret + "dns", Name: secret + "host", IsTimeout: true},
		fmt.Errorf(secret+"wrap: %w", cause),
	}
}

// TestNoErrorIsQuoted: in every way in which a request can fail, streamed or not,
// nothing of what the error, the panic or the server said is exported or reported.
func TestNoErrorIsQuoted(t *testing.T) {
	half := `data: {"id":"c1","model":"m","choices":[{"index":0,"delta":{"content":"` + secret + `content"}}]}` + "\n\n"
	bodies := map[string]string{
		"a nested error":       `{"error":{"message":"` + secret + `message","type":"` + secret + ` a sentence","code":"` + secret + `code","param":"` + secret + `param"}}`,
		"a flat error":         `{"object":"error","message":"` + secret + `message","type":"` + secret + ` a sentence","code":"` + secret + `code"}`,
		"an error as text":     `{"error":"` + secret + `text"}`,
		"details":              `{"detail":[{"loc":["body","` + secret + `loc"],"msg":"` + secret + `msg","input":"` + secret + `input","type":"` + secret + `type"}]}`,
		"an error in a list":   `[{"error":{"message":"` + secret + `message","type":"` + secret + ` a sentence"}}]`,
		"no JSON":              "<html>" + secret + "html</html>",
		"half a document":      `{"id":"c1","choices":[{"message":{"content":"` + secret,
		"a reason in a text":   `{"id":"c1","choices":[{"finish_reason":"` + secret + `reason","message":{"content":"` + secret + `"}}]}`,
		"an object for a name": `{"id":{"` + secret + `":"` + secret + `"},"model":["` + secret + `"],"choices":[{"finish_reason":{"matched":"` + secret + `"}}]}`,
	}
	errs := sdktest.HandleErrors(t)
	for _, engine := range []genai.Engine{genai.EngineVLLM, genai.EngineSGLang} {
		b := newBed(t, genai.WithEngine(engine), genai.WithErrorType())
		n := 0
		serveOne := func(ctx context.Context, h http.HandlerFunc, w http.ResponseWriter) {
			n++
			defer func() { _ = recover() }()
			NewHandler(h, b.inst).ServeHTTP(w, httptest.NewRequest(http.MethodPost, chatPath, strings.NewReader(string(chatStream))).WithContext(ctx))
		}
		for _, body := range bodies {
			for _, status := range []int{200, 400, 503} {
				for _, stream := range []bool{false, true} {
					contentType, text := "application/json", body
					if stream {
						contentType, text = "text/event-stream", half+"data: "+body+"\n\n"+endMark
					}
					s := sample{path: chatPath, status: status, contentType: contentType, request: chatStream, response: []byte(text)}
					for _, where := range []string{"handler", "transport", "wire"} {
						n++
						send(t, b, where, s)
					}
				}
			}
		}
		for _, v := range []any{secret + "panic", errors.New(secret + "panic"), http.ErrAbortHandler, struct{ s string }{secret + "panic"}} {
			for _, pieces := range []string{"", half} {
				serveOne(t.Context(), panicking(v, pieces), httptest.NewRecorder())
			}
		}
		ctx, cancel := context.WithCancelCause(context.Background())
		cancel(errors.New(secret + "cause"))
		serveOne(ctx, streaming(nil, half), httptest.NewRecorder())
		serveOne(t.Context(), streaming(nil, half), failingWriter{httptest.NewRecorder()})
		for _, cause := range []error{context.Canceled, context.DeadlineExceeded, io.ErrUnexpectedEOF, &genai.Error{Description: "safe"}} {
			for _, err := range quoting(cause) {
				n += 4
				_, _ = NewTransport(&fixed{err: err}, b.inst).RoundTrip(chatRequest(t, context.Background()))
				resp, e := NewTransport(&fixed{resp: sse(io.MultiReader(strings.NewReader(half), failedReader{err}))}, b.inst).RoundTrip(chatRequest(t, context.Background()))
				if e != nil {
					t.Fatal(e)
				}
				if _, e := io.ReadAll(resp.Body); !errors.Is(e, err) {
					t.Errorf("the caller got %v, want %v", e, err)
				}
				_, x := wire.Start(context.Background(), b.inst, wire.RequestHead{})
				x.End(err)
				_, call := b.inst.Start(context.Background(), genai.Request{})
				call.End(genai.Response{}, err)
			}
		}
		func() {
			n++
			defer func() { _ = recover() }()
			_, _ = NewTransport(roundTripper(func(*http.Request) (*http.Response, error) { panic(secret + "panic") }), b.inst).RoundTrip(chatRequest(t, context.Background()))
		}()
		if found := leaks(everything(t, b.Bed)); len(found) > 0 {
			t.Errorf("%v: exported: %v", engine, found)
		}
		b.spans(n)
	}
	if reported := leaks(fmt.Sprint(errs.Take())); len(reported) > 0 {
		t.Errorf("reported: %v", reported)
	}
}

type failingWriter struct{ *httptest.ResponseRecorder }

func (failingWriter) Write([]byte) (int, error) { return 0, errors.New(secret + "write") }

// TestWordsOfTheServer: the class of an error and the reason why a model stopped
// are recorded as long as they are one short word.
func TestWordsOfTheServer(t *testing.T) {
	for word, kept := range map[string]bool{"BadRequestError": true, "rate_limit.exceeded-1": true, "two words": false, strings.Repeat("x", 65): false, "é": false, "": false} {
		b := newBed(t, genai.WithErrorType())
		s := sample{path: chatPath, status: 400, contentType: "application/json", request: chatStream, response: []byte(`{"error":{"type":"` + word + `"}}`)}
		send(t, b, "handler", s)
		s.status, s.response = 200, []byte(`{"choices":[{"finish_reason":"`+word+`"}]}`)
		send(t, b, "handler", s)
		spans := b.spans(2)
		if got := spans[0].StatusMessage == word && spans[0].Attrs["error.type"] == word; got != kept {
			t.Errorf("%q: status %q, error.type %v", word, spans[0].StatusMessage, spans[0].Attrs["error.type"])
		}
		if got := fmt.Sprint(spans[1].Attrs["gen_ai.response.finish_reasons"]) == "["+word+"]"; got != kept {
			t.Errorf("%q: finish reasons %v", word, spans[1].Attrs["gen_ai.response.finish_reasons"])
		}
	}
}
