#!/usr/bin/env bash
# A client gives a server 0.3 seconds for its headers.
# Needs: npm, on Debian 13.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

echo '{ "private": true }' > package.json
npm install --silent --no-audit --no-fund undici@8.13.1 node@24.21.0
cat > ask.mjs <<'J'
import { createServer } from 'node:http';
import { Agent, request } from 'undici';
const server = createServer(() => undefined);
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const url = `http://127.0.0.1:${server.address().port}/`;
const took = async (options, signal) => {
  const dispatcher = new Agent(options);
  const begin = performance.now();
  const code = await request(url, { dispatcher, signal }).then(() => 'an answer', ({ code, name }) => code ?? name);
  await dispatcher.destroy();
  return [Math.round(performance.now() - begin), code];
};
const shortest = async (ask) => {
  let best = await ask();
  for (let n = 0; n < 4; n += 1) best = [best, await ask()].sort(([a], [b]) => a - b)[0];
  return best;
};
const [limited, code] = await shortest(() => took({ headersTimeout: 300 }));
const [aborted] = await shortest(() => took({}, AbortSignal.timeout(300)));
console.log(`${limited} ${aborted} ${code}`);
server.closeAllConnections();
server.close();
J
read -r limited aborted code < <(node_modules/.bin/node ask.mjs)

echo "guess:     headersTimeout: 300 ends the request after about 300 ms, as AbortSignal.timeout(300) does"
echo "version:   undici 8.13.1, Node.js $(node_modules/.bin/node --version)"
echo "behaviour: its timers are coarse: the limit comes up to a second late, so a limit of 0.3 s can take four times as long"
echo "seen:      shortest of five: headersTimeout $limited ms ($code), AbortSignal $aborted ms"
echo "hit:       probes and proxies with limits of about a second; two limits meant to come one after the other change places"
if ! { [ "$limited" -gt $((aborted + 150)) ] && [ "$code" = UND_ERR_HEADERS_TIMEOUT ]; }; then
  echo "changed"
  exit 1
fi
