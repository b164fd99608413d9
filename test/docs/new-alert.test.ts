import { spawnSync } from 'node:child_process';
import { appendFileSync, cpSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { givenFolder } from '../support/folder.ts';
import { isThere } from '../support/programs.ts';
import { root } from './documents.ts';

const rule = `
      - alert: ZlbSwapFull
        expr: zlb_system_swap_used_bytes / (zlb_system_swap_total_bytes > 0) > 0.8
        for: 15m
        keep_firing_for: 10m
        labels: { severity: warning }
        annotations:
          summary: The swap of an appliance is nearly full.
          description: More than 80 % of the swap of {{ $labels.appliance }} has been in use for 15 minutes.
          runbook_url: https://runbooks.example/docs/operations.md#zlbswapfull
          dashboard_url: https://grafana.example/d/zlb-appliance?var-appliance={{ $labels.appliance }}
          reading: system
`;
const cases = `rule_files: [../zlb-extended.rules.yml]
evaluation_interval: 1m
tests:
  - name: A swap that is nearly full for 15 minutes is a warning, and one with a fifth free is not.
    interval: 1m
    input_series:
      - { series: 'zlb_system_swap_used_bytes{appliance="lb1"}', values: 81x20 }
      - { series: 'zlb_system_swap_used_bytes{appliance="lb2"}', values: 80x20 }
      - { series: 'zlb_system_swap_total_bytes{appliance="lb1"}', values: 100x20 }
      - { series: 'zlb_system_swap_total_bytes{appliance="lb2"}', values: 100x20 }
    alert_rule_test:
      - { eval_time: 14m, alertname: ZlbSwapFull, exp_alerts: [] }
      - eval_time: 15m
        alertname: ZlbSwapFull
        exp_alerts:
          - exp_labels: { severity: warning, appliance: lb1 }
            exp_annotations:
              summary: The swap of an appliance is nearly full.
              description: More than 80 % of the swap of lb1 has been in use for 15 minutes.
              runbook_url: https://runbooks.example/docs/operations.md#zlbswapfull
              dashboard_url: https://grafana.example/d/zlb-appliance?var-appliance=lb1
              reading: system
`;
const runbook = '\n### ZlbSwapFull\n\nMore than 80 % of the swap has been in use for 15 minutes.\n';
const checks = [
  'test/unit/docs/runbooks.test.ts',
  'test/unit/docs/names.test.ts',
  'test/unit/commands/lost-alerts.test.ts',
  'test/integration/alert-rules.test.ts',
  'test/integration/alertmanager-config.test.ts',
];

it.skipIf(!isThere('promtool'))(
  'a new alert is a rule, its promtool test and its runbook; all else is generated or derived',
  { timeout: 180_000 },
  () => {
    const tree = givenFolder();
    const files = spawnSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' }).stdout.trim().split('\n');
    for (const file of files) cpSync(join(root, file), join(tree, file));
    symlinkSync(join(root, 'node_modules'), join(tree, 'node_modules'));

    appendFileSync(join(tree, 'alerts/zlb-extended.rules.yml'), rule);
    writeFileSync(join(tree, 'alerts/tests/swap.test.yml'), cases);
    appendFileSync(join(tree, 'docs/operations.md'), runbook);
    const run = (command: string, ...args: readonly string[]) =>
      spawnSync(command, args, { cwd: tree, encoding: 'utf8' });
    expect(run(process.execPath, 'scripts/generate-docs.ts')).toMatchObject({ status: 0, stderr: '' });

    const promtool = run('promtool', 'test', 'rules', 'alerts/tests/swap.test.yml');
    expect(promtool.status, promtool.stdout + promtool.stderr).toBe(0);
    const vitest = run('node_modules/.bin/vitest', 'run', ...checks, '--testNamePattern', '^(?!.*behave as)');
    expect(vitest.status, vitest.stdout + vitest.stderr).toBe(0);
  },
);
