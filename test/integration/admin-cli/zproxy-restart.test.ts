import { describe, expect, it } from 'vitest';
import { hangL4Daemon, killL4Daemon, resumeL4Daemon } from '../../../simulator/l4-daemon.ts';
import { recordedZevenetWorld } from '../../../simulator/scenes/recorded-later.ts';
import type { L4Farm } from '../../../simulator/world-farms.ts';
import { until } from '../../support/until.ts';
import { givenAdminCli } from './given-admin-cli.ts';

const agreed = ['--reason=TICKET-42', '--yes'];
const restart = ['admin', 'lb-1', 'restart-farm', 'farm=redirector'];

/** The recorded ZEVENET appliance, whose farms listen, polled with the collector vip off. */
async function givenZevenet() {
  const given = await givenAdminCli(
    { 'lb-1': recordedZevenetWorld() },
    {
      polls: ['farms', 'farm_config'],
      vip: (appliances, name) => ({
        networks: ['127.0.0.0/8', '192.168.0.0/16'],
        connect_to: appliances.get(name)?.farms?.addresses,
      }),
      vipIsOff: true,
    },
  );
  const { appliance } = given;
  await until(
    () => appliance.requests,
    (requests) => requests.some(({ path, status }) => path.endsWith('/farms/webshop') && status === 200),
  );
  const refused = () =>
    ['db-l4', 'multi-l4'].filter((name) => (appliance.world.farms.get(name) as L4Farm).hasNoRules === true);
  return { ...given, refused };
}

it('a hung proxy whose calls never end does not delay a repair that follows a dry run', async () => {
  const { run, appliance } = await givenZevenet();
  const farm = appliance.world.farms.get('secure-shop')!;
  farm.runState = 'hung';
  const words = ['admin', 'lb-1', 'restart-farm', 'farm=secure-shop'];

  const startedAt = performance.now();
  const planned = await run([...words, '--dry-run']);
  const done = await run([...words, ...agreed]);
  const seconds = (performance.now() - startedAt) / 1_000;

  expect(planned.code, planned.err).toBe(0);
  expect(done.code, done.err).toBe(0);
  expect(farm.runState).toBe('readable');
  // The web server ends the reads of the dry run after 66 s.
  expect(seconds).toBeLessThan(60);
});

describe('a restart of a zproxy HTTP farm, with the vip collector off', () => {
  it('announces that it calls the L4 daemon, and afterwards that the L4 farms accept connections', async () => {
    const { run, refused } = await givenZevenet();

    const planned = await run([...restart, '--dry-run']);
    const done = await run([...restart, ...agreed]);

    expect(planned.out).toContain('reaches_l4_daemon');
    expect(planned.out).toMatch(/calls nftlb, the daemon of the L4 farms, which serves .*db-l4.*multi-l4/);
    expect(done.code, done.err).toBe(0);
    expect(done.out).toContain('db-l4, multi-l4 accept connections as before.');
    expect(refused()).toEqual([]);
  });

  it('fails with the farm names and the remedy when the daemon was dead, and cuts all L4 farms', async () => {
    const { run, appliance, refused, session } = await givenZevenet();
    killL4Daemon(appliance.world, { pidFileStays: true });

    const { code, out, err } = await run([...restart, ...agreed]);

    expect(refused()).toEqual(['db-l4', 'multi-l4']);
    expect(code).toBe(1);
    expect(out + err).toContain('db-l4, multi-l4 refuse connections now');
    expect(out + err).toContain('zlb-exporter admin lb-1 restart-farm farm=db-l4');
    expect(out + err).toContain('zlb-exporter admin lb-1 restart-farm farm=multi-l4');
    expect(session()).toMatchSnapshot();

    for (const farm of refused()) {
      const cured = await run(['admin', 'lb-1', 'restart-farm', `farm=${farm}`, ...agreed]);
      expect(cured.code, cured.out + cured.err).toBe(0);
    }
    expect(refused()).toEqual([]);
  });

  it('fails like a direct call, with the remedy, and succeeds while the daemon is running', async () => {
    const { run, appliance, refused } = await givenZevenet();
    const direct = ['admin', 'lb-1', 'actOnFarm', 'farmname=redirector', 'action=restart', ...agreed];
    const healthy = await run(direct);
    killL4Daemon(appliance.world, { pidFileStays: true });

    const { code, out, err } = await run(direct);

    expect(healthy.code, healthy.err).toBe(0);
    expect(refused()).toEqual(['db-l4', 'multi-l4']);
    expect(code).toBe(1);
    expect(out + err).toContain('The call was carried out, and L4 farms refuse connections since');
    expect(out + err).toContain('db-l4, multi-l4 refuse connections now.');
    expect(out + err).toContain('zlb-exporter admin lb-1 restart-farm farm=multi-l4');
  });

  it('says, when the daemon hangs, that the farm is stopped and starts once the daemon resumes', async () => {
    const { run, appliance, refused, session } = await givenZevenet();
    hangL4Daemon(appliance.world);

    const { code, out, err } = await run([...restart, ...agreed]);

    expect(code).toBe(1);
    expect(appliance.world.farms.get('redirector')?.running).toBe(false);
    expect(out + err).toContain('The farm is down now.');
    expect(out + err).toContain('Its daemon nftlb may hang');
    expect(refused()).toEqual([]);
    expect(session()).toMatchSnapshot();
    resumeL4Daemon(appliance.world);
    expect(appliance.world.farms.get('redirector')?.running).toBe(true);
  });
});
