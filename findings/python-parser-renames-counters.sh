#!/usr/bin/env bash
# A page of the classic text format has a counter whose name does not end with `_total`.
# Needs: apt, curl and python3 with venv, on Debian 13. Takes about 15 s.
set -euo pipefail
work=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$work"' EXIT
cd "$work"

port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
page=$(port); server=$(port)
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check prometheus-client==0.23.1
apt-get -qq -o APT::Sandbox::User=root download prometheus=2.53.3+ds1-2
dpkg -x prometheus_*.deb root

mkdir www
printf '# HELP jobs Jobs.\n# TYPE jobs counter\njobs 7\n' > www/metrics
python3 -m http.server --bind 127.0.0.1 --directory www "$page" 2> pages.log &
cat > prometheus.yml <<Y
global: { scrape_interval: 1s, scrape_timeout: 1s }
scrape_configs:
  - { job_name: demo, static_configs: [{ targets: ['127.0.0.1:$page'] }] }
Y
root/usr/bin/prometheus --config.file=prometheus.yml --storage.tsdb.path=data --web.listen-address="127.0.0.1:$server" \
  2> prometheus.log &
parsed=$(venv/bin/python -c '
from prometheus_client.parser import text_string_to_metric_families
for family in text_string_to_metric_families(open("www/metrics").read()):
    for sample in family.samples: print(sample.name)')
stored=
for _ in $(seq 40); do
  stored=$(curl -sG "http://127.0.0.1:$server/api/v1/query" --data-urlencode 'query={__name__=~"jobs.*"}' |
    grep -o '"__name__":"[a-z_]*"' | cut -d'"' -f4) || true
  [ -z "$stored" ] || break
  sleep 0.5
done

echo "guess:     the reference parser of Python gives the names that stand on the page, as Prometheus does"
echo "version:   prometheus-client 0.23.1, Prometheus 2.53.3"
echo "behaviour: it adds _total to the sample, which no page and no server has"
echo "seen:      page: jobs; Prometheus: $stored; Python: $parsed"
echo "hit:       collectors and tests in Python that look samples up by name: the counter is not there"
if ! { [ "$stored" = jobs ] && [ "$parsed" = jobs_total ]; }; then
  echo "changed"
  exit 1
fi
