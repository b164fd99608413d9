import { describe, expect, it, vi } from 'vitest';
import { createApi } from '../../../simulator/api.ts';
import { hungProxyWaitMs, webServerLimitMs } from '../../../simulator/hung-proxy.ts';
import { recordedWorld } from '../../../simulator/scenes/recorded.ts';
import { httpBackend, httpFarm, l4Backend, l4Farm, service } from '../../../simulator/world-parts.ts';
import type { EndpointRow } from '../../../src/appliance/api/row.ts';
import { endpoints } from '../../../src/appliance/api/table.ts';
import type { ReadKey } from '../../../src/appliance/client.ts';
import { reasonOfStatus } from '../../../src/appliance/errors.ts';
import { fillTemplate, parseRoute } from '../../../src/appliance/route.ts';
import { collectors } from '../../../src/collectors/registry.ts';
import { seriesOf, stateOf, valueOf } from '../../support/samples.ts';
import { type Answer, answering, givenPoller } from './given-poller.ts';

const minuteMs = 60_000;
const names = Array.from({ length: 60 }, (_, index) => `shop-${index}`);
const byDefault = collectors.filter(({ enabled }) => enabled).map(({ name }) => name);
const key = 'key-of-root';

/** The simulated appliance with fifty HTTP and ten L4 farms, on the clock of the test. */
function givenAppliance() {
  const world = recordedWorld();
  world.users.get('root')!.key = key;
  world.farms.clear();
  for (const [index, name] of names.entries()) {
    const place = { name, vip: '192.0.2.1', vport: String(8_000 + index) };
    const services = [service('main', { backends: [httpBackend(0, '198.51.100.1', 80)] })];
    const listener = index % 2 === 0 ? 'https' : 'http';
    const farm = httpFarm({ ...place, listener, services });
    world.farms.set(name, index < 50 ? farm : l4Farm({ ...place, backends: [l4Backend(0, '198.51.100.1', 80)] }));
  }
  const api = createApi(world);
  const readAtMs = new Map<string, number>();
  const requestOf = (asked: ReadKey, params: Readonly<Record<string, string>>) => {
    const { route }: EndpointRow = endpoints[asked];
    return { route, path: fillTemplate(parseRoute(route).template, params) ?? '' };
  };
  const waitMs = (asked: ReadKey, params: Readonly<Record<string, string>>) => {
    const { route, path } = requestOf(asked, params);
    return hungProxyWaitMs(world, route, path);
  };
  const given = givenPoller({
    names: byDefault,
    maxBusyRatio: 0.25,
    callMs: (asked, params) =>
      Math.max(Math.min(waitMs(asked, params), webServerLimitMs), asked === 'listFarmStats' ? 1_840 : 60),
    answer(asked, params): Answer {
      if (waitMs(asked, params) >= webServerLimitMs) return { fails: 'gateway_timeout' };
      for (const name of asked === 'listFarmStats' ? names : asked === 'readFarmStatus' ? [params.farmname ?? ''] : [])
        readAtMs.set(name, performance.now());
      const { path } = requestOf(asked, params);
      const request = {
        method: 'GET',
        headers: { zapi_key: key },
        path,
        shown: path,
        content: Buffer.of(),
        nowMs: Date.now(),
      };
      const reply = api.answer(request);
      if (reply.status !== 200) return { fails: reasonOfStatus(reply.status) };
      return { body: reply.kind === 'json' ? reply.value : '' };
    },
  });
  return {
    ...given,
    hang(farm: string, runState: 'hung' | 'readable' = 'hung') {
      world.farms.get(farm)!.runState = runState;
    },
    /** The largest age of the states of these farms, in seconds. */
    oldestSeconds: (farms: readonly string[]) =>
      Math.max(...farms.map((name) => performance.now() - (readAtMs.get(name) ?? 0))) / 1_000,
    async busySeconds() {
      const lines = seriesOf(await given.page(), 'zlb_api_busy_seconds_total');
      return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
    },
  };
}

describe.each([1, 2, 3])('with %i of 60 proxies that hang, by the default configuration', (count) => {
  const hanging = names.slice(10, 10 + count);
  const others = names.filter((name) => !hanging.includes(name));

  it('keeps the other farms fresh for ten minutes, and shows each that hangs within 90 s', {
    timeout: 120_000,
  }, async () => {
    const { poller, page, hang, oldestSeconds } = givenAppliance();
    poller.start();
    await vi.advanceTimersByTimeAsync(5 * minuteMs);
    for (const name of hanging) hang(name);

    const shownAfter = new Map<string, number>();
    let oldest = 0;
    for (let second = 5, step = 5; second <= 600; second += step) {
      step = second < 90 ? 5 : 15;
      await vi.advanceTimersByTimeAsync(step * 1_000);
      const text = await page();
      expect(valueOf(text, 'zlb_up'), `up after ${second} s`).toBe(1);
      oldest = Math.max(oldest, oldestSeconds(others));
      for (const farm of others)
        expect(stateOf(text, 'zlb_farm_status', { farm }), `${farm} after ${second} s`).toBe('up');
      for (const farm of hanging)
        if (valueOf(text, 'zlb_farm_proxy_answers', { farm }) === 0)
          shownAfter.set(farm, shownAfter.get(farm) ?? second);
    }

    const text = await page();
    expect(shownAfter.size).toBe(count);
    expect(Math.max(...shownAfter.values())).toBeLessThanOrEqual(90);
    // Sixty calls of 0.5 s take 120 s within a quarter of the time; and a wait for the word of the
    // appliance, and the other collectors.
    expect(oldest).toBeLessThan(200);
    expect(hanging.map((farm) => stateOf(text, 'zlb_farm_status', { farm }))).toEqual(hanging.map(() => 'critical'));
    expect(others.filter((farm) => seriesOf(text, 'zlb_farm_backends', { farm }).length === 0)).toEqual([]);
    expect(seriesOf(text, 'zlb_farm_info', { profile: 'https', vip: '192.0.2.1' })).toHaveLength(25);

    for (const name of hanging) hang(name, 'readable');
    await vi.advanceTimersByTimeAsync(4 * minuteMs);
    const after = await page();
    expect(names.filter((farm) => stateOf(after, 'zlb_farm_status', { farm }) !== 'up')).toEqual([]);
  });
});

it.each([true, false])(
  'shows that no farm has a state while no list of farms can be read, from the start: %s',
  async (fromStart) => {
    let isBroken = fromStart;
    const { poller, page } = givenPoller({
      names: ['farms', 'system'],
      answer: (key) => (isBroken && key.startsWith('listFarm') ? { fails: 'server_error' } : answering()(key)),
    });
    poller.start();
    await vi.advanceTimersByTimeAsync(minuteMs);
    expect(valueOf(await page(), 'zlb_farms_with_state')).toBe(fromStart ? 0 : 2);

    isBroken = true;
    await vi.advanceTimersByTimeAsync(minuteMs);
    expect(valueOf(await page(), 'zlb_farms_with_state'), 'until the list is stale').toBe(fromStart ? 0 : 2);
    await vi.advanceTimersByTimeAsync(4 * minuteMs);

    expect(valueOf(await page(), 'zlb_up')).toBe(1);
    expect(valueOf(await page(), 'zlb_farms_with_state')).toBe(0);
  },
);
