#!/usr/bin/env bash
# Alertmanager starts again. A server sends it an alert that is a minute old, and two seconds later
# the one that inhibits it. Beside it, the same with an alert that is new.
# Needs: go 1.24, python3 and curl, on Debian 13. Builds for some minutes.
set -euo pipefail
version=0.28.1
work=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$work"' EXIT
cd "$work"

port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
sink=$(port); manager=$(port)
export GOPATH=$work/go GOCACHE=$work/cache GOFLAGS=-modcacherw
go install "github.com/prometheus/alertmanager/cmd/alertmanager@v$version" 2> build.log

cat > sink.py <<'Y'
import http.server, json, sys
class Sink(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        told = json.loads(self.rfile.read(int(self.headers['content-length'])))
        print(*[each['labels']['alertname'] for each in told['alerts']], file=open('told', 'a'))
        self.send_response(200)
        self.end_headers()
    def log_message(self, *words):
        pass
http.server.HTTPServer(('127.0.0.1', int(sys.argv[1])), Sink).serve_forever()
Y
python3 sink.py "$sink" &
cat > alertmanager.yml <<Y
route: { receiver: sink, group_by: [alertname], group_wait: 10s }
inhibit_rules:
  - { source_matchers: ['alertname=~"Site.*"'], target_matchers: ['alertname=~"Host.*"'], equal: [site] }
receivers:
  - name: sink
    webhook_configs: [{ url: 'http://127.0.0.1:$sink/' }]
Y
touch told
go/bin/alertmanager --config.file=alertmanager.yml --storage.path=data --web.listen-address="127.0.0.1:$manager" \
  --cluster.listen-address= 2> alertmanager.log &
alerts=http://127.0.0.1:$manager/api/v2/alerts
for _ in $(seq 40); do
  curl -sf "$alerts" > list && break
  sleep 0.5
done
send() { # alertname site seconds-ago
  curl -sf -H 'content-type: application/json' "$alerts" \
    -d "[{ \"labels\": { \"alertname\": \"$1\", \"site\": \"$2\" }, \"startsAt\": \"$(date -u -d "-$3 seconds" +%FT%TZ)\" }]"
}
send HostOld paris 60; send HostNew oslo 0
sleep 2
send SiteOld paris 60; send SiteNew oslo 0
sleep 18
sent=$(sort told | paste -sd ' ')

echo "guess:     group_wait holds back both, and the inhibited ones are never sent"
echo "version:   Alertmanager $version"
echo "behaviour: a group whose alert is older than group_wait is sent at once, before its inhibitor arrives"
echo "seen:      sent within 20 s of the start: $sent"
echo "hit:       clusters of Alertmanager that are upgraded during an outage: a mail for each host that a page explains"
if [ "$sent" != 'HostOld SiteNew SiteOld' ]; then
  echo "changed"
  exit 1
fi
