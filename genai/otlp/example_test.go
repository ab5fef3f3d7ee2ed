package otlp_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"os/signal"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlplog/otlploggrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/infertel/infertel-go/genai"
	"github.com/infertel/infertel-go/genai/otlp"
	"github.com/infertel/infertel-go/internal/otlpreceiver"
)

// A gateway's telemetry, from the set-up to what arrives.
func Example() {
	receiver, err := otlpreceiver.Start() // stands for a collector
	if err != nil {
		log.Fatal(err)
	}
	defer receiver.Stop()

	ctx := context.Background()
	providers, err := otlp.Setup(ctx, otlp.WithServiceName("llm-gateway"), otlp.WithEndpoint(receiver.Endpoint()))
	if err != nil {
		log.Fatal(err)
	}
	inst, err := genai.New(
		genai.WithTracerProvider(providers.TracerProvider()),
		genai.WithMeterProvider(providers.MeterProvider()),
		genai.WithLoggerProvider(providers.LoggerProvider()))
	if err != nil {
		log.Fatal(err)
	}
	_, call := inst.Start(ctx, genai.Request{Model: "qwen3-8b"})
	call.End(genai.Response{Usage: genai.Usage{InputTokens: new(14), OutputTokens: new(5)}}, nil)
	if err := providers.Shutdown(ctx); err != nil {
		log.Fatal(err)
	}

	for _, s := range receiver.Spans() {
		fmt.Println("span", s.GetName())
	}
	for _, m := range receiver.Metrics() {
		fmt.Println("metric", m.GetName(), len(m.GetSum().GetDataPoints()))
	}
	// Output:
	// span chat qwen3-8b
	// metric genai_llm_usage_tokens 2
}

// A program's main: one call sets up, one shuts down.
func ExampleSetup() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()

	providers, err := otlp.Setup(ctx, otlp.WithServiceName("llm-gateway"), otlp.WithGlobal())
	if err != nil {
		log.Fatal(err)
	}
	defer func() {
		// Not ctx: it has ended by now.
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := providers.Shutdown(ctx); err != nil {
			log.Print(err)
		}
	}()

	// Serve until ctx ends.
}

// What a receiver on loopback gets.
func ExampleWithEndpoint() {
	receiver, err := otlpreceiver.Start()
	if err != nil {
		log.Fatal(err)
	}
	defer receiver.Stop()

	ctx := context.Background()
	providers, err := otlp.Setup(ctx, otlp.WithEndpoint(receiver.Endpoint()))
	if err != nil {
		log.Fatal(err)
	}
	_, span := providers.TracerProvider().Tracer("example").Start(ctx, "chat")
	span.End()
	if err := providers.Shutdown(ctx); err != nil {
		log.Fatal(err)
	}
	for _, s := range receiver.Spans() {
		fmt.Println(s.GetName())
	}
	// Output: chat
}

// A provider of one's own that loses neither bursts of spans nor spans with
// many events.
func ExampleSplitSpanExporter() {
	exporter, err := otlptracegrpc.New(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	limits := sdktrace.NewSpanLimits()
	limits.AttributeCountLimit = otlp.SpanAttributeLimit
	provider := sdktrace.NewTracerProvider(
		sdktrace.WithRawSpanLimits(limits),
		sdktrace.WithBatcher(&otlp.SplitSpanExporter{Exporter: exporter},
			sdktrace.WithMaxQueueSize(otlp.SpanQueueSize),
			sdktrace.WithMaxExportBatchSize(otlp.SpanBatchSize)))
	defer func() { _ = provider.Shutdown(context.Background()) }()
}

// The same for log events that carry content.
func ExampleSplitLogExporter() {
	exporter, err := otlploggrpc.New(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	provider := sdklog.NewLoggerProvider(sdklog.WithProcessor(
		sdklog.NewBatchProcessor(&otlp.SplitLogExporter{Exporter: exporter},
			sdklog.WithMaxQueueSize(otlp.LogQueueSize),
			sdklog.WithExportMaxBatchSize(otlp.LogBatchSize))))
	defer func() { _ = provider.Shutdown(context.Background()) }()
}

// Losses says what did not arrive, and why.
func ExampleProviders_Losses() {
	providers, err := otlp.Setup(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = providers.Shutdown(context.Background()) }()
	if spans := providers.Losses().Spans; spans.Total() > 0 {
		fmt.Println("queue full:", spans.QueueFull, "not acknowledged:", spans.ExportFailed)
	}
	// Output:
}
