import { describe, expect, it } from 'vitest';
import { httpBackend, httpFarm, service } from '../../simulator/world-parts.ts';
import { givenAlerting, healthyWorld, portalOf } from '../support/given-alerting.ts';
import { isThere } from '../support/programs.ts';
import { until } from '../support/until.ts';

const missing = !(isThere('prometheus') && isThere('prometheus-alertmanager'));

describe.skipIf(missing)('the alerting path, in scenes with long waits', () => {
  it('sends one page for a hung proxy, resolved after the restart of its farm through the gateway', async () => {
    const world = healthyWorld();
    const services = [service('main', { backends: [httpBackend(0, '10.50.0.21', 80)] })];
    world.farms.set('blog', httpFarm({ name: 'blog', vip: '192.0.2.51', vport: '80', services }));
    const { prometheus, told, pages, admin } = await givenAlerting(world, { maxStale: '3m' });
    const shows = (series: string, count: number) =>
      until(
        () => prometheus.query(`${series} == 1`).catch(() => []),
        (seen) => seen.length === count,
        180_000,
      );
    await shows('zlb_farm_status{status="up"}', 2);

    portalOf(world).runState = 'hung';
    const page = await told('firing', 'ZlbFarmDown', { farm: 'portal', status: 'silent' });
    expect(page.annotations['description']).toContain('its proxy does not answer the appliance. First: restart it.');
    await shows('zlb_farm_status{farm="portal",status="critical"}', 1);

    const restarted = await admin('restart-farm', 'farm=portal');
    expect(restarted.code, restarted.stderr).toBe(0);
    await told('resolved', 'ZlbFarmDown', { farm: 'portal' });
    expect(await prometheus.query('min_over_time(zlb_farm_status{farm="blog",status="up"}[2m]) < 1')).toEqual([]);
    expect(pages()).toEqual(['firing ZlbFarmDown portal', 'resolved ZlbFarmDown portal']);
  }, 400_000);

  it('sends one page for an unreachable appliance, which a Prometheus restart neither resolves nor repeats', async () => {
    const { appliance, prometheus, told, heard } = await givenAlerting(healthyWorld());
    const count = async (query: string) => (await prometheus.query(query).catch(() => []))[0]?.value ?? 0;
    await until(
      () => count('count(appliance:zlb_farm_status:served)'),
      (seen) => seen === 1,
    );

    appliance.fail('*', { kind: 'refuse' });
    await told('firing', 'ZlbApplianceDown');
    await prometheus.restart();
    // An alert that is not heard of for 20 seconds is over for Alertmanager, and these are 40 evaluations.
    const firing = 'count_over_time(ALERTS{alertname="ZlbApplianceDown", alertstate="firing"}[5m])';
    const before = await count(firing);
    await until(
      () => count(firing),
      (seen) => seen > before + 40,
      150_000,
    );
    expect(heard('ZlbApplianceDown').map(({ status }) => status)).toEqual(['firing']);

    appliance.heal('*');
    await told('resolved', 'ZlbApplianceDown');
  }, 400_000);

  it('notifies a killed exporter, and the watchdog stops', async () => {
    const { told, killExporter, startExporterAgain } = await givenAlerting(healthyWorld());
    expect((await told('firing', 'ZlbWatchdog')).receiver).toBe('dead-mans-switch');

    await killExporter();
    expect((await told('firing', 'ZlbExporterDown', { job: 'zlb' })).receiver).toBe('page');
    await told('resolved', 'ZlbWatchdog');

    await startExporterAgain();
    await told('resolved', 'ZlbExporterDown');
    await told('firing', 'ZlbWatchdog');
  }, 240_000);
});
