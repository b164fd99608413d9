import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { actOnL4Daemon, hangL4Daemon, killL4Daemon, startL4Daemon } from '../../simulator/l4-daemon.ts';
import { recordedWorld } from '../../simulator/scenes/recorded.ts';
import { startSimulatedAppliance } from '../../simulator/server.ts';
import { farmStatus, type L4Farm } from '../../simulator/world-farms.ts';
import { l4Farm } from '../../simulator/world-parts.ts';
import type { World } from '../../simulator/world.ts';
import { endpointRows } from '../../src/appliance/api/table.ts';
import { givenAppliance } from '../support/given-appliance.ts';
import { passTime } from '../support/pass-time.ts';
import { createTestPoller } from '../support/poller.ts';
import { valueOf } from '../support/samples.ts';

const minuteMs = 60_000;
const acting: ReadonlySet<string> = new Set(
  endpointRows.flatMap(([, { route, readSideEffect }]) => (readSideEffect ? [route] : [])),
);

/** The recorded appliance, whose farm `multi-l4` has persistence. */
function givenWorld(): World {
  const world = recordedWorld();
  l4Of(world, 'multi-l4').persistence = 'srcip';
  return world;
}

function l4Of({ farms }: World, name: string): L4Farm {
  return farms.get(name) as L4Farm;
}

const events: readonly (readonly [what: string, happen: (world: World) => void, cut: boolean])[] = [
  ['dies, with its pid file left', (world) => killL4Daemon(world, { pidFileStays: true }), false],
  ['dies, with its pid file gone', (world) => killL4Daemon(world, { pidFileStays: false }), false],
  ['hangs', hangL4Daemon, false],
  ['is started again by systemd', startL4Daemon, true],
];

describe('the L4 daemon', () => {
  it.each(events)('%s: the exporter makes no call in ten minutes that acts on an L4 farm', async (_, happen, isCut) => {
    vi.useFakeTimers({
      now: new Date('2026-11-20T21:00:00.500Z'),
      toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date', 'performance'],
    });
    const world = givenWorld();
    const appliance = await startSimulatedAppliance({ world, apiKey: 'key', latency: 'realistic', now: Date.now });
    const watched = createTestPoller(appliance, { apiKey: 'key' });
    onTestFinished(async () => {
      vi.useRealTimers();
      await watched.close();
      await appliance.close();
    });
    const pass = (ms: number) => passTime(Date.now() + ms, () => watched.outstanding === appliance.sleeping);
    watched.poller.start();
    await pass(5 * minuteMs);
    const before = appliance.requests.length;

    happen(world);
    await pass(5 * minuteMs);
    // Deleted and created again as an L4 farm, after the lists that call it an HTTP farm.
    world.farms.set('webshop', l4Farm({ name: 'webshop', vip: '192.168.101.22', vport: '81', persistence: 'srcip' }));
    const madeAgainAt = appliance.requests.length;
    await pass(5 * minuteMs);

    const since = appliance.requests.slice(before);
    const onL4 = since.filter(({ path }, index) => {
      const name = path.split('/').find((segment) => world.farms.has(segment)) ?? '';
      const isL4 = world.farms.get(name)?.profile === 'l4xnat';
      return isL4 && (name !== 'webshop' || before + index >= madeAgainAt);
    });
    expect(since.length).toBeGreaterThan(100);
    expect([...new Set(onL4.map(({ route }) => route))].toSorted()).toEqual(['GET /farms/{farmname}/backends']);
    expect(onL4.filter(({ route }) => acting.has(route))).toEqual([]);
    expect(l4Of(world, 'db-l4').hasNoRules === true, 'its clients are refused').toBe(isCut);
    expect(world.l4Daemon.leftProcesses).toBe(0);
  });
});

describe('the simulated L4 daemon', () => {
  const statistics = ['GET /stats/farms/{farmname}', '/stats/farms/multi-l4'] as const;
  const configuration = ['GET /farms/{farmname}', '/farms/multi-l4'] as const;
  const words = (world: World) => ['db-l4', 'dns-udp', 'multi-l4'].map((name) => farmStatus(l4Of(world, name)));

  it('keeps the farm states when it dies; a statistics call restarts it, but all farms refuse connections', () => {
    const world = givenWorld();
    const said = words(world);
    killL4Daemon(world, { pidFileStays: true });
    expect(words(world)).toEqual(said);
    expect(l4Of(world, 'db-l4').hasNoRules).toBeFalsy();

    expect(actOnL4Daemon(world, 'GET /farms/{farmname}/backends', '/farms/multi-l4/backends')).toBe(false);
    expect(world.l4Daemon.state).toBe('dead');
    actOnL4Daemon(world, ...statistics);

    expect([world.l4Daemon.state, ...words(world)]).toEqual(['running', ...said]);
    expect(['db-l4', 'multi-l4'].map((name) => l4Of(world, name).hasNoRules)).toEqual([true, true]);
  });

  it('lets farms report down without its pid file; only a configuration call restarts it', () => {
    const world = givenWorld();
    killL4Daemon(world, { pidFileStays: false });
    expect(words(world)).toEqual(['down', 'down', 'down']);

    actOnL4Daemon(world, ...statistics);
    expect(world.l4Daemon.state).toBe('dead');
    actOnL4Daemon(world, ...configuration);

    expect(world.l4Daemon.state).toBe('running');
    expect(['db-l4', 'multi-l4'].map((name) => l4Of(world, name).hasNoRules)).toEqual([true, false]);
  });

  it('never responds while it hangs, and each call leaves a process behind', () => {
    const world = givenWorld();
    hangL4Daemon(world);

    expect(actOnL4Daemon(world, ...statistics)).toBe(true);
    expect(actOnL4Daemon(world, ...configuration)).toBe(true);
    expect(world.l4Daemon.leftProcesses).toBe(2);
  });

  it('is not queried by a call with a wrong key', async () => {
    const world = givenWorld();
    const appliance = await startSimulatedAppliance({ world, apiKey: 'key' });
    onTestFinished(() => appliance.close());
    killL4Daemon(world, { pidFileStays: true });
    const statusWith = async (key: string) => {
      const sent = request(`${appliance.url}/api/v4.0/api.cgi/farms/multi-l4`, {
        ca: appliance.certificatePem,
        headers: { zapi_key: key },
      }).end();
      const [response] = (await once(sent, 'response')) as [IncomingMessage];
      response.resume();
      return response.statusCode;
    };

    expect([await statusWith('wrong'), world.l4Daemon.state]).toEqual([401, 'dead']);
    expect([await statusWith('key'), world.l4Daemon.state]).toEqual([200, 'running']);
  });

  it('is diagnosed only by the vip collector, and a restart of each farm repairs it', async () => {
    const world = givenWorld();
    world.interfaces.get('eth0:l4')!.ip = '192.0.2.30';
    for (const name of ['db-l4', 'multi-l4']) l4Of(world, name).vip = '192.0.2.30';
    const { appliance, poll, page, act } = await givenAppliance(world, {
      farmsListen: true,
      runs: ['farms', 'summary', 'vip'],
    });
    const reachable = async () => {
      await poll('vip');
      return valueOf(await page(), 'zlb_farm_reachable', { farm: 'db-l4' });
    };
    killL4Daemon(world, { pidFileStays: true });
    expect(await reachable()).toBe(1);

    startL4Daemon(world);
    await appliance.farms?.follow();
    expect(await reachable()).toBe(0);
    await act('multi-l4', 'restart');
    expect(await reachable(), 'the restart of another farm').toBe(0);
    await act('db-l4', 'restart');
    expect(await reachable()).toBe(1);
  });
});
