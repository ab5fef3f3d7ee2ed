package sglang_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"testing"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/propagation"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/infertel/infertel-go/internal/otlpreceiver/otlptest"
	"github.com/infertel/infertel-go/internal/sdktest"
	"github.com/infertel/infertel-go/sglang"
)

const schedulerEnv = "SGLANG_TEST_SCHEDULER"

// childProcess returns what this process is to do in place of the tests, if it
// is a scheduler that a test started.
func childProcess() func() int {
	endpoint := os.Getenv(schedulerEnv)
	if endpoint == "" {
		return nil
	}
	return func() int {
		if err := schedule(endpoint); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return 0
	}
}

// schedule is a scheduler process: it reads the message with the request from
// its standard input and exports its part of the trace.
func schedule(endpoint string) error {
	carrier := propagation.MapCarrier{}
	if err := json.NewDecoder(os.Stdin).Decode(&carrier); err != nil {
		return err
	}
	ctx := context.Background()
	exporter, err := otlptracegrpc.New(ctx, otlptracegrpc.WithEndpointURL(endpoint))
	if err != nil {
		return err
	}
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter))
	engine, err := sglang.NewEngine(sglang.EngineConfig{}, sglang.WithTracerProvider(provider))
	if err != nil {
		return err
	}
	request := engine.Resume(sglang.ExtractHandover(carrier))
	thread := request.StartThread(sglang.Thread{Label: sglang.ThreadScheduler, TPRank: new(0)}, ms(5))
	thread.RecordStage(sglang.RequestProcess, ms(5), ms(6))
	thread.RecordStage(sglang.PrefillWaiting, ms(6), ms(8))
	thread.StartStage(sglang.PrefillForward, ms(8))
	thread.RecordStage(sglang.ChunkedPrefill, ms(8), ms(20))
	thread.EndStage(sglang.PrefillForward, ms(20))
	thread.End(ms(50))
	return provider.Shutdown(ctx)
}

// Two processes, one trace: the scheduler keeps the request's level although its
// own is another, and its first stage links to the one that handed over.
func TestTwoProcesses(t *testing.T) {
	bed := sdktest.New(t)
	engine, err := sglang.NewEngine(sglang.EngineConfig{}, sglang.WithTracerProvider(bed.Traces), sglang.WithTraceLevel(2))
	if err != nil {
		t.Fatal(err)
	}
	request := engine.StartRequest(t.Context(), sglang.Request{RID: "5f2c9a7b"}, ms(0))
	tokenizer := request.StartThread(sglang.Thread{Label: sglang.ThreadTokenizer}, ms(0))
	tokenizer.RecordStage(sglang.Tokenize, ms(0), ms(3))
	tokenizer.StartStage(sglang.APIServerDispatch, ms(3))
	carrier := propagation.MapCarrier{}
	tokenizer.Handover().Inject(carrier)
	message, err := json.Marshal(carrier)
	if err != nil {
		t.Fatal(err)
	}
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), schedulerEnv+"="+bed.Receiver.Endpoint(), sglang.EnvTraceLevel+"=4")
	child.Stdin = bytes.NewReader(message)
	if out, err := child.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	tokenizer.EndStage(sglang.APIServerDispatch, ms(4))
	tokenizer.End(ms(4))
	request.End(counted, ms(60))
	bed.Flush()

	spans := map[string]otlptest.Span{}
	var names, traces []string
	for _, s := range bed.Receiver.FlatSpans() {
		name, _, _ := bytes.Cut([]byte(s.Name), []byte(" ("))
		spans[string(name)] = s
		names = append(names, string(name))
		if !slices.Contains(traces, s.TraceID) {
			traces = append(traces, s.TraceID)
		}
	}
	slices.Sort(names)
	want := []string{"Req 5f2c9a7b", "Scheduler [TP 0]", "Tokenizer", "api_server_dispatch", "prefill_forward", "prefill_waiting", "request_process", "tokenize"}
	if !slices.Equal(names, want) || len(traces) != 1 {
		t.Fatalf("spans %q in %d traces, want %q in one", names, len(traces), want)
	}
	scheduler := spans["Scheduler [TP 0]"]
	if scheduler.ParentID != spans["Req 5f2c9a7b"].SpanID {
		t.Error("the scheduler's thread is not a child of the request span")
	}
	if own := spans["Tokenizer"].Attrs["pid"]; scheduler.Attrs["pid"] == own {
		t.Errorf("both threads have the pid %v", own)
	}
	if got, want := scheduler.Attrs["host_id"], spans["Tokenizer"].Attrs["host_id"]; got != want {
		t.Errorf("host_id is %v and %v on one host", got, want)
	}
	links := spans["request_process"].Links
	if len(links) != 1 || links[0].SpanID != spans["api_server_dispatch"].SpanID || links[0].TraceID != traces[0] {
		t.Errorf("request_process has the links %v", links)
	}
}
