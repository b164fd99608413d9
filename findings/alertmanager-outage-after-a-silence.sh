#!/usr/bin/env bash
# An alert is told, then silenced, and ends under the silence. The silence ends, and the same fails again.
# Needs: apt, util-linux, python3 and curl, as root on Debian 13. Takes about 30 s.
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
        for alert in told['alerts']: print(alert['labels']['alertname'], alert['status'], file=open('told', 'a'))
        self.send_response(200)
        self.end_headers()
    def log_message(self, *words):
        pass
http.server.HTTPServer(('127.0.0.1', int(sys.argv[1])), Sink).serve_forever()
Y
python3 sink.py "$sink" &
cat > alertmanager.yml <<Y
route: { receiver: sink, group_by: [ alertname ], group_wait: 1s, group_interval: 1s, repeat_interval: 4h }
receivers:
  - name: sink
    webhook_configs: [{ url: 'http://127.0.0.1:$sink/' }]
Y
touch told
# Debian's Alertmanager reads its default templates below /usr/share: here those of the package.
unshare --mount sh -c 'mount --bind root/usr/share /usr/share && exec "$@"' sh root/usr/bin/prometheus-alertmanager \
  --config.file=alertmanager.yml --storage.path=data --web.listen-address="127.0.0.1:$manager" --cluster.listen-address= \
  2> alertmanager.log &
api=http://127.0.0.1:$manager/api/v2
for _ in $(seq 40); do
  curl -sf "$api/alerts" > list && break
  sleep 0.5
done
at() { date -u -d "$1" +%FT%TZ; }
# Both alerts start and end at the same times; only the first is silenced.
post() {
  for name in Silenced Other; do
    curl -sf -H 'content-type: application/json' "$api/alerts" \
      -d "[{ \"labels\": { \"alertname\": \"$name\" }, \"startsAt\": \"$1\", \"endsAt\": \"$2\" }]"
  done
}
told() { awk -v name="$1" '$1 == name { printf "%s%s", found++ ? ", " : "", $2 }' told; }
first=$(at now); post "$first" "$(at '+1 hour')"
sleep 4
silence=$(curl -sf -H 'content-type: application/json' "$api/silences" -d "{ \"createdBy\": \"demo\", \"comment\": \"mended by hand\",
  \"matchers\": [{ \"name\": \"alertname\", \"value\": \"Silenced\", \"isRegex\": false }],
  \"startsAt\": \"$(at now)\", \"endsAt\": \"$(at '+1 hour')\" }" | python3 -c 'import json, sys; print(json.load(sys.stdin)["silenceID"])')
sleep 1
post "$first" "$(at now)"
sleep 4
curl -sf -X DELETE "$api/silence/$silence"
sleep 4
post "$(at now)" "$(at '+1 hour')"
sleep 8
state=$(curl -sG "$api/alerts" --data-urlencode 'filter=alertname="Silenced"' | grep -o '"silencedBy":.*"state":"[a-z]*"') || true

echo "guess:     the end is told when the silence is over, and the second outage is told as a new one"
echo "version:   Alertmanager 0.28.1"
echo "behaviour: neither: the first outage counts as open, so the second is a repetition, which waits for repeat_interval (4h)"
echo "seen:      without a silence: $(told Other); with one: $(told Silenced), and the second is $state"
echo "hit:       whoever silences what is known until it is mended: an outage in the next hours is shown as active and tells nobody"
if ! { [ "$(told Other)" = "firing, resolved, firing" ] && [ "$(told Silenced)" = firing ] &&
  [ "$state" = '"silencedBy":[],"state":"active"' ]; }; then
  echo "changed"
  exit 1
fi
