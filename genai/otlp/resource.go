package otlp

import (
	"context"
	"fmt"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/sdk/resource"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
)

// newResource describes this process: what the SDK detects by default, who it is
// among its replicas, then the environment, then the options.
func newResource(ctx context.Context, c config) *resource.Resource {
	r, err := resource.New(ctx,
		// service.instance.id keeps the metrics of replicas apart in Prometheus,
		// which has nothing else of the resource in its labels.
		resource.WithService(),
		resource.WithTelemetrySDK(),
		resource.WithHost(),
		resource.WithProcessPID(),
		resource.WithProcessExecutableName(),
		resource.WithFromEnv(),
	)
	if err != nil {
		// What could be detected is there all the same.
		otel.Handle(fmt.Errorf("otlp: resource, see OTEL_RESOURCE_ATTRIBUTES: %w", err))
	}
	attrs := r.Attributes()
	// Merging by attributes does without the error for schemas that differ.
	attrs = append(attrs, c.resource.Attributes()...)
	if c.serviceName != "" {
		attrs = append(attrs, semconv.ServiceName(c.serviceName))
	}
	attrs, _ = validAttributes(attrs)
	return resource.NewWithAttributes(r.SchemaURL(), attrs...)
}
