FUZZTIME ?= 10s

.PHONY: test race lint generate dashboards fuzz bench e2e html-test

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

bench:
	go test -run '^$$' -bench . -benchmem ./genai/... ./vllm/... ./sglang/...

# Opens the page of the reference emitter in headless Chromium, which must be
# installed.
html-test:
	go run ./examples/internal/view/browsertest

# Against real clients, the OpenTelemetry Collector and Prometheus, in a module of
# its own. The first run builds the Collector, which takes some minutes.
e2e:
	./scripts/prometheus.sh
	cd e2e && go vet ./... && go test -timeout 30m ./...
