#!/usr/bin/env bash
# A script answers one object of net-snmp's agent by `pass`, and counts how often it is called. The value is read each second.
# Needs: apt and python3, on Debian 13. Takes about a minute.
set -euo pipefail
work=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$work"' EXIT
cd "$work"

port() { python3 -c 'import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
agent=$(port)
libraries=$(apt-cache depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces \
  --no-enhances snmpd | grep -E '^lib' | grep -vE '^libc6|:i386')
# shellcheck disable=SC2086
apt-get -qq -o APT::Sandbox::User=root download 'snmpd=5.9.4*' 'snmp=5.9.4*' $libraries
for package in *.deb; do dpkg -x "$package" root; done
export MIBS='' SNMPCONFPATH=$work SNMP_PERSISTENT_DIR=$work/state
shared=$work/root/usr/lib/x86_64-linux-gnu

cat > connections <<H
#!/bin/sh
echo called >> $work/calls
echo "\$2"
echo gauge
wc -l < $work/calls
H
chmod +x connections
touch calls
cat > snmpd.conf <<C
rocommunity demo 127.0.0.1
pass .1.3.6.1.4.1.8072.9999.1 $work/connections
C
mkdir state
LD_LIBRARY_PATH=$shared root/usr/sbin/snmpd -f -Lf snmpd.log -C -c snmpd.conf -p pid "udp:127.0.0.1:$agent" &
sleep 2
read_value() { LD_LIBRARY_PATH=$shared root/usr/bin/snmpget -Oqv -v 2c -c demo "127.0.0.1:$agent" .1.3.6.1.4.1.8072.9999.1.0; }
# The values of 40 seconds, and how often each was read.
for _ in $(seq 40); do
  read_value >> values
  sleep 1
done
longest=$(uniq -c values | awk '$1 > most { most = $1 } END { print most }')

echo "guess:     the script runs for each request, as the manual says"
echo "version:   $(LD_LIBRARY_PATH=$shared root/usr/sbin/snmpd -v | sed -n 's/^NET-SNMP version: */net-snmp /p')"
echo "behaviour: the agent gives the same output for half a minute, and then runs the script again"
echo "seen:      40 requests, one a second: $(wc -l < calls) calls of the script, the same value up to $longest times"
echo "hit:       counters and states from a script, read more often than twice a minute: steps, rates of 0, an outage that is seen late"
if ! { [ "$(wc -l < values)" = 40 ] && [ "$(wc -l < calls)" -le 3 ] && [ "$longest" -ge 20 ]; }; then
  echo "changed"
  exit 1
fi
