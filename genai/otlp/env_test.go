package otlp

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/metadata"

	"github.com/infertel/infertel-go/internal/otlpreceiver"
	"github.com/infertel/infertel-go/internal/otlpreceiver/otlptest"
)

func TestErrors(t *testing.T) {
	h := handleErrors(t)
	for _, tt := range []struct {
		env   string
		value string
		opts  []Option
		want  string // "": no error
	}{
		{"OTEL_TRACES_EXPORTER", "jaeger", nil, `OTEL_TRACES_EXPORTER is "jaeger", want otlp or none`},
		{"OTEL_METRICS_EXPORTER", "prometheus", nil, `OTEL_METRICS_EXPORTER is "prometheus", want otlp or none`},
		{"OTEL_LOGS_EXPORTER", "console", nil, `OTEL_LOGS_EXPORTER is "console", want otlp or none`},
		{"OTEL_TRACES_EXPORTER", " otlp ", nil, ""},
		{"OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf", nil, `OTEL_EXPORTER_OTLP_PROTOCOL is "http/protobuf", want grpc`},
		{"OTEL_EXPORTER_OTLP_LOGS_PROTOCOL", "http/json", nil, `OTEL_EXPORTER_OTLP_LOGS_PROTOCOL is "http/json", want grpc`},
		{"OTEL_EXPORTER_OTLP_PROTOCOL", "grpc", nil, ""},
		{"OTEL_EXPORTER_OTLP_ENDPOINT", "collector", nil, `OTEL_EXPORTER_OTLP_ENDPOINT is "collector", want a URL such as http://localhost:4317`},
		{"OTEL_EXPORTER_OTLP_ENDPOINT", "collector", []Option{WithEndpoint("http://localhost:1")}, ""},
		{"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "http://[::1", nil, `OTEL_EXPORTER_OTLP_METRICS_ENDPOINT is "http://[::1", want a URL`},
		{"OTEL_EXPORTER_OTLP_CERTIFICATE", "/does/not/exist", []Option{WithEndpoint("https://localhost:1")}, "OTEL_EXPORTER_OTLP_CERTIFICATE: open /does/not/exist"},
		{"OTEL_EXPORTER_OTLP_LOGS_CERTIFICATE", "env_test.go", []Option{WithEndpoint("https://localhost:1")}, `OTEL_EXPORTER_OTLP_LOGS_CERTIFICATE is "env_test.go", want a file of PEM certificates`},
		{"OTEL_EXPORTER_OTLP_CERTIFICATE", "/does/not/exist", []Option{WithEndpoint("http://localhost:1")}, ""},
		{"OTEL_EXPORTER_OTLP_ENDPOINT", "htps://localhost:4317", nil, `OTEL_EXPORTER_OTLP_ENDPOINT is "htps://localhost:4317", want a URL such as http://localhost:4317: unknown scheme`},
		{"OTEL_EXPORTER_OTLP_ENDPOINT", "http//localhost:4317", nil, `want a URL such as http://localhost:4317: not a host`},
		{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://localhost:99999", nil, `want a URL such as http://localhost:4317: no such port`},
		{"OTEL_EXPORTER_OTLP_ENDPOINT", "localhost:0", nil, `no such port`},
		{"OTEL_EXPORTER_OTLP_ENDPOINT", " ", nil, ""},
		{"OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE", "c.pem", []Option{WithEndpoint("https://localhost:1")}, `OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE is "c.pem", want the file of its key in OTEL_EXPORTER_OTLP_CLIENT_KEY too`},
		{"OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY", "k.pem", []Option{WithEndpoint("https://localhost:1")}, `OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY is "k.pem", want the file of its certificate`},
		{"", "", []Option{WithEndpoint("localhost:4317")}, `WithEndpoint is "localhost:4317", want a URL such as http://localhost:4317`},
		{"", "", []Option{WithEndpoint("unix:///run/x")}, `WithEndpoint is "unix:///run/x", want a URL`},
		{"", "", []Option{WithEndpoint("http://")}, `WithEndpoint is "http://", want a URL`},
	} {
		t.Run(tt.env+"="+tt.value, func(t *testing.T) {
			if tt.env != "" {
				t.Setenv(tt.env, tt.value)
			}
			p, err := Setup(t.Context(), tt.opts...)
			if p != nil {
				defer func() { _ = p.Shutdown(t.Context()) }()
			}
			switch {
			case tt.want == "" && err != nil:
				t.Errorf("unexpected: %v", err)
			case tt.want != "" && (err == nil || p != nil || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
	for _, e := range h.all() {
		if strings.HasPrefix(e, "otlp:") {
			t.Errorf("reported %q", e)
		}
	}
}

func TestParseEndpoint(t *testing.T) {
	for _, tt := range []struct {
		endpoint string
		plainEnv bool
		address  string
		plain    bool
	}{
		{"http://localhost:4317", false, "localhost:4317", true},
		{"HTTP://localhost:4317/ignored/path", false, "localhost:4317", true},
		{"https://collector.test", true, "collector.test", false},
		{"https://[::1]:4317/", false, "[::1]:4317", false},
		{"localhost:4317", false, "localhost:4317", false},
		{"127.0.0.1:4317", true, "127.0.0.1:4317", true},
		{"dns:///collector.test:4317", true, "dns:///collector.test:4317", true},
		{"dns:///collector.test:4317", false, "dns:///collector.test:4317", false},
		{"unix:/run/otlp.sock", false, "unix:/run/otlp.sock", true},
		{"unix:///run/otlp.sock", false, "unix:///run/otlp.sock", true},
		{"http://collector.test", false, "", false}, // errors from here on
		{"http://:4317", false, "", false},
		{"http://collector.test:x", false, "", false},
		{"collector.test", false, "", false},
		{"collector.test:", false, "", false},
		{"://", false, "", false},
	} {
		address, plain, err := parseEndpoint(tt.endpoint, func() bool { return tt.plainEnv })
		if address != tt.address || plain != tt.plain || (err != nil) != (tt.address == "") {
			t.Errorf("%s: %q, plain %t, %v; want %q, plain %t", tt.endpoint, address, plain, err, tt.address, tt.plain)
		}
	}
}

// Values that cannot be used are reported once and replaced by the default.
func TestBadValues(t *testing.T) {
	for _, tt := range []struct{ name, value, want string }{
		{"OTEL_BSP_MAX_QUEUE_SIZE", "-1", "an integer from 1 to 1048576"},
		{"OTEL_BSP_MAX_QUEUE_SIZE", "0", "an integer from 1 to 1048576"},
		{"OTEL_BSP_MAX_QUEUE_SIZE", "abc", "an integer from 1 to 1048576"},
		{"OTEL_BSP_MAX_QUEUE_SIZE", "99999999999999999999", "an integer from 1 to 1048576"},
		{"OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "-5", "an integer from 1 to 1048576"},
		{"OTEL_BSP_SCHEDULE_DELAY", "0", "an integer from 1 to 2147483647"},
		{"OTEL_BSP_EXPORT_TIMEOUT", "1.5", "an integer from 1 to 2147483647"},
		{"OTEL_BLRP_MAX_QUEUE_SIZE", "-1", "an integer from 1 to 131072"},
		{"OTEL_BLRP_MAX_EXPORT_BATCH_SIZE", "0x10", "an integer from 1 to 131072"},
		{"OTEL_BLRP_SCHEDULE_DELAY", "9223372036854775807", "an integer from 1 to 2147483647"},
		{"OTEL_BLRP_EXPORT_TIMEOUT", "-30000", "an integer from 1 to 2147483647"},
		{"OTEL_METRIC_EXPORT_INTERVAL", "0", "an integer from 1 to 2147483647"},
		{"OTEL_METRIC_EXPORT_TIMEOUT", "10s", "an integer from 1 to 2147483647"},
		{"OTEL_EXPORTER_OTLP_TIMEOUT", "-1", "an integer from 1 to 2147483647"},
		{"OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "ten", "an integer from 1 to 2147483647"},
		{"OTEL_EXPORTER_OTLP_COMPRESSION", "zstd", "gzip or none"},
		{"OTEL_EXPORTER_OTLP_LOGS_INSECURE", "1", "true or false"},
		{"OTEL_SDK_DISABLED", "yes", "true or false"},
		{"OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE", "detla", "cumulative, delta or lowmemory"},
		{"OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION", "exponential", "base2_exponential_bucket_histogram"},
		{"OTEL_METRICS_EXEMPLAR_FILTER", "none", "trace_based, always_on or always_off"},
		{"OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT", "many", "an integer"},
		{"OTEL_SPAN_EVENT_COUNT_LIMIT", " 200", "an integer, without spaces"},
	} {
		t.Run(tt.name+"="+tt.value, func(t *testing.T) {
			h := handleErrors(t)
			t.Setenv(tt.name, tt.value)
			p := setup(t, WithEndpoint("http://127.0.0.1:1"))
			if err := shutdown(t, p, time.Second); err != nil {
				t.Error(err)
			}
			h.want(t, tt.name, tt.value, tt.want)
			if len(h.all()) != 1 {
				t.Errorf("reported %q", h.all())
			}
		})
	}
}

// Values that are spelt another way are used, or are as good as absent.
func TestGoodValues(t *testing.T) {
	for _, tt := range []struct{ name, value string }{
		{"OTEL_EXPORTER_OTLP_INSECURE", "TRUE"},
		{"OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE", "Delta"},
		{"OTEL_TRACES_SAMPLER", " Always_On "},
		{"OTEL_TRACES_SAMPLER_ARG", "not read by the default sampler"},
		{"OTEL_BSP_MAX_QUEUE_SIZE", " "},
		{"OTEL_BSP_SCHEDULE_DELAY", " 100 "},
		{"OTEL_EXPORTER_OTLP_HEADERS", " , a=b,, c = d%20e,"},
		{"OTEL_RESOURCE_ATTRIBUTES", " "},
		{"OTEL_SPAN_EVENT_COUNT_LIMIT", "-1"},
	} {
		t.Run(tt.name+"="+tt.value, func(t *testing.T) {
			h := handleErrors(t)
			t.Setenv(tt.name, tt.value)
			if err := shutdown(t, setup(t, WithEndpoint("http://127.0.0.1:1")), time.Second); err != nil || len(h.all()) != 0 {
				t.Errorf("%v, reported %q", err, h.all())
			}
		})
	}
}

// Of what the SDK reports itself, the variable is named too.
func TestBadValuesOfTheSDK(t *testing.T) {
	for _, tt := range []struct{ name, value, want string }{
		{"OTEL_TRACES_SAMPLER", "sometimes", "always_on, always_off, traceidratio"},
		{"OTEL_TRACES_SAMPLER_ARG", "2", "a number from 0 to 1"},
		{"OTEL_TRACES_SAMPLER_ARG", "NaN", "a number from 0 to 1"},
		{"OTEL_TRACES_SAMPLER_ARG", "0,5", "a number from 0 to 1"},
		{"OTEL_RESOURCE_ATTRIBUTES", "novalue", "missing value"},
	} {
		t.Run(tt.name+"="+tt.value, func(t *testing.T) {
			h := handleErrors(t)
			if tt.name == "OTEL_TRACES_SAMPLER_ARG" {
				t.Setenv("OTEL_TRACES_SAMPLER", "parentbased_traceidratio")
			}
			t.Setenv(tt.name, tt.value)
			_ = shutdown(t, setup(t, WithEndpoint("http://127.0.0.1:1")), time.Second)
			h.want(t, "otlp: ", tt.name, tt.want)
		})
	}
}

// A header that cannot be sent is left out of all three signals and reported
// without its value, which may be a secret.
func TestBadHeaders(t *testing.T) {
	h := handleErrors(t)
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "Authorization=Bearer%20s3cret,s3cret,a!=s3cret,b=s3creté,c=%zzs3cret")
	r := otlptest.New(t)
	var mu sync.Mutex
	seen := map[string]int{}
	for _, s := range []otlpreceiver.Signal{otlpreceiver.Traces, otlpreceiver.Metrics, otlpreceiver.Logs} {
		r.SetHook(s, func(ctx context.Context, _ int) otlpreceiver.Reply {
			md, _ := metadata.FromIncomingContext(ctx)
			mu.Lock()
			defer mu.Unlock()
			for _, key := range []string{"authorization", "a!", "b", "c"} {
				for _, v := range md.Get(key) {
					seen[key+"="+v]++
				}
			}
			return otlpreceiver.Reply{}
		})
	}
	p := setup(t, WithEndpoint(r.Endpoint()))
	endSpans(p, 1)
	emitLogs(p, 1, 1)
	count(t, p)
	if err := p.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if len(seen) != 1 || seen["authorization=Bearer s3cret"] != 3 {
		t.Errorf("headers %v", seen)
	}
	for _, entry := range []string{"2", "3", "4", "5"} {
		h.want(t, "entry "+entry+" of OTEL_EXPORTER_OTLP_HEADERS is not used")
	}
	for _, e := range h.all() {
		if strings.Contains(e, "s3cret") {
			t.Errorf("reported %q", e)
		}
	}
}

// Whatever the environment holds, Setup returns.
func TestNoPanic(t *testing.T) {
	handleErrors(t)
	names := []string{
		"OTEL_SDK_DISABLED", "OTEL_SERVICE_NAME", "OTEL_RESOURCE_ATTRIBUTES", "OTEL_TRACES_EXPORTER", "OTEL_METRICS_EXPORTER",
		"OTEL_LOGS_EXPORTER", "OTEL_TRACES_SAMPLER", "OTEL_TRACES_SAMPLER_ARG", "OTEL_BSP_SCHEDULE_DELAY", "OTEL_BSP_EXPORT_TIMEOUT",
		"OTEL_BSP_MAX_QUEUE_SIZE", "OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "OTEL_BLRP_SCHEDULE_DELAY", "OTEL_BLRP_EXPORT_TIMEOUT",
		"OTEL_BLRP_MAX_QUEUE_SIZE", "OTEL_BLRP_MAX_EXPORT_BATCH_SIZE", "OTEL_METRIC_EXPORT_INTERVAL", "OTEL_METRIC_EXPORT_TIMEOUT",
		"OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT", "OTEL_SPAN_EVENT_COUNT_LIMIT", "OTEL_SPAN_LINK_COUNT_LIMIT", "OTEL_ATTRIBUTE_COUNT_LIMIT",
		"OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT", "OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT", "OTEL_EVENT_ATTRIBUTE_COUNT_LIMIT",
		"OTEL_LINK_ATTRIBUTE_COUNT_LIMIT", "OTEL_LOGRECORD_ATTRIBUTE_COUNT_LIMIT", "OTEL_LOGRECORD_ATTRIBUTE_VALUE_LENGTH_LIMIT",
		"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TIMEOUT", "OTEL_EXPORTER_OTLP_COMPRESSION",
		"OTEL_EXPORTER_OTLP_INSECURE", "OTEL_EXPORTER_OTLP_PROTOCOL", "OTEL_EXPORTER_OTLP_CERTIFICATE",
		"OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE", "OTEL_EXPORTER_OTLP_CLIENT_KEY",
		"OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE", "OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION",
	}
	values := []string{
		"-1", "0", "9223372036854775807", "-9223372036854775808", "99999999999999999999", "NaN", "%zz", "\xff",
		" ", ",=", "://", "unix:", "dns:///", strings.Repeat("x", 1<<16), "traceidratio", "true",
	}
	t.Setenv("OTEL_BLRP_MAX_QUEUE_SIZE", "16") // allocated in advance
	t.Setenv("OTEL_BSP_MAX_QUEUE_SIZE", "16")
	for _, v := range values {
		for _, name := range names {
			t.Run("", func(t *testing.T) {
				t.Setenv(name, v)
				try(t, name, v)
			})
		}
		t.Run("", func(t *testing.T) { // and all at once
			for _, name := range names {
				t.Setenv(name, v)
			}
			try(t, "all", v)
		})
	}
}

func try(t *testing.T, name, value string) {
	defer func() {
		if r := recover(); r != nil {
			t.Errorf("%s=%.50q: panic: %v", name, value, r)
		}
	}()
	p, err := Setup(t.Context())
	if err != nil {
		return
	}
	_, s := p.TracerProvider().Tracer("test").Start(t.Context(), "span")
	s.AddEvent("event")
	s.End()
	_ = shutdown(t, p, time.Millisecond)
	<-p.done // it may go on for a moment
	if p.traces != nil && name != "OTEL_TRACES_SAMPLER" && name != "OTEL_TRACES_SAMPLER_ARG" && name != "all" && p.Losses().Spans.Total() != 1 {
		t.Errorf("%s=%.50q: lost %+v, want the one span", name, value, p.Losses().Spans)
	}
}
