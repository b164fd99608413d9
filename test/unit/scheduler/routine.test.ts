import { describe, expect, it, vi } from 'vitest';
import type { ReadKey } from '../../../src/appliance/client.ts';
import { seriesOf, stateOf, valueOf } from '../../support/samples.ts';
import { answering, givenPoller, upFarms } from './given-poller.ts';

const secondMs = 1_000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;
/** Of the time of 60 farms: a round of their backends takes a quarter of an hour. */
const slowly = { routineBusyRatio: 0.01 };

type Given = ReturnType<typeof given>;

/** HTTP farms with a backend each, whose words and calls the test changes. */
function given(count: number, { names = ['farms', 'backends'], routineBusyRatio = 0.03 } = {}) {
  const state = { farms: upFarms(count), down: new Set<string>(), listMs: 50, farmMs: 160, fails: new Set<ReadKey>() };
  const poller = givenPoller({
    names,
    maxBusyRatio: 0.25,
    routineBusyRatio,
    callMs: (key) => (key === 'listFarms' ? state.listMs : key === 'readFarmStats' ? state.farmMs : 50),
    answer(key, { farmname = '' }) {
      if (state.fails.has(key)) return { fails: 'server_error' };
      if (key === 'listFarms') return { body: { params: state.farms } };
      if (key === 'readFarmsSummary')
        return { body: { params: { lslb: state.farms.map((each) => ({ name: each.farmname, profile: 'http' })) } } };
      if (key !== 'readFarmStats') return answering()(key);
      const status = state.down.has(farmname) ? 'down' : 'up';
      return { body: { backends: [{ id: '0', ip: '198.51.100.1', port: '80', status, established: 7 }] } };
    },
  });
  poller.poller.start();
  const timesOf = (farm: string, sinceMs = 0) =>
    poller.asked.filter(({ key, params, at }) => key === 'readFarmStats' && params.farmname === farm && at > sinceMs);
  return {
    ...poller,
    state,
    timesOf,
    /** How often a farm was read since a moment of the test. */
    readsOf: (farm: string, sinceMs = 0) => timesOf(farm, sinceMs).length,
    firstReadOf: (farm: string, sinceMs: number) => timesOf(farm, sinceMs)[0]?.at ?? Number.NaN,
    word(farm: string, status: string) {
      state.farms = state.farms.map((each) => (each.farmname === farm ? { ...each, status } : each));
    },
  };
}

describe('the backends of a farm', () => {
  it('are read in each fourth run while the farm state says that all are up, and each minute otherwise', async () => {
    const { word, readsOf, state } = given(5);
    for (const [index, status] of ['problem', 'needed restart', '-1'].entries()) word(`f${index}`, status);
    state.down.add('f3');
    await vi.advanceTimersByTimeAsync(5 * minuteMs);
    const fromMs = 5 * minuteMs;

    await vi.advanceTimersByTimeAsync(40 * minuteMs);

    for (const farm of ['f0', 'f1', 'f2']) expect(readsOf(farm, fromMs), farm).toBeGreaterThanOrEqual(39);
    expect(readsOf('f3', fromMs), 'of which one was down').toBeGreaterThanOrEqual(39);
    expect(readsOf('f4', fromMs)).toBeGreaterThanOrEqual(9);
    expect(readsOf('f4', fromMs)).toBeLessThanOrEqual(11);
  });

  it('are read as soon as a list has another state, whatever the list and the routine readings have cost', async () => {
    const { word, firstReadOf, state, asked, page } = given(60, slowly);
    state.listMs = 2_000;
    await vi.advanceTimersByTimeAsync(hourMs / 2);
    word('f7', 'problem');
    state.down.add('f7');

    await vi.advanceTimersByTimeAsync(40 * secondMs);

    const listedMs =
      asked.find(({ key, at }) => key === 'listFarms' && at > hourMs / 2 - state.listMs)?.at ?? Number.NaN;
    expect(listedMs - hourMs / 2).toBeLessThan(35 * secondMs);
    expect(firstReadOf('f7', hourMs / 2) - listedMs).toBeLessThan(state.listMs + 500);
    expect(stateOf(await page(), 'zlb_backend_status', { farm: 'f7' })).toBe('down');
  });

  it('are shown as long as the farm state is fresh, even if they are read less often than max_stale', async () => {
    const { page, state } = given(60, slowly);
    await vi.advanceTimersByTimeAsync(hourMs);
    expect(valueOf(await page(), 'zlb_collector_round_seconds', { collector: 'backends' })).toBeGreaterThan(600);
    expect(seriesOf(await page(), 'zlb_backend_info')).toHaveLength(60);

    // The list fails, and nobody says any more that they are up.
    for (const key of ['listFarms', 'readFarmStatus', 'readFarmStats'] as const) state.fails.add(key);
    await vi.advanceTimersByTimeAsync(4 * minuteMs);

    expect(valueOf(await page(), 'zlb_up')).toBe(1);
    const after = seriesOf(await page(), 'zlb_backend_info').length;
    expect(after).toBeLessThan(30);
  });

  it('are read every 90 minutes even beyond the routine budget, because one may have been removed', async () => {
    const { timesOf, state } = given(60, { routineBusyRatio: 0.005 });
    state.farmMs = 1_000;
    await vi.advanceTimersByTimeAsync(4 * hourMs);

    const gaps = state.farms.flatMap(({ farmname }) => {
      const times = [...timesOf(farmname).map(({ at }) => at), 4 * hourMs];
      return times.slice(1).map((at, index) => at - (times[index] ?? 0));
    });

    expect(Math.max(...gaps)).toBeLessThan(92 * minuteMs);
  });

  it('disappear after a change of the farm state until they are read, if nothing was read for max_stale', async () => {
    const { page, state, word } = given(60, slowly);
    await vi.advanceTimersByTimeAsync(hourMs);
    const shown = async () => seriesOf(await page(), 'zlb_backend_info', { farm: 'f9' }).length;
    expect(await shown()).toBe(1);

    state.fails.add('readFarmStats');
    word('f9', 'problem');
    await vi.advanceTimersByTimeAsync(5.5 * minuteMs);

    expect(await shown()).toBe(0);
  });
});

