import { expect, it } from 'vitest';
import { alertThresholds, expiryWindow, lifeLeft } from '../../../src/state/alert-thresholds.ts';
import { shippedRules } from '../../support/shipped-rules.ts';

/** The places of each number in the rules: the name of the rule, and a part of its expression. */
const literals: Readonly<Record<keyof typeof alertThresholds, readonly (readonly [rule: string, text: string])[]>> = {
  expirySoonSeconds: [
    ['ZlbCertificateExpirySoon', 'file:zlb_certificate_remaining:seconds < 28 * 86400'],
    ['ZlbCertificateExpirySoon', 'farm:zlb_served_chain_remaining:seconds < 28 * 86400'],
    ['ZlbActivationExpirySoon', '< 28 * 86400'],
  ],
  expirySoonRatio: [
    ['ZlbCertificateExpirySoon', 'unless file:zlb_certificate_remaining:ratio >= 0.25'],
    ['ZlbCertificateExpirySoon', 'farm:zlb_served_certificate_remaining:life >= 0.25'],
    ['ZlbActivationExpirySoon', 'unless appliance:zlb_activation_remaining:ratio >= 0.25'],
  ],
  expiryImminentSeconds: [
    ['file:zlb_certificate_remaining:imminent', '< 3 * 86400'],
    ['farm:zlb_served_certificate_remaining:imminent', '< 3 * 86400'],
    ['appliance:zlb_activation_remaining:imminent', '< 3 * 86400'],
  ],
  expiryImminentRatio: [
    ['file:zlb_certificate_remaining:imminent', 'unless file:zlb_certificate_remaining:ratio >= 0.1'],
    ['farm:zlb_served_certificate_remaining:imminent', '>= 0.1'],
    ['appliance:zlb_activation_remaining:imminent', 'unless appliance:zlb_activation_remaining:ratio >= 0.1'],
  ],
  clockOffsetSeconds: [
    ['ZlbApplianceClockWrong', '> 60'],
    ['ZlbExporterFault', '> 60'],
  ],
  credentialSeconds: [['ZlbExporterFault', '< 14 * 86400']],
  farmBackendsUpRatio: [['service:zlb_farm_backends:few', '< 0.75']],
  outagesPer3h: [['object:zlb_down:outages', '> 2']],
  pendingConnections: [['ZlbSaturated', '> 100']],
  pendingConnectionsRatio: [['ZlbSaturated', '> 0.5 * last_over_time']],
  cpuBusyRatio: [['ZlbSaturated', '> 0.9']],
  memoryUsedRatio: [['ZlbSaturated', '> 0.9']],
  backupAgeSeconds: [['ZlbBackupTooOld', '> 30 * 86400']],
  collectorStaleIntervals: [['collector:zlb_collector:stale', '> 3 * last_over_time']],
  adminDeniedPer15m: [['ZlbAdminGateway', '> 10']],
};

it.each(Object.entries(literals))('the threshold %s is the same in the rules', (name, places) => {
  const value = alertThresholds[name as keyof typeof alertThresholds];
  for (const [rule, text] of places) {
    const rules = shippedRules.filter(({ alert, record }) => (alert ?? record) === rule);
    expect(rules.map(({ expr }) => expr).join('\n'), rule).toContain(text);
    const [factor, other] = [...text.replaceAll(/[a-z_:]+/g, ' ').matchAll(/[\d.]+/g)].map(Number);
    expect((factor ?? Number.NaN) * (other ?? 1), rule).toBe(value);
  }
});

const nowMs = Date.UTC(2026, 10, 24);
const validity = (leftDays: number, lifeDays: number) => ({
  notBeforeSeconds: nowMs / 1_000 + (leftDays - lifeDays) * 86_400,
  notAfterSeconds: nowMs / 1_000 + leftDays * 86_400,
});

it('the remaining life is a ratio from 0 to 1, and unknown without a start', () => {
  expect(lifeLeft(validity(50, 200), nowMs)).toBe(0.25);
  expect(lifeLeft(validity(-1, 200), nowMs)).toBe(0);
  expect(lifeLeft(validity(300, 200), nowMs)).toBe(1);
  expect(lifeLeft({ notAfterSeconds: nowMs / 1_000 }, nowMs)).toBeUndefined();
});

it.each([
  [29, undefined],
  [27, 'soon'],
  [2, 'imminent'],
  [-1, 'imminent'],
])('without a start, the days decide: %s days are %s', (days, window) => {
  expect(expiryWindow({ notAfterSeconds: nowMs / 1_000 + days * 86_400 }, nowMs)).toBe(window);
});
