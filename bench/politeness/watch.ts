import { mock } from 'node:test';
import type { SimulatedRequest } from '../../simulator/request-log.ts';
import { largeWorld } from '../../simulator/scenes/sizes.ts';
import { startSimulatedAppliance } from '../../simulator/server.ts';
import { createTestPoller } from '../../test/support/poller.ts';

export interface Watched {
  /** Share of the appliance's time that our calls took. */
  readonly busyRatio: number;
  readonly callsPerMinute: number;
  readonly farmStatus: Ages;
  /** The oldest that a farm's backends were. */
  readonly backendsMaxMs: number;
  /** Until every farm's backends had been read once; undefined if that did not happen. */
  readonly firstRoundMs: number | undefined;
  /** Seconds by collector, at the end. */
  readonly intervals: ReadonlyMap<string, number>;
  /** Every change of an announced interval, of any collector. */
  readonly changes: readonly Change[];
  /** The most series that were missing at a time of those that had been there. */
  readonly blinked: number;
}

export interface Change {
  readonly atMs: number;
  readonly collector: string;
  readonly seconds: number;
}

export interface WatchParts {
  readonly farms: number;
  readonly backendsPerFarm: number;
  /** How many times as slow as a real appliance, by milliseconds since the start. */
  readonly slowness: (sinceMs: number) => number;
  /** Figures are of the time after this. */
  readonly settleMs: number;
  readonly lengthMs: number;
  /** Lets time pass while `isQuiet` holds. */
  readonly pass: (ms: number, isQuiet: () => boolean) => Promise<void>;
}

const lookEveryMs = 10_000;
const polling = { timeoutMs: 20_000, maxConcurrentPerAppliance: 1, maxBusyRatio: 0.25, jitterRatio: 0.1 };

/**
 * One poller with default settings on one appliance of that many farms, looked at every ten
 * seconds.
 */
export async function watch(parts: WatchParts): Promise<Watched> {
  const { farms, backendsPerFarm, slowness, settleMs, lengthMs, pass } = parts;
  const startedAt = Date.now();
  const apiKey = 'key';
  const appliance = await startSimulatedAppliance({
    world: largeWorld({ farms, backendsPerFarm }),
    apiKey,
    latency: () => slowness(Date.now() - startedAt),
    now: Date.now,
  });
  const watched = createTestPoller(appliance, { apiKey, parts: { polling, random: createRandom() } });
  const announced = new Map<string, number>();
  const changes: Change[] = [];
  let mostSeries = 0;
  let blinked = 0;

  watched.poller.start();
  while (Date.now() < startedAt + lengthMs) {
    await pass(lookEveryMs, () => watched.outstanding === appliance.sleeping);
    look(await watched.page());
  }
  const untilMs = Date.now();
  const { requests } = appliance;
  await watched.close();
  await appliance.close();
  return summary();

  function look(page: string): void {
    for (const [, collector = '', value] of page.matchAll(
      /^zlb_collector_interval_seconds\{.*collector="(\w+)".*\} (.*)$/gm,
    )) {
      const seconds = Number(value);
      if (announced.get(collector) !== seconds) changes.push({ atMs: Date.now() - startedAt, collector, seconds });
      announced.set(collector, seconds);
    }
    const series = Number(/^zlb_exporter_series\{.*\} (.*)$/m.exec(page)?.[1] ?? 0);
    mostSeries = Math.max(mostSeries, series);
    blinked = Math.max(blinked, mostSeries - series);
  }

  function summary(): Watched {
    const fromMs = startedAt + settleMs;
    const settled = requests.filter(({ startedAt: begins }) => begins >= fromMs);
    const busyMs = settled.reduce(
      (sum, { startedAt: begins, endedAt }) => sum + Math.min(endedAt ?? untilMs, untilMs) - begins,
      0,
    );
    const backends = [...byPath(requests)].filter(([path]) => /\/stats\/farms\/[^/]+$/.test(path));
    const firstReads = backends.map(([, [first]]) => first?.endedAt ?? Number.POSITIVE_INFINITY);
    return {
      busyRatio: busyMs / (untilMs - fromMs),
      callsPerMinute: settled.length / ((untilMs - fromMs) / 60_000),
      farmStatus: agesOf(
        requests.filter(({ route }) => route === 'GET /stats/farms'),
        fromMs,
        untilMs,
      ),
      backendsMaxMs: Math.max(...backends.map(([, calls]) => agesOf(calls, fromMs, untilMs).max)),
      firstRoundMs: firstReads.length === farms ? Math.max(...firstReads) - startedAt : undefined,
      intervals: announced,
      changes,
      blinked,
    };
  }
}

function byPath(requests: readonly SimulatedRequest[]): Map<string, SimulatedRequest[]> {
  return Map.groupBy(requests, ({ path }) => path);
}

/** Lehmer's generator: the same jitter in every run. */
function createRandom(): () => number {
  let state = 20_261_120;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

/** Milliseconds. */
interface Ages {
  readonly max: number;
  readonly p99: number;
}

/**
 * Returns the age of the newest answer to a path, second by second. An answer may be as old as its
 * question, so the age counts from there.
 */
function agesOf(requests: readonly SimulatedRequest[], fromMs: number, untilMs: number): Ages {
  const answers = requests.flatMap(({ startedAt, endedAt }) => (endedAt === undefined ? [] : [{ startedAt, endedAt }]));
  const ages: number[] = [];
  let next = 0;
  for (let nowMs = fromMs; nowMs < untilMs; nowMs += 1_000) {
    while ((answers[next]?.endedAt ?? Number.POSITIVE_INFINITY) <= nowMs) next += 1;
    const newest = answers[next - 1];
    if (newest) ages.push(nowMs - newest.startedAt);
  }
  ages.sort((a, b) => a - b);
  return { max: ages.at(-1) ?? Number.NaN, p99: ages[Math.floor(ages.length * 0.99)] ?? Number.NaN };
}

const realImmediate = setImmediate;
const stepMs = 10;

/** From here on timers and clocks of this process stand still until {@link passTime} moves them. */
export function stopTime(nowMs: number): void {
  mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'Date'], now: nowMs });
  Object.defineProperty(performance, 'now', { value: () => Date.now() - nowMs });
}

/**
 * Moves time in steps of 10 ms, and waits with it while bytes are on the wire: `isQuiet` says when
 * none are.
 */
export async function passTime(ms: number, isQuiet: () => boolean): Promise<void> {
  const untilMs = Date.now() + ms;
  while (Date.now() < untilMs) {
    mock.timers.tick(stepMs);
    do await new Promise((resolve) => realImmediate(resolve));
    while (!isQuiet());
  }
}
