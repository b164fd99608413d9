#!/usr/bin/env bash
# A deploy hook fails once, for instance because the load balancer restarts at that moment.
# Needs: apt, openssl and python3 with venv, on Debian 13. Takes about a minute.
set -euo pipefail
work=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$work"' EXIT
cd "$work"

port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
acme=$(port); management=$(port); http=$(port); tls=$(port)
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check certbot==5.0.0
apt-get -qq -o APT::Sandbox::User=root download pebble=2.6.0+ds1-1+b7 dehydrated=0.7.2-2 'bsdextrautils=2.41*' 'curl=8.14*' \
  'libcurl4t64=8.14*'
for package in *.deb; do dpkg -x "$package" root; done
export PATH=$work/root/usr/bin:$PATH

# An authority on this machine, which believes every challenge.
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout key.pem -out ca.pem -days 2 -subj /CN=localhost \
  -addext subjectAltName=DNS:localhost,IP:127.0.0.1 2> openssl.log
cat > pebble.json <<J
{"pebble": {"listenAddress": "127.0.0.1:$acme", "managementListenAddress": "127.0.0.1:$management",
  "certificate": "ca.pem", "privateKey": "key.pem", "httpPort": $http, "tlsPort": $tls, "ocspResponderURL": "",
  "profiles": {"default": {"description": "default", "validityPeriod": 7776000}}}}
J
PEBBLE_VA_NOSLEEP=1 PEBBLE_VA_ALWAYS_VALID=1 PEBBLE_WFE_NONCEREJECT=0 pebble -config pebble.json > pebble.log 2>&1 &
sleep 2

cat > certbot-hook <<H
#!/bin/sh
echo called >> $work/certbot.calls
exit 3
H
cat > dehydrated-hook <<H
#!/bin/sh
[ "\$1" = deploy_cert ] || exit 0
echo called >> $work/dehydrated.calls
exit 3
H
chmod +x certbot-hook dehydrated-hook
calls() { wc -l < "$1.calls"; }

certbot() {
  REQUESTS_CA_BUNDLE=$work/ca.pem venv/bin/certbot "$@" --config-dir c --work-dir w --logs-dir l --non-interactive \
    --server "https://127.0.0.1:$acme/dir" > certbot.log 2>&1
}
first=0
certbot certonly --agree-tos -m demo@example.com --standalone --http-01-port "$http" -d shop.example.com \
  --deploy-hook "$work/certbot-hook" || first=$?
second=0; certbot renew || second=$?
certbot="exit $first and $second, $(calls certbot) call"

mkdir -p d/challenges
cat > d/config <<C
CA=https://127.0.0.1:$acme/dir
BASEDIR=$work/d
WELLKNOWN=$work/d/challenges
HOOK=$work/dehydrated-hook
C
echo shop.example.com > d/domains.txt
dehydrated() { CURL_CA_BUNDLE=$work/ca.pem root/usr/bin/dehydrated -f d/config "$@" > dehydrated.log 2>&1; }
dehydrated --register --accept-terms
first=0; dehydrated --cron || first=$?
second=0; dehydrated --cron || second=$?
dehydrated="exit $first and $second, $(calls dehydrated) call"

echo "guess:     the run fails, and the next one calls the hook again"
echo "version:   $(venv/bin/certbot --version), dehydrated 0.7.2"
echo "behaviour: certbot ends with 0; dehydrated with 1; neither calls the hook again until the next renewal, and both then say all is well"
echo "seen:      two runs of certbot: $certbot; two runs of dehydrated: $dehydrated"
echo "hit:       who delivers certificates to another machine: the old one is served until it expires"
if ! { [ "$certbot" = "exit 0 and 0, 1 call" ] && [ "$dehydrated" = "exit 1 and 0, 1 call" ]; }; then
  echo "changed"
  exit 1
fi
