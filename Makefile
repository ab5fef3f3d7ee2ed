FUZZTIME ?= 10s

.PHONY: test race lint generate fuzz bench e2e

test:
	go test ./...

race:
	go test -race ./...

lint:
	./scripts/lint.sh

generate:
	go generate ./...

# Each fuzz target for FUZZTIME.
fuzz:
	./scripts/fuzz.sh $(FUZZTIME)

bench:
	go test -run '^$$' -bench . -benchmem ./genai/... ./vllm/... ./sglang/...

# Against real clients and servers, in a module of its own.
e2e:
	cd e2e && go vet ./... && go test ./...
