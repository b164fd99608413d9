import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { certificate, httpBackend, httpFarm, service } from '../../simulator/world-parts.ts';
import { givenAlerting, healthyWorld, portalOf } from '../support/given-alerting.ts';
import { isThere } from '../support/programs.ts';
import { makeMaterial } from '../support/tls-server.ts';
import { until } from '../support/until.ts';

const missing = !(isThere('prometheus') && isThere('prometheus-alertmanager'));
const dayMs = 86_400_000;

describe.skipIf(missing)('from the appliance to the person on call, scenes that wait long', () => {
  it('a certificate near its end is notified, and resolved after its replacement through the gateway', async () => {
    const world = healthyWorld();
    const ending = certificate('ending.pem', {
      notBefore: Date.now() - 300 * dayMs,
      notAfter: Date.now() + 8 * dayMs,
    });
    world.certificates.set(ending.file, ending);
    portalOf(world).certificates = [ending.file];
    const { told, heard, admin, folder } = await givenAlerting(world);

    const soon = await told('firing', 'ZlbCertificateExpirySoon', { file: 'ending.pem', severity: 'warning' });
    expect(soon.receiver).toBe('tickets');
    expect(heard('ZlbCertificateExpiryImminent')).toEqual([]);
    // A day later but for five seconds, so that the clock itself takes it over the edge.
    world.certificates.set(ending.file, { ...ending, notAfter: Date.now() + 3 * dayMs + 5_000 });
    const imminent = await told('firing', 'ZlbCertificateExpiryImminent', { file: 'ending.pem', severity: 'critical' });
    expect(imminent.receiver).toBe('page-paris');
    expect(imminent.annotations['description']).toMatch(/Farms that present it: portal/);
    await told('resolved', 'ZlbCertificateExpirySoon', { severity: 'warning' });

    const { cert, key } = makeMaterial({ name: 'ending.example.com' });
    const file = join(folder, 'new.pem');
    writeFileSync(file, `${cert}\n${key}`);
    const replaced = await admin('replace-certificate', 'farm=portal', `file=${file}`);
    expect(replaced.code, replaced.stderr).toBe(0);
    await told('resolved', 'ZlbCertificateExpiryImminent', { severity: 'critical' });
    await told('firing', 'ZlbUnusedCertificateExpiry', { file: 'ending.pem' });
  }, 240_000);

  it('a proxy that hangs is one page, and resolved after the restart of its farm through the gateway', async () => {
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

  it('a killed exporter is notified, and the watchdog stops', async () => {
    const { told, killExporter, startExporterAgain } = await givenAlerting(healthyWorld());
    expect((await told('firing', 'ZlbWatchdog')).receiver).toBe('dead-mans-switch');

    await killExporter();
    expect((await told('firing', 'ZlbExporterDown', { job: 'zlb' })).receiver).toBe('page');
    await told('resolved', 'ZlbWatchdog');

    await startExporterAgain();
    await told('resolved', 'ZlbExporterDown');
    await told('firing', 'ZlbWatchdog');
  }, 240_000);

  it('one of two exporters that watch different appliances is killed: a page', async () => {
    const { prometheus, told, heard, killExporter } = await givenAlerting(healthyWorld(), { beside: 'lb-madrid' });
    const watched = 'count by (site) (zlb_farm_status{status="up"} == 1)';
    const sites = await until(
      () => prometheus.query(watched).catch(() => []),
      (seen) => seen.length === 2,
    );
    expect(new Set(sites.map(({ metric }) => metric['site']))).toEqual(new Set(['madrid', 'paris']));

    await killExporter();

    const page = await told('firing', 'ZlbExporterDown', { job: 'zlb' });
    expect(page.receiver).toBe('page');
    expect(page.annotations['description']).toContain('No other exporter watches its appliances.');
    expect(heard('ZlbExporterOfPairDown')).toEqual([]);
  }, 240_000);

  it('an appliance that reboots again and again is one page', async () => {
    const { appliance, prometheus, told, pages } = await givenAlerting(healthyWorld());
    const is = (expression: string) =>
      until(
        () => prometheus.query(expression).catch(() => []),
        (seen) => seen.length === 1,
        90_000,
      );
    const reboot = async () => {
      await is('zlb_farm_status{farm="portal",status="up"} == 1');
      appliance.fail('*', { kind: 'refuse' });
      await is('object:zlb_down:since{object="appliance"}');
      appliance.heal('*');
      await is('zlb_up == 1 unless on () object:zlb_down:now{object="appliance"}');
    };

    await reboot();
    await reboot();
    expect(pages(), 'two restarts are none').toEqual([]);
    await reboot();
    const page = await told('firing', 'ZlbApplianceDown', { appliance: 'lb-paris', site: 'paris' });
    expect(page.annotations['description']).toContain('goes away and comes back again and again: 3 times');
    await reboot();
    await reboot();

    expect(pages()).toEqual(['firing ZlbApplianceDown lb-paris']);
  }, 300_000);
});
