#!/usr/bin/env bash
# A small program sends one request, by import or by require.
# Needs: npm, on Debian 13.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

echo '{ "private": true }' > package.json
npm install --silent --no-audit --no-fund node@24.21.0
node=$PWD/node_modules/.bin/node
report="
const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage();
const hasClient = process.moduleLoadList.includes('NativeModule internal/deps/undici/undici');
console.log(hasClient, Math.round(maxRSS / 1024), Math.round((userCPUTime + systemCPUTime) / 1000));"
echo "import { request } from 'node:http'; $report" > import.mjs
echo "const { request } = require('node:http'); $report" > require.cjs
echo "const { request } = process.getBuiltinModule('node:http'); $report" > builtin.mjs
# The cheapest of five.
best() {
  for _ in 1 2 3 4 5; do "$node" "$1"; done | sort -k3n | head -n 1
}
read -r by_import import_mb import_ms < <(best import.mjs)
read -r by_require require_mb require_ms < <(best require.cjs)
read -r by_builtin builtin_mb builtin_ms < <(best builtin.mjs)

echo "guess:     import { request } from 'node:http' loads what require('node:http') loads"
echo "version:   Node.js $("$node" --version)"
echo "behaviour: import reads every export once; node:http has WebSocket, which Node loads when it is read, and with it all of its copy of undici"
echo "seen:      import $import_mb MB, $import_ms ms of processor; require $require_mb MB, $require_ms ms; process.getBuiltinModule $builtin_mb MB, $builtin_ms ms"
echo "hit:       plug-ins and health checks that run each few seconds, small containers"
if ! [ "$by_import $by_require $by_builtin" = "true false false" ]; then
  echo "changed"
  exit 1
fi
