#!/usr/bin/env bash
# One of two upstreams of Caddy is down, and is taken out of the configuration.
# Needs: apt, python3 and curl, on Debian 13. Takes about 40 s.
set -euo pipefail
work=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$work"' EXIT
cd "$work"

port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
admin=$(port); front=$(port); web1=$(port); web2=$(port)
apt-get -qq -o APT::Sandbox::User=root download 'caddy=2.6.2*'
dpkg -x caddy_*.deb root

mkdir www
python3 -m http.server --bind 127.0.0.1 --directory www "$web1" > web1.log 2>&1 &
# A configuration with these upstreams, and a check of each second.
with() {
  printf '{"admin":{"listen":"127.0.0.1:%s"},"apps":{"http":{"servers":{"shop":{"listen":["127.0.0.1:%s"],"routes":[{"handle":[
    {"handler":"reverse_proxy","health_checks":{"active":{"path":"/","interval":"1s","timeout":"1s"}},"upstreams":[%s]}]}]}}}}}' \
    "$admin" "$front" "$1"
}
first="{\"dial\":\"127.0.0.1:$web1\"}"
with "$first,{\"dial\":\"127.0.0.1:$web2\"}" > both.json
with "$first" > one.json
HOME=$work root/usr/bin/caddy run --config both.json > caddy.log 2>&1 &
healthy() {
  curl -s "http://127.0.0.1:$admin/metrics" > page || true
  awk -v name="caddy_reverse_proxy_upstreams_healthy{upstream=\"127.0.0.1:$1\"}" '$1 == name { print $2; found = 1 } END { if (!found) print "none" }' page
}
for _ in $(seq 60); do
  before="web1 $(healthy "$web1"), web2 $(healthy "$web2")"
  [ "$before" = "web1 1, web2 0" ] && break
  sleep 0.5
done
curl -sf -H 'content-type: application/json' --data-binary @one.json "http://127.0.0.1:$admin/load"
sleep 25
configured=$(curl -s "http://127.0.0.1:$admin/reverse_proxy/upstreams" | grep -o '127.0.0.1:[0-9]*' | sort -u | sed "s/127.0.0.1:$web1/web1/; s/127.0.0.1:$web2/web2/")
after="web1 $(healthy "$web1"), web2 $(healthy "$web2")"

echo "guess:     the metric of web2 goes away with it"
echo "version:   Caddy $(root/usr/bin/caddy version)"
echo "behaviour: it stays at its last value, down, although the list of upstreams no longer has it"
echo "seen:      before: $before; 25 s after: upstreams $configured; metric $after"
echo "hit:       alerts on upstreams that are down: they go on for one that was taken out, and stay quiet for one that was up"
if ! { [ "$before" = "web1 1, web2 0" ] && [ "$after" = "web1 1, web2 0" ] && [ "$configured" = web1 ]; }; then
  echo "changed"
  exit 1
fi
