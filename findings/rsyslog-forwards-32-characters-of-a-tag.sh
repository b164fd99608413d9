#!/usr/bin/env bash
# One rsyslog forwards to another, both with their standard templates: exporters of Debian, and a container with a long name.
# Needs: apt, on Debian 13. Takes about 10 s.
set -euo pipefail
work=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$work"' EXIT
cd "$work"

port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
receiver=$(port)
apt-get -qq -o APT::Sandbox::User=root download 'rsyslog=8.2504.0*' 'libestr0=0.1.11*' 'libfastjson4=1.2304.0*' \
  'bsdutils=1:2.41*'
for package in *.deb; do dpkg -x "$package" root; done
export LD_LIBRARY_PATH=$work/root/usr/lib/x86_64-linux-gnu RSYSLOG_MODDIR=$work/root/usr/lib/x86_64-linux-gnu/rsyslog/

template='template(name="seen" type="string" string="%app-name% %procid%:%msg%\n")'
cat > sender.conf <<C
module(load="imuxsock" sysSock.use="off")
input(type="imuxsock" socket="$work/log")
$template
action(type="omfile" file="$work/sent" template="seen")
action(type="omfwd" target="127.0.0.1" port="$receiver" protocol="tcp")
C
cat > receiver.conf <<C
module(load="imtcp")
input(type="imtcp" address="127.0.0.1" port="$receiver")
$template
action(type="omfile" file="$work/received" template="seen")
C
touch sent received
root/usr/sbin/rsyslogd -n -f receiver.conf -i receiver.pid 2> receiver.log &
sleep 1
root/usr/sbin/rsyslogd -n -f sender.conf -i sender.pid 2> sender.log &
for _ in $(seq 40); do
  [ -S log ] && break
  sleep 0.25
done
send() { root/usr/bin/logger --socket log --socket-errors=on --tag "$1" --id="$2" ready; }
send nginx 1234
send prometheus-blackbox-exporter 12345
send shop-production-checkout-frontend-1 77
send shop-production-checkout-frontend-2 78
for _ in $(seq 40); do
  [ "$(wc -l < received)" = 4 ] && break
  sleep 0.25
done

echo "guess:     the receiver sees the program and the process as the sender does"
echo "version:   $(root/usr/sbin/rsyslogd -v | head -n 1 | cut -d' ' -f1-3)"
echo "behaviour: the template that forwards cuts name, number and colon after 32 characters: the number is gone, long names are one"
echo "seen:      sender: $(paste -sd, sent | sed 's/,/, /g'); receiver: $(paste -sd, received | sed 's/,/, /g')"
echo "hit:       containers and units with long names: filters and files by name mix them, and the process is unknown"
cut=shop-production-checkout-fronten
if ! { grep -q '^prometheus-blackbox-exporter 12345: ready' sent && [ "$(sort -u sent | wc -l)" = 4 ] &&
  [ "$(paste -sd, received)" = "nginx 1234: ready,prometheus-blackbox-exporter -: ready,$cut -: ready,$cut -: ready" ]; }; then
  echo "changed"
  exit 1
fi
