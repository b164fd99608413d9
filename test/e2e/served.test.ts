import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { expiringWorld } from '../../simulator/scenes/expiring.ts';
import type { World } from '../../simulator/world.ts';
import { certificate } from '../../simulator/world-parts.ts';
import { givenAlerting } from '../support/given-alerting.ts';
import { isThere } from '../support/programs.ts';
import { until } from '../support/until.ts';

const missing = !(isThere('prometheus') && isThere('prometheus-alertmanager'));
const dayMs = 86_400_000;
/** The collector `vip` runs once a minute. */
const patienceMs = 400_000;

/** HTTPS farms, and how many days ago the certificate of each was issued for 90. */
const ageDays = { shop: 40, portal: 88, api: 40 };
type FarmName = keyof typeof ageDays;

function givenWorld(): World {
  const world = expiringWorld();
  const portal = world.farms.get('portal');
  if (portal?.profile !== 'http') throw new Error('the scene has lost its farm');
  world.certificates.clear();
  for (const [index, name] of Object.keys(ageDays).entries()) {
    const farm = { ...portal, name, vport: String(443 + index), certificates: [`${name}.pem`] };
    world.farms.set(name, farm);
    world.certificates.set(`${name}.pem`, certificateOf(name, ageDays[name as FarmName]));
  }
  return world;
}

function certificateOf(farm: string, age: number) {
  return certificate(`${farm}.pem`, {
    commonName: `${farm}.example.com`,
    notBefore: Date.now() - age * dayMs,
    notAfter: Date.now() + (90 - age) * dayMs,
  });
}

/** Returns the words after `zlb-exporter admin APPLIANCE` of the last change in a runbook. */
function repairIn(alert: string, farm: FarmName): readonly string[] {
  const operations = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8');
  const runbook = operations.split(`\n### ${alert}\n`)[1]?.split('\n### ')[0] ?? '';
  const changes = [...runbook.matchAll(/^zlb-exporter admin \$appliance (.*) --reason='\w+'$/gm)];
  return (changes.at(-1)?.[1] ?? '').replace('$farm', farm).split(' ');
}

async function givenProbed() {
  const alerting = await givenAlerting(givenWorld(), { farmsListen: true });
  const seen = (query: string) =>
    until(
      () => alerting.prometheus.query(query).catch(() => []),
      (samples) => samples.length > 0,
      90_000,
    );
  return {
    ...alerting,
    seen,
    /** Waits until Alertmanager holds an alert back. */
    suppressed: (alertname: string, farm: string) =>
      until(
        () => alerting.alertmanager.alerts(),
        (alerts) =>
          alerts.some(
            ({ labels, status }) =>
              labels['alertname'] === alertname && labels['farm'] === farm && status.state === 'suppressed',
          ),
      ),
    /** Runs the last change in the runbook of an alert. */
    async repair(alert: string, farm: FarmName): Promise<void> {
      const { code, stderr } = await alerting.admin(...repairIn(alert, farm));
      expect(code, stderr).toBe(0);
    },
    async polls(): Promise<number> {
      const [runs] = await seen('zlb_collector_runs_total{collector="vip",outcome="success"}');
      return runs?.value ?? 0;
    },
  };
}

type Probed = Awaited<ReturnType<typeof givenProbed>>;

/** Replaces a file, and repairs the farm as the runbook of the alert says. */
async function replaceFile(probed: Probed, farm: FarmName, alert: string, receiver: string): Promise<void> {
  const { appliance, seen, polls, told, suppressed, repair } = probed;
  const before = await polls();
  appliance.world.certificates.set(`${farm}.pem`, certificateOf(farm, 0));
  expect((await told('firing', alert, { farm })).receiver).toBe(receiver);
  const needed = (await polls()) - before;
  expect(needed).toBeLessThanOrEqual(2);
  if (receiver === 'page') await suppressed('ZlbServedCertificateDiffers', farm);
  await repair(alert, farm);
  await told('resolved', alert, { farm });
  await seen(`zlb_farm_served_certificate_in_store{farm="${farm}"} == 1`);
}

async function hang(probed: Probed, farm: FarmName): Promise<void> {
  const { appliance, told, heard, repair } = probed;
  await appliance.farms?.hang(farm);
  expect((await told('firing', 'ZlbFarmUnreachable', { farm })).receiver).toBe('page');
  expect(heard('ZlbFarmDown')).toEqual([]);
  await repair('ZlbFarmUnreachable', farm);
  await told('resolved', 'ZlbFarmUnreachable', { farm });
}

describe.skipIf(missing)('from what a client meets to the person on call', () => {
  it(
    'a certificate that was replaced without a restart is notified within two polls, and a farm that hangs is a page, until their runbooks were followed',
    async () => {
      const probed = await givenProbed();
      for (const farm of Object.keys(ageDays))
        await probed.seen(`zlb_farm_served_certificate_in_store{farm="${farm}"} == 1`);

      await Promise.all([
        replaceFile(probed, 'shop', 'ZlbServedCertificateDiffers', 'tickets'),
        replaceFile(probed, 'portal', 'ZlbServedCertificateExpiryImminent', 'page'),
        hang(probed, 'api'),
      ]);

      const others = ['ZlbServedCertificateWrongName', 'ZlbServedCertificateExpirySoon'];
      expect(others.filter((other) => probed.heard(other).length > 0)).toEqual([]);
    },
    patienceMs,
  );
});
