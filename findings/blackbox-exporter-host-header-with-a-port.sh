#!/usr/bin/env bash
# A probe asks an address for a site by the header Host, with its port, as clients send it on any port but 443.
# Needs: apt, openssl, python3 and curl, on Debian 13. Takes about 10 s.
set -euo pipefail
work=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$work"' EXIT
cd "$work"

port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
web=$(port); exporter=$(port)
apt-get -qq -o APT::Sandbox::User=root download prometheus-blackbox-exporter=0.26.0-1
dpkg -x prometheus-blackbox-exporter_*.deb root

openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout key.pem -out cert.pem -days 2 \
  -subj /CN=shop.example.com -addext subjectAltName=DNS:shop.example.com 2> openssl.log
# A web server that writes down which names it was asked for.
cat > web.py <<'Y'
import http.server, ssl, sys
class Web(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        print('Host', self.headers['host'], file=open('asked', 'a'))
        self.send_response(200)
        self.send_header('content-length', '0')
        self.end_headers()
    def log_message(self, *words):
        pass
tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
tls.load_cert_chain('cert.pem', 'key.pem')
tls.sni_callback = lambda socket, name, context: print('TLS', name, file=open('asked', 'a'))
server = http.server.ThreadingHTTPServer(('127.0.0.1', int(sys.argv[1])), Web)
server.socket = tls.wrap_socket(server.socket, server_side=True)
server.serve_forever()
Y
python3 web.py "$web" 2> web.log &
cat > blackbox.yml <<Y
modules:
  without: { prober: http, http: { headers: { Host: shop.example.com }, tls_config: { ca_file: cert.pem } } }
  with: { prober: http, http: { headers: { Host: 'shop.example.com:$web' }, tls_config: { ca_file: cert.pem } } }
Y
root/usr/bin/prometheus-blackbox-exporter --config.file=blackbox.yml --web.listen-address="127.0.0.1:$exporter" 2> exporter.log &
for _ in $(seq 40); do
  curl -sfk --fail-early "http://127.0.0.1:$exporter/-/healthy" "https://127.0.0.1:$web/" > healthy && break
  sleep 0.25
done
# What the server was asked for, without the number of its port.
asked() { sed "s/:$web/:PORT/" asked | paste -sd, | sed 's/,/, /g'; }
probe() {
  : > asked
  curl -sG "http://127.0.0.1:$exporter/probe" -d module="$1" --data-urlencode target="https://127.0.0.1:$web/" > page
  echo "success $(awk '$1 == "probe_success" { print $2 }' page) ($(asked))"
}
without=$(probe without); with=$(probe with)
: > asked
code=$(curl -s -o page -w '%{http_code}' --cacert cert.pem --resolve "shop.example.com:$web:127.0.0.1" "https://shop.example.com:$web/")
curl="$code ($(asked))"

echo "guess:     the name without the port is asked for by TLS and looked for in the certificate, as by any client of that URL"
echo "version:   blackbox_exporter 0.26.0"
echo "behaviour: the port becomes a part of the name: no certificate has it, and the probe fails"
echo "seen:      Host without port: $without; with: $with; curl: $curl"
echo "hit:       probes of one node behind a name on a port of its own; with insecure_skip_verify, the server is asked for a name it does not have"
if ! { [ "$without" = "success 1 (TLS shop.example.com, Host shop.example.com)" ] && [ "$with" = "success 0 (TLS shop.example.com:PORT)" ] &&
  [ "$curl" = "200 (TLS shop.example.com, Host shop.example.com:PORT)" ]; }; then
  echo "changed"
  exit 1
fi
