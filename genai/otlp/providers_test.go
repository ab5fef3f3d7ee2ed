package otlp

import (
	"context"
	"testing"
)

// Providers that are not there, as of a Setup that failed, do nothing.
func TestNoProviders(t *testing.T) {
	for _, p := range []*Providers{nil, {}} {
		ctx := context.Background()
		_, span := p.TracerProvider().Tracer("x").Start(ctx, "x")
		if span.IsRecording() || p.Losses().Total() != 0 {
			t.Errorf("%v records", p)
		}
		span.End()
		counter, err := p.MeterProvider().Meter("x").Int64Counter("x")
		if err != nil || counter.Enabled(ctx) || p.LoggerProvider().Logger("x") == nil {
			t.Errorf("%v counts, error %v", p, err)
		}
		if err := p.ForceFlush(ctx); err != nil {
			t.Error(err)
		}
		for range 2 {
			if err := p.Shutdown(ctx); err != nil {
				t.Error(err)
			}
		}
	}
}
