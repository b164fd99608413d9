import { describe, expect, it, vi } from 'vitest';
import type { ReadKey } from '../../../src/appliance/client.ts';
import { valueOf } from '../../support/samples.ts';
import { givenAppliance } from './given-appliance.ts';
import { answering, type GivenPoller, givenPoller, upFarms, wellAnswers } from './given-poller.ts';

const secondMs = 1_000;
const minuteMs = 60_000;

/** As measured on a real appliance: 30 ms per farm for the list of all. */
const callMsOf = (farms: number) => (key: ReadKey) =>
  key === 'listFarms' ? 40 + 30 * farms : key === 'readFarmStats' ? 160 : 50;

/** The names and profiles of farms, which are read before the farms themselves. */
const summaryOf = (farms: ReturnType<typeof upFarms>) => ({
  params: {
    lslb: farms.map(({ farmname, profile }) => ({ name: farmname, profile, services: [] })),
    gslb: [],
    dslb: [],
  },
});

/** An appliance with so many farms; `state` is what the test changes on it. */
function givenFarms(count: number, names: readonly string[] = ['farms', 'backends']) {
  const state = { silent: false, slowness: 1 };
  const farms = upFarms(count);
  const callMs = callMsOf(count);
  const given = givenPoller({
    names,
    maxBusyRatio: 0.25,
    routineBusyRatio: 0.1,
    callMs: (key) => (state.silent ? 20_000 : callMs(key) * state.slowness),
    answer: (key) => {
      if (state.silent) return { fails: 'timeout' };
      if (key === 'listFarms') return { body: { params: farms } };
      return key === 'readFarmsSummary' ? { body: summaryOf(farms) } : answering()(key);
    },
  });
  return { ...given, poller: given.poller, state };
}

