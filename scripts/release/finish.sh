#!/bin/sh
# Adds to release/ the npm package, the bill of materials, and the checksums of everything there.
# After `npm run package`, whose dist/ goes into the npm package too.
set -eu
npm pack --ignore-scripts --pack-destination release
npm run sbom
mv zlb-exporter.cdx.json release/
cd release
rm -f SHA256SUMS
sha256sum -- * >SHA256SUMS.new
mv SHA256SUMS.new SHA256SUMS
cat SHA256SUMS
