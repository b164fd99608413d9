# Runs after an installation, or after an upgrade if $before is set. Starts nothing that did not run.
getent group zlb-exporter >/dev/null || groupadd --system zlb-exporter
getent passwd zlb-exporter >/dev/null ||
  useradd --system --gid zlb-exporter --home-dir /var/lib/zlb-exporter --no-create-home --shell /usr/sbin/nologin zlb-exporter
install -d -o zlb-exporter -g zlb-exporter -m 700 /etc/zlb-exporter/keys /var/lib/zlb-exporter
if [ -d /run/systemd/system ]; then
  systemctl daemon-reload
  if [ -n "$before" ]; then systemctl try-restart zlb-exporter.service; fi
fi
if [ -z "$before" ]; then
  configuration=/etc/zlb-exporter/zlb.yml
  start='systemctl enable --now zlb-exporter'
  if [ ! -d /run/systemd/system ]; then start="-u zlb-exporter zlb-exporter --config.file=$configuration"; fi
  echo 'zlb-exporter is installed and not started. From an address to a running exporter:'
  echo "  sudo zlb-exporter init HOST --config.file=$configuration --append"
  echo "  sudo $start"
fi
