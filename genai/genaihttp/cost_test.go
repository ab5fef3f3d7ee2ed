package genaihttp

import (
	"bytes"
	"io"
	"net/http"
	"testing"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/infertel/infertel-go/genai"
)

// discard is a response writer that costs nothing.
type discard struct{ header http.Header }

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) WriteHeader(int)             {}
func (d *discard) Write(p []byte) (int, error) { return len(p), nil }
func (d *discard) Flush()                      {}

// answering writes a document, or a stream of so many chunks.
func answering(t *testing.T, chunks int) http.HandlerFunc {
	document := testdata(t, "vllm-chat.json")
	role, last := []byte(`data: {"id":"c1","model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}`+"\n\n"), []byte(finish+usage+endMark)
	var pieces [][]byte
	for _, word := range []string{"The", " end", `\n`, ` \"of`, " it", `\u00e9`, "."} {
		pieces = append(pieces, []byte(chunk(word)))
	}
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if chunks == 0 {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write(document)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write(role)
		for i := range chunks {
			_, _ = w.Write(pieces[i%len(pieces)])
			w.(http.Flusher).Flush()
		}
		_, _ = w.Write(last)
	}
}

// TestAllocations of a request, beyond those of the handler alone: at most 60, and
// none for a chunk.
func TestAllocations(t *testing.T) {
	if raceEnabled {
		return // pools forget what they hold
	}
	request := testdata(t, "vllm-chat-stream.request.json")
	count := func(h http.Handler) float64 {
		w := &discard{header: http.Header{}}
		return testing.AllocsPerRun(50, func() {
			clear(w.header)
			r, err := http.NewRequest(http.MethodPost, chatPath, bytes.NewReader(request))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Content-Type", "application/json")
			h.ServeHTTP(w, r)
		})
	}
	const few, many, most = 500, 2000, 60
	for name, opts := range map[string][]genai.Option{
		"vllm":      {genai.WithContent(genai.ContentNone)},
		"sglang":    {genai.WithContent(genai.ContentNone), genai.WithEngine(genai.EngineSGLang)},
		"unsampled": {genai.WithContent(genai.ContentSpan), genai.WithTracerProvider(sdktrace.NewTracerProvider(sdktrace.WithSampler(sdktrace.NeverSample())))},
	} {
		inst, err := genai.New(append([]genai.Option{
			genai.WithTracerProvider(sdktrace.NewTracerProvider()),
			genai.WithMeterProvider(sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewManualReader()))),
		}, opts...)...)
		if err != nil {
			t.Fatal(err)
		}
		added := func(chunks int) float64 {
			h := answering(t, chunks)
			return count(NewHandler(h, inst)) - count(h)
		}
		document, short, long := added(0), added(few), added(many)
		if document > most || short > most {
			t.Errorf("%s: %v allocations for a document, %v for a stream, want at most %d", name, document, short, most)
		}
		if long > short {
			t.Errorf("%s: %v allocations for %d chunks, %v for %d, want as many", name, short, few, long, many)
		}
	}
}
