#!/usr/bin/env bash
# A server of HAProxy has failed one of five checks: HAProxy calls it `UP 4/5` and sends it requests.
# Needs: apt, python3 and curl, on Debian 13. Takes about 20 s.
set -euo pipefail
work=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$work"' EXIT
cd "$work"

port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
web=$(port); front=$(port); exporter=$(port)

libraries=$(apt-cache depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces \
  --no-enhances haproxy | grep -E '^lib' | grep -vE '^libc6|:i386')
# shellcheck disable=SC2086
apt-get -qq -o APT::Sandbox::User=root download 'haproxy=3.0.*' prometheus-haproxy-exporter=0.15.0-3 $libraries
for package in *.deb; do dpkg -x "$package" root; done
lua=$(dirname "$(find root -name 'liblua5.4.so.0')")

cat > web.py <<'Y'
import http.server, os, sys
class Web(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        # Only the path of the check fails.
        is_bad = self.path == '/check' and os.path.exists('bad')
        self.send_response(503 if is_bad else 200)
        self.send_header('content-length', '0')
        self.end_headers()
    def log_message(self, *words):
        pass
http.server.ThreadingHTTPServer(('127.0.0.1', int(sys.argv[1])), Web).serve_forever()
Y
cat > haproxy.cfg <<Y
defaults
  mode http
  timeout connect 1s
  timeout client 5s
  timeout server 5s
frontend front
  bind 127.0.0.1:$front
  stats enable
  stats uri /stats
  default_backend shop
backend shop
  option httpchk
  http-check send meth GET uri /check
  server web1 127.0.0.1:$web check inter 2s fall 5 rise 1
Y
python3 web.py "$web" &
sleep 1
LD_LIBRARY_PATH=$lua root/usr/sbin/haproxy -f haproxy.cfg > haproxy.log 2>&1 &
root/usr/bin/prometheus-haproxy-exporter --haproxy.scrape-uri="http://127.0.0.1:$front/stats;csv" \
  --web.listen-address="127.0.0.1:$exporter" 2> exporter.log &
status() { curl -s "http://127.0.0.1:$front/stats;csv" | awk -F, '$2 == "web1" { print $18 }'; }
up() { curl -s "http://127.0.0.1:$exporter/metrics" | awk '/^haproxy_server_up.*web1/ { print $2 }'; }
sleep 6
before="$(status): $(up)"
touch bad
for _ in $(seq 40); do
  case $(status) in UP*/5) break ;; esac
  sleep 0.2
done
falling=$(status); metric=$(up); code=$(curl -s -o /dev/null -w '%{http_code}' "http://127.0.0.1:$front/")

echo "guess:     haproxy_server_up stays 1 until HAProxy takes the server out"
echo "version:   $(LD_LIBRARY_PATH=$lua root/usr/sbin/haproxy -v | head -n 1 | cut -d' ' -f1-3), haproxy_exporter 0.15.0"
echo "behaviour: 0 at the first failed check: with fall 5 the word is UP 4/5, which the exporter does not take for up"
echo "seen:      before: $before; then HAProxy says \"$falling\" and serves ($code), haproxy_server_up $metric"
echo "hit:       alerts on haproxy_server_up with fall 4 or more: they fire for a server that serves"
if ! { [ "$before" = "UP: 1" ] && [[ $falling == UP*/5 ]] && [ "$code" = 200 ] && [ "$metric" = 0 ]; }; then
  echo "changed"
  exit 1
fi
