#!/usr/bin/env bash
# Runs every fuzz target of the module for a while: fuzz.sh [DURATION]
set -euo pipefail
cd "$(dirname "$0")/.."
duration=${1:-10s}
go list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.Dir}}{{end}}' ./... | while read -r dir; do
	[ -n "$dir" ] || continue
	grep -hoE '^func Fuzz[A-Za-z0-9_]*' "$dir"/*_test.go 2>/dev/null | sed 's/^func //' | sort -u | while read -r target; do
		echo "fuzz $target in ${dir#"$PWD"/}"
		go test "$dir" -run '^$' -fuzz "^$target\$" -fuzztime "$duration" </dev/null
	done
done
