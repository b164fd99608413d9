#!/bin/sh
# Runs after an installation, or after an upgrade if $before is set. Starts nothing that did not run.
set -e
case $1 in
configure) before=$2 ;; # by dpkg, with the version before
1) before= ;;           # by RPM, with the number of versions that are there now
[2-9]) before=earlier ;;
*) exit 0 ;;
esac
configuration=/etc/zlb-exporter/zlb.yml
getent group zlb-exporter >/dev/null || groupadd --system zlb-exporter
getent passwd zlb-exporter >/dev/null ||
  useradd --system --gid zlb-exporter --home-dir /var/lib/zlb-exporter --no-create-home --shell /usr/sbin/nologin zlb-exporter
install -d -o zlb-exporter -g zlb-exporter -m 700 /etc/zlb-exporter/keys /var/lib/zlb-exporter

# Prints what this version refuses, as zlb-exporter-check finds it; false if it is nothing. A refusal comes before the
# first appliance is asked, so half a minute is enough.
refused() {
  check=zlb-exporter-check.service
  timeout 30 systemctl start $check 2>/dev/null || systemctl stop $check
  code=$(systemctl show --property=ExecMainStatus --value $check)
  journalctl --sync
  said=$(journalctl --quiet --output=cat "_SYSTEMD_INVOCATION_ID=$(systemctl show --property=InvocationID --value $check)")
  # A unit that stays failed would alert.
  systemctl reset-failed $check 2>/dev/null
  [ "$code" = 2 ] && echo "$said"
}

if [ -d /run/systemd/system ]; then
  systemctl daemon-reload
  if [ -n "$before" ]; then
    if systemctl is-active --quiet zlb-exporter.service && refused; then
      echo 'The service still runs the previous version: correct what this one refuses, then run: systemctl restart zlb-exporter'
    else
      systemctl try-restart zlb-exporter.service
    fi
  fi
fi
if [ -z "$before" ]; then
  start='systemctl enable --now zlb-exporter'
  if [ ! -d /run/systemd/system ]; then
    start="-u zlb-exporter zlb-exporter --config.file=$configuration"
    echo 'No systemd runs here: let your own init start the last of these commands.'
  fi
  echo 'zlb-exporter is installed and not started. From an address to a running exporter:'
  echo "  sudo zlb-exporter init HOST --config.file=$configuration --append"
  echo "  sudo $start"
  echo 'In /usr/share/doc/zlb-exporter: rules of Prometheus in alerts/, dashboards to import in deploy/grafana/import/,'
  echo 'examples in deploy/. The next step there: docs/operations.md'
fi
