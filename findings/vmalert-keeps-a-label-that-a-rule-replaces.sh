#!/usr/bin/env bash
# An alert gives its own value to a label that the series has. Prometheus and vmalert evaluate it.
# Needs: apt, python3 and curl, on Debian 13. Takes about 30 s.
set -euo pipefail
work=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; wait; rm -rf "$work"' EXIT
cd "$work"

port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
page=$(port); sink=$(port); server=$(port); database=$(port); rules=$(port)
apt-get -qq -o APT::Sandbox::User=root download prometheus=2.53.3+ds1-2 victoria-metrics=1.112.0+ds1-2
for package in *.deb; do dpkg -x "$package" root; done

mkdir www
printf 'disk_full{severity="minor"} 1\n' > www/metrics
python3 -m http.server --bind 127.0.0.1 --directory www "$page" 2> pages.log &
# Takes alerts as Alertmanager does, from Prometheus below /prometheus/ and from vmalert below /vmalert/.
cat > sink.py <<'Y'
import http.server, json, sys
class Sink(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        for alert in json.loads(self.rfile.read(int(self.headers['content-length']))):
            labels = [name for name in sorted(alert['labels'].items()) if 'severity' in name[0]]
            print(', '.join(f'{name}="{value}"' for name, value in labels), file=open(self.path.split('/')[1], 'w'))
        self.send_response(200)
        self.end_headers()
    def log_message(self, *words):
        pass
http.server.ThreadingHTTPServer(('127.0.0.1', int(sys.argv[1])), Sink).serve_forever()
Y
python3 sink.py "$sink" &
cat > rules.yml <<'Y'
groups:
  - { name: demo, interval: 1s, rules: [{ alert: DiskFull, expr: disk_full == 1, labels: { severity: critical } }] }
Y
cat > scrape.yml <<Y
global: { scrape_interval: 1s, scrape_timeout: 1s }
scrape_configs: [{ job_name: demo, static_configs: [{ targets: ['127.0.0.1:$page'] }] }]
Y
cat scrape.yml - > prometheus.yml <<Y
rule_files: [rules.yml]
alerting: { alertmanagers: [{ path_prefix: /prometheus, static_configs: [{ targets: ['127.0.0.1:$sink'] }] }] }
Y
root/usr/bin/prometheus --config.file=prometheus.yml --storage.tsdb.path=data --web.listen-address="127.0.0.1:$server" \
  --rules.alert.resend-delay=1s 2> prometheus.log &
root/usr/bin/victoria-metrics -promscrape.config=scrape.yml -storageDataPath=database -httpListenAddr="127.0.0.1:$database" \
  -search.latencyOffset=1s 2> database.log &
root/usr/bin/vmalert -rule=rules.yml -datasource.url="http://127.0.0.1:$database" -notifier.url="http://127.0.0.1:$sink/vmalert" \
  -httpListenAddr="127.0.0.1:$rules" -rule.evalDelay=1s 2> rules.log &
for _ in $(seq 60); do
  [ -s prometheus ] && [ -s vmalert ] && break
  sleep 0.5
done

echo "guess:     the same labels: the rule's value takes the place of the series'"
echo "version:   Prometheus 2.53.3, vmalert 1.112.0"
echo "behaviour: vmalert sends the replaced value too, as exported_severity"
echo "seen:      Prometheus: $(cat prometheus); vmalert: $(cat vmalert)"
echo "hit:       who moves rules to vmalert, or runs both for one Alertmanager: two alerts for one, other groups where it groups by '...'"
if ! { [ "$(cat prometheus)" = 'severity="critical"' ] && [ "$(cat vmalert)" = 'exported_severity="minor", severity="critical"' ]; }; then
  echo "changed"
  exit 1
fi
