# Runs before the last version is removed.
if [ -d /run/systemd/system ]; then systemctl disable --now zlb-exporter.service; fi
