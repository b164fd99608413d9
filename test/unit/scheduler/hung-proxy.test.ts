import { describe, expect, it, vi } from 'vitest';
import { seriesOf, stateOf, valueOf } from '../../support/samples.ts';
import { givenAppliance, givenZproxyAppliance } from './given-appliance.ts';
import { answering, givenPoller } from './given-poller.ts';

const minuteMs = 60_000;

describe.each([1, 3])('the poller with %i of 60 hung proxies, by default settings,', (count) => {
  it('keeps the other farms fresh for ten minutes, and reports each hung one within 90 s', async () => {
    const { poller, page, names, hang, oldestSeconds, asked } = givenAppliance();
    const hanging = names.slice(10, 10 + count);
    const others = names.filter((name) => !hanging.includes(name));
    poller.start();
    await vi.advanceTimersByTimeAsync(5 * minuteMs);
    for (const name of hanging) hang(name);
    const before = asked.length;

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
    // Each call for a proxy that hangs holds a process of the appliance for 20 s: two until it is
    // silent, then one in 90 s for all of them.
    const waiting = asked
      .slice(before)
      .filter(({ key, params }) => key === 'readFarmStatus' && hanging.includes(params['farmname'] ?? ''));
    expect(waiting.length).toBeLessThanOrEqual(2 * count + Math.ceil(600 / 90));
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

describe('the poller of a ZEVENET with zproxy, whose calls to a hung proxy never end,', () => {
  it.each([
    ['while a run over the farms is under way', 22],
    ['right before a farm is read, and then the list of connections', 563],
  ])('leaves at most eight processes in an hour, and reads at once after a change: hangs %s', async (_, seconds) => {
    const { poller, page, hang, leftProcesses } = givenZproxyAppliance(12);
    poller.start();
    await vi.advanceTimersByTimeAsync(10 * minuteMs + 1_000 * seconds);
    hang('shop-0');
    await vi.advanceTimersByTimeAsync(60 * minuteMs);

    expect(valueOf(await page(), 'zlb_farm_proxy_answers', { farm: 'shop-0' })).toBe(0);
    expect(leftProcesses()).toBeLessThanOrEqual(8);
    expect(leftProcesses()).toBeGreaterThan(3);

    hang('shop-0', 'readable');
    const changed = poller.refresh('farms', 'shop-0');
    await vi.advanceTimersByTimeAsync(minuteMs / 2);
    await changed;
    expect(valueOf(await page(), 'zlb_farm_proxy_answers', { farm: 'shop-0' })).toBe(1);
    expect(stateOf(await page(), 'zlb_farm_status', { farm: 'shop-0' })).toBe('up');
  });

  it('leaves as few when the proxy hangs from the start', async () => {
    const { poller, hang, leftProcesses } = givenZproxyAppliance(12);
    hang('shop-0');
    poller.start();
    await vi.advanceTimersByTimeAsync(60 * minuteMs);

    expect(leftProcesses()).toBeLessThanOrEqual(8);
    expect(leftProcesses()).toBeGreaterThan(3);
  });
});

it('one slow response of a farm, while another hangs, does not count as a hung proxy', async () => {
  const { poller, page, names, hang, fault } = givenAppliance();
  const others = names.filter((name) => name !== 'shop-10');
  poller.start();
  await vi.advanceTimersByTimeAsync(5 * minuteMs);
  hang('shop-10');
  await vi.advanceTimersByTimeAsync(2 * minuteMs);

  fault.slowOnce.add('shop-20').add('shop-30');
  for (let second = 0; second < 300; second += 15) {
    await vi.advanceTimersByTimeAsync(15_000);
    const text = await page();
    for (const farm of others) {
      expect(stateOf(text, 'zlb_farm_status', { farm }), `${farm} after ${second} s`).toBe('up');
      expect(valueOf(text, 'zlb_farm_proxy_answers', { farm }) ?? 1, `${farm} after ${second} s`).toBe(1);
    }
  }

  expect(fault.slowOnce).toEqual(new Set());
  expect(valueOf(await page(), 'zlb_farm_proxy_answers', { farm: 'shop-10' })).toBe(0);
});

it('farms are read one by one once, and not each time, when the list takes 28 s because of its size', async () => {
  const { poller, page, asked, fault } = givenAppliance();
  poller.start();
  await vi.advanceTimersByTimeAsync(5 * minuteMs);

  // The connection table has filled.
  fault.listMs = 26_000;
  await vi.advanceTimersByTimeAsync(6 * minuteMs);
  const before = asked.length;
  await vi.advanceTimersByTimeAsync(15 * minuteMs);

  const keys = asked.slice(before).map(({ key }) => key);
  expect(keys).not.toContain('readFarmStatus');
  expect(keys.filter((key) => key === 'listFarms').length).toBeGreaterThanOrEqual(7);
  expect(seriesOf(await page(), 'zlb_farm_established_connections')).toHaveLength(60);
});

it('the poller knows every address after a start while two proxies hang', async () => {
  const { poller, page, names, hang } = givenAppliance();
  for (const name of names.slice(10, 12)) hang(name);
  poller.start();

  await vi.advanceTimersByTimeAsync(5 * minuteMs);

  expect(seriesOf(await page(), 'zlb_farm_info', { vip: '' })).toEqual([]);
  expect(seriesOf(await page(), 'zlb_farm_info')).toHaveLength(60);
  expect(seriesOf(await page(), 'zlb_farm_proxy_answers').filter((line) => line.endsWith(' 0'))).toHaveLength(2);
});

it('the poller knows only the addresses of HTTP farms after a start while three proxies hang', async () => {
  const { poller, page, names, hang } = givenAppliance();
  for (const name of names.slice(10, 13)) hang(name);
  poller.start();

  await vi.advanceTimersByTimeAsync(10 * minuteMs);

  // The appliance answers no list, and the only other read with the address of an L4 farm acts.
  const withoutAddress = seriesOf(await page(), 'zlb_farm_info', { vip: '' });
  expect(withoutAddress.filter((line) => !line.includes('profile="l4xnat"'))).toHaveLength(3);
  expect(withoutAddress.filter((line) => line.includes('profile="l4xnat"'))).toHaveLength(10);
});

it.each([true, false])('no farm has a state while no farm list can be read, from the start: %s', async (fromStart) => {
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
});

it('a list of farms that fails is not tried again at once', async () => {
  const { poller, asked } = givenPoller({
    names: ['farms'],
    answer: answering({ listFarms: { fails: 'gateway_timeout' }, readFarmsSummary: { fails: 'gateway_timeout' } }),
  });

  const over = poller.run('farms');
  await vi.advanceTimersByTimeAsync(5_000);
  await over;

  expect(asked.map(({ key }) => key)).toEqual(['listFarms', 'readFarmsSummary']);
});
