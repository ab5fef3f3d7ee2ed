#!/usr/bin/env bash
# Runs the linter, at the version this project is checked with, on every module.
set -euo pipefail
cd "$(dirname "$0")/.."

for module in $(git ls-files go.mod '*/go.mod' | xargs -n1 dirname); do
	echo "$module"
	(cd "$module" && go run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0 run "$@" ./...)
done
