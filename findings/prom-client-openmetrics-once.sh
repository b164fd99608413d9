#!/usr/bin/env bash
# A registry is rendered as OpenMetrics once, and then as classic text again, as a client's Accept asks for.
# Needs: npm, on Debian 13.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

echo '{ "private": true }' > package.json
npm install --silent --no-audit --no-fund prom-client@15.1.3 node@24.21.0
cat > render.mjs <<'J'
import { Counter, Registry } from 'prom-client';
const registry = new Registry();
new Counter({ name: 'jobs_total', help: 'Jobs.', registers: [registry] }).inc();
const sample = async (type) => {
  registry.setContentType(type);
  return (await registry.metrics()).split('\n').find((line) => line.startsWith('jobs'));
};
const { PROMETHEUS_CONTENT_TYPE: text, OPENMETRICS_CONTENT_TYPE: openMetrics } = Registry;
for (const type of [text, openMetrics, text]) console.log(await sample(type));
J
node_modules/.bin/node render.mjs > seen

echo "guess:     the format of one answer does not change the next one"
echo "version:   prom-client 15.1.3"
echo "behaviour: after one answer in OpenMetrics, the counter is called \`jobs\` in all later answers as text"
echo "seen:      text, OpenMetrics, text: $(paste -sd ';' seen)"
echo "hit:       programs that serve both formats: one look by another client renames the series of all"
if ! { [ "$(paste -sd ';' seen)" = "jobs_total 1;jobs_total 1;jobs 1" ]; }; then
  echo "changed"
  exit 1
fi
