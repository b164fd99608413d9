#!/usr/bin/env bash
# Two files of targets become empty for a while, as when `generate > targets` fails: one is YAML, one JSON.
# Needs: apt, python3 and curl, on Debian 13. Takes about 30 s.
set -euo pipefail
work=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$work"' EXIT
cd "$work"

port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
server=$(port)
apt-get -qq -o APT::Sandbox::User=root download prometheus=2.53.3+ds1-2
dpkg -x prometheus_*.deb root

cat > prometheus.yml <<'Y'
global: { scrape_interval: 1s, scrape_timeout: 1s }
scrape_configs:
  - { job_name: yaml, file_sd_configs: [{ files: [targets/shop.yml] }] }
  - { job_name: json, file_sd_configs: [{ files: [targets/shop.json] }] }
Y
mkdir targets
# JSON is YAML, too.
echo "[{ \"targets\": [\"127.0.0.1:$server\"] }]" | tee targets/shop.yml > targets/shop.json
root/usr/bin/prometheus --config.file=prometheus.yml --storage.tsdb.path=data --web.listen-address="127.0.0.1:$server" \
  2> prometheus.log &
asked() {
  curl -sG "http://127.0.0.1:$server/api/v1/query" --data-urlencode "query=$1" |
    python3 -c 'import json, sys; print(" ".join(each["value"][1] for each in json.load(sys.stdin)["data"]["result"]) or "none")' \
      2> asked.log || true
}
both() { echo "yaml: up $(asked 'up{job="yaml"}'), json: up $(asked 'up{job="json"}')"; }
for _ in $(seq 60); do
  [ "$(both)" = "yaml: up 1, json: up 1" ] && break
  sleep 0.5
done
before=$(both)
: > targets/shop.yml
: > targets/shop.json
sleep 12
after=$(both)
errors=$(asked prometheus_sd_file_read_errors_total)

echo "guess:     the last targets that could be read stay, in both formats"
echo "version:   $(root/usr/bin/prometheus --version 2>&1 | head -n 1)"
echo "behaviour: they stay in JSON, where nothing is an error; in YAML nothing is a list of no targets, and all are gone silently"
echo "seen:      before: $before; while empty: $after; read errors: $errors"
echo "hit:       generated files of targets that are not renamed into place: no up == 0, and alerts that lose their series end"
if ! { [ "$before" = "yaml: up 1, json: up 1" ] && [ "$after" = "yaml: up none, json: up 1" ]; }; then
  echo "changed"
  exit 1
fi