describe('the budget of routine readings', () => {
  it('is respected, and troubled farms and all farm states are read in time beside it', async () => {
    const { asked, word, readsOf, state } = given(100);
    const fromMs = hourMs / 2;
    state.listMs = 1_000;
    for (let farm = 0; farm < 10; farm += 1) word(`f${farm}`, 'problem');
    await vi.advanceTimersByTimeAsync(fromMs);

    await vi.advanceTimersByTimeAsync(hourMs / 2);

    const calls = asked.filter(({ at }) => at > fromMs);
    const routine = calls.filter(
      ({ key, params }) => key === 'readFarmStats' && Number((params.farmname ?? 'f0').slice(1)) >= 10,
    );
    expect((routine.length * state.farmMs) / (hourMs / 2)).toBeLessThanOrEqual(0.031);
    expect((routine.length * state.farmMs) / (hourMs / 2)).toBeGreaterThan(0.02);
    for (let farm = 0; farm < 10; farm += 1) expect(readsOf(`f${farm}`, fromMs)).toBeGreaterThanOrEqual(29);
    expect(calls.filter(({ key }) => key === 'listFarms').length).toBeGreaterThanOrEqual(59);
  });

  it('delays a cheap collector no longer than one call', async () => {
    const names = ['farms', 'backends', 'farm_config', 'farm_connections', 'system'];
    const { asked } = given(60, { names, ...slowly });
    await vi.advanceTimersByTimeAsync(hourMs / 2);

    await vi.advanceTimersByTimeAsync(hourMs / 2);

    const times = asked.filter(({ key, at }) => key === 'readStats' && at > hourMs / 2).map(({ at }) => at);
    const gaps = times.slice(1).map((at, index) => at - (times[index] ?? 0));
    expect(Math.max(...gaps)).toBeLessThan(75 * secondMs);
  });
});

const names = ['farms', 'backends', 'system'];

it.each<[string, (given: Given) => unknown]>([
  ['in trouble', ({ state, word }) => state.farms.forEach(({ farmname }) => word(farmname, 'problem'))],
  ['to be read after a change', ({ poller }) => void poller.refresh('farmguardian', undefined)],
  ['to be read after a reload', async ({ replace }) => (await replace({ names })).start()],
])('sixty farms that are %s hold up no call for the whole appliance', async (_, begin) => {
  const test = given(60, { names });
  test.state.farmMs = 1_000;
  await vi.advanceTimersByTimeAsync(hourMs / 2);

  await begin(test);
  await vi.advanceTimersByTimeAsync(15 * minuteMs);

  const times = test.asked.filter(({ key, at }) => key === 'readStats' && at > hourMs / 2 - minuteMs);
  const gaps = times.slice(1).map(({ at }, index) => at - (times[index]?.at ?? 0));
  expect(Math.max(...gaps)).toBeLessThan(90 * secondMs);
  // As fast as a quarter of the time allows.
  const farms = test.asked.filter(({ key, at }) => key === 'readFarmStats' && at > hourMs / 2).slice(0, 60);
  expect(new Set(farms.map(({ params }) => params.farmname)).size).toBe(60);
  expect((farms.at(-1)?.at ?? Number.NaN) - hourMs / 2).toBeLessThan(5.5 * minuteMs);
});

it('farms that change their state at each poll leave time for the other collectors', async () => {
  let polls = 0;
  const { poller, asked } = givenPoller({
    names: ['farms', 'summary', 'backends', 'system', 'certificates'],
    maxBusyRatio: 0.25,
    routineBusyRatio: 0.03,
    callMs: 500,
    answer(key) {
      if (key !== 'listFarms') return answering({ readFarmsSummary: { body: { params: { lslb: [] } } } })(key);
      polls += 1;
      return { body: { params: upFarms(30).map((farm) => ({ ...farm, status: polls % 2 === 0 ? 'problem' : 'up' })) } };
    },
  });
  poller.start();
  await vi.advanceTimersByTimeAsync(5 * minuteMs);
  const begin = asked.length;
  await vi.advanceTimersByTimeAsync(hourMs / 2);

  const later = new Set(asked.slice(begin).map(({ key }) => key));
  for (const key of ['listFarms', 'readFarmsSummary', 'readFarmStats', 'readStats', 'listCertificates'] as const)
    expect(later, key).toContain(key);
});
