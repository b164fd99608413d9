#!/usr/bin/env bash
# Two timers in Berlin, where the clocks go forward on 2027-03-28 and back on 2027-10-31: one of each night, one of each minute.
# Needs: apt and tzdata, on Debian 13.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

apt-get -qq -o APT::Sandbox::User=root download 'systemd=257*' 'libsystemd-shared=257*' 'libsystemd0=257*'
for package in *.deb; do dpkg -x "$package" root; done
export LD_LIBRARY_PATH=$work/root/usr/lib/x86_64-linux-gnu:$work/root/usr/lib/x86_64-linux-gnu/systemd

# The next times of a timer after a time, as day and time.
next() {
  TZ=Europe/Berlin root/usr/bin/systemd-analyze calendar --base-time="$1" --iterations=3 "$2" |
    sed -nE 's/^ *(Next elapse|Iter[a-z.]* #.): [A-Z][a-z]+ [0-9]{4}-([0-9-]+ [0-9:]+):00 ([A-Z]+)$/\2 \3/p' | paste -sd, | sed 's/,/, /g'
}
night=$(next '2027-03-26 12:00' '02:30')
minute=$(next '2027-10-31 00:58 UTC' '*:0/1')

echo "guess:     each night once, at 03:30 (or 03:00) where there is no 02:30; each minute, in both hours from 02:00 to 03:00"
echo "version:   $(root/usr/bin/systemctl --version | head -n 1)"
echo "behaviour: in spring, the night is left out; in autumn, the timer of each minute rests for the whole second hour"
echo "seen:      forecast of systemd-analyze: 02:30, spring: $night; *:0/1, autumn: $minute"
echo "hit:       backups, renewals and checks that move from cron to timers, on machines with a local time; heartbeats in autumn"
if ! { [ "$night" = "03-27 02:30 CET, 03-29 02:30 CEST, 03-30 02:30 CEST" ] &&
  [ "$minute" = "10-31 02:59 CEST, 10-31 03:00 CET, 10-31 03:01 CET" ]; }; then
  echo "changed"
  exit 1
fi
