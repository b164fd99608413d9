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

it('a proxy that hangs, and whose calls never end, does not keep a dry run from the repair after it', async () => {
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

describe('a restart of an HTTP farm of zproxy, with the collector vip off', () => {
  it('says before it that it calls the daemon of L4 farms, and after it that they accept connections', async () => {
    const { run, refused } = await givenZevenet();

    const planned = await run([...restart, '--dry-run']);
    const done = await run([...restart, ...agreed]);

    expect(planned.out).toContain('reaches_l4_daemon');
    expect(planned.out).toMatch(/calls nftlb, the daemon of the L4 farms, which serves .*db-l4.*multi-l4/);
    expect(done.code, done.err).toBe(0);
    expect(done.out).toContain('db-l4, multi-l4 accept connections as before.');
    expect(refused()).toEqual([]);
  });

  it('fails with the names and the cure when the daemon had died, and cuts all L4 farms', async () => {
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

  it('fails as well as a direct call, with the cure, and succeeds while the daemon lives', async () => {
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

  it('says that the farm is stopped and starts when the daemon goes on, if the daemon hangs', async () => {
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
