#!/bin/sh
# Ends `npm ci`. npm leaves out optional packages that want a newer Node.js than its own, and the programs of
# linters and tests are such. So an older npm is run once more, by the Node.js 24 that it has just brought along.
set -eu
case $("${npm_node_execpath:-node}" --version) in
v2[4-9].* | v[3-9][0-9].*) exit 0 ;;
esac
# Without it, as after `npm ci --omit=dev`, there is nothing to complete.
[ -x node_modules/.bin/node ] || exit 0
exec node_modules/.bin/node --no-deprecation "${npm_execpath:?}" install --ignore-scripts --no-save --loglevel=error
