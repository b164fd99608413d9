#!/usr/bin/env bash
# Two scripts write the same metric for the textfile collector, each with a label of its own. HELP is optional: one leaves it out.
# Needs: apt and curl, on Debian 13. Takes about 10 s.
set -euo pipefail
work=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$work"' EXIT
cd "$work"

port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
exporter=$(port)
apt-get -qq -o APT::Sandbox::User=root download prometheus-node-exporter=1.9.0-1+b4
dpkg -x prometheus-node-exporter_*.deb root

mkdir text
printf '# HELP backup_ok Whether the last backup succeeded.\n# TYPE backup_ok gauge\nbackup_ok{of="shop"} 1\n' > text/a.prom
root/usr/bin/prometheus-node-exporter --collector.disable-defaults --collector.textfile --collector.textfile.directory=text \
  --web.listen-address="127.0.0.1:$exporter" 2> exporter.log &
scrape() { curl -s -o page -w '%{http_code}' "http://127.0.0.1:$exporter/metrics" || true; }
for _ in $(seq 40); do
  [ "$(scrape)" = 200 ] && break
  sleep 0.25
done
# The page after the second script has written its file.
after() {
  printf '%b' "$1" > text/b.prom
  code=$(scrape)
  echo "$code, $(grep -o '^backup_ok.*' page | paste -sd' '), scrape_error $(sed -n 's/^node_textfile_scrape_error //p' page)," \
    "fresh files $(grep -c '^node_textfile_mtime_seconds' page)"
}
with=$(after '# HELP backup_ok Whether the last backup succeeded.\n# TYPE backup_ok gauge\nbackup_ok{of="mail"} 0\n')
without=$(after '# TYPE backup_ok gauge\nbackup_ok{of="mail"} 0\n')

echo "guess:     both samples are there, or node_textfile_scrape_error is 1"
echo "version:   node_exporter 1.9.0"
echo "behaviour: the samples of the file without HELP are lost; no metric of the collector says so, only promhttp_metric_handler_errors_total and the log"
echo "seen:      both with HELP: $with; second without: $without"
echo "hit:       metrics that several scripts share: the one that failed is missing, and the alert on the error metric is silent"
if ! { [ "$with" = '200, backup_ok{of="mail"} 0 backup_ok{of="shop"} 1, scrape_error 0, fresh files 2' ] &&
  [ "$without" = '200, backup_ok{of="shop"} 1, scrape_error 0, fresh files 2' ]; }; then
  echo "changed"
  exit 1
fi
