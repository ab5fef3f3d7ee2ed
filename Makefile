FUZZTIME ?= 10s

.PHONY: test race lint generate dashboards fuzz bench bench-process e2e jaeger jaeger-test html-test

test:
	go test ./...

race:
	go test -race ./...

lint:
	./scripts/lint.sh

generate:
	go generate ./...

# After the registry or dashboards/gen has changed.
dashboards:
	cd dashboards/gen && go run .

# Each fuzz target for FUZZTIME.
fuzz:
	./scripts/fuzz.sh $(FUZZTIME)

# What the library costs, each kind of work beside the same without it. Writes
# docs/performance.md.
bench:
	cd e2e/bench && go run . -out ../../docs/performance.md

# What telemetry costs a whole gateway, as a process of its own under load.
bench-process:
	cd e2e/bench && go run ./load

# Opens the page of the reference emitter in headless Chromium, which must be
# installed.
html-test:
	go run ./examples/internal/view/browsertest

# Against real clients, the OpenTelemetry Collector and Prometheus, in a module of
# its own. The first run builds the Collector, which takes some minutes.
e2e:
	./scripts/prometheus.sh
	./scripts/npm.sh
	cd e2e && go vet ./... && go test -count=1 -timeout 30m ./...

# Jaeger with its web UI at http://127.0.0.1:16686. The first run builds it, which
# takes many minutes.
jaeger:
	cd e2e/jaeger && go run .

# All traces of the reference emitter stand in Jaeger as they were sent.
jaeger-test:
	cd e2e/jaeger && go vet ./... && go test -count=1 -timeout 2h ./...

# Minutes of load: 2,000 slow streams through the gateway, 200 through one with
# the race detector, and a shim with requests that never end.
soak:
	cd e2e && go run ./soak
	cd e2e && go run ./soak -race -streams 200 -chunk 200ms
	cd e2e && go run ./longrun
