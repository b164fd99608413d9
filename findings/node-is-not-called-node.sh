#!/usr/bin/env bash
# A program runs in Node.js, and a monitor looks for the process by its name.
# Needs: npm and procps, on Debian 13.
set -euo pipefail
work=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$work"' EXIT
cd "$work"

echo '{ "private": true }' > package.json
npm install --silent --no-audit --no-fund node@24.21.0
node_modules/node/bin/node -e 'setTimeout(() => undefined, 20_000)' &
sleep 2
name=$(cat "/proc/$!/comm")
found=$(pgrep --parent $$ --exact --count node || true)

echo "guess:     its process is called \`node\`"
echo "version:   Node.js $(node_modules/node/bin/node --version)"
echo "behaviour: its main thread is called MainThread, and what compares that name, such as pgrep -x, finds none"
echo "seen:      comm $name; pgrep --exact node finds $found"
echo "hit:       process monitors that compare /proc/PID/comm"
if ! { [ "$name" = MainThread ] && [ "$found" = 0 ]; }; then
  echo "changed"
  exit 1
fi
