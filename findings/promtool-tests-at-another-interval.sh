#!/usr/bin/env bash
# A group of rules has an interval of its own, ten minutes; a unit test of it has evaluation_interval 1m.
# Needs: apt, on Debian 13.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

apt-get -qq -o APT::Sandbox::User=root download promtool=2.53.3+ds1-2
dpkg -x promtool_*.deb .

# Prometheus looks every ten minutes, and sees an outage of two minutes only by chance.
cat > rules.yml <<'Y'
groups:
  - name: slow
    interval: 10m
    rules:
      - { record: evaluated, expr: time() }
      - { alert: BackendDown, expr: backend_up == 0, keep_firing_for: 1h }
Y
cat > test.yml <<'Y'
rule_files: [rules.yml]
evaluation_interval: 1m
tests:
  - interval: 1m
    input_series: [{ series: backend_up, values: '1 1 1 0 0 1x20' }]
    promql_expr_test:
      - { expr: evaluated, eval_time: 15m, exp_samples: [{ labels: evaluated, value: 600 }] }
    alert_rule_test:
      - { eval_time: 15m, alertname: BackendDown, exp_alerts: [] }
Y
usr/bin/promtool test rules test.yml > out 2>&1 || true
last=$(sed -n 's/.*got: .*{__name__="evaluated"} //p' out)
alert=$(grep -A3 'alertname: BackendDown' out | grep -c 'got:\[' || true)

echo "guess:     the group is evaluated every ten minutes, as by the server, and the test passes"
echo "version:   $(usr/bin/promtool --version 2>&1 | head -n 1)"
echo "behaviour: every minute: the group's interval counts for nothing, and what the server never sees fires in the test"
echo "seen:      at 15m the group was last evaluated at $last s (guess: 600); BackendDown, whose cause lasts from 3m to 5m:" \
  "$([ "$alert" = 1 ] && echo fires || echo does not fire) (guess: does not fire)"
echo "hit:       rules in slow groups: tests pass that samples of the server cannot, such as windows shorter than the interval"
if ! { [ "$last" = 9E+02 ] && [ "$alert" = 1 ]; }; then
  echo "changed"
  exit 1
fi
