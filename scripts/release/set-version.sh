#!/bin/sh
# Writes the version of package.json wherever else it stands, and dates the changelog; `npm version`
# calls it: set-version.sh BEFORE NOW
set -eu
before=$1
version=$2
sed -i "s/^ARG VERSION=.*/ARG VERSION=$version/" Dockerfile
sed -i "s/^\(version\|appVersion\): .*/\1: $version/" deploy/helm/zlb-exporter/Chart.yaml
sed -i "s/zlb-exporter\([_:-]\)$before/zlb-exporter\1$version/g" deploy/README.md deploy/helm/zlb-exporter/README.md
sed -i "s/^## Unreleased.*/## $version ($(date --utc +%F))/" CHANGELOG.md
