package genaihttp

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	otellog "go.opentelemetry.io/otel/log"
	"go.opentelemetry.io/otel/log/embedded"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/infertel/infertel-go/genai"
)

// FuzzBatches sends an answer through a handler that looks at it in batches, where
// nobody asks for the time of the first token, and through one that looks at each
// flush: spans and logs are the same, however it is cut.
func FuzzBatches(f *testing.F) {
	for i, s := range samples(f) {
		if len(s.response) < 5000 {
			f.Add(s.request, s.response, uint64(i), uint8(i%8))
		}
	}
	for i := range 8 {
		long := strings.Repeat(chunk("word")+chunk(`\n`), 1+3*i) + chunk(strings.Repeat("x", 300*i)) + finish + usage + endMark
		f.Add(chatStream, []byte(long), uint64(i), uint8(4+i))
		f.Add(chatStream, []byte(strings.ReplaceAll(long, "\n\n", "\r\n\r\n")), uint64(i), uint8(36+i%4))
	}
	f.Fuzz(func(t *testing.T, request, response []byte, seed uint64, mode uint8) {
		look := func(told, whole bool) string {
			x := exchange{t: t, request: request, response: response, mode: mode, whole: whole, rnd: rand.New(rand.NewPCG(seed, uint64(mode)))}
			return x.look(told)
		}
		want := look(true, true)
		for _, c := range [][2]bool{{true, false}, {false, true}, {false, false}} {
			if got := look(c[0], c[1]); got != want {
				t.Errorf("told %v, whole %v:\n%s\nwant\n%s", c[0], c[1], got, want)
			}
		}
	})
}

// look writes down the span and the logs of one exchange, but for its times.
func (x *exchange) look(told bool) string {
	spans, logs := tracetest.NewSpanRecorder(), &logRecorder{}
	opts := []genai.Option{
		genai.WithTracerProvider(sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans))), genai.WithLoggerProvider(logRecorders{logRecorder: logs}),
		genai.WithEngine(genai.Engine(x.mode & 1)), genai.WithStreamInterval(1 + int(x.mode>>5&1)),
	}
	if x.has(1) {
		opts = append(opts, genai.WithContent(genai.ContentSpanAndEvent))
	}
	if told {
		opts = append(opts, genai.WithOnEnd(func(context.Context, genai.Finished) {}))
	}
	inst, err := genai.New(opts...)
	if err != nil {
		x.t.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodPost, chatPath, x.body(x.request))
	w := httptest.NewRecorder()
	NewHandler(http.HandlerFunc(x.writes), inst).ServeHTTP(w, r)
	if got := w.Body.Bytes(); !bytes.Equal(got, x.response) {
		x.t.Errorf("the client got %q, want %q", got, x.response)
	}
	ended := spans.Ended()
	if len(ended) != 1 {
		x.t.Fatalf("%d spans, want 1", len(ended))
	}
	lines := []string{ended[0].Name(), fmt.Sprint(ended[0].Status())}
	for _, a := range ended[0].Attributes() {
		if !strings.Contains(string(a.Key), "latency") {
			lines = append(lines, fmt.Sprintf("%s=%q", a.Key, a.Value.String()))
		}
	}
	return strings.Join(slices.Concat(lines, logs.lines), "\n")
}

// writes answers in pieces, short ones and some that are longer than a batch.
func (x *exchange) writes(w http.ResponseWriter, r *http.Request) {
	resp, _ := x.answer(r)
	maps.Copy(w.Header(), resp.Header)
	w.WriteHeader(resp.StatusCode)
	for rest := x.response; len(rest) > 0; {
		n := len(rest)
		if !x.whole {
			n = min(n, x.rnd.IntN([]int{4, 100, 400, 1500}[x.rnd.IntN(4)]))
		}
		_, _ = w.Write(rest[:n])
		rest = rest[n:]
		if x.rnd.IntN(2) == 0 {
			_ = http.NewResponseController(w).Flush()
		}
	}
}

// logRecorder writes down what is logged.
type logRecorder struct {
	embedded.Logger
	lines []string
}

func (l *logRecorder) Enabled(context.Context, otellog.EnabledParameters) bool { return true }

func (l *logRecorder) Emit(_ context.Context, r otellog.Record) {
	l.lines = append(l.lines, fmt.Sprintf("%s %v", r.EventName(), r.Body().String()))
	r.WalkAttributes(func(a attribute.KeyValue) bool {
		l.lines = append(l.lines, fmt.Sprintf("%s=%q", a.Key, a.Value.String()))
		return true
	})
}

type logRecorders struct {
	embedded.LoggerProvider
	*logRecorder
}

func (p logRecorders) Logger(string, ...otellog.LoggerOption) otellog.Logger { return p.logRecorder }
