import { describe, expect, it, vi } from 'vitest';
import { seriesOf, stateOf, valueOf } from '../../support/samples.ts';
import { answering, givenPoller } from './given-poller.ts';

const minuteMs = 60_000;
const names = Array.from({ length: 60 }, (_, index) => `shop-${index}`);
const row = (farmname: string) => ({ farmname, profile: 'http', status: 'up', vip: '192.0.2.1', vport: '80' });

/** An appliance with sixty HTTP farms, of which some proxies stop answering it. */
function givenAppliance() {
  const hung = new Set<string>();
  const readAtMs = new Map<string, number>();
  const word = (farm: string) => (hung.has(farm) ? 'critical' : 'up');
  const given = givenPoller({
    names: ['farms', 'summary', 'backends', 'system', 'certificates'],
    maxBusyRatio: 0.25,
    callMs(key, { farmname = '' }) {
      if (key === 'listFarmStats') return 400 + hung.size * 20_300;
      const asksProxy = key === 'readFarmStatus' || key === 'readFarmStats';
      return asksProxy && hung.has(farmname) ? 20_200 : 60;
    },
    answer(key, { farmname = '' }) {
      if (key === 'listFarmStats') {
        for (const name of names) readAtMs.set(name, performance.now());
        return { body: { farms: names.map((name) => ({ ...row(name), status: word(name) })) } };
      }
      if (key === 'listFarms') return { body: { params: names.map(row) } };
      if (key === 'readFarmsSummary')
        return { body: { params: { lslb: names.map((name) => ({ name, profile: 'http' })) } } };
      if (key === 'readFarmStatus') {
        readAtMs.set(farmname, performance.now());
        return { body: { params: { status: word(farmname) } } };
      }
      if (key === 'readFarmStats' && hung.has(farmname)) return { body: { backends: [] } };
      return answering()(key);
    },
  });
  return {
    ...given,
    hung,
    /** The largest age of the states of farms that do not hang, in seconds. */
    oldestSeconds: () =>
      Math.max(
        ...names.filter((name) => !hung.has(name)).map((name) => performance.now() - (readAtMs.get(name) ?? 0)),
      ) / 1_000,
    async busySeconds() {
      const lines = seriesOf(await given.page(), 'zlb_api_busy_seconds_total');
      return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
    },
  };
}

describe.each([1, 3])('with %i of 60 proxies that hang', (count) => {
  const hanging = names.slice(10, 10 + count);

  it('keeps the other farms fresh, shows those that hang, and stays within its time', {
    timeout: 120_000,
  }, async () => {
    const { poller, page, hung, oldestSeconds, busySeconds } = givenAppliance();
    poller.start();
    await vi.advanceTimersByTimeAsync(5 * minuteMs);
    const before = await busySeconds();
    for (const name of hanging) hung.add(name);

    const shownAfter = new Map<string, number>();
    let oldest = 0;
    for (let second = 10; second <= 600; second += 10) {
      await vi.advanceTimersByTimeAsync(10_000);
      const text = await page();
      oldest = Math.max(oldest, oldestSeconds());
      for (const name of names) {
        const state = stateOf(text, 'zlb_farm_status', { farm: name });
        if (!hung.has(name)) expect(state, `${name} after ${second} s`).toBe('up');
        else if (state !== 'up' && !shownAfter.has(name)) shownAfter.set(name, second);
      }
    }

    const text = await page();
    const ratio = ((await busySeconds()) - before) / 600;
    expect(Math.max(...shownAfter.values())).toBeLessThanOrEqual(60);
    expect(shownAfter.size).toBe(count);
    expect(oldest).toBeLessThan(100);
    expect(ratio).toBeLessThan(0.25);
    expect(hanging.map((farm) => stateOf(text, 'zlb_farm_status', { farm }))).toEqual(hanging.map(() => 'critical'));
    expect(valueOf(text, 'zlb_up')).toBe(1);
    expect(hanging.map((farm) => valueOf(text, 'zlb_farm_proxy_answers', { farm }))).toEqual(hanging.map(() => 0));
    const withoutBackends = names.filter((farm) => seriesOf(text, 'zlb_farm_backends', { farm }).length === 0);
    expect(withoutBackends.filter((farm) => !hung.has(farm))).toEqual([]);

    hung.clear();
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
