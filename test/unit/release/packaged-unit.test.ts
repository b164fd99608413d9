import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { layUnits } from '../../../scripts/release/tree.ts';
import { givenFolder } from '../../support/folder.ts';

it('the units of a package use its paths and its user, and the limits of deploy/systemd', () => {
  const folder = givenFolder();

  layUnits(folder, 'abc123');

  const unit = readFileSync(join(folder, 'zlb-exporter.service'), 'utf8');
  expect(unit).toMatch(/^\[Unit\]\n/);
  expect(unit).toContain('\nUser=zlb-exporter\nGroup=zlb-exporter\nStateDirectory=zlb-exporter\n');
  expect(unit).toContain('ZLB_EXPORTER_REVISION=abc123');
  expect(unit).not.toMatch(/DynamicUser|LoadCredential|keys\.conf/);
  expect(unit).toContain('\nMemoryMax=1G\n');
  const check = readFileSync(join(folder, 'zlb-exporter-check.service'), 'utf8');
  const [ofService, ofCheck] = [unit, check].map((text) => /^ExecStart=.(?:.*\\\n)*.*/m.exec(text)?.[0]);
  expect(ofService).toMatch(/^ExecStart=\/usr\/lib\/zlb-exporter\/bin\/node \$ZLB_NODE_PERMISSIONS /);
  expect(ofCheck).toBe(ofService?.replace('main.js', 'main.js check'));
  expect(unit).toContain('\nExecReload=/usr/lib/zlb-exporter/bin/node $ZLB_NODE_PERMISSIONS ');
  expect(unit).toContain('\nExecStartPre=/usr/lib/zlb-exporter/bin/node $ZLB_NODE_PERMISSIONS ');
  // The check has no other command, and is not started again after exit code 1.
  expect(check).toContain('\nRestartForceExitStatus=\nExecReload=\nExecStartPre=\nExecStart=\n');
  expect(unit + check).not.toMatch(/\/opt\/|\/usr\/bin\/node/);
});
