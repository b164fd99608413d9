#!/usr/bin/env bash
# An alert with a `for` fires, and Prometheus is restarted: once as it is, and once with a grace period shorter than the `for`.
# Needs: apt, util-linux, python3 and curl, as root on Debian 13. Takes about two minutes.
set -euo pipefail
work=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$work"' EXIT
cd "$work"

port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
sink=$(port); manager=$(port); usual=$(port); shorter=$(port); closed=$(port)
apt-get -qq -o APT::Sandbox::User=root download prometheus=2.53.3+ds1-2 prometheus-alertmanager=0.28.1+ds-1
for package in *.deb; do dpkg -x "$package" root; done

cat > sink.py <<'Y'
import http.server, json, sys
class Sink(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        told = json.loads(self.rfile.read(int(self.headers['content-length'])))
        for alert in told['alerts']: print(alert['labels']['by'], alert['status'], file=open('told', 'a'))
        self.send_response(200)
        self.end_headers()
    def log_message(self, *words):
        pass
http.server.HTTPServer(('127.0.0.1', int(sys.argv[1])), Sink).serve_forever()
Y
touch told
python3 sink.py "$sink" &
cat > alertmanager.yml <<Y
route: { receiver: sink, group_by: [by], group_wait: 1s, group_interval: 1s, repeat_interval: 4h }
receivers: [{ name: sink, webhook_configs: [{ url: 'http://127.0.0.1:$sink/' }] }]
Y
# Debian's Alertmanager reads its default templates below /usr/share: here those of the package.
unshare --mount sh -c 'mount --bind root/usr/share /usr/share && exec "$@"' sh root/usr/bin/prometheus-alertmanager \
  --config.file=alertmanager.yml --storage.path=alerts --web.listen-address="127.0.0.1:$manager" --cluster.listen-address= \
  2> alertmanager.log &
echo 'groups: [{ name: demo, rules: [{ alert: Down, expr: up == 0, for: 40s }] }]' > rules.yml
# Starts Prometheus with a name, a port and flags; an alert lives for four times the delay of resending, 24 s here.
declare -A running
start() {
  cat > "$1.yml" <<Y
global: { scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s, external_labels: { by: $1 } }
rule_files: [rules.yml]
alerting: { alertmanagers: [{ static_configs: [{ targets: ['127.0.0.1:$manager'] }] }] }
scrape_configs: [{ job_name: demo, static_configs: [{ targets: ['127.0.0.1:$closed'] }] }]
Y
  root/usr/bin/prometheus --config.file="$1.yml" --storage.tsdb.path="data-$1" --web.listen-address="127.0.0.1:$2" \
    --rules.alert.resend-delay=6s "${@:3}" 2>> "$1.log" &
  running[$1]=$!
}
both() {
  start usual "$usual"
  start shorter "$shorter" --rules.alert.for-grace-period=30s
}
told() { awk -v name="$1" '$1 == name { printf "%s%s", found++ ? ", " : "", $2 }' told; }
both
for _ in $(seq 150); do
  [ "$(told usual), $(told shorter)" = "firing, firing" ] && break
  sleep 0.5
done
sleep 2
kill "${running[@]}"
wait "${running[@]}" || true
both
sleep 55

echo "guess:     it fires on, since Prometheus stores when each alert became active"
echo "version:   $(root/usr/bin/prometheus --version 2>&1 | head -n 1), Alertmanager 0.28.1"
echo "behaviour: it begins again, as pending, if its \`for\` is shorter than rules.alert.for-grace-period (10m), which tells a resolved if the \`for\` is longer than four minutes"
echo "seen:      for 40s, alerts that end after 24 s: $(told usual); with a grace period of 30s: $(told shorter)"
echo "hit:       every upgrade during an outage: an end is told that is none, and then a second page"
if ! { [ "$(told usual)" = "firing, resolved, firing" ] && [ "$(told shorter)" = firing ]; }; then
  echo "changed"
  exit 1
fi
