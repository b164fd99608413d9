#!/bin/sh
# Runs after a removal, an upgrade, and, with `purge`, which only Debian has, after the rest is removed too.
set -e
if [ -d /run/systemd/system ]; then systemctl daemon-reload; fi
[ "$1" = purge ] || exit 0
rm -rf --one-file-system /etc/zlb-exporter /var/lib/zlb-exporter || echo 'What is mounted there stays.' >&2
# The user cannot be removed while it has a process, such as an exporter started by hand. That is no failure.
if getent passwd zlb-exporter >/dev/null; then
  userdel zlb-exporter || echo 'The user stays. Stop what it runs, and then: userdel zlb-exporter' >&2
fi
