#!/usr/bin/env bash
# The text format says: leading and trailing blanks of a line are ignored. Two readers of one project.
# Needs: apt, python3 and curl, on Debian 13. Takes about 15 s.
set -euo pipefail
work=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$work"' EXIT
cd "$work"

port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
page=$(port); server=$(port)
apt-get -qq -o APT::Sandbox::User=root download prometheus=2.53.3+ds1-2 promtool=2.53.3+ds1-2
for package in *.deb; do dpkg -x "$package" root; done

mkdir pages
printf '# HELP b Backups.\n# TYPE b gauge\n b 2\n' > pages/leading
printf '# HELP b Backups.\n# TYPE b gauge\nb 2 \n' > pages/trailing
cat > pages.py <<'Y'
import http.server, sys
class Pages(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header('content-type', 'text/plain; version=0.0.4')
        self.end_headers()
        self.wfile.write(open('pages' + self.path, 'rb').read())
    def log_message(self, *words):
        pass
http.server.ThreadingHTTPServer(('127.0.0.1', int(sys.argv[1])), Pages).serve_forever()
Y
python3 pages.py "$page" &
cat > prometheus.yml <<Y
global: { scrape_interval: 1s, scrape_timeout: 1s }
scrape_configs:
  - { job_name: leading, metrics_path: /leading, static_configs: [{ targets: ['127.0.0.1:$page'] }] }
  - { job_name: trailing, metrics_path: /trailing, static_configs: [{ targets: ['127.0.0.1:$page'] }] }
Y
root/usr/bin/prometheus --config.file=prometheus.yml --storage.tsdb.path=data --web.listen-address="127.0.0.1:$server" \
  2> prometheus.log &

# The health of a job's target, once it is known.
health() {
  local found=
  for _ in $(seq 60); do
    found=$(curl -s "http://127.0.0.1:$server/api/v1/targets" | python3 -c '
import json, sys
for target in json.load(sys.stdin)["data"]["activeTargets"]:
    if target["labels"]["job"] == sys.argv[1]: print(target["health"])' "$1" 2>/dev/null) || true
    case $found in up | down) break ;; esac
    sleep 0.5
  done
  echo "$found"
}
judged() { root/usr/bin/promtool check metrics < "pages/$1" > "$1.out" 2>&1 && echo "taken" || echo "refused"; }
leading="scrape $(health leading), promtool $(judged leading)"
trailing="scrape $(health trailing), promtool $(judged trailing)"

echo "guess:     both readers ignore blanks at the edges of a line, as the format says, or both refuse them"
echo "version:   $(root/usr/bin/promtool --version 2>&1 | head -n 1)"
echo "behaviour: each refuses what the other takes: a leading blank takes the whole target down, and passes promtool"
echo "seen:      leading blank: $leading; trailing blank: $trailing"
echo "hit:       pages written by scripts and templates, tested with promtool or with the node exporter's reader, its twin"
if ! { [ "$leading" = "scrape down, promtool taken" ] && [ "$trailing" = "scrape up, promtool refused" ]; }; then
  echo "changed"
  exit 1
fi
