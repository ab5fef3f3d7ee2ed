package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/infertel/infertel-go/internal/otlpreceiver/otlptest"
)

func TestUsage(t *testing.T) {
	for _, c := range []struct {
		args   string
		status int
		says   string
	}{
		{"-h", 0, "usage: engineshim"},
		{"-help", 0, "-listen unix:PATH"},
		{"-nonsense", 2, "flag provided but not defined"},
		{"file", 2, `unexpected argument "file"`},
		{"-input", 2, "flag needs an argument"},
		{"-input=", 2, "-input is empty"},
		{"-listen tcp:localhost:1", 2, `-listen is "tcp:localhost:1", want unix:PATH`},
		{"-listen unix:", 2, "want unix:PATH"},
		{"-listen unix:/x -input -", 2, "exclude each other"},
		{"-input /no/such/file", 1, "no such file"},
		{"-listen unix:/no/such/dir/socket", 1, "no such file"},
	} {
		var out, errs bytes.Buffer
		got := run(context.Background(), strings.Fields(c.args), strings.NewReader(""), &out, &errs)
		said := errs.String()
		if c.status == 0 {
			said = out.String()
		}
		if got != c.status || !strings.Contains(said, c.says) {
			t.Errorf("%s: exit status %d, said %q", c.args, got, said)
		}
		if c.status == 2 && !strings.Contains(said, "usage:") {
			t.Errorf("%s: no usage", c.args)
		}
	}
}

// one is a whole request as lines.
func one(request string) string {
	return v1(0, "arrived", of(request, "")) + v1(1, "queued", of(request, "")) + v1(2, "scheduled", of(request, "")) +
		v1(3, "prefill", of(request, "")) + v1(4, "decode", of(request, "")) + v1(5, "finished", of(request, `, "finish_reason": "stop"`))
}

// Without a collector the program prints what arrived at its own receiver.
func TestPrintsWithoutACollector(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "")
	var out, errs bytes.Buffer
	if status := run(context.Background(), nil, strings.NewReader(v1(0, "engine", `, "model": "a"`)+one("r")), &out, &errs); status != 0 {
		t.Errorf("exit status %d, said %s", status, errs.String())
	}
	for _, w := range []string{"llm_request", "prefill", "decode", "gen_ai_server_request_duration"} {
		if !strings.Contains(out.String(), w) {
			t.Errorf("printed\n%s\nwithout %s", out.String(), w)
		}
	}
}

// What a collector refuses is lost, and the exit status says so.
func TestLossIsSaid(t *testing.T) {
	r := otlptest.New(t)
	r.Fail(status.Error(codes.InvalidArgument, "no"))
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", r.Endpoint())
	var out, errs bytes.Buffer
	if status := run(context.Background(), nil, strings.NewReader(v1(0, "engine", `, "model": "a"`)+one("r")), &out, &errs); status != 1 {
		t.Errorf("exit status %d, said %s", status, errs.String())
	}
	if !strings.Contains(errs.String(), "lost") {
		t.Errorf("said %q", errs.String())
	}
}

