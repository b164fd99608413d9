#!/usr/bin/env bash
# A name of a global load balancer has three addresses; one of them passes its health check.
# Needs: apt and python3, on Debian 13, and 127.0.0.2 and 127.0.0.3 of its loopback. Takes about 30 s.
set -euo pipefail
work=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$work"' EXIT
cd "$work"

port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
web=$(port); dns=$(port)
libraries=$(apt-cache depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces \
  --no-enhances gdnsd | grep -E '^lib' | grep -vE '^libc6|:i386')
# shellcheck disable=SC2086
apt-get -qq -o APT::Sandbox::User=root download gdnsd=3.8.3-2 $libraries
for package in *.deb; do dpkg -x "$package" root; done
export LD_LIBRARY_PATH=$work/root/usr/lib/x86_64-linux-gnu

mkdir -p etc/zones run state www
cat > etc/config <<C
options => { listen => [ 127.0.0.1:$dns ], run_dir => $work/run, state_dir => $work/state }
service_types => { web => { plugin => http_status, port => $web, interval => 2, timeout => 1, up_thresh => 2, ok_thresh => 2, down_thresh => 2 } }
plugins => { multifo => { shop => { service_types => web, one => 127.0.0.1, two => 127.0.0.2, three => 127.0.0.3 } } }
C
cat > etc/zones/example.org <<'Z'
@ SOA ns1 hostmaster ( 1 7200 1800 259200 900 )
@ NS ns1
ns1 A 127.0.0.1
shop 5 DYNA multifo!shop
Z
# It listens on one of the three addresses only.
python3 -m http.server --bind 127.0.0.1 --directory www "$web" 2> web.log &
root/usr/sbin/gdnsd -c etc -R start > gdnsd.log 2>&1 &
cat > ask.py <<'Y'
import socket, struct, sys
name = b''.join(bytes([len(label)]) + label.encode() for label in 'shop.example.org'.split('.')) + b'\0'
ask = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
ask.settimeout(2)
ask.sendto(struct.pack('>6H', 1, 0, 1, 0, 0, 0) + name + struct.pack('>2H', 1, 1), ('127.0.0.1', int(sys.argv[1])))
answer = ask.recv(512)
at, found = 12 + len(name) + 4, []
for _ in range(struct.unpack('>H', answer[6:8])[0]):
    found.append(socket.inet_ntoa(answer[at + 12:at + 16]))
    at += 16
print(*sorted(found))
Y
states() { root/usr/bin/gdnsdctl -c etc states 2>/dev/null | tr -d '\n\t ' | grep -o '127.0.0.[123]/web":{"state":"[A-Z]*"' | sed 's/\/web":{"state":"/ /; s/"//' | sort | paste -sd ','; }
for _ in $(seq 40); do
  [ "$(states)" = '127.0.0.1 UP,127.0.0.2 DOWN,127.0.0.3 DOWN' ] && break
  sleep 0.5
done
states=$(states); given=$(python3 ask.py "$dns")

echo "guess:     clients get the one address that is up"
echo "version:   $(root/usr/sbin/gdnsd -V 2>/dev/null | head -n 1 | grep -o 'gdnsd.*' || echo gdnsd 3.8.3)"
echo "behaviour: below up_thresh (half of them by default) it gives all addresses, also those that it knows to be down"
echo "seen:      states: $states; answer: $given"
echo "hit:       global load balancing built on it: two of three clients reach a dead site in the outage it is meant for"
if ! { [ "$states" = '127.0.0.1 UP,127.0.0.2 DOWN,127.0.0.3 DOWN' ] && [ "$given" = '127.0.0.1 127.0.0.2 127.0.0.3' ]; }; then
  echo "changed"
  exit 1
fi
