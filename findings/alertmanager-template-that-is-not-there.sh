#!/usr/bin/env bash
# The title of a receiver names a template with a letter twisted.
# Needs: apt, util-linux, python3 and curl, as root on Debian 13. Takes about 15 s.
set -euo pipefail
work=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$work"' EXIT
cd "$work"

port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
sink=$(port); manager=$(port)
apt-get -qq -o APT::Sandbox::User=root download prometheus-alertmanager=0.28.1+ds-1
dpkg -x prometheus-alertmanager_*.deb root

cat > sink.py <<'Y'
import http.server, json, sys
class Sink(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        told = json.loads(self.rfile.read(int(self.headers['content-length'])))
        print(told['attachments'][0]['title'], file=open('told', 'a'))
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b'ok')
    def log_message(self, *words):
        pass
http.server.HTTPServer(('127.0.0.1', int(sys.argv[1])), Sink).serve_forever()
Y
python3 sink.py "$sink" &
echo '{{ define "shop.title" }}{{ .CommonLabels.alertname }} of the shop{{ end }}' > shop.tmpl
cat > alertmanager.yml <<Y
route:
  receiver: right
  group_wait: 1s
  routes:
    - { receiver: twisted, matchers: [ alertname="FarmDown" ], group_wait: 1s }
templates: [ shop.tmpl ]
receivers:
  - name: right
    slack_configs: [{ api_url: 'http://127.0.0.1:$sink/', channel: shop, title: '{{ template "shop.title" . }}' }]
  - name: twisted
    slack_configs: [{ api_url: 'http://127.0.0.1:$sink/', channel: shop, title: '{{ template "shop.titel" . }}' }]
Y
touch told
judged=0; root/usr/bin/amtool check-config alertmanager.yml > judged.out 2>&1 || judged=$?
# Debian's Alertmanager reads its default templates below /usr/share: here those of the package.
unshare --mount sh -c 'mount --bind root/usr/share /usr/share && exec "$@"' sh root/usr/bin/prometheus-alertmanager \
  --config.file=alertmanager.yml --storage.path=data --web.listen-address="127.0.0.1:$manager" --cluster.listen-address= \
  2> alertmanager.log &
for _ in $(seq 40); do
  curl -sf "http://127.0.0.1:$manager/-/ready" > ready && break
  sleep 0.25
done
for name in BackendDown FarmDown; do
  curl -sf -H 'content-type: application/json' "http://127.0.0.1:$manager/api/v2/alerts" -d "[{ \"labels\": { \"alertname\": \"$name\" } }]"
done
sleep 5
metric() { curl -s "http://127.0.0.1:$manager/metrics" | awk -v name="$1" '$1 == name { print $2 }'; }
loaded=$(metric alertmanager_config_last_reload_successful)
failed=$(metric 'alertmanager_notifications_failed_total{integration="slack",reason="other"}')

echo "guess:     amtool check-config and Alertmanager refuse the configuration"
echo "version:   Alertmanager and amtool 0.28.1"
echo "behaviour: both take it: it fails when an alert must be told, and nothing is sent"
echo "seen:      amtool: exit $judged, $(grep -c SUCCESS judged.out) times SUCCESS; loaded $loaded; two alerts: $failed failed," \
  "told: $(cat told)"
echo "hit:       whoever renames a template, or uses one that a release renamed: found in the first outage"
if ! { [ "$judged" = 0 ] && [ "$loaded" = 1 ] && [ "$failed" = 1 ] && [ "$(cat told)" = "BackendDown of the shop" ]; }; then
  echo "changed"
  exit 1
fi
