#!/usr/bin/env bash
# Installs OpenAI's client for Node.js in e2e/npm, for the tests in e2e. Node.js 18
# or newer and npm come from Debian where they are missing.
set -euo pipefail
cd "$(dirname "$0")/../e2e/npm"
if ! { command -v node && command -v npm; } >/dev/null; then
	if ! command -v apt-get >/dev/null; then
		echo "no node and npm here, and no apt-get to install them" >&2
		exit 1
	fi
	apt-get update -qq
	DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends nodejs npm
fi
npm ci --no-audit --no-fund
