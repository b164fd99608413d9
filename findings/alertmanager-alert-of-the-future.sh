#!/usr/bin/env bash
# An alert that starts in an hour is posted to Alertmanager.
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
        print(told['status'], [each['startsAt'] for each in told['alerts']], file=open('told', 'a'))
        self.send_response(200)
        self.end_headers()
    def log_message(self, *words):
        pass
http.server.HTTPServer(('127.0.0.1', int(sys.argv[1])), Sink).serve_forever()
Y
python3 sink.py "$sink" &
cat > alertmanager.yml <<Y
route: { receiver: sink, group_wait: 1s }
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
start=$(date -u -d '+1 hour' +%FT%TZ); end=$(date -u -d '+2 hours' +%FT%TZ)
curl -sf -H 'content-type: application/json' "$alerts" \
  -d "[{ \"labels\": { \"alertname\": \"Announced\" }, \"startsAt\": \"$start\", \"endsAt\": \"$end\" }]"
for _ in $(seq 40); do
  [ -s told ] && break
  sleep 0.5
done
state=$(curl -s "$alerts" | grep -o '"state":"[a-z]*"' || true)

echo "guess:     it is kept, and tells nobody before it starts"
echo "version:   Alertmanager $version"
echo "behaviour: it is active and told as firing at once, with a start that has not come"
echo "seen:      now $(date -u +%T), starts $start; $state; webhook: $(head -n 1 told)"
echo "hit:       announced maintenance; senders whose clock is ahead; durations computed from startsAt are negative"
if ! { [ "$state" = '"state":"active"' ] && grep -q "^firing.*$start" told; }; then
  echo "changed"
  exit 1
fi
