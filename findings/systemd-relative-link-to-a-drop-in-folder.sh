#!/usr/bin/env bash
# The folder of drop-ins of one unit is a link to that of another one in the same folder.
# Needs: apt, on Debian 13.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

apt-get -qq -o APT::Sandbox::User=root download 'systemd=257*' 'libsystemd-shared=257*' 'libsystemd0=257*'
for package in *.deb; do dpkg -x "$package" root; done
export LD_LIBRARY_PATH=$work/root/usr/lib/x86_64-linux-gnu:$work/root/usr/lib/x86_64-linux-gnu/systemd

mkdir -p units/base.service.d
printf '[Unit]\nDescription=the unit\n[Service]\nExecStart=/bin/true\n' > units/base.service
printf '[Unit]\nDescription=the drop-in\n' > units/base.service.d/a.conf
cp units/base.service units/relative.service
cp units/base.service units/absolute.service
cp units/base.service units/file.service
ln -s base.service.d units/relative.service.d
ln -s "$PWD/units/base.service.d" units/absolute.service.d
mkdir units/file.service.d
ln -s ../base.service.d/a.conf units/file.service.d/a.conf

described() {
  SYSTEMD_UNIT_PATH=$PWD/units: SYSTEMD_LOG_LEVEL=debug root/usr/bin/systemd-analyze verify --man=no "$1.service" 2>&1 |
    sed -n '0,/^[[:space:]]*Description: /s/^[[:space:]]*Description: //p' || true
}
base=$(described base); relative=$(described relative); absolute=$(described absolute); file=$(described file)

echo "guess:     a relative link to a folder of drop-ins is followed, like an absolute one and like links to files"
echo "version:   $(root/usr/bin/systemctl --version | head -n 1)"
echo "behaviour: the folder is left out without a word, and the unit runs without its drop-ins"
echo "seen:      real folder: $base; absolute link: $absolute; relative link to a file: $file; relative link to the folder: $relative"
echo "hit:       packages and configuration management that share drop-ins; tools that make links relative"
if ! { [ "$base/$absolute/$file" = "the drop-in/the drop-in/the drop-in" ] && [ "$relative" = "the unit" ]; }; then
  echo "changed"
  exit 1
fi