const farmsShown = (page: string) => page.match(/^zlb_backend_info\{/gm)?.length ?? 0;

const roundOf = (page: string, collector: string) =>
  valueOf(page, 'zlb_collector_round_seconds', { collector }) ?? Number.NaN;

const timesOf = ({ asked }: Pick<GivenPoller, 'asked'>, key: ReadKey, farmname?: string) =>
  asked.filter((each) => each.key === key && each.params.farmname === farmname).map(({ at }) => at);

const gapsOf = (times: readonly number[]) => times.slice(1).map((time, index) => time - (times[index] ?? 0));

/** Farms on the page at every look, from the moment at which all are there. */
async function watch(given: Pick<GivenPoller, 'page'>, minutes: number): Promise<number[]> {
  const shown: number[] = [];
  for (let look = 0; look < minutes * 6; look += 1) {
    await vi.advanceTimersByTimeAsync(10 * secondMs);
    shown.push(farmsShown(await given.page()));
  }
  return shown;
}

describe('an appliance with hundreds of farms', () => {
  it('loses no reading while it responds, from its first round on', async () => {
    const given = givenFarms(500);
    given.poller.start();

    const shown = await watch(given, 40);

    expect(shown).toEqual(shown.toSorted((a, b) => a - b));
    expect(shown.at(-1)).toBe(500);
  });

  it('loses no reading if every response takes five times as long for a quarter of an hour', async () => {
    const given = givenFarms(100);
    given.poller.start();
    await vi.advanceTimersByTimeAsync(30 * minuteMs);

    given.state.slowness = 5;
    const slow = await watch(given, 15);
    given.state.slowness = 1;
    const after = await watch(given, 60);

    expect(new Set([...slow, ...after])).toEqual(new Set([100]));
  });

  it('loses no reading when a reload replaces its poller, which has not stretched any interval yet', async () => {
    const given = givenFarms(500);
    given.poller.start();
    await vi.advanceTimersByTimeAsync(60 * minuteMs);

    (await given.replace({ names: ['farms', 'backends'] })).start();
    const shown = await watch(given, 30);

    expect(new Set(shown)).toEqual(new Set([500]));
  });

  it('is shown no longer than max_stale after its last response, and again within one round', async () => {
    const given = givenFarms(300);
    given.poller.start();
    await vi.advanceTimersByTimeAsync(40 * minuteMs);
    expect(roundOf(await given.page(), 'backends'), 'stretched beyond max_stale').toBeGreaterThan(300);

    given.state.silent = true;
    await vi.advanceTimersByTimeAsync(6 * minuteMs);
    expect(farmsShown(await given.page())).toBe(0);

    given.state.silent = false;
    await vi.advanceTimersByTimeAsync(10 * minuteMs);
    expect(farmsShown(await given.page())).toBe(300);
  });

  it('is shown no longer even if it stops in its first round, right after a slow response', async () => {
    const given = givenFarms(250);
    given.state.slowness = 2;
    given.poller.start();
    while (timesOf(given, 'readFarmStats', 'f1').length === 0) await vi.advanceTimersByTimeAsync(secondMs);

    given.state.silent = true;
    await vi.advanceTimersByTimeAsync(7 * minuteMs);

    expect(farmsShown(await given.page())).toBe(0);
  });

  it('has the measured interval announced, while a round is late and after it', async () => {
    const given = givenFarms(250);
    given.poller.start();
    while (timesOf(given, 'readFarmStats', 'f240').length === 0) await vi.advanceTimersByTimeAsync(secondMs);
    const first = roundOf(await given.page(), 'backends');

    await vi.advanceTimersByTimeAsync(60 * minuteMs);

    const announced = roundOf(await given.page(), 'backends');
    const [, ...settled] = gapsOf(timesOf(given, 'readFarmStats', 'f0'));
    expect(first).toBeGreaterThanOrEqual(240);
    expect(settled.length).toBeGreaterThan(3);
    for (const gap of settled) expect(Math.abs(gap / secondMs - announced)).toBeLessThanOrEqual(60);
  });

  it('has its farm list read in time, although rounds use the rest of the budget', async () => {
    const given = givenFarms(100, ['farms', 'backends', 'farm_config', 'system']);
    given.poller.start();

    await vi.advanceTimersByTimeAsync(20 * minuteMs);

    // 30 s, 3 s of jitter, and one call that may be before it. The tick after the first run may be
    // served by that.
    const [_beginning, ...gaps] = gapsOf(timesOf(given, 'listFarms'));
    expect(Math.max(...gaps)).toBeLessThan(36 * secondMs);
  });
});

describe('an appliance with 300 farms and hung proxies', () => {
  const upLine = /^zlb_farm_status\{.*farm="([^"]+)",status="up"\} 1$/gm;
  const unknownLine = /^zlb_farm_status\{.*farm="([^"]+)",status="unknown"\} 1$/gm;
  const backendsLine = /^zlb_farm_backends\{.*farm="([^"]+)"/gm;
  const farmsIn = (text: string, line: RegExp) => new Set([...text.matchAll(line)].map(([, farm]) => farm));

  /** Looks twice a minute, for ten minutes after proxies have begun to hang. */
  async function lookAt(given: ReturnType<typeof givenAppliance>, count: number) {
    given.poller.start();
    await vi.advanceTimersByTimeAsync(15 * minuteMs);
    const hanging = given.names.slice(200, 200 + count);
    const others = given.names.filter((name) => !hanging.includes(name));
    for (const name of hanging) given.hang(name);
    const looks: { readonly seconds: number; readonly text: string; readonly ages: ReadonlyMap<string, number> }[] = [];
    for (let seconds = 30; seconds <= 600; seconds += 30) {
      await vi.advanceTimersByTimeAsync(30 * secondMs);
      const ages = new Map(others.map((name) => [name, given.oldestSeconds([name])]));
      looks.push({ seconds, text: await given.page(), ages });
    }
    const silentAfter = looks.find(({ text }) =>
      hanging.every((farm) => valueOf(text, 'zlb_farm_proxy_answers', { farm }) === 0),
    );
    return { hanging, others, looks, silentAfter: silentAfter?.seconds };
  }

  it('keeps the states of all others younger than max_stale while one hangs, and their backends', {
    timeout: 300_000,
  }, async () => {
    const { others, looks, silentAfter } = await lookAt(givenAppliance(300), 1);

    expect(silentAfter).toBeLessThanOrEqual(150);
    for (const { seconds, text, ages } of looks) {
      expect(valueOf(text, 'zlb_up'), `after ${seconds} s`).toBe(1);
      const [up, withBackends] = [farmsIn(text, upLine), farmsIn(text, backendsLine)];
      expect(
        others.filter((farm) => !up.has(farm) || !withBackends.has(farm)),
        `after ${seconds} s`,
      ).toEqual([]);
      expect(Math.max(...ages.values()), `after ${seconds} s`).toBeLessThan(180);
    }
  });

  it('shows no state older than six and a half minutes while three hang, and no list responds', {
    timeout: 300_000,
  }, async () => {
    const { looks, silentAfter } = await lookAt(givenAppliance(300), 3);

    expect(silentAfter).toBeLessThanOrEqual(420);
    for (const { seconds, text, ages } of looks) {
      expect(valueOf(text, 'zlb_up'), `after ${seconds} s`).toBe(1);
      const old = [...ages].filter(([, age]) => age > 390).map(([farm]) => farm);
      const unknown = farmsIn(text, unknownLine);
      expect(old.filter((farm) => !unknown.has(farm))).toEqual([]);
    }
  });
});

it('an interrupted round over the farms is followed by one that continues where it ended', async () => {
  const state = { refusing: false };
  const farms = upFarms(10);
  const { poller, asked } = givenPoller({
    names: ['farms', 'backends'],
    answer: (key) => {
      if (state.refusing) return { fails: 'unauthorized' };
      if (key === 'readFarmsSummary') return { body: summaryOf(farms) };
      return { body: key === 'listFarms' ? { params: farms } : wellAnswers[key] };
    },
  });
  poller.start();
  await vi.advanceTimersByTimeAsync(3 * minuteMs);
  while (asked.at(-1)?.params.farmname !== 'f3') await vi.advanceTimersByTimeAsync(secondMs);
  state.refusing = true;
  await vi.advanceTimersByTimeAsync(30 * secondMs);
  state.refusing = false;
  const before = asked.length;

  await vi.advanceTimersByTimeAsync(5 * minuteMs);

  const rounds = asked.slice(before).flatMap(({ params: { farmname } }) => farmname ?? []);
  expect(rounds[0]).not.toBe('f0');
  expect(new Set(rounds.slice(0, 10)).size, 'all ten come round').toBe(10);
});
