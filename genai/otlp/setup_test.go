package otlp

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/log"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc/metadata"

	"github.com/infertel/infertel-go/internal/otlpreceiver"
	"github.com/infertel/infertel-go/internal/otlpreceiver/otlptest"
)

// emit sends one item of each signal.
func emit(t testing.TB, p *Providers) {
	t.Helper()
	ctx, s := p.TracerProvider().Tracer("scope").Start(context.Background(), "span")
	var rec log.Record
	rec.SetEventName("event")
	rec.AddAttributes(attribute.Int("n", 1))
	p.LoggerProvider().Logger("scope").Emit(ctx, rec)
	c, err := p.MeterProvider().Meter("scope").Int64Counter("count", metric.WithUnit("{token}"))
	if err != nil {
		t.Fatal(err)
	}
	c.Add(ctx, 3)
	s.End()
}

func TestEndToEnd(t *testing.T) {
	h := handleErrors(t)
	r := otlptest.New(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", r.Endpoint())
	p := setup(t)
	emit(t, p)
	if err := p.ForceFlush(t.Context()); err != nil {
		t.Error(err)
	}
	spans, logs, points := r.FlatSpans(), r.FlatLogs(), r.LastPoints()
	if len(spans) != 1 || spans[0].Name != "span" || spans[0].Scope != "scope" {
		t.Errorf("spans %+v", spans)
	}
	if len(logs) != 1 || logs[0].EventName != "event" || logs[0].SpanID != spans[0].SpanID {
		t.Errorf("logs %+v", logs)
	}
	want := []otlptest.Point{{Scope: "scope", Name: "count", Unit: "{token}", Type: "sum", Monotonic: true, Number: "int", Value: int64(3), Attrs: map[string]any{}}}
	if !reflect.DeepEqual(points, want) {
		t.Errorf("points\n got %+v\nwant %+v", points, want)
	}

	endSpans(p, 3)
	for range 2 { // the second call has nothing to do
		if err := p.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if n := len(r.Spans()); n != 4 {
		t.Errorf("%d spans after Shutdown, want 4", n)
	}
	emit(t, p) // does nothing, and no harm
	if err := p.ForceFlush(t.Context()); err != nil {
		t.Errorf("ForceFlush after Shutdown: %v", err)
	}
	if l := p.Losses(); l != (Losses{}) {
		t.Errorf("lost %+v", l)
	}
	if e := h.all(); e != nil {
		t.Errorf("reported %q", e)
	}
}

func TestResource(t *testing.T) {
	handleErrors(t)
	r := otlptest.New(t)
	exe, _ := os.Executable()
	for _, tt := range []struct {
		name, env, attrs string
		opts             []Option
		want             map[string]any
	}{
		{"default", "", "", nil, map[string]any{"service.name": "unknown_service:" + filepath.Base(exe)}},
		{"attributes", "", "service.name=a,k=v", nil, map[string]any{"service.name": "a", "k": "v"}},
		{"variable", "b", "service.name=a,k=v", nil, map[string]any{"service.name": "b", "k": "v"}},
		{"options", "b", "service.name=a,k=v", []Option{
			WithServiceName("c"),
			WithResource(resource.NewWithAttributes("https://example.test/another/schema", attribute.String("k", "w"), attribute.Int("n", 1))),
		}, map[string]any{"service.name": "c", "k": "w", "n": int64(1)}},
		{"invalid UTF-8", "", "k=%ff", nil, map[string]any{"k": "\uFFFD"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r.Reset()
			t.Setenv("OTEL_SERVICE_NAME", tt.env)
			t.Setenv("OTEL_RESOURCE_ATTRIBUTES", tt.attrs)
			p := setup(t, append(tt.opts, WithEndpoint(r.Endpoint()))...)
			emit(t, p)
			if err := p.Shutdown(t.Context()); err != nil {
				t.Fatal(err)
			}
			for _, o := range []otlpreceiver.Origin{r.Spans()[0].Origin, r.Logs()[0].Origin, r.Metrics()[0].Origin} {
				got := otlpreceiver.Attributes(o.Resource.GetAttributes())
				for k, v := range tt.want {
					if got[k] != v {
						t.Errorf("%s = %v, want %v", k, got[k], v)
					}
				}
				for _, k := range []string{"telemetry.sdk.name", "telemetry.sdk.language", "telemetry.sdk.version", "host.name", "process.pid", "process.executable.name", "service.instance.id"} {
					if _, ok := got[k]; !ok {
						t.Errorf("no %s", k)
					}
				}
				if _, ok := got["process.command_args"]; ok {
					t.Error("the command line can hold secrets")
				}
			}
		})
	}
}

func TestSignalVariables(t *testing.T) {
	handleErrors(t)
	all, logs := otlptest.New(t), otlptest.New(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", all.Endpoint())
	t.Setenv("OTEL_EXPORTER_OTLP_LOGS_ENDPOINT", logs.Addr()) // no scheme, so INSECURE decides
	t.Setenv("OTEL_EXPORTER_OTLP_LOGS_INSECURE", "true")
	t.Setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip")
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "k=all")
	t.Setenv("OTEL_EXPORTER_OTLP_TRACES_HEADERS", "k=traces")
	t.Setenv("OTEL_EXPORTER_OTLP_METRICS_PROTOCOL", "grpc")
	got := map[otlpreceiver.Signal]string{}
	for _, s := range []otlpreceiver.Signal{otlpreceiver.Traces, otlpreceiver.Metrics} {
		all.SetHook(s, func(ctx context.Context, _ int) otlpreceiver.Reply {
			md, _ := metadata.FromIncomingContext(ctx)
			got[s] = strings.Join(md.Get("k"), " ") + " " + strings.Join(md.Get("user-agent"), " ")
			return otlpreceiver.Reply{}
		})
	}
	p := setup(t)
	emit(t, p)
	if err := p.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(all.Spans()) != 1 || len(all.Metrics()) != 1 || len(all.Logs()) != 0 || len(logs.Logs()) != 1 {
		t.Error("a signal went to the wrong endpoint")
	}
	if !strings.HasPrefix(got[otlpreceiver.Traces], "traces ") || !strings.HasPrefix(got[otlpreceiver.Metrics], "all ") {
		t.Errorf("headers %q", got)
	}
}

// The environment's certificates are used for https, and a client is known by its.
func TestTLS(t *testing.T) {
	handleErrors(t)
	server := httptest.NewTLSServer(nil) // for its certificate, valid for 127.0.0.1
	defer server.Close()
	pair := server.TLS.Certificates[0]
	key, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file := func(name, kind string, der []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	cert := file("cert.pem", "CERTIFICATE", pair.Certificate[0])
	r := otlptest.New(t, otlpreceiver.WithTLS(&tls.Config{Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequireAnyClientCert}))
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", r.Endpoint())
	t.Setenv("OTEL_EXPORTER_OTLP_CERTIFICATE", cert)
	t.Setenv("OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE", cert)
	t.Setenv("OTEL_EXPORTER_OTLP_CLIENT_KEY", file("key.pem", "PRIVATE KEY", key))
	t.Setenv("OTEL_EXPORTER_OTLP_INSECURE", "true") // https says otherwise
	p := setup(t)
	emit(t, p)
	if err := p.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if len(r.Spans()) != 1 || len(r.Logs()) != 1 || len(r.Metrics()) != 1 {
		t.Error("not all arrived")
	}
	t.Setenv("OTEL_EXPORTER_OTLP_CLIENT_KEY", cert)
	if _, err := Setup(t.Context()); err == nil || !strings.Contains(err.Error(), "OTEL_EXPORTER_OTLP_CLIENT_KEY") {
		t.Errorf("error %v", err)
	}
}

func TestDisabledAndNone(t *testing.T) {
	h := handleErrors(t)
	r := otlptest.New(t)
	for _, tt := range []struct {
		env                  map[string]string
		spans, metrics, logs int
	}{
		{map[string]string{"OTEL_SDK_DISABLED": "True", "OTEL_TRACES_EXPORTER": "jaeger"}, 0, 0, 0},
		{map[string]string{"OTEL_SDK_DISABLED": "false"}, 1, 1, 1},
		{map[string]string{"OTEL_TRACES_EXPORTER": "none"}, 0, 1, 1},
		{map[string]string{"OTEL_METRICS_EXPORTER": "none", "OTEL_LOGS_EXPORTER": "otlp"}, 1, 0, 1},
		{map[string]string{"OTEL_LOGS_EXPORTER": "none", "OTEL_EXPORTER_OTLP_LOGS_PROTOCOL": "http/json"}, 1, 1, 0},
		{map[string]string{"OTEL_TRACES_SAMPLER": "always_off"}, 0, 1, 1},
	} {
		t.Run("", func(t *testing.T) {
			r.Reset()
			for k, v := range tt.env {
				t.Setenv(k, v)
			}
			p := setup(t, WithEndpoint(r.Endpoint()))
			emit(t, p)
			if err := p.ForceFlush(t.Context()); err != nil {
				t.Error(err)
			}
			if got := []int{len(r.Spans()), len(r.Metrics()), len(r.Logs())}; !reflect.DeepEqual(got, []int{tt.spans, tt.metrics, tt.logs}) {
				t.Errorf("%v: %d spans, metrics, logs", tt.env, got)
			}
			if err := p.Shutdown(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	if e := h.all(); e != nil {
		t.Errorf("reported %q", e)
	}
}

func TestZeroProviders(t *testing.T) {
	var p Providers
	emit(t, &p)
	if err := p.ForceFlush(t.Context()); err != nil {
		t.Error(err)
	}
	if err := p.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if p.Losses().Total() != 0 {
		t.Error("lost something")
	}
}

func TestGlobal(t *testing.T) {
	handleErrors(t)
	r := otlptest.New(t)
	before := otel.GetTracerProvider()
	tp, mp, lp, prop := before, otel.GetMeterProvider(), otel.GetLoggerProvider(), otel.GetTextMapPropagator()
	t.Cleanup(func() {
		otel.SetTracerProvider(tp)
		otel.SetMeterProvider(mp)
		otel.SetLoggerProvider(lp)
		otel.SetTextMapPropagator(prop)
	})
	setup(t, WithEndpoint(r.Endpoint()))
	if otel.GetTracerProvider() != before {
		t.Fatal("Setup changed the global provider unasked")
	}
	p := setup(t, WithEndpoint(r.Endpoint()), WithGlobal())
	if otel.GetTracerProvider() != p.TracerProvider() || otel.GetMeterProvider() != p.MeterProvider() || otel.GetLoggerProvider() != p.LoggerProvider() {
		t.Error("WithGlobal did not set the providers")
	}
	if f := otel.GetTextMapPropagator().Fields(); !reflect.DeepEqual(f, []string{"baggage", "traceparent", "tracestate"}) && len(f) != 3 {
		t.Errorf("propagator fields %v", f)
	}
}

func TestMetricInterval(t *testing.T) {
	handleErrors(t)
	r := otlptest.New(t)
	p := setup(t, WithEndpoint(r.Endpoint()), WithMetricInterval(5*time.Millisecond))
	emit(t, p)
	eventually(t, "two exports of metrics", func() bool { return len(r.MetricRequests()) >= 2 })
}

// The attributes of a span are limited to 256, unless the environment says
// otherwise; the other limits are the SDK's.
func TestLimits(t *testing.T) {
	handleErrors(t)
	r := otlptest.New(t)
	for _, tt := range []struct {
		env    map[string]string
		attrs  int
		events int
	}{
		{nil, 256, 128},
		{map[string]string{"OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT": "130"}, 130, 128},
		{map[string]string{"OTEL_ATTRIBUTE_COUNT_LIMIT": "-1"}, 300, 128},
		{map[string]string{"OTEL_ATTRIBUTE_COUNT_LIMIT": "x"}, 256, 128},
		{map[string]string{"OTEL_SPAN_EVENT_COUNT_LIMIT": "200"}, 256, 200},
		{map[string]string{"OTEL_SPAN_EVENT_COUNT_LIMIT": "0"}, 256, 0},
	} {
		r.Reset()
		t.Run("", func(t *testing.T) {
			for k, v := range tt.env {
				t.Setenv(k, v)
			}
			p := setup(t, WithEndpoint(r.Endpoint()))
			_, s := p.TracerProvider().Tracer("test").Start(t.Context(), "span")
			for i := range 300 {
				s.SetAttributes(attribute.Int("k"+string(rune('0'+i)), i))
				s.AddEvent("event", trace.WithAttributes(attribute.Int("i", i)))
			}
			s.End()
			if err := p.Shutdown(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := r.FlatSpans()[0]; len(got.Attrs) != tt.attrs || len(got.Events) != tt.events {
				t.Errorf("%v: %d attributes, %d events, want %d, %d", tt.env, len(got.Attrs), len(got.Events), tt.attrs, tt.events)
			}
		})
	}
}
