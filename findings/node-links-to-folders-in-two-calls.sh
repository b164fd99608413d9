#!/usr/bin/env bash
# A folder has a link to another folder; two calls of one library list it recursively.
# Needs: npm, on Debian 13.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

echo '{ "private": true }' > package.json
npm install --silent --no-audit --no-fund node@24.21.0
mkdir -p live archive
touch archive/cert.pem
ln -s ../archive live/shop
cat > list.mjs <<'J'
import { opendir, readdir } from 'node:fs/promises';
const opened = [];
for await (const entry of await opendir('live', { recursive: true })) opened.push(entry.name);
console.log(`readdir: ${(await readdir('live', { recursive: true })).join(' ')}; opendir: ${opened.join(' ')}`);
J
seen=$(node_modules/.bin/node list.mjs)

echo "guess:     \`recursive\` means the same in opendir and readdir"
echo "version:   Node.js $(node_modules/.bin/node --version)"
echo "behaviour: readdir follows links to folders, opendir does not; neither has an option for it"
echo "seen:      $seen"
echo "hit:       readers of \`live\` of certbot and of mounted Kubernetes volumes; who changes one call for the other"
if ! { [ "$seen" = "readdir: shop shop/cert.pem; opendir: shop" ]; }; then
  echo "changed"
  exit 1
fi
