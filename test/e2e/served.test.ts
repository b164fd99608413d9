import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createStopwatch, type Step, stepLine } from '../../scripts/new-user/stopwatch.ts';
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

/** An appliance with one HTTPS farm, whose certificate was issued so many days ago for 90. */
function worldWith(ageDays: number): World {
  const world = expiringWorld();
  world.certificates.clear();
  world.certificates.set('portal.pem', portalCertificate(ageDays));
  const portal = world.farms.get('portal');
  if (portal?.profile !== 'http') throw new Error('the scene has lost its farm');
  portal.certificates = ['portal.pem'];
  return world;
}

function portalCertificate(ageDays: number) {
  return certificate('portal.pem', {
    commonName: 'portal.example.com',
    notBefore: Date.now() - ageDays * dayMs,
    notAfter: Date.now() + (90 - ageDays) * dayMs,
  });
}

/** Returns the words after `zlb-exporter admin APPLIANCE` of the last change in a runbook. */
function repairIn(alert: string): readonly string[] {
  const operations = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8');
  const runbook = operations.split(`\n### ${alert}\n`)[1]?.split('\n### ')[0] ?? '';
  const changes = [...runbook.matchAll(/^zlb-exporter admin \$appliance (.*) --reason='\w+'$/gm)];
  return (changes.at(-1)?.[1] ?? '').replace('$farm', 'portal').split(' ');
}

async function givenProbed(ageDays: number) {
  const alerting = await givenAlerting(worldWith(ageDays), { farmsListen: true });
  const seen = (query: string) =>
    until(
      () => alerting.prometheus.query(query).catch(() => []),
      (samples) => samples.length > 0,
      90_000,
    );
  const steps: Step[] = [];
  return {
    ...alerting,
    seen,
    /** Waits until Alertmanager holds an alert back. */
    suppressed: (alertname: string) =>
      until(
        () => alerting.alertmanager.alerts(),
        (alerts) =>
          alerts.some(({ labels, status }) => labels['alertname'] === alertname && status.state === 'suppressed'),
      ),
    async polls(): Promise<number> {
      const [runs] = await seen('zlb_collector_runs_total{collector="vip",outcome="success"}');
      return runs?.value ?? 0;
    },
    done: createStopwatch((step) => steps.push(step)),
    print: (title: string) => console.log([`     step      total  ${title}`, ...steps.map(stepLine)].join('\n')),
  };
}

describe.skipIf(missing)('from what a client meets to the person on call', () => {
  it.each([
    { ageDays: 40, alert: 'ZlbServedCertificateDiffers', receiver: 'tickets' },
    { ageDays: 88, alert: 'ZlbServedCertificateExpiryImminent', receiver: 'page' },
  ])(
    'a certificate that was replaced after $ageDays of 90 days without a restart is $alert within two polls, until its runbook was followed',
    { timeout: patienceMs },
    async ({ ageDays, alert, receiver }) => {
      const { appliance, seen, polls, told, heard, suppressed, admin, done, print } = await givenProbed(ageDays);
      await seen('zlb_farm_served_certificate_in_store{farm="portal"} == 1');
      done('the farm serves the certificate of the store');

      const before = await polls();
      appliance.world.certificates.set('portal.pem', portalCertificate(0));
      done('the file is replaced, the farm not restarted');
      expect((await told('firing', alert, { farm: 'portal' })).receiver).toBe(receiver);
      const needed = (await polls()) - before;
      done(`${alert} is notified, polls needed: ${needed}`);
      expect(needed).toBeLessThanOrEqual(2);
      if (receiver === 'page') await suppressed('ZlbServedCertificateDiffers');

      const repair = repairIn(alert);
      const repaired = await admin(...repair);
      expect(repaired.code, repaired.stderr).toBe(0);
      done(`zlb-exporter admin lb-paris ${repair.join(' ')}`);
      await told('resolved', alert, { farm: 'portal' });
      await seen('zlb_farm_served_certificate_in_store{farm="portal"} == 1');
      done('resolved: the farm serves the new one');
      const others = ['ZlbFarmUnreachable', 'ZlbServedCertificateWrongName', 'ZlbServedCertificateExpirySoon'];
      expect(others.filter((other) => heard(other).length > 0)).toEqual([]);
      print(alert);
    },
  );

  it('a farm that no longer accepts connections is a page while its appliance calls it up, until it was restarted', {
    timeout: patienceMs,
  }, async () => {
    const { appliance, seen, told, heard, admin, done, print } = await givenProbed(40);
    await seen('zlb_farm_reachable{farm="portal"} == 1');
    done('the farm can be reached');

    await appliance.farms?.hang('portal');
    expect((await told('firing', 'ZlbFarmUnreachable', { farm: 'portal' })).receiver).toBe('page');
    expect(heard('ZlbFarmDown')).toEqual([]);
    done('it accepts no connections: a page');

    const repair = repairIn('ZlbFarmUnreachable');
    const repaired = await admin(...repair);
    expect(repaired.code, repaired.stderr).toBe(0);
    done(`zlb-exporter admin lb-paris ${repair.join(' ')}`);
    await told('resolved', 'ZlbFarmUnreachable', { farm: 'portal' });
    done('resolved');
    print('ZlbFarmUnreachable');
  });
});
