#!/usr/bin/env bash
# A service manager starts a program by npx, and stops it with SIGTERM.
# Needs: npm, on Debian 13.
set -euo pipefail
work=$(mktemp -d)
# The program must have ended before the folder goes: it would write into it.
trap 'while kill -KILL $(cat "$work/pid") 2>/dev/null; do sleep 0.1; done; rm -rf "$work"' EXIT
cd "$work"

mkdir demo
echo '{ "name": "demo", "version": "1.0.0", "bin": "./demo.mjs" }' > demo/package.json
cat > demo/demo.mjs <<'J'
#!/usr/bin/env node
import { writeFileSync } from 'node:fs';
process.on('SIGTERM', () => {
  writeFileSync('ended', 'cleanly');
  process.exit(0);
});
setTimeout(() => undefined, 20_000);
writeFileSync('pid', String(process.pid));
J
chmod +x demo/demo.mjs
echo '{ "private": true }' > package.json
npm install --silent --no-audit --no-fund npm@11.19.0 node@24.21.0 ./demo
PATH=$work/node_modules/.bin:$PATH
npx --offline demo &
until [ -s pid ]; do sleep 0.2; done
sleep 1
code=0; kill -TERM $!; wait $! || code=$?
sleep 2
runs=no; kill -0 "$(cat pid)" 2>/dev/null && runs=yes

echo "guess:     npx passes the signal on: the program ends cleanly, and npx with it"
echo "version:   npm $(npm --version), Node.js $(node --version)"
echo "behaviour: npx ends, and the program never hears of it and runs on"
echo "seen:      npx: exit $code; the program ended $(cat ended 2>/dev/null || echo 'not at all'); runs two seconds later: $runs"
echo "hit:       services and containers that start by npx: a port that stays taken, data that is not flushed"
if ! { [ ! -e ended ] && [ "$runs" = yes ]; }; then
  echo "changed"
  exit 1
fi
