#!/usr/bin/env bash
# A scrape job names a `ca_file` that is delivered after Prometheus has started.
# Needs: apt, openssl, python3 and curl, on Debian 13. Takes about 40 s.
set -euo pipefail
work=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$work"' EXIT
cd "$work"

port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
page=$(port); server=$(port)
apt-get -qq -o APT::Sandbox::User=root download prometheus=2.53.3+ds1-2 promtool=2.53.3+ds1-2
for package in *.deb; do dpkg -x "$package" root; done

openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=localhost \
  -addext subjectAltName=IP:127.0.0.1 2> openssl.log
cat > page.py <<'Y'
import http.server, ssl, sys
class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header('content-type', 'text/plain; version=0.0.4')
        self.end_headers()
        self.wfile.write(b'jobs 7\n')
    def log_message(self, *words):
        pass
server = http.server.ThreadingHTTPServer(('127.0.0.1', int(sys.argv[1])), Page)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain('cert.pem', 'key.pem')
server.socket = context.wrap_socket(server.socket, server_side=True)
server.serve_forever()
Y
python3 page.py "$page" &
cat > prometheus.yml <<Y
global: { scrape_interval: 1s, scrape_timeout: 1s }
scrape_configs:
  - { job_name: self, static_configs: [{ targets: ['127.0.0.1:$server'] }] }
  - { job_name: shop, scheme: https, tls_config: { ca_file: ca.pem }, static_configs: [{ targets: ['127.0.0.1:$page'] }] }
Y
judged=$(root/usr/bin/promtool check config prometheus.yml 2>&1 | grep -o SUCCESS) || true
root/usr/bin/prometheus --config.file=prometheus.yml --storage.tsdb.path=data --web.listen-address="127.0.0.1:$server" \
  --web.enable-lifecycle 2> prometheus.log &
asked() {
  curl -sG "http://127.0.0.1:$server/api/v1/query" --data-urlencode "query=$1" |
    python3 -c 'import json, sys; print(" ".join(each["value"][1] for each in json.load(sys.stdin)["data"]["result"]) or "none")' \
      2> asked.log || true
}
# Waits until a query has a result, then for the other job too.
awaited() {
  for _ in $(seq 60); do
    case $(asked "$1") in none | '') sleep 0.5 ;; *) break ;; esac
  done
  sleep 3
}
awaited 'up{job="self"}'
early="up $(asked 'up{job="shop"}'), reload successful $(asked prometheus_config_last_reload_successful)"
early+=", failed pools $(asked prometheus_target_scrape_pools_failed_total)"
listed=$(curl -s "http://127.0.0.1:$server/api/v1/targets" | grep -c '"job":"shop"' || true)
cp cert.pem ca.pem
sleep 12
late=$(asked 'up{job="shop"}')
curl -sf -X POST "http://127.0.0.1:$server/-/reload"
awaited 'up{job="shop"}'
reloaded=$(asked 'up{job="shop"}')

echo "guess:     promtool or Prometheus refuses the configuration, or its targets have up 0 until the file is there"
echo "version:   $(root/usr/bin/promtool --version 2>&1 | head -n 1)"
echo "behaviour: all is well, but the job has no targets and no up, also when the file has come, until the next reload"
echo "seen:      promtool: $judged; without the file: $early, targets listed: $listed; 12 s after it came: up $late;" \
  "after a reload: up $reloaded"
echo "hit:       files of authorities from configuration management, ACME or a mount: up == 0 never fires, and nothing is scraped"
if ! { [ "$judged" = SUCCESS ] && [ "$early" = "up none, reload successful 1, failed pools 1" ] && [ "$listed" = 0 ] &&
  [ "$late" = none ] && [ "$reloaded" = 1 ]; }; then
  echo "changed"
  exit 1
fi
