# After everything was to be removed; Debian alone has such a step.
rm -rf /etc/zlb-exporter /var/lib/zlb-exporter
if getent passwd zlb-exporter >/dev/null; then userdel zlb-exporter; fi
