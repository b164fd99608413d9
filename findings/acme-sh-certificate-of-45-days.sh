#!/usr/bin/env bash
# An authority issues certificates of 45 days instead of 90.
# Needs: apt, openssl and python3, on Debian 13. Takes about a minute.
set -euo pipefail
work=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$work"' EXIT
cd "$work"

port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
acme=$(port); management=$(port); http=$(port); tls=$(port)
apt-get -qq -o APT::Sandbox::User=root download pebble=2.6.0+ds1-1+b7 acme.sh=3.1.1-1 'curl=8.14*' 'libcurl4t64=8.14*'
for package in *.deb; do dpkg -x "$package" root; done
export PATH=$work/root/usr/bin:$PATH

# An authority on this machine, which believes every challenge.
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout key.pem -out ca.pem -days 2 -subj /CN=localhost \
  -addext subjectAltName=DNS:localhost,IP:127.0.0.1 2> openssl.log
cat > pebble.json <<J
{"pebble": {"listenAddress": "127.0.0.1:$acme", "managementListenAddress": "127.0.0.1:$management", "certificate": "ca.pem",
  "privateKey": "key.pem", "httpPort": $http, "tlsPort": $tls, "ocspResponderURL": "", "certificateValidityPeriod": $((45 * 86400))}}
J
PEBBLE_VA_NOSLEEP=1 PEBBLE_VA_ALWAYS_VALID=1 PEBBLE_WFE_NONCEREJECT=0 pebble -config pebble.json > pebble.log 2>&1 &
sleep 2
mkdir web
client() { root/usr/share/acme.sh/acme.sh --home "$work/home" --server "https://127.0.0.1:$acme/dir" --ca-bundle "$work/ca.pem" "$@"; }
client --issue -d shop.example.com -w "$work/web" > issue.log 2>&1
folder=home/shop.example.com_ecc
days() { echo $((($1 - $(date +%s) + 43200) / 86400)); }
expires=$(days "$(date -d "$(openssl x509 -noout -enddate -in $folder/shop.example.com.cer | cut -d= -f2)" +%s)")
renews=$(days "$(sed -nE "s/^Le_NextRenewTime='([0-9]+)'$/\1/p" $folder/shop.example.com.conf)")
client --cron > cron.log 2>&1
word=$(grep -o 'Skipp[a-z]* shop.example.com' cron.log)

echo "guess:     it is renewed in time, by the end that the certificate has"
echo "version:   acme.sh $(client --version | tail -n 1)"
echo "behaviour: the days are counted from the issue, 60 less one, whatever the certificate says: it is renewed two weeks after its end"
echo "seen:      expires in $expires days, renewal in $renews days; cron now: \"$word\""
echo "hit:       whoever has acme.sh of Debian 13 when the authority shortens its certificates to less than two months"
if ! { [ "$expires" = 45 ] && [ "$renews" = 59 ] && [ -n "$word" ]; }; then
  echo "changed"
  exit 1
fi
