#!/usr/bin/env bash
# Runs the linter at the version this project is checked with.
set -euo pipefail
cd "$(dirname "$0")/.."
exec go run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0 run "$@" ./...
