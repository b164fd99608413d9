#!/usr/bin/env bash
# An alert is told, and ends while it is silenced, or in the hours without notifications. Then the same fails again.
# Needs: apt, util-linux, python3 and curl, as root on Debian 13. Takes two to three minutes.
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
# A night of one minute, which begins when the first alerts are told.
at() { date -u -d "$1" "+${2:-%FT%TZ}"; }
dusk=$(at '+70 seconds' %H:%M); dawn=$(at '+130 seconds' %H:%M)
cat > alertmanager.yml <<Y
route:
  receiver: sink
  group_by: [ alertname ]
  group_wait: 1s
  group_interval: 1s
  repeat_interval: 4h
  routes: [{ matchers: [ alertname="Muted" ], receiver: sink, mute_time_intervals: [ night ] }]
time_intervals: [{ name: night, time_intervals: [{ times: [{ start_time: '$dusk', end_time: '${dawn/#00:00/24:00}' }] }] }]
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
await() {
  until [ "$(at now %H:%M)" = "$1" ]; do sleep 0.5; done
  sleep 4
}
# All start and end at the same times.
post() {
  for name in Silenced Muted Other; do
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
await "$dusk"
post "$first" "$(at now)"
sleep 4
curl -sf -X DELETE "$api/silence/$silence"
await "$dawn"
post "$(at now)" "$(at '+1 hour')"
sleep 8
states=$(curl -s "$api/alerts" | python3 -c 'import json, sys
print(" ".join(sorted({each["status"]["state"] for each in json.load(sys.stdin)})))')

echo "guess:     the end is told when the silence or the night is over, and the second outage is told as a new one"
echo "version:   Alertmanager 0.28.1"
echo "behaviour: neither: the first outage counts as open, so the second is a repetition, which waits for repeat_interval (4h)"
echo "seen:      without: $(told Other); with a silence: $(told Silenced); with mute_time_intervals: $(told Muted);" \
  "in the end, all three are $states"
echo "hit:       outages that are mended under a silence or in a muted night: the next one, in the morning, tells nobody"
if ! { [ "$(told Other)" = "firing, resolved, firing" ] && [ "$(told Silenced)" = firing ] && [ "$(told Muted)" = firing ] &&
  [ "$states" = active ]; }; then
  echo "changed"
  exit 1
fi