// A read that fails ends the input; what was read is emitted.
func TestFailingInput(t *testing.T) {
	r := otlptest.New(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", r.Endpoint())
	var errs bytes.Buffer
	in := io.MultiReader(strings.NewReader(v1(0, "engine", `, "model": "a"`)+one("r")), failing{})
	if status := run(context.Background(), nil, in, io.Discard, &errs); status != 1 || !strings.Contains(errs.String(), "disk on fire") {
		t.Errorf("exit status %d, said %q", status, errs.String())
	}
	if n := len(r.FlatSpans()); n != 4 {
		t.Errorf("%d spans", n)
	}
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, fmt.Errorf("disk on fire") }

// An interrupt ends a program whose standard input stays open: open requests are
// aborted and everything is sent.
func TestInterrupt(t *testing.T) {
	r := otlptest.New(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", r.Endpoint())
	in, out := io.Pipe()
	defer out.Close()
	ctx, interrupt := context.WithCancel(context.Background())
	done := make(chan int)
	go func() { done <- run(ctx, nil, in, io.Discard, io.Discard) }()
	if _, err := io.WriteString(out, v1(0, "engine", `, "model": "a"`)+one("r")+v1(6, "arrived", of("open", ""))+v1(7, "queued", of("open", ""))); err != nil {
		t.Fatal(err)
	}
	// A pipe hands a write over once it was read, but the last line only ends
	// with the next.
	if _, err := io.WriteString(out, "\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(out, "\n"); err != nil {
		t.Fatal(err)
	}
	interrupt()
	if status := <-done; status != 0 {
		t.Errorf("exit status %d", status)
	}
	if got := names(r.FlatSpans()); got != "decode llm_request llm_request prefill wait" {
		t.Errorf("spans %s", got)
	}
}

// Several engine processes write to one socket; the end is an interrupt.
func TestListen(t *testing.T) {
	r := otlptest.New(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", r.Endpoint())
	t.Setenv("OTEL_BSP_SCHEDULE_DELAY", "20")
	path := filepath.Join(t.TempDir(), "engine.sock")
	// A socket that a dead process left behind is in nobody's way.
	stale, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	stale.SetUnlinkOnClose(false)
	stale.Close()

	ctx, interrupt := context.WithCancel(context.Background())
	defer interrupt()
	var errs bytes.Buffer
	done := make(chan int)
	go func() { done <- run(ctx, []string{"-listen", "unix:" + path}, nil, io.Discard, &errs) }()
	dial := func() net.Conn {
		for range 1000 {
			if c, err := net.Dial("unix", path); err == nil {
				return c
			}
			time.Sleep(5 * time.Millisecond)
		}
		t.Fatal("nobody listens")
		return nil
	}
	first := dial()
	if _, err := io.WriteString(first, v1(0, "engine", `, "model": "a"`)); err != nil {
		t.Fatal(err)
	}
	// The engine is declared before others speak of it.
	if _, err := io.WriteString(first, "bad\n"+one("first")); err != nil {
		t.Fatal(err)
	}
	r.WaitSpans(4, 30*time.Second)
	const processes = 20
	for i := range processes {
		go func() {
			c, err := net.Dial("unix", path)
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			_, _ = io.WriteString(c, one(fmt.Sprint(i)))
		}()
	}
	r.WaitSpans(4*(processes+1), 30*time.Second)
	// Another shim is told that the socket is taken.
	if status := run(ctx, []string{"-listen", "unix:" + path}, nil, io.Discard, io.Discard); status != 1 {
		t.Errorf("exit status %d", status)
	}
	if _, err := io.WriteString(first, one("last")+v1(9, "arrived", of("open", ""))+"\n"); err != nil {
		t.Fatal(err)
	}
	r.WaitSpans(4*(processes+2), 30*time.Second)
	interrupt()
	if status := <-done; status != 1 {
		t.Errorf("exit status %d after a bad line", status)
	}
	first.Close()
	if got := errs.String(); !strings.Contains(got, "connection 1, line 2: not a JSON object") {
		t.Errorf("said %q", got)
	}
	if n := len(r.FlatSpans()); n < 4*(processes+2) {
		t.Errorf("%d spans", n)
	}
	if _, err := os.Lstat(path); !os.IsNotExist(err) {
		t.Errorf("the socket is still there: %v", err)
	}
}

// A file that is no socket is not removed.
func TestListenOnAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data")
	if err := os.WriteFile(path, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if status := run(context.Background(), []string{"-listen", "unix:" + path}, nil, io.Discard, io.Discard); status != 1 {
		t.Errorf("exit status %d", status)
	}
	if b, _ := os.ReadFile(path); string(b) != "precious" {
		t.Errorf("the file has %q", b)
	}
}
