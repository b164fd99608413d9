#!/usr/bin/env bash
# An alert compares probe_ssl_earliest_cert_expiry with the time. The certificate expires.
# Needs: apt, openssl 3.5 and curl, on Debian 13. Takes about 10 s.
set -euo pipefail
work=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$work"' EXIT
cd "$work"

port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
soon=$(port); expired=$(port); exporter=$(port)
apt-get -qq -o APT::Sandbox::User=root download prometheus-blackbox-exporter=0.26.0-1
dpkg -x prometheus-blackbox-exporter_*.deb root

key=(-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes)
openssl req -x509 "${key[@]}" -keyout ca.key -out ca.pem -days 30 -subj /CN=authority 2> openssl.log
at() { date -u -d "$1" +%Y%m%d%H%M%SZ; }
# A web server, whose certificate ends when the second argument says.
serve() {
  openssl req "${key[@]}" -keyout "$1.key" -out "$1.csr" -subj "/CN=$1" 2> openssl.log
  openssl x509 -req -in "$1.csr" -CA ca.pem -CAkey ca.key -not_before "$(at '-80 days')" -not_after "$(at "$2")" \
    -extfile <(echo subjectAltName=IP:127.0.0.1) -out "$1.pem" 2> openssl.log
  openssl s_server -accept "127.0.0.1:$3" -cert "$1.pem" -key "$1.key" -www -quiet > "$1.log" 2>&1 &
}
serve soon '+1 hour' "$soon"
serve expired '-1 hour' "$expired"
cat > blackbox.yml <<'Y'
modules:
  http: { prober: http, http: { tls_config: { ca_file: ca.pem } } }
  tcp: { prober: tcp, tcp: { tls: true, tls_config: { ca_file: ca.pem } } }
Y
root/usr/bin/prometheus-blackbox-exporter --config.file=blackbox.yml --web.listen-address="127.0.0.1:$exporter" 2> exporter.log &
for _ in $(seq 40); do
  curl -sf "http://127.0.0.1:$exporter/-/healthy" > healthy && break
  sleep 0.25
done
# What a module says about a target: success, and the hours until the certificate ends.
probe() {
  curl -sG "http://127.0.0.1:$exporter/probe" -d module="$1" --data-urlencode target="$2" > page
  echo "success $(awk '$1 == "probe_success" { print $2 }' page), expiry $(awk -v now="$(date +%s)" \
    '$1 == "probe_ssl_earliest_cert_expiry" { printf "in %.0f h", ($2 - now) / 3600; found = 1 } END { if (!found) print "none" }' page)"
}
before="$(probe http "https://127.0.0.1:$soon"); $(probe tcp "127.0.0.1:$soon")"
after="$(probe http "https://127.0.0.1:$expired"); $(probe tcp "127.0.0.1:$expired")"

echo "guess:     the metric lies in the past, and the alert on it goes on"
echo "version:   blackbox_exporter 0.26.0"
echo "behaviour: the handshake fails, and there is no metric of the certificate: the alert ends when the certificate does"
echo "seen:      http and tcp, an hour before: $before; an hour after: $after"
echo "hit:       alerts on the expiry: resolved, and the ticket closed, in the minute in which clients begin to fail"
if ! { [ "$before" = "success 1, expiry in 1 h; success 1, expiry in 1 h" ] &&
  [ "$after" = "success 0, expiry none; success 0, expiry none" ]; }; then
  echo "changed"
  exit 1
fi
