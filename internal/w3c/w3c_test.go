package w3c

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/baggage"
	"go.opentelemetry.io/otel/propagation"

	"github.com/infertel/infertel-go/internal/sdktest"
)

// TestExtract holds what is read against OpenTelemetry's own propagator, and
// sees that a header which cannot be read is not reported.
func TestExtract(t *testing.T) {
	for _, values := range [][]string{
		nil, {""}, {"a=1"}, {"a=1,b=2;p=q", "c=3"}, {"a=1", "a=2"}, {"a=1, ,=,b=2"}, {"the prompt"}, {strings.Repeat("a=1,", 3000)},
	} {
		h := http.Header{"Baggage": values}
		errs := sdktest.HandleErrors(t)
		got := Propagator().Extract(context.Background(), propagation.HeaderCarrier(h))
		if reported := errs.Take(); len(reported) > 0 {
			t.Errorf("%.40q: reported %v", values, reported)
		}
		want := propagation.Baggage{}.Extract(context.Background(), propagation.HeaderCarrier(h))
		if g, w := members(got), members(want); !slices.Equal(g, w) {
			t.Errorf("%.40q: members are %q, want %q", values, g, w)
		}
	}
	one := Propagator().Extract(context.Background(), propagation.MapCarrier{"baggage": "a=1"})
	if got := members(one); !slices.Equal(got, []string{"a=1"}) {
		t.Errorf("members are %q", got)
	}
	if got := Propagator().Fields(); !slices.Contains(got, "baggage") || !slices.Contains(got, "traceparent") {
		t.Errorf("fields are %q", got)
	}
}

func members(ctx context.Context) []string {
	var out []string
	for _, m := range baggage.FromContext(ctx).Members() {
		out = append(out, m.String())
	}
	slices.Sort(out)
	return out
}
