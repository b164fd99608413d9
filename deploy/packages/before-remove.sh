#!/bin/sh
# Runs before the last version is removed: dpkg says `remove`, and RPM that 0 versions remain.
set -e
case $1 in
remove | 0) ;;
*) exit 0 ;;
esac
if [ -d /run/systemd/system ]; then systemctl disable --now zlb-exporter.service; fi
