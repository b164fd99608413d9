#!/usr/bin/env bash
# Two Prometheus servers scrape one program, as a pair for high availability does.
# Needs: npm, on Debian 13.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

echo '{ "private": true }' > package.json
npm install --silent --no-audit --no-fund prom-client@15.1.3 node@24.21.0
cat > scrape.mjs <<'J'
import { collectDefaultMetrics, register } from 'prom-client';
collectDefaultMetrics();
const lines = async () => (await register.metrics()).split('\n').filter((line) => /^nodejs_eventloop_lag_(min|max|mean)_seconds /.test(line));
await new Promise((resolve) => setTimeout(resolve, 1_000));
console.log(`first=${(await lines()).join(', ').replaceAll('nodejs_eventloop_lag_', '')}`);
console.log(`second=${(await lines()).join(', ').replaceAll('nodejs_eventloop_lag_', '')}`);
J
node_modules/.bin/node scrape.mjs > seen
second=$(sed -n 's/^second=//p' seen)

echo "guess:     a scrape changes nothing, so both servers see the same lag"
echo "version:   prom-client 15.1.3, Node.js $(node_modules/.bin/node --version)"
echo "behaviour: each scrape empties the histogram: the second server gets no mean, no maximum and a minimum of 292 years"
echo "seen:      $(paste -sd ';' seen)"
echo "hit:       pairs of servers; a person who looks at /metrics takes a reading away"
if ! { [[ $second == *"min_seconds 9223372036"* && $second == *"max_seconds 0,"* ]]; }; then
  echo "changed"
  exit 1
fi
