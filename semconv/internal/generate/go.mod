module github.com/infertel/infertel-go/semconv/internal/generate

go 1.26.0

require go.yaml.in/yaml/v3 v3.0.6
