import { describe, expect, it, vi } from 'vitest';
import type { ReadKey } from '../../../src/appliance/client.ts';
import { stateOf, valueOf } from '../../support/samples.ts';
import { type Answer, answering, givenPoller, upFarms, wellAnswers } from './given-poller.ts';

const secondMs = 1_000;
const minuteMs = 60_000;
const hourMs = 3_600_000;

describe('the schedule of a poller', () => {
  it.each(Array.from({ length: 8 }, (_, index) => `lb-${index}`))(
    'runs at every tick, at any offset of %s',
    async (name) => {
      const { poller, asked } = givenPoller({ name, names: ['farms', 'system'], answer: answering() });

      poller.start();
      await vi.advanceTimersByTimeAsync(hourMs);

      const times = (key: ReadKey) => asked.filter((each) => each.key === key).map(({ at }) => at);
      const gaps = times('listFarms')
        .slice(1)
        .map((at, index) => at - (times('listFarms')[index] ?? 0));
      expect(times('listFarms').length).toBeGreaterThanOrEqual(119);
      expect(times('readStats').length).toBeGreaterThanOrEqual(59);
      expect(Math.max(...gaps)).toBeLessThan(61 * secondMs);
    },
  );

  it('skips the next tick after an extra run', async () => {
    const { poller, asked } = givenPoller({ names: ['system'], answer: answering() });
    poller.start();
    await vi.advanceTimersByTimeAsync(10 * minuteMs);
    const runs = () => asked.filter(({ key }) => key === 'readStats').map(({ at }) => at);
    const turn = runs().at(-1) ?? 0;

    await vi.advanceTimersByTimeAsync(50 * secondMs);
    const extra = poller.run('system');
    await vi.advanceTimersByTimeAsync(minuteMs);
    await extra;

    expect(runs().filter((at) => at > turn && at <= turn + minuteMs + 20 * secondMs)).toHaveLength(1);
  });

  it('continues at its pace when the system clock is set back by a day, and forward by one', async () => {
    const { poller, asked, setClock } = givenPoller({
      names: ['farms', 'backends'],
      answer: answering(),
      maxBusyRatio: 0.25,
    });
    poller.start();
    await vi.advanceTimersByTimeAsync(10 * minuteMs);
    const before = asked.length;

    setClock(-24 * hourMs);
    await vi.advanceTimersByTimeAsync(10 * minuteMs);
    const afterStepBack = asked.length - before;
    setClock(24 * hourMs);
    await vi.advanceTimersByTimeAsync(10 * minuteMs);
    const afterStepForward = asked.length - before - afterStepBack;

    for (const calls of [afterStepBack, afterStepForward]) expect(Math.abs(calls - before)).toBeLessThanOrEqual(6);
  });

  it('keeps zlb_up at 1 while every interval is stretched far beyond max_stale', async () => {
    const { poller, page } = givenPoller({ names: ['farms'], answer: answering(), callMs: 19_000, maxBusyRatio: 0.02 });
    poller.start();
    await vi.advanceTimersByTimeAsync(2 * hourMs);

    const ups = new Set<number | undefined>();
    for (let minute = 0; minute < 60; minute += 1) {
      await vi.advanceTimersByTimeAsync(minuteMs);
      ups.add(valueOf(await page(), 'zlb_up'));
    }

    expect(valueOf(await page(), 'zlb_collector_interval_seconds', { collector: 'farms' })).toBeGreaterThan(180);
    expect(ups).toEqual(new Set([1]));
    expect(stateOf(await page(), 'zlb_farm_status', { farm: 'shop' })).toBe('up');
  });
});

