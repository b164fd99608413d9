#!/usr/bin/env bash
# A BGP peer takes connections and says nothing. An alert asks for `bird_protocol_up == 0` for a while.
# Needs: apt, python3 and curl, on Debian 13. Takes about two minutes.
set -euo pipefail
work=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$work"' EXIT
cd "$work"

port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
bgp=$(port); peer=$(port); exporter=$(port); server=$(port)
apt-get -qq -o APT::Sandbox::User=root download prometheus=2.53.3+ds1-2 prometheus-bird-exporter=1.4.2+ds-2 'bird2=2.17.6*' \
  'libssh-4=0.11*' 'libreadline8t64=8.2*' 'libtinfo6=6.5*'
for package in *.deb; do dpkg -x "$package" root; done

# A peer that hangs.
cat > peer.py <<'Y'
import socket, sys
server = socket.create_server(('127.0.0.1', int(sys.argv[1])))
taken = []
while True: taken.append(server.accept())
Y
python3 peer.py "$peer" &
# The times of a session, a twentieth of what they are where nothing is said (240, 120, 5, and 60 to 300 s): 20 s stand for 400.
cat > bird.conf <<C
router id 127.0.0.1;
protocol device {}
protocol bgp upstream {
  local 127.0.0.1 port $bgp as 65001;
  neighbor 127.0.0.1 port $peer as 65002;
  multihop;
  startup hold time 12;
  connect retry time 6;
  connect delay time 1;
  error wait time 3, 15;
  ipv4 { import all; export all; };
}
C
LD_LIBRARY_PATH=$work/root/usr/lib/x86_64-linux-gnu root/usr/sbin/bird -f -c bird.conf -s "$work/bird.ctl" 2> bird.log &
root/usr/bin/prometheus-bird-exporter -bird.v2 -bird.socket "$work/bird.ctl" -web.listen-address "127.0.0.1:$exporter" 2> exporter.log &
cat > rules.yml <<'Y'
groups:
  - name: demo
    rules:
      - { alert: Plain, expr: bird_protocol_up == 0, for: 20s }
      - { alert: Grouped, expr: min by (name) (bird_protocol_up) == 0, for: 20s }
Y
cat > prometheus.yml <<Y
global: { scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s }
rule_files: [rules.yml]
scrape_configs: [{ job_name: demo, static_configs: [{ targets: ['127.0.0.1:$exporter'] }] }]
Y
root/usr/bin/prometheus --config.file=prometheus.yml --storage.tsdb.path=data --web.listen-address="127.0.0.1:$server" 2> prometheus.log &
ask() { curl -sG "http://127.0.0.1:$server/api/v1/query" --data-urlencode "query=$1" | python3 -c "import json, sys
found = json.load(sys.stdin)['data']['result']
print($2)"; }
sleep 90
seconds() { ask "sum(count_over_time(ALERTS{alertname=\"$1\",alertstate=\"firing\"}[80s])) or vector(0)" 'found[0]["value"][1]'; }
plain=$(seconds Plain); grouped=$(seconds Grouped)
up=$(ask 'max_over_time(max(bird_protocol_up{name="upstream"})[80s:1s])' 'found[0]["value"][1]')
states=$(ask 'count_over_time(bird_protocol_up{name="upstream"}[80s])' "', '.join(sorted({each['metric']['state'].split()[0] for each in found}))")

echo "guess:     it fires: the session is down all the time"
echo "version:   bird_exporter 1.4.2, BIRD 2.17.6, Prometheus 2.53.3"
echo "behaviour: the state of the session is a label of the metric: with each step of a new attempt the series is another one, and \`for\` begins again"
echo "seen:      in 80 s, bird_protocol_up at most $up, states $states; for 20s: fires $plain s plain, $grouped s with min by (name)"
echo "hit:       alerts on BGP sessions with a \`for\`: silent for a peer that hangs"
if ! { [ "$up" = 0 ] && [ "$plain" = 0 ] && [ "$grouped" -ge 30 ]; }; then
  echo "changed"
  exit 1
fi
