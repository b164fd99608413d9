# Sourced by every script of package.json, and by zlb-exporter, which sets the folder of the clone.

# Node.js 24 comes with `npm ci`, but not where npm runs no install scripts. An older one cannot run TypeScript files.
case $(node --version 2>/dev/null) in
v2[4-9].* | v[3-9][0-9].* | v[1-9][0-9][0-9].*) ;;
*)
  echo "zlb-exporter needs Node.js 24 or newer and found $(node --version 2>/dev/null || echo none); install Node.js 24," \
    "or run npm ci --ignore-scripts=false, which brings it along" >&2
  exit 1
  ;;
esac

if [ ! -d "${folder:=$PWD}/node_modules/pino" ]; then
  echo "the packages that zlb-exporter needs are not installed; run npm ci in $folder first" >&2
  exit 1
fi
