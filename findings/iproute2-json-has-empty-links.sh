#!/usr/bin/env bash
# `ip -j` lists the links of a type that no link has.
# Needs: apt, python3, on Debian 13.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

libraries=$(apt-cache depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces \
  --no-enhances iproute2 | grep -E '^lib' | grep -vE '^libc6|:i386')
# shellcheck disable=SC2086
apt-get -qq -o APT::Sandbox::User=root download iproute2=6.15.0-1 $libraries
for package in *.deb; do dpkg -x "$package" root; done
ip() { LD_LIBRARY_PATH=$(dirname "$(find root -name libbpf.so.1)") "$(find root -name ip -path '*bin/ip' | head -n 1)" "$@"; }

# No machine has a link of this type.
text=$(ip address show type vcan | wc -l)
json=$(ip -j address show type vcan)
links=$(ip -j link show | python3 -c 'import json, sys; print(len(json.load(sys.stdin)))')
entries=$(python3 -c 'import json, sys; print(len(json.loads(sys.argv[1])))' "$json")

echo "guess:     no link, so the list is []"
echo "version:   $(ip -V | cut -d, -f1-2)"
echo "behaviour: the list has an empty object for each link that does not fit"
echo "seen:      as text $text lines; as JSON $json on a machine with $links links"
echo "hit:       scripts that count with jq length, or read .[0].ifname: null instead of no entry"
if ! { [ "$text" = 0 ] && [ "$entries" = "$links" ] && [ "${json//[\[\]\{\},]/}" = "" ]; }; then
  echo "changed"
  exit 1
fi
