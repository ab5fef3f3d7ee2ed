#!/usr/bin/env bash
# Runs every fuzz target of the module for a while: fuzz.sh [DURATION]
set -euo pipefail
cd "$(dirname "$0")/.."
duration=${1:-10s}
said=$(mktemp)
trap 'rm -f "$said"' EXIT
while read -r dir; do
	for target in $({ grep -hoE '^func Fuzz[A-Za-z0-9_]*' "$dir"/*_test.go || true; } | sed 's/^func //' | sort -u); do
		echo "fuzz $target in ${dir#"$PWD"/}"
		# Without the last flag most of a short run goes into making inputs small.
		if ! go test "$dir" -run '^$' -fuzz "^$target\$" -fuzztime "$duration" -fuzzminimizetime 10x 2>&1 | tee "$said"; then
			# The go command can take the end of the time for a failure where a
			# worker answers late. Then no input has failed.
			if ! grep -q 'context deadline exceeded' "$said" || grep -q 'Failing input\|--- FAIL: .*/' "$said"; then
				exit 1
			fi
		fi
	done
done < <(go list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.Dir}}{{end}}' ./... | grep .)