describe('an appliance that is slow to respond', () => {
  const names = ['farms', 'appliance', 'activation', 'certificates', 'backends', 'system', 'vpn'];

  it.each([2_500, 6_000, 12_000])(
    'is still read completely with %i ms per response, less often, and without a failure',
    async (callMs) => {
      const { poller, asked, page } = givenPoller({ names, answer: answering(), callMs, maxBusyRatio: 0.25 });

      poller.start();
      await vi.advanceTimersByTimeAsync(30 * minuteMs);
      const before = asked.length;
      await vi.advanceTimersByTimeAsync(2 * hourMs);

      for (const collector of names)
        expect(valueOf(await page(), 'zlb_collector_success', { collector }), collector).toBe(1);
      expect(await page()).not.toMatch(/^zlb_collector_errors_total\{.* [1-9]/m);
      for (const farm of ['shop', 'db'])
        expect(await page(), farm).toContain(`zlb_backend_info{appliance="lb",farm="${farm}"`);
      expect(((asked.length - before) * callMs) / (2 * hourMs), 'share of its time').toBeLessThanOrEqual(0.26);
      expect(new Set(asked.slice(before).map(({ key }) => key)).size, 'every read comes round').toBe(
        new Set(asked.map(({ key }) => key)).size,
      );
    },
  );
});

it('a 404 for a route that every edition has is a failure until the next run', async () => {
  let upgrading = true;
  const names = ['farms', 'certificates', 'appliance', 'vpn'];
  const { poller, page } = givenPoller({
    names,
    answer: (key) => (upgrading ? { fails: 'not_found' } : answering()(key)),
  });
  poller.start();
  await vi.advanceTimersByTimeAsync(minuteMs);
  expect(valueOf(await page(), 'zlb_collector_success', { collector: 'certificates' })).toBe(0);
  expect(valueOf(await page(), 'zlb_collector_errors_total', { collector: 'certificates', reason: 'not_found' })).toBe(
    1,
  );
  expect(
    valueOf(await page(), 'zlb_collector_success', { collector: 'vpn' }),
    'what an edition may lack',
  ).toBeUndefined();

  upgrading = false;
  await vi.advanceTimersByTimeAsync(20 * minuteMs);

  for (const collector of ['farms', 'certificates', 'appliance'])
    expect(valueOf(await page(), 'zlb_collector_success', { collector }), collector).toBe(1);
  await vi.advanceTimersByTimeAsync(hourMs);
  expect(valueOf(await page(), 'zlb_collector_success', { collector: 'vpn' }), 'tried again after an hour').toBe(1);
});

describe('farms whose state changed', () => {
  /** The farms that are read within a second of the list in which so many of them have changed. */
  async function readAtOnce(count: number, changed: number, name = 'lb'): Promise<readonly (string | undefined)[]> {
    const farms = upFarms(count);
    const { poller, asked } = givenPoller({
      name,
      names: ['farms', 'backends'],
      answer: (key) => (key === 'listFarms' ? { body: { params: farms } } : answering()(key)),
    });
    poller.start();
    await vi.advanceTimersByTimeAsync(5 * minuteMs);
    const before = asked.length;
    for (const farm of farms.slice(0, changed)) farm.status = 'critical';
    await vi.advanceTimersByTimeAsync(35 * secondMs);
    const since = asked.slice(before);
    const seenAt = since.find(({ key }) => key === 'listFarms')?.at ?? 0;
    const atOnce = since.filter(({ key, at }) => key === 'readFarmStats' && at >= seenAt && at < seenAt + secondMs);
    return atOnce.map(({ params }) => params.farmname);
  }

  it.each(Array.from({ length: 5 }, (_, index) => `lb-${index}`))(
    'trigger a read of their backends only: %s',
    async (name) => {
      const read = await readAtOnce(2, 1, name);

      expect(read).toContain('f0');
      expect(read.length).toBeLessThan(3);
    },
  );

  it('trigger reads of twenty farms at most when all change at once; the others wait for the next round', async () => {
    const { length } = await readAtOnce(200, 200);

    expect(length).toBeGreaterThanOrEqual(20);
    // The round goes on meanwhile, a farm after the other over the minute.
    expect(length).toBeLessThan(40);
  });
});

it('the version is read again when an appliance returns after an outage, because of a possible upgrade', async () => {
  const state = { away: false, version: '7.1.0' };
  const { poller, page } = givenPoller({
    names: ['farms', 'appliance'],
    answer(key) {
      if (state.away) return { fails: 'connect' };
      return key === 'readSystemInfo' ? { body: { params: { skudonet_version: state.version } } } : answering()(key);
    },
  });
  poller.start();
  await vi.advanceTimersByTimeAsync(11 * minuteMs);
  state.away = true;
  await vi.advanceTimersByTimeAsync(2 * minuteMs);

  Object.assign(state, { away: false, version: '7.1.1' });
  await vi.advanceTimersByTimeAsync(30_000);

  expect(await page()).toMatch(/^zlb_appliance_info\{.*version="7\.1\.1"/m);
});

describe('a 402 response', () => {
  const unlicensed: Answer = { fails: 'unlicensed' };
  const names = ['farms', 'activation', 'system', 'vpn'];

  it('is a failure of a single call, and triggers no other calls', async () => {
    const { poller, asked, page } = givenPoller({ names, answer: answering({ listVpns: unlicensed }) });

    poller.start();
    await vi.advanceTimersByTimeAsync(hourMs);

    expect(stateOf(await page(), 'zlb_activation_status')).toBe('activated');
    expect(valueOf(await page(), 'zlb_collector_success', { collector: 'vpn' })).toBe(0);
    expect(
      valueOf(await page(), 'zlb_collector_skipped_total', { collector: 'system', reason: 'unlicensed' }),
    ).toBeUndefined();
    // 120 lists of farms, 60 of the system, 6 VPN lists, and an activation run of 3 or 4 calls for
    // each of those and its own 6; probes apart.
    expect(asked.filter(({ key }) => key !== 'readSystemVersion').length).toBeLessThan(260);
  });

  it('causes one check of the activation per minute for a module, whatever the number of its calls', async () => {
    const { poller, asked } = givenPoller({
      names,
      answer: answering({ listVpns: unlicensed, readStats: unlicensed }),
    });

    poller.start();
    await vi.advanceTimersByTimeAsync(hourMs);

    const looks = asked.filter(({ key }) => key === 'readActivationInfo').length;
    const refused = asked.filter(({ key }) => key === 'readStats').length;
    expect(refused).toBeGreaterThanOrEqual(60);
    expect(looks).toBeLessThanOrEqual(61);
  });

  it('stops all calls but the activation, once a minute, when every call gets it, until it ends', async () => {
    let licensed = false;
    const answer = (key: ReadKey): Answer => (licensed ? answering()(key) : unlicensed);
    const { poller, asked, page } = givenPoller({ names, answer });

    poller.start();
    await vi.advanceTimersByTimeAsync(minuteMs);
    const settled = asked.length;
    await vi.advanceTimersByTimeAsync(30 * minuteMs);
    const meanwhile = asked.slice(settled);
    const deactivated = stateOf(await page(), 'zlb_activation_status');
    const upWhileDeactivated = valueOf(await page(), 'zlb_up');
    licensed = true;
    await vi.advanceTimersByTimeAsync(70 * secondMs);

    expect(deactivated).toBe('deactivated');
    expect(upWhileDeactivated, 'the key is good').toBe(1);
    expect(new Set(meanwhile.map(({ key }) => key))).toEqual(
      new Set(['readSystemVersion', 'readActivationInfo', 'readActivationCertificate']),
    );
    expect(meanwhile.length).toBeLessThanOrEqual(3 * 34);
    expect(stateOf(await page(), 'zlb_activation_status')).toBe('activated');
    expect(
      valueOf(await page(), 'zlb_collector_success', { collector: 'vpn' }),
      'without waiting for its schedule',
    ).toBe(1);
  });

  it('triggers a read of the activation at once, which says whether everything is refused', async () => {
    let licensed = true;
    const answer = (key: ReadKey): Answer => (licensed ? answering()(key) : unlicensed);
    const { poller, page } = givenPoller({ names, answer });
    poller.start();
    await vi.advanceTimersByTimeAsync(minuteMs);
    expect(stateOf(await page(), 'zlb_activation_status')).toBe('activated');

    licensed = false;
    await vi.advanceTimersByTimeAsync(70 * secondMs);

    expect(stateOf(await page(), 'zlb_activation_status')).toBe('deactivated');
  });

  it('shows a newly installed licence at once, although its absence was a 404', async () => {
    let installed = false;
    const answer = (key: ReadKey): Answer => {
      if (installed) return answering()(key);
      return key.startsWith('readActivation') ? { fails: 'not_found' } : unlicensed;
    };
    const { poller, page } = givenPoller({ names, answer });
    poller.start();
    await vi.advanceTimersByTimeAsync(5 * minuteMs);

    installed = true;
    await vi.advanceTimersByTimeAsync(70 * secondMs);

    expect(stateOf(await page(), 'zlb_activation_status')).toBe('activated');
    expect(valueOf(await page(), 'zlb_activation_not_after_timestamp_seconds')).toBeGreaterThan(Date.now() / 1_000);
  });
});

describe('a deleted farm', () => {
  it('is not read any more within the round, and leaves neither series nor log lines', async () => {
    const farms = upFarms(10);
    const list = { params: [...farms] };
    const { poller, asked, page, lines } = givenPoller({
      names: ['farms', 'backends'],
      answer: (key, { farmname }) => {
        if (farmname === 'f9' && list.params.length === 9) return { fails: 'bad_request' };
        if (key === 'readFarmsSummary') return { fails: 'not_found' };
        return { body: key === 'listFarms' ? list : wellAnswers[key] };
      },
    });
    poller.start();
    await vi.advanceTimersByTimeAsync(2 * minuteMs);
    while (asked.at(-1)?.params.farmname !== 'f0') await vi.advanceTimersByTimeAsync(secondMs);

    // The round has just begun with the old list; the next list of farms comes before its last
    // turn.
    list.params = farms.slice(0, 9);
    const deletedAt = asked.length;
    await vi.advanceTimersByTimeAsync(5 * minuteMs);

    expect(asked.slice(deletedAt).filter(({ params }) => params.farmname === 'f9')).toEqual([]);
    expect(await page()).not.toContain('farm="f9"');
    expect((await page()).match(/^zlb_backend_info/gm)).toHaveLength(9);
    expect(await page()).not.toContain('zlb_collector_errors_total{');
    expect(lines.filter(({ farm }) => farm === 'f9')).toEqual([]);
  });

  it('is removed without a log line of recovery when it was failing', async () => {
    const state = { farms: wellAnswers.listFarms, failing: false };
    const { poller, page, lines } = givenPoller({
      names: ['farms', 'backends'],
      answer: (key, { farmname }) => {
        if (farmname === 'shop' && state.failing) return { fails: 'server_error' };
        if (key === 'readFarmsSummary') return { fails: 'not_found' };
        return { body: key === 'listFarms' ? state.farms : wellAnswers[key] };
      },
    });
    poller.start();
    await vi.advanceTimersByTimeAsync(2 * minuteMs);
    state.failing = true;
    await vi.advanceTimersByTimeAsync(2 * minuteMs);

    state.farms = { params: [{ farmname: 'db', profile: 'l4xnat', status: 'up' }] };
    await vi.advanceTimersByTimeAsync(3 * minuteMs);

    expect(lines.filter(({ farm }) => farm === 'shop').map(({ msg }) => msg)).toEqual(['poll failed']);
    expect(await page()).not.toContain('farm="shop"');
    expect(valueOf(await page(), 'zlb_collector_success', { collector: 'backends' })).toBe(1);
  });
});

it('closing a poller aborts running and waiting calls, and leaves no timer', async () => {
  const { poller, asked } = givenPoller({
    names: ['farms', 'backends', 'system', 'activation'],
    answer: answering(),
    callMs: 5_000,
  });
  poller.start();
  await vi.advanceTimersByTimeAsync(3_000);

  const closed = poller.close();
  await vi.advanceTimersByTimeAsync(0);
  await closed;
  const atClose = asked.length;
  await vi.advanceTimersByTimeAsync(hourMs);

  expect(asked).toHaveLength(atClose);
});
