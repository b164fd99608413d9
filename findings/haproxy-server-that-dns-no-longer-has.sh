#!/usr/bin/env bash
# HAProxy takes its servers from DNS, and the name is gone. Beside them are a server that is down and one in maintenance.
# Needs: apt, python3 and curl, on Debian 13. Takes about 30 s.
set -euo pipefail
work=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$work"' EXIT
cd "$work"

port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
dns=$(port); web=$(port); front=$(port); closed=$(port)
libraries=$(apt-cache depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces \
  --no-enhances haproxy | grep -E '^lib' | grep -vE '^libc6|:i386')
# shellcheck disable=SC2086
apt-get -qq -o APT::Sandbox::User=root download 'haproxy=3.0.*' $libraries
for package in *.deb; do dpkg -x "$package" root; done
lua=$(dirname "$(find root -name 'liblua5.4.so.0')")

# A DNS server: two addresses until the file `gone` is there, then no such name.
cat > dns.py <<'Y'
import os, socket, struct, sys
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.bind(('127.0.0.1', int(sys.argv[1])))
while True:
    query, client = server.recvfrom(2048)
    end = query.index(b'\0', 12)
    is_gone, is_ipv4 = os.path.exists('gone'), query[end + 1:end + 3] == b'\0\1'
    addresses = ['127.0.0.11', '127.0.0.12'] if is_ipv4 and not is_gone else []
    answer = query[:2] + struct.pack('>HHHHH', 0x8183 if is_gone else 0x8180, 1, len(addresses), 0, 0) + query[12:end + 5]
    for address in addresses:
        answer += struct.pack('>HHHIH', 0xc00c, 1, 1, 1, 4) + socket.inet_aton(address)
    server.sendto(answer, client)
Y
python3 dns.py "$dns" &
mkdir www
python3 -m http.server --bind 0.0.0.0 --directory www "$web" > web.log 2>&1 &
cat > haproxy.cfg <<Y
defaults
  mode http
  timeout connect 1s
  timeout client 5s
  timeout server 5s
resolvers demo
  nameserver local 127.0.0.1:$dns
  hold valid 1s
  hold nx 2s
  hold obsolete 2s
frontend front
  bind 127.0.0.1:$front
  http-request use-service prometheus-exporter if { path /metrics }
  stats enable
  stats uri /stats
  default_backend dynamic
backend dynamic
  server-template web 2 shop.example.com:$web check inter 1s resolvers demo init-addr none resolve-prefer ipv4
backend fixed
  server down 127.0.0.1:$closed check inter 1s
  server maintained 127.0.0.1:$web check disabled
Y
LD_LIBRARY_PATH=$lua root/usr/sbin/haproxy -f haproxy.cfg > haproxy.log 2>&1 &
state() { curl -s "http://127.0.0.1:$front/metrics" | sed -nE "s/^haproxy_server_status\{.*server=\"$1\",state=\"([A-Z]+)\"\} 1$/\1/p"; }
word() { curl -s "http://127.0.0.1:$front/stats;csv" | awk -F, -v name="$1" '$2 == name { print $18 }'; }
states() { for name in web1 web2 down maintained; do echo "$name $(state $name)"; done | paste -sd, | sed 's/,/, /g'; }
for _ in $(seq 40); do
  [ "$(states)" = "web1 UP, web2 UP, down DOWN, maintained MAINT" ] && break
  sleep 0.5
done
before=$(states)
touch gone
for _ in $(seq 40); do
  [ "$(state web1)$(state web2)" = UPUP ] || break
  sleep 0.5
done
sleep 2
after=$(states); code=$(curl -s -o page -w '%{http_code}' "http://127.0.0.1:$front/")

echo "guess:     DOWN: nobody has taken them out"
echo "version:   $(LD_LIBRARY_PATH=$lua root/usr/sbin/haproxy -v | head -n 1 | cut -d' ' -f1-3)"
echo "behaviour: MAINT, the state of those that a person has taken out; only the statistics page has a word for it"
echo "seen:      before: $before; name gone: $after; $code; in the page: web1 \"$(word web1)\", maintained \"$(word maintained)\""
echo "hit:       alerts on state=\"DOWN\", or that leave out maintenance: servers that DNS loses are no alert, one after the other"
if ! { [ "$before" = "web1 UP, web2 UP, down DOWN, maintained MAINT" ] && [ "$code" = 503 ] &&
  [ "$after" = "web1 MAINT, web2 MAINT, down DOWN, maintained MAINT" ]; }; then
  echo "changed"
  exit 1
fi
