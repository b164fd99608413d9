import { expect, it } from 'vitest';
import { applianceProblems } from '../../../src/state/appliance-problems.ts';
import { levelsOf } from '../../../src/state/object-levels.ts';
import type { ApplianceStatus } from '../../../src/state/status.ts';
import {
  applianceStatus,
  certificateStatus,
  collectorStatus,
  dayMs,
  farmStatus,
  nowMs,
  unknownAppliance,
} from '../../support/fleet-status.ts';

const levels = (status: ApplianceStatus) => levelsOf(status, applianceProblems(status, nowMs));

it('an object has the worst level of its own problems, and its appliance that of all other problems', () => {
  const soon = nowMs / 1_000 + (2 * dayMs) / 1_000;
  const status = applianceStatus({
    name: 'lb-1',
    farms: [
      farmStatus({ name: 'shop', state: 'down' }),
      farmStatus({ name: 'db' }),
      farmStatus({ name: 'old', state: 'maintenance' }),
      farmStatus({ name: '__proto__', state: 'needed_restart' }),
    ],
    certificates: [
      certificateStatus({ file: 'shop.pem' }),
      certificateStatus({ file: 'due.pem', usedBy: ['db'], notBeforeSeconds: soon - 8_640_000, notAfterSeconds: soon }),
    ],
    collectors: [collectorStatus({ name: 'system', failure: { reason: 'timeout', sinceMs: nowMs } })],
  });

  expect(JSON.parse(JSON.stringify(levels(status)))).toEqual({
    appliance: 'warning',
    farms: Object.fromEntries([
      ['shop', 'critical'],
      ['db', 'well'],
      ['old', 'paused'],
      ['__proto__', 'warning'],
    ]),
    certificates: { 'shop.pem': 'well', 'due.pem': 'critical' },
  });
});

it('what is not known has no level, and an appliance that was not read yet is unknown', () => {
  expect(levels(unknownAppliance({ name: 'lb-1' }))).toEqual({ appliance: 'unknown', farms: null, certificates: null });
});
