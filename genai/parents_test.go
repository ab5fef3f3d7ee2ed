package genai_test

import (
	"context"
	"testing"

	"go.opentelemetry.io/otel/propagation"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/infertel/infertel-go/genai"
	"github.com/infertel/infertel-go/internal/sdktest"
)

func TestParents(t *testing.T) {
	b := sdktest.New(t, sdktrace.WithSampler(sdktrace.ParentBased(sdktrace.AlwaysSample())))
	inst := newInstrumentation(t, b)
	public := newInstrumentation(t, b, genai.WithPublicEndpoint())
	const trace1, span1 = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
	parent := propagation.TraceContext{}.Extract(context.Background(), propagation.MapCarrier{"traceparent": "00-" + trace1 + "-" + span1 + "-01"})
	unsampled := propagation.TraceContext{}.Extract(context.Background(), propagation.MapCarrier{"traceparent": "00-" + trace1 + "-" + span1 + "-00"})

	end := func(ctx context.Context, c *genai.Call) trace.SpanContext {
		c.End(genai.Response{Usage: genai.Usage{InputTokens: new(1)}}, nil)
		return trace.SpanContextFromContext(ctx)
	}
	end(inst.Start(parent, genai.Request{Model: "child"}))
	end(public.Start(parent, genai.Request{Model: "root"}))
	if sc := end(inst.Start(unsampled, genai.Request{Model: "unsampled"})); sc.TraceID().String() != trace1 || sc.IsSampled() {
		t.Errorf("an unsampled parent is passed on as %v", sc)
	}
	// A parent in this process is one that we trust.
	local := trace.ContextWithSpanContext(context.Background(), trace.SpanContextFromContext(parent).WithRemote(false))
	end(public.Start(local, genai.Request{Model: "child"}))
	b.Flush()
	spans := b.Receiver.FlatSpans()
	if len(spans) != 3 {
		t.Fatalf("%d spans arrived, want 3", len(spans))
	}
	if s := spans[2]; s.TraceID != trace1 || s.ParentID != span1 || len(s.Links) != 0 {
		t.Errorf("child of a local parent is %+v", s)
	}
	if s := spans[0]; s.TraceID != trace1 || s.ParentID != span1 || len(s.Links) != 0 {
		t.Errorf("child is %+v", s)
	}
	if s := spans[1]; s.TraceID == trace1 || s.ParentID != "" || len(s.Links) != 1 || s.Links[0].TraceID != trace1 || s.Links[0].SpanID != span1 {
		t.Errorf("root with link is %+v", s)
	}
	if n := len(b.Receiver.LastPoints()); n != 3 {
		t.Errorf("%d token series, want one for each model, unsampled included", n)
	}
}
