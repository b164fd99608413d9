#!/usr/bin/env bash
# A unit test of rules names an alert that no rule has, and expects no alert.
# Needs: apt, on Debian 13.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

apt-get -qq -o APT::Sandbox::User=root download promtool=2.53.3+ds1-2
dpkg -x promtool_*.deb .

cat > rules.yml <<'Y'
groups:
  - name: demo
    rules:
      - { alert: ExporterDown, expr: up == 0 }
Y
# `up` is 0 the whole time, so ExporterDown fires; the test has a letter twisted.
cat > twisted.yml <<'Y'
rule_files: [rules.yml]
tests:
  - interval: 1m
    input_series: [{ series: up, values: '0x20' }]
    alert_rule_test:
      - { eval_time: 10m, alertname: ExporterDwon, exp_alerts: [] }
Y
sed s/Dwon/Down/ twisted.yml > right.yml

right=0; usr/bin/promtool test rules right.yml > right.out 2>&1 || right=$?
twisted=0; usr/bin/promtool test rules twisted.yml > twisted.out 2>&1 || twisted=$?

echo "guess:     a test of an alert that no rule defines is an error"
echo "version:   $(usr/bin/promtool --version 2>&1 | head -n 1)"
echo "behaviour: it passes; a test that an alert does not fire cannot fail once the name is wrong or the alert was renamed"
echo "seen:      right name: exit $right; twisted name: exit $twisted, $(grep -o SUCCESS twisted.out)"
echo "hit:       whoever renames an alert, and keeps negative tests of the old name"
if ! { [ "$right" = 1 ] && [ "$twisted" = 0 ]; }; then
  echo "changed"
  exit 1
fi
