#!/usr/bin/env bash
# A program under the permission model asks for a file that it may not read, and goes on.
# Needs: npm, on Debian 13.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

echo '{ "private": true }' > package.json
npm install --silent --no-audit --no-fund node@24.21.0
node=node_modules/node/bin/node
cat > program.mjs <<'J'
import { readFile } from 'node:fs';
const pause = () => new Promise((resolve) => setTimeout(resolve, 1_000));
const listed = () => process.getActiveResourcesInfo().filter((name) => name.startsWith('FS')).length;
for (let index = 0; index < 10; index += 1) await new Promise((resolve) => readFile('/etc/hostname', resolve));
await pause();
const later = listed();
globalThis.gc();
await pause();
console.log(later, listed());
J
free=$($node --expose-gc program.mjs)
bound=$($node --expose-gc --permission --allow-fs-read="$work" program.mjs)

echo "guess:     a request that was refused is over, as one that ended: it is no longer among the active resources"
echo "version:   Node.js $($node --version)"
echo "behaviour: it stays in process.getActiveResourcesInfo() until garbage is collected"
echo "seen:      of ten, listed a second later, and after gc(): $free; when they are refused: $bound"
echo "hit:       tests and monitors that look for requests that leak, or wait until none is left"
if ! { [ "$free" = '0 0' ] && [ "$bound" = '10 0' ]; }; then
  echo "changed"
  exit 1
fi
