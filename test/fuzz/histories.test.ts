import * as fc from 'fast-check';
import { expect, it, vi } from 'vitest';
import type { ReadKey } from '../../src/appliance/client.ts';
import type { FailureReason } from '../../src/appliance/errors.ts';
import { fuzzing } from '../support/fuzz.ts';
import { valueOf } from '../support/samples.ts';
import { answering, givenPoller } from '../unit/scheduler/given-poller.ts';

const secondMs = 1_000;
const minuteMs = 60_000;
const betweenLooksMs = 10 * secondMs;
/**
 * Between an answer and the next look at the page lie the length of a call and the time until that
 * look.
 */
const toleranceMs = 45 * secondMs;

const collectors = {
  farm_connections: { family: 'zlb_farm_established_connections', maxStaleMs: 600_000 },
  backends: { family: 'zlb_backend_established_connections', maxStaleMs: 300_000 },
} as const;
/** Of the collector farms, which has the shortest one. */
const shortestMaxStaleMs = 180_000;
const names = ['farms', 'farm_connections', 'backends', 'system', 'activation'];

type CollectorName = keyof typeof collectors | 'farms';

/** An event of an appliance or of the exporter, and the time until the next one. */
const happening = fc.record({
  what: fc.constantFrom(
    'silent',
    'farms fail',
    'farms hang',
    'backends fail',
    'backends hang',
    'well again',
    'slow',
    'fast',
    'deactivated',
    'suspended',
    'clock set back',
    'poller replaced',
    'fewer farms',
    'more farms',
  ),
  minutes: fc.integer({ min: 0, max: 25 }),
});

it('random histories show nothing, not even zlb_up, beyond max_stale or two announced intervals', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(happening, { minLength: 3, maxLength: 12 }),
      fc.constantFrom(3, 40, 150),
      async (history, farms) => {
        const given = givenHistory(farms);
        await given.pass(3);
        for (const { what, minutes } of history) {
          await given.happens(what, minutes);
          await given.pass(what === 'suspended' ? 0 : minutes);
        }
        await given.close();
      },
    ),
    fuzzing('histories'),
  );
});

/** An appliance whose numbers of connections are the second in which it gave them. */
function givenHistory(mostFarms: number) {
  const state = {
    silent: false,
    unlicensed: false,
    slowness: 1,
    farms: mostFarms,
    failing: new Map<ReadKey, FailureReason>(),
  };
  let suspendedMs = 0;
  let clockMs = 0;
  let provedAtMs = Number.NEGATIVE_INFINITY;
  const announced: ({ readonly atMs: number } & Readonly<Record<CollectorName, number>>)[] = [];
  const nowMs = () => performance.now() + suspendedMs;

  const given = givenPoller({
    names,
    maxBusyRatio: 0.25,
    routineBusyRatio: 0.03,
    callMs(key) {
      if (state.silent || state.failing.get(key) === 'timeout') return 20 * secondMs;
      const perFarmMs = { listFarms: 7, listFarmStats: 30 }[key as string];
      return (perFarmMs === undefined ? 100 : 40 + perFarmMs * state.farms) * state.slowness;
    },
    answer(key) {
      if (state.silent) return { fails: 'timeout' };
      const fails = state.failing.get(key);
      if (fails) return { fails };
      provedAtMs = nowMs();
      if (state.unlicensed && key !== 'readActivationInfo') return { fails: 'unlicensed' };
      const established = Math.floor(nowMs() / 1_000);
      const farm = (index: number) => ({ farmname: `f${index}`, profile: 'http', status: 'up', established });
      const list = Array.from({ length: state.farms }, (_, index) => farm(index));
      if (key === 'listFarms') return { body: { params: list } };
      if (key === 'listFarmStats') return { body: { farms: list } };
      if (key === 'readFarmStats')
        return { body: { backends: [{ id: '0', ip: '198.51.100.1', port: '80', status: 'up', established }] } };
      return answering()(key);
    },
  });
  given.poller.start();

  /**
   * The longest interval announced for a collector since then. A run that outlasts its interval is
   * announced when another ends.
   */
  function longestMs(collector: CollectorName, sinceMs: number): number {
    const those = announced.filter(({ atMs }) => atMs >= sinceMs - minuteMs);
    return Math.max(0, ...those.map((each) => each[collector])) + minuteMs;
  }

  async function look(): Promise<void> {
    const page = await given.page();
    const intervalMs = (collector: CollectorName) =>
      (valueOf(page, 'zlb_collector_interval_seconds', { collector }) ?? 0) * secondMs;
    const roundMs = (valueOf(page, 'zlb_collector_round_seconds', { collector: 'backends' }) ?? 0) * secondMs;
    announced.push({
      atMs: nowMs(),
      farms: intervalMs('farms'),
      farm_connections: intervalMs('farm_connections'),
      backends: roundMs,
    });
    for (const name of ['farm_connections', 'backends'] as const) {
      const { family, maxStaleMs } = collectors[name];
      const seconds = [...page.matchAll(new RegExp(`^${family}\\{.* (\\d+)$`, 'gm'))].map(([, value]) => Number(value));
      const oldestMs = Math.min(...seconds) * secondMs;
      if (seconds.length > 0)
        expect(nowMs() - oldestMs, `age of ${name}`).toBeLessThan(
          Math.max(maxStaleMs, 2 * longestMs(name, oldestMs)) + toleranceMs,
        );
    }
    const sinceProofMs = nowMs() - provedAtMs;
    const up = valueOf(page, 'zlb_up');
    if (up === 1)
      expect(sinceProofMs, 'up without proof').toBeLessThan(
        Math.max(shortestMaxStaleMs, 2 * longestMs('farms', provedAtMs)) + toleranceMs,
      );
  }

  const happenings = {
    silent: () => void (state.silent = true),
    'farms fail': () => void state.failing.set('listFarms', 'server_error'),
    'farms hang': () => void state.failing.set('listFarms', 'timeout'),
    'backends fail': () => void state.failing.set('readFarmStats', 'server_error'),
    'backends hang': () => void state.failing.set('readFarmStats', 'timeout'),
    'well again'() {
      Object.assign(state, { silent: false, unlicensed: false });
      state.failing.clear();
    },
    slow: () => void (state.slowness = 6),
    fast: () => void (state.slowness = 1),
    deactivated: () => void (state.unlicensed = true),
    async suspended(minutes: number) {
      suspendedMs += minutes * minuteMs;
      given.setClock((clockMs += minutes * minuteMs));
      await look();
    },
    'clock set back': (minutes: number) => given.setClock((clockMs -= minutes * minuteMs)),
    async 'poller replaced'() {
      const replaced = given.replace({ names });
      await vi.advanceTimersByTimeAsync(1);
      (await replaced).start();
    },
    'fewer farms': () => void (state.farms = Math.ceil(mostFarms / 3)),
    'more farms': () => void (state.farms = mostFarms),
  };

  return {
    happens: async (what: keyof typeof happenings, minutes: number) => await happenings[what](minutes),
    /** Looks at the page all the time. */
    async pass(minutes: number) {
      for (let passedMs = 0; passedMs < minutes * minuteMs; passedMs += betweenLooksMs) {
        await vi.advanceTimersByTimeAsync(betweenLooksMs);
        await look();
      }
    },
    async close() {
      const closed = given.poller.close();
      await vi.advanceTimersByTimeAsync(secondMs);
      await closed;
    },
  };
}
