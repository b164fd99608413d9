#!/usr/bin/env bash
# Two alerts with a `for` fire. One of them moves to another group, both alerts unchanged, and Prometheus is reloaded.
# Needs: apt, util-linux, python3 and curl, as root on Debian 13. Takes about two minutes.
set -euo pipefail
work=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$work"' EXIT
cd "$work"

port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
sink=$(port); manager=$(port); server=$(port); closed=$(port)
apt-get -qq -o APT::Sandbox::User=root download prometheus=2.53.3+ds1-2 prometheus-alertmanager=0.28.1+ds-1
for package in *.deb; do dpkg -x "$package" root; done

cat > sink.py <<'Y'
import http.server, json, sys
class Sink(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        told = json.loads(self.rfile.read(int(self.headers['content-length'])))
        for alert in told['alerts']: print(alert['labels']['alertname'], alert['status'], file=open('told', 'a'))
        self.send_response(200)
        self.end_headers()
    def log_message(self, *words):
        pass
http.server.HTTPServer(('127.0.0.1', int(sys.argv[1])), Sink).serve_forever()
Y
touch told
python3 sink.py "$sink" &
cat > alertmanager.yml <<Y
route: { receiver: sink, group_by: [alertname], group_wait: 1s, group_interval: 1s, repeat_interval: 4h }
receivers: [{ name: sink, webhook_configs: [{ url: 'http://127.0.0.1:$sink/' }] }]
Y
# Debian's Alertmanager reads its default templates below /usr/share: here those of the package.
unshare --mount sh -c 'mount --bind root/usr/share /usr/share && exec "$@"' sh root/usr/bin/prometheus-alertmanager \
  --config.file=alertmanager.yml --storage.path=alerts --web.listen-address="127.0.0.1:$manager" --cluster.listen-address= \
  2> alertmanager.log &
cat > before.yml <<'Y'
groups:
  - { name: first, rules: [{ alert: Stays, expr: up == 0, for: 40s }, { alert: Moves, expr: up == 0, for: 40s }] }
Y
cat > after.yml <<'Y'
groups:
  - { name: first, rules: [{ alert: Stays, expr: up == 0, for: 40s }] }
  - { name: second, rules: [{ alert: Moves, expr: up == 0, for: 40s }] }
Y
cp before.yml rules.yml
cat > prometheus.yml <<Y
global: { scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s }
rule_files: [rules.yml]
alerting: { alertmanagers: [{ static_configs: [{ targets: ['127.0.0.1:$manager'] }] }] }
scrape_configs: [{ job_name: demo, static_configs: [{ targets: ['127.0.0.1:$closed'] }] }]
Y
# An alert lives for four times the delay of resending, 24 s here. A restart would restore all of 30 s and more.
root/usr/bin/prometheus --config.file=prometheus.yml --storage.tsdb.path=data --web.listen-address="127.0.0.1:$server" \
  --web.enable-lifecycle --rules.alert.resend-delay=6s --rules.alert.for-grace-period=30s 2> prometheus.log &
told() { awk -v name="$1" '$1 == name { printf "%s%s", found++ ? ", " : "", $2 }' told; }
states() {
  curl -s "http://127.0.0.1:$server/api/v1/alerts" | python3 -c 'import json, sys
print(", ".join(sorted(each["labels"]["alertname"] + " " + each["state"] for each in json.load(sys.stdin)["data"]["alerts"])))'
}
for _ in $(seq 150); do
  [ "$(told Stays), $(told Moves)" = "firing, firing" ] && break
  sleep 0.5
done
sleep 2
cp after.yml rules.yml
curl -sf -X POST "http://127.0.0.1:$server/-/reload"
sleep 5
states=$(states)
sleep 50

echo "guess:     it fires on: the alert is the same, and a restart would restore it"
echo "version:   $(root/usr/bin/prometheus --version 2>&1 | head -n 1), Alertmanager 0.28.1"
echo "behaviour: it begins again: a reload carries the state over within a group of the same name and file, and restores nothing; a \`for\` longer than four minutes tells a resolved"
echo "seen:      for 40s, alerts that end after 24 s; after the reload: $states; told: Stays $(told Stays); Moves $(told Moves)"
echo "hit:       whoever sorts or renames groups or files of rules during an outage: an end is told that is none, then a second page"
if ! { [ "$states" = "Moves pending, Stays firing" ] && [ "$(told Stays)" = firing ] && [ "$(told Moves)" = "firing, resolved, firing" ]; }; then
  echo "changed"
  exit 1
fi
