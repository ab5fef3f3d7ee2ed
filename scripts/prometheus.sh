#!/usr/bin/env bash
# Puts prometheus and promtool of Debian into the user's cache directory, where the
# tests in e2e find them. No service is installed and nothing runs afterwards.
set -euo pipefail
dir=${XDG_CACHE_HOME:-$HOME/.cache}/infertel-go/prometheus
if { command -v prometheus && command -v promtool; } >/dev/null; then
	exit
fi
if "$dir/prometheus" --version >/dev/null 2>&1 && "$dir/promtool" --version >/dev/null 2>&1; then
	exit
fi
for tool in apt-get dpkg-deb; do
	if ! command -v "$tool" >/dev/null; then
		echo "no $tool here: put prometheus and promtool into PATH or into $dir" >&2
		exit 1
	fi
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
# As root, apt would download as a user that may not write here.
download() { apt-get download -qq -o APT::Sandbox::User=root prometheus; }
# A machine that never ran "apt-get update" has no list to find the package in.
if ! download 2>/dev/null; then
	apt-get update -qq
	download
fi
dpkg-deb -x prometheus_*.deb unpacked
mkdir -p "$dir"
mv unpacked/usr/bin/prometheus unpacked/usr/bin/promtool "$dir"
"$dir/prometheus" --version | head -1
