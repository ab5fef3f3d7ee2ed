package session

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/infertel/infertel-go/internal/otlpreceiver"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func noCollector(t *testing.T) {
	t.Helper()
	for _, name := range endpoints {
		t.Setenv(name, "")
	}
}

// buffer can be read while a session writes.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// What arrives is shown when the session is closed, and told to who inspects it.
func TestShow(t *testing.T) {
	noCollector(t)
	var out buffer
	inspected := 0
	page := filepath.Join(t.TempDir(), "page.html")
	s, err := Start(context.Background(), Config{Service: "test", Out: &out, HTML: page, Verbose: true, Inspect: func(spans []otlpreceiver.Span, _ []otlpreceiver.Metric, _ []otlpreceiver.Log) {
		inspected += len(spans)
	}})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		_, span := s.TracerProvider().Tracer("test").Start(context.Background(), "work")
		span.End()
	}
	if err := s.Flush(context.Background()); err != nil {
		t.Error(err)
	}
	if inspected != 3 {
		t.Errorf("%d spans were inspected when Flush returned, want 3", inspected)
	}
	if out.String() != "" {
		t.Error("something was printed before the end")
	}
	if err := s.Close(context.Background()); err != nil {
		t.Error(err)
	}
	if n := strings.Count(out.String(), "\nwork "); n != 3 || inspected != 3 || s.Received().Spans != 3 {
		t.Errorf("%d spans were printed, %d inspected and %d counted, want 3", n, inspected, s.Received().Spans)
	}
	if text, err := os.ReadFile(page); err != nil || !bytes.Contains(text, []byte("work")) {
		t.Errorf("the page does not show the spans: %v", err)
	}
}

// A live session prints while it runs, and nothing twice.
func TestLive(t *testing.T) {
	noCollector(t)
	var out buffer
	s, err := Start(context.Background(), Config{Service: "test", Out: &out, Live: true})
	if err != nil {
		t.Fatal(err)
	}
	_, span := s.TracerProvider().Tracer("test").Start(context.Background(), "work")
	span.End()
	for !strings.Contains(out.String(), "work") {
		time.Sleep(10 * time.Millisecond)
	}
	if err := s.Close(context.Background()); err != nil {
		t.Error(err)
	}
	if n := strings.Count(out.String(), "\nwork "); n != 1 {
		t.Errorf("the span was printed %d times", n)
	}
}

// With a collector nothing is shown.
func TestCollector(t *testing.T) {
	noCollector(t)
	collector, err := otlpreceiver.Start()
	if err != nil {
		t.Fatal(err)
	}
	defer collector.Stop()
	t.Setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", collector.Endpoint())
	t.Setenv("OTEL_METRICS_EXPORTER", "none")
	t.Setenv("OTEL_LOGS_EXPORTER", "none")
	var out buffer
	s, err := Start(context.Background(), Config{Service: "test", Out: &out})
	if err != nil {
		t.Fatal(err)
	}
	_, span := s.TracerProvider().Tracer("test").Start(context.Background(), "work")
	span.End()
	if err := s.Close(context.Background()); err != nil {
		t.Error(err)
	}
	if len(collector.Spans()) != 1 || out.String() != "" {
		t.Errorf("%d spans arrived and %q was printed", len(collector.Spans()), out.String())
	}
}

// The environment names the service, and else the program.
func TestServiceName(t *testing.T) {
	noCollector(t)
	collector, err := otlpreceiver.Start()
	if err != nil {
		t.Fatal(err)
	}
	defer collector.Stop()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.Endpoint())
	for _, tt := range []struct{ name, attributes, want string }{
		{"", "", "test"},
		{"named", "", "named"},
		{"", "service.name=attributed,a=b", "attributed"},
	} {
		t.Setenv("OTEL_SERVICE_NAME", tt.name)
		t.Setenv("OTEL_RESOURCE_ATTRIBUTES", tt.attributes)
		collector.Reset()
		s, err := Start(context.Background(), Config{Service: "test", Out: &buffer{}})
		if err != nil {
			t.Fatal(err)
		}
		_, span := s.TracerProvider().Tracer("test").Start(context.Background(), "work")
		span.End()
		if err := s.Close(context.Background()); err != nil {
			t.Error(err)
		}
		for _, got := range collector.Spans() {
			if name := otlpreceiver.Attributes(got.Resource.GetAttributes())["service.name"]; name != tt.want {
				t.Errorf("with %q and %q the service is %v, want %s", tt.name, tt.attributes, name, tt.want)
			}
		}
		if len(collector.Spans()) != 1 {
			t.Errorf("%d spans arrived", len(collector.Spans()))
		}
	}
}

// What is lost is an error.
func TestLoss(t *testing.T) {
	noCollector(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
	s, err := Start(context.Background(), Config{Service: "test", Out: &buffer{}})
	if err != nil {
		t.Fatal(err)
	}
	_, span := s.TracerProvider().Tracer("test").Start(context.Background(), "work")
	span.End()
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	if err := s.Close(ctx); err == nil || !strings.Contains(err.Error(), "lost: 1 spans") {
		t.Errorf("got %v, want a loss of 1 span", err)
	}
}

func TestBadSettings(t *testing.T) {
	noCollector(t)
	t.Setenv("OTEL_TRACES_EXPORTER", "zipkin")
	if _, err := Start(context.Background(), Config{}); err == nil {
		t.Error("a session was started that can send nothing")
	}
}
