#!/bin/sh
# Builds and pushes the image for both platforms, with a bill of materials and its provenance:
# image.sh IMAGE SOURCE, such as image.sh ghcr.io/owner/zlb-exporter https://github.com/owner/zlb-exporter
# Prints the digest, by which it is signed. Needs docker with a builder for several platforms.
set -eu
image=$1
source=$2
version=$(node --print 'JSON.parse(fs.readFileSync("package.json")).version')
name=$(sed -n 's/^ARG BASE=//p' Dockerfile)
# The base is named by its digest, so that the same commit gives the same image.
base=$name@$(docker buildx imagetools inspect --format '{{json .Manifest.Digest}}' "$name" | tr -d '"')
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
metadata=$(mktemp)
docker buildx build --platform linux/amd64,linux/arm64 --tag "$image:$version" \
  --build-arg BASE="$base" --build-arg VERSION="$version" --build-arg SOURCE="$source" \
  --build-arg REVISION="$(git rev-parse HEAD)" \
  --build-arg CREATED="$(date --utc --date="@$SOURCE_DATE_EPOCH" +%FT%TZ)" \
  --sbom=true --provenance=mode=max --metadata-file="$metadata" \
  --output type=image,push=true,rewrite-timestamp=true . >&2
node --print 'JSON.parse(fs.readFileSync(process.argv[1]))["containerimage.digest"]' "$metadata"
rm -f "$metadata"
