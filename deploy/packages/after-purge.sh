# After everything was to be removed; Debian alone has such a step.
rm -rf --one-file-system /etc/zlb-exporter /var/lib/zlb-exporter || echo 'What is mounted there stays.' >&2
# It cannot be removed while it has a process, such as an exporter that was started by hand: no reason to fail.
if getent passwd zlb-exporter >/dev/null; then
  userdel zlb-exporter || echo 'The user stays. Stop what it runs, and then: userdel zlb-exporter' >&2
fi
