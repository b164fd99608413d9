#!/usr/bin/env bash
# Three clients of one program speak TLS to a port that speaks plain HTTP.
# Needs: npm, on Debian 13.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

echo '{ "private": true }' > package.json
npm install --silent --no-audit --no-fund node@24.21.0 undici@8.13.1
node=node_modules/node/bin/node
cat > program.mjs <<'J'
import { createServer } from 'node:http';
import { request as overHttps } from 'node:https';
import { connect } from 'node:tls';
import { request as overUndici } from 'undici';
const server = createServer((_, response) => response.end('plain'));
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const { port } = server.address();
const url = `https://127.0.0.1:${port}/`;
const failures = [
  await new Promise((resolve) => connect({ host: '127.0.0.1', port }).on('error', resolve)),
  await overUndici(url).catch((error) => error),
  await new Promise((resolve) => overHttps(url).on('error', resolve).end()),
];
console.log(failures.map(({ code }) => code).join(' '));
server.close();
J
seen=$($node program.mjs)

echo "guess:     the error of each has the code of node:tls"
echo "version:   Node.js $($node --version), undici 8.13.1"
echo "behaviour: that of node:https is EPROTO: its own write fails first, and the code is that of the write"
echo "seen:      tls, undici, https: $seen"
echo "hit:       programs that tell causes by error.code: \"that port does not speak TLS\" becomes a fault of the protocol"
if [ "$seen" != 'ERR_SSL_WRONG_VERSION_NUMBER ERR_SSL_WRONG_VERSION_NUMBER EPROTO' ]; then
  echo "changed"
  exit 1
fi
