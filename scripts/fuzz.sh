#!/usr/bin/env bash
# Runs every fuzz target of the module for a while: fuzz.sh [DURATION]
set -euo pipefail
cd "$(dirname "$0")/.."
duration=${1:-10s}
while read -r dir; do
	for target in $({ grep -hoE '^func Fuzz[A-Za-z0-9_]*' "$dir"/*_test.go || true; } | sed 's/^func //' | sort -u); do
		echo "fuzz $target in ${dir#"$PWD"/}"
		# Without the last flag most of a short run goes into making inputs small.
		go test "$dir" -run '^$' -fuzz "^$target\$" -fuzztime "$duration" -fuzzminimizetime 10x
	done
done < <(go list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.Dir}}{{end}}' ./... | grep .)
