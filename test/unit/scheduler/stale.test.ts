import { describe, expect, it, vi } from 'vitest';
import type { ReadKey } from '../../../src/appliance/client.ts';
import { seriesOf, stateOf, valueOf } from '../../support/samples.ts';
import { type Answer, answering, type GivenPoller, givenPoller, upFarms } from './given-poller.ts';

const secondMs = 1_000;
const minuteMs = 60_000;
const hourMs = 3_600_000;

const farmsShown = async ({ page }: Pick<GivenPoller, 'page'>) =>
  (await page()).match(/^zlb_backend_info\{/gm)?.length ?? 0;

/**
 * An appliance with so many farms; `state` is how it answers for one of them, the list is always
 * well.
 */
function givenFarms(count: number, state: { answer?: Answer; callMs?: number } = {}) {
  const farms = upFarms(count);
  return givenPoller({
    names: ['farms', 'backends'],
    callMs: (key) => (key === 'readFarmStats' ? (state.callMs ?? 10) : 10),
    answer(key: ReadKey) {
      if (key === 'listFarms') return { body: { params: farms } };
      // A probe tells whether anything answers.
      const isProbe = key === 'readSystemVersion' && state.callMs !== undefined;
      return (isProbe ? undefined : state.answer) ?? answering()(key);
    },
  });
}

describe('a collector that fails alone', () => {
  it('shows no reading past max_stale, although every farm of its round times out', async () => {
    const state: { answer?: Answer; callMs?: number } = {};
    const given = givenFarms(60, state);
    given.poller.start();
    await vi.advanceTimersByTimeAsync(5 * minuteMs);
    expect(await farmsShown(given)).toBe(60);

    state.answer = { fails: 'timeout' };
    state.callMs = 20 * secondMs;
    await vi.advanceTimersByTimeAsync(7 * minuteMs);

    expect(valueOf(await given.page(), 'zlb_up')).toBe(1);
    expect(await farmsShown(given)).toBe(0);
  });

  it('shows no reading past max_stale while a call waits for a response that never comes', async () => {
    let callMs = 6 * secondMs;
    const farms = [{ farmname: 'shop', profile: 'http', status: 'up' }];
    const given = givenPoller({
      names: ['farms'],
      maxStaleMs: minuteMs,
      callMs: () => callMs,
      answer: (key) => (key === 'listFarms' ? { body: { params: farms } } : answering()(key)),
    });
    given.poller.start();
    await vi.advanceTimersByTimeAsync(5 * minuteMs);
    expect(stateOf(await given.page(), 'zlb_farm_status')).toBe('up');

    callMs = hourMs;
    await vi.advanceTimersByTimeAsync(70 * secondMs);

    expect(stateOf(await given.page(), 'zlb_farm_status')).toBeUndefined();
  });

  it('reports its failed round, although the circuit breaker ended it', async () => {
    const state: { answer?: Answer; callMs?: number } = {};
    const given = givenFarms(60, state);
    given.poller.start();
    await vi.advanceTimersByTimeAsync(5 * minuteMs);

    state.answer = { fails: 'connect' };
    await vi.advanceTimersByTimeAsync(7 * minuteMs);

    expect(stateOf(await given.page(), 'zlb_circuit_breaker_state', {}, 'state')).not.toBe('closed');
    expect(valueOf(await given.page(), 'zlb_collector_success', { collector: 'backends' })).toBe(0);
  });
});

// As ZEVENET answers for a proxy that it cannot ask, and RELIANOID and SKUDONET after their wait for one that hangs.
it.each([
  {
    after: 'with a warning',
    warning: 'It was not possible to extract the sessions.',
    callMs: 100,
    reason: 'unavailable',
  },
  { after: 'after a wait for its proxy', callMs: 20_152, reason: 'timeout' },
])(
  'backends of a running farm are shown until max_stale when none are listed $after',
  async ({ callMs, reason, warning }) => {
    const list = answering();
    let isEmpty = false;
    const given = givenPoller({
      names: ['farms', 'backends'],
      // With 65,000 connections, a read takes as long (docs/api.md §7.7).
      callMs: (key) => (key !== 'readFarmStats' ? 10 : isEmpty ? callMs : 7 * secondMs),
      answer(key) {
        if (key === 'listFarms')
          return { body: { params: upFarms(1).map((farm) => ({ ...farm, status: 'problem' })) } };
        if (key !== 'readFarmStats' || !isEmpty) return list(key);
        return { body: { backends: [], sessions: [], total_sessions: 0, warning } };
      },
    });
    given.poller.start();
    await vi.advanceTimersByTimeAsync(5 * minuteMs);
    const readBefore = given.asked.length;

    isEmpty = true;
    await vi.advanceTimersByTimeAsync(2.5 * minuteMs);

    expect(given.asked.slice(readBefore).map(({ key }) => key)).toContain('readFarmStats');
    expect(await farmsShown(given)).toBe(1);
    expect(seriesOf(await given.page(), 'zlb_farm_sessions')).toEqual([]);
    expect(valueOf(await given.page(), 'zlb_collector_success', { collector: 'backends' })).toBe(0);
    expect(valueOf(await given.page(), 'zlb_collector_errors_total', { reason })).toBeGreaterThan(0);

    await vi.advanceTimersByTimeAsync(4 * minuteMs);
    expect(await farmsShown(given)).toBe(0);
  },
);

it.each([
  { what: 'became stale in it', maxStaleMs: 3 * minuteMs, awayMs: 3 * minuteMs },
  { what: 'was due in it', maxStaleMs: 3 * hourMs, awayMs: 20 * minuteMs },
])('what $what is read as soon as an outage is over', async ({ maxStaleMs, awayMs }) => {
  let isAway = false;
  const { poller, asked, page } = givenPoller({
    names: ['farms', 'certificates'],
    maxStaleMs,
    answer: (key) => (isAway ? { fails: 'connect' } : answering()(key)),
  });
  poller.start();
  await vi.advanceTimersByTimeAsync(minuteMs);
  const times = () => asked.filter(({ key }) => key === 'listCertificates').length;
  const before = times();

  isAway = true;
  await vi.advanceTimersByTimeAsync(awayMs);
  await page();
  expect(times()).toBe(before);
  isAway = false;
  await vi.advanceTimersByTimeAsync(20 * secondMs);

  expect(times()).toBe(before + 1);
});

describe('a machine that was suspended for hours', () => {
  it('shows no earlier reading, although a round was in progress and a response comes at once', async () => {
    const given = givenFarms(60);
    given.poller.start();
    await vi.advanceTimersByTimeAsync(5 * minuteMs);
    const roundBegins = given.asked.length;
    while (given.asked.length < roundBegins + 10) await vi.advanceTimersByTimeAsync(secondMs);
    expect(await farmsShown(given)).toBe(60);

    given.setClock(8 * hourMs);
    const run = given.poller.run('farms');
    await vi.advanceTimersByTimeAsync(20);
    await run;

    expect(valueOf(await given.page(), 'zlb_up')).toBe(1);
    expect(await farmsShown(given)).toBeLessThan(5);
  });

  it('does not date a response later than its request', async () => {
    const state: { callMs?: number } = {};
    const given = givenFarms(1, state);
    given.poller.start();
    await vi.advanceTimersByTimeAsync(5 * minuteMs);
    state.callMs = 5 * secondMs;
    const before = given.asked.length;
    while (given.asked.slice(before).every(({ key }) => key !== 'readFarmStats'))
      await vi.advanceTimersByTimeAsync(secondMs);

    given.setClock(8 * hourMs);
    await vi.advanceTimersByTimeAsync(6 * secondMs);

    expect(await farmsShown(given)).toBe(0);
  });
});

describe('a clock that is set forward by an hour', () => {
  const farms = upFarms(20);

  function given(state: { fails?: 'timeout' } = {}) {
    const parts = givenPoller({
      names: ['farms', 'backends', 'farm_config', 'certificates'],
      answer(key) {
        if (key === 'listFarms') return { body: { params: farms } };
        if (key === 'readFarm') return { body: { params: { algorithm: 'roundrobin' }, services: [] } };
        return state.fails && key === 'readFarmStats' ? { fails: state.fails } : answering()(key);
      },
    });
    return {
      ...parts,
      /** How often each operation was asked since the last look. */
      asked(): Partial<Record<ReadKey, number>> {
        const calls = Object.groupBy(parts.asked.splice(0), ({ key }) => key);
        return Object.fromEntries(Object.entries(calls).map(([key, { length }]) => [key, length]));
      },
    };
  }
  /** As fleet.ts does, each second. */
  async function pass({ page }: Pick<GivenPoller, 'page'>, seconds: number) {
    for (let second = 0; second < seconds; second += 1) {
      await page();
      await vi.advanceTimersByTimeAsync(secondMs);
    }
  }

  it('removes what is stale by it, and all of that is read again at once', async () => {
    const { poller, page, asked, setClock } = given();
    poller.start();
    await pass({ page }, 130);
    asked();

    setClock(hourMs);
    expect(await farmsShown({ page })).toBe(0);
    await pass({ page }, 3);

    // The round of the backends that was under way ends before the next one begins.
    const { readFarmStats, ...once } = asked();
    expect(readFarmStats).toBeLessThan(40);
    expect(once).toMatchObject({ readFarm: 20, listCertificates: 1 });
    expect(await farmsShown({ page })).toBe(20);
    expect(stateOf(await page(), 'zlb_farm_status', { farm: 'f0' })).toBe('up');
  });

  it('also affects a round in progress, with what it had already read', async () => {
    const { poller, page, asked, setClock } = given();
    poller.start();
    await pass({ page }, 120);
    asked();
    while ((asked().readFarmStats ?? 0) === 0) await pass({ page }, 1);
    await pass({ page }, 25);

    setClock(hourMs);
    await pass({ page }, 3);

    expect(await farmsShown({ page })).toBe(20);
  });

  it('triggers one more read, and not repeated ones, when responses are missing', async () => {
    const state: { fails?: 'timeout' } = {};
    const { poller, page, asked, setClock } = given(state);
    poller.start();
    await pass({ page }, 130);
    state.fails = 'timeout';
    asked();

    setClock(hourMs);
    await pass({ page }, 10);

    expect(asked().readFarmStats).toBeLessThanOrEqual(40);
  });
});

it('a late response from before a change does not replace the newer one, and is not a transition', async () => {
  const state = { status: 'up', callMs: 10 };
  const { poller, page, lines } = givenPoller({
    names: ['farms', 'backends'],
    maxConcurrent: 2,
    callMs: () => state.callMs,
    answer: (key) => {
      if (key === 'listFarms') return { body: { params: [{ farmname: 'shop', profile: 'http', status: 'up' }] } };
      if (key === 'readFarmsSummary') return { fails: 'not_found' };
      return { body: { backends: [{ id: '0', ip: '198.51.100.1', port: '80', status: state.status }] } };
    },
  });
  poller.start();
  await vi.advanceTimersByTimeAsync(5 * secondMs);

  // Within the limit of the call, which is the short one of an appliance that answers quickly.
  state.callMs = 4 * secondMs;
  state.status = 'down';
  const slow = poller.run('backends');
  await vi.advanceTimersByTimeAsync(secondMs);
  state.callMs = 10;
  state.status = 'maintenance';
  const quick = poller.refresh('farm-backends', 'shop');
  await vi.advanceTimersByTimeAsync(secondMs);
  await quick;
  state.status = 'down';
  await vi.advanceTimersByTimeAsync(10 * secondMs);
  await slow;

  expect(stateOf(await page(), 'zlb_backend_status')).toBe('maintenance');
  expect(lines.filter(({ msg }) => msg === 'state changed').map(({ to }) => to)).toEqual(['maintenance']);
});
