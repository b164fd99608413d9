#!/bin/sh
# Builds the image for both platforms, with a bill of materials and its provenance, into a folder:
# image.sh SOURCE FOLDER, such as image.sh https://github.com/owner/zlb-exporter image
# Writes image.tar and digest, by which the image is pushed and signed. Nothing is pushed here. Needs docker
# with a builder for several platforms.
set -eu
source=$1
folder=$2
version=$(node --print 'JSON.parse(fs.readFileSync("package.json")).version')
name=$(sed -n 's/^ARG BASE=//p' Dockerfile)
# The base is named by its digest, so that the same commit gives the same image.
base=$name@$(docker buildx imagetools inspect --format '{{json .Manifest.Digest}}' "$name" | tr -d '"')
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
mkdir -p "$folder"
docker buildx build --platform linux/amd64,linux/arm64 \
  --build-arg BASE="$base" --build-arg VERSION="$version" --build-arg SOURCE="$source" \
  --build-arg REVISION="$(git rev-parse HEAD)" \
  --build-arg CREATED="$(date --utc --date="@$SOURCE_DATE_EPOCH" +%FT%TZ)" \
  --sbom=true --provenance=mode=max --metadata-file="$folder/metadata.json" \
  --output "type=oci,dest=$folder/image.tar,rewrite-timestamp=true" .
node --print 'JSON.parse(fs.readFileSync(process.argv[1]))["containerimage.digest"]' "$folder/metadata.json" >"$folder/digest"
