import { mock } from 'node:test';
import { parseArgs } from 'node:util';
import type { SimulatedRequest } from '../simulator/request-log.ts';
import { largeWorld } from '../simulator/scenes/sizes.ts';
import { startSimulatedAppliance } from '../simulator/server.ts';
import { createTestPoller } from '../test/support/poller.ts';
import { percentile } from './measure.ts';
import { createRandom } from './random.ts';
import { inColumns } from './results.ts';

// How long the exporter is busy with its appliances, and how old its readings become: one poller
// with default settings, in simulated time unless minutes of real time are asked for.

/** An appliance as the table names it. */
interface Case {
  readonly name: string;
  readonly farms: number;
  readonly slowness: WatchParts['slowness'];
}

const minuteMs = 60_000;
const lookEveryMs = 10_000;
/** How far simulated time moves at once. */
const stepMs = 10;
const realImmediate = setImmediate;
const polling = { timeoutMs: 20_000, maxConcurrentPerAppliance: 1, maxBusyRatio: 0.25, jitterRatio: 0.1 };
/** The same jitter in every run. */
const jitterSeed = 20_261_119;
/** When the disturbed one becomes slow, and for how long. */
const disturbed = { fromMs: 30 * minuteMs, untilMs: 40 * minuteMs, times: 10 };

const usual: readonly Case[] = [10, 50, 100, 250, 500].map((farms) => ({
  name: `${farms} farms`,
  farms,
  slowness: () => 1,
}));
const slow: readonly Case[] = [
  { name: '100 farms, all calls 5 times as slow', farms: 100, slowness: () => 5 },
  {
    name: '50 farms, 10 times as slow for 10 minutes',
    farms: 50,
    slowness: (sinceMs) => (sinceMs >= disturbed.fromMs && sinceMs < disturbed.untilMs ? disturbed.times : 1),
  },
];

const { values } = parseArgs({ options: { 'real-minutes': { type: 'string' } } });
const realMinutes = values['real-minutes'];
const rows = realMinutes === undefined ? await simulated() : await real(Number(realMinutes) * minuteMs);
console.log(
  inColumns([
    [
      '',
      'busy',
      'calls/min',
      'farm status, max',
      'p99',
      'backends, max',
      'first round',
      'intervals',
      'changes',
      'blinked',
    ],
    ...rows,
  ]),
);

async function simulated(): Promise<string[][]> {
  const result: string[][] = [];
  stopTime(Date.parse('2026-11-20T21:00:00.500Z'));
  for (const each of [...usual, ...slow]) {
    const lasting = { settleMs: 60 * minuteMs, lengthMs: 120 * minuteMs };
    const watched = await watch({ ...each, backendsPerFarm: 4, ...lasting, pass: passTime });
    result.push(row(each, watched, lasting.settleMs));
    if (each.slowness(disturbed.fromMs) !== each.slowness(0)) tellRecovery(each, watched);
  }
  return result;
}

function real(lengthMs: number): Promise<string[][]> {
  const settleMs = lengthMs / 2;
  const pass = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
  return Promise.all(
    usual.map(async (each) =>
      row(each, await watch({ ...each, backendsPerFarm: 4, settleMs, lengthMs, pass }), settleMs),
    ),
  );
}

function row({ name }: Case, watched: Watched, settleMs: number): string[] {
  const { busyRatio, callsPerMinute, farmStatus, backendsMaxMs, firstRoundMs, intervals, changes, blinked } = watched;
  const shown = ['farms', 'backends', 'system', 'farm_config'];
  return [
    name,
    `${(busyRatio * 100).toFixed(1)} %`,
    callsPerMinute.toFixed(0),
    seconds(farmStatus.max),
    seconds(farmStatus.p99),
    seconds(backendsMaxMs),
    seconds(firstRoundMs ?? Number.NaN),
    shown.map((collector) => intervals.get(collector)).join(' '),
    String(changes.filter(({ atMs }) => atMs > settleMs).length),
    String(blinked),
  ];
}

function tellRecovery({ name }: Case, { changes }: Watched): void {
  const after = changes.filter(({ atMs }) => atMs > disturbed.untilMs);
  console.log(`${name}; intervals after that:`);
  for (const { atMs, collector, seconds: interval } of after)
    console.log(`  ${seconds(atMs - disturbed.untilMs)}: ${collector} ${interval} s`);
}

function seconds(ms: number): string {
  return `${Math.round(ms / 1_000)} s`;
}

interface Watched {
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

interface Change {
  readonly atMs: number;
  readonly collector: string;
  readonly seconds: number;
}

interface WatchParts {
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

/**
 * One poller with default settings on one appliance of that many farms, looked at every ten
 * seconds.
 */
async function watch(parts: WatchParts): Promise<Watched> {
  const { farms, backendsPerFarm, slowness, settleMs, lengthMs, pass } = parts;
  const startedAt = Date.now();
  const apiKey = 'key';
  const appliance = await startSimulatedAppliance({
    world: largeWorld({ farms, backendsPerFarm }),
    apiKey,
    latency: () => slowness(Date.now() - startedAt),
    now: Date.now,
  });
  const watched = createTestPoller(appliance, { apiKey, parts: { polling, random: createRandom(jitterSeed).share } });
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
    const backends = [...Map.groupBy(requests, ({ path }) => path)].filter(([path]) =>
      /\/stats\/farms\/[^/]+$/.test(path),
    );
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
  return { max: ages.length > 0 ? Math.max(...ages) : Number.NaN, p99: percentile(ages, 0.99) };
}

/** From here on timers and clocks of this process stand still until {@link passTime} moves them. */
function stopTime(nowMs: number): void {
  mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'Date'], now: nowMs });
  Object.defineProperty(performance, 'now', { value: () => Date.now() - nowMs });
}

/**
 * Moves time in steps of 10 ms, and waits with it while bytes are on the wire: `isQuiet` says when
 * none are.
 */
async function passTime(ms: number, isQuiet: () => boolean): Promise<void> {
  const untilMs = Date.now() + ms;
  while (Date.now() < untilMs) {
    mock.timers.tick(stepMs);
    do await new Promise((resolve) => realImmediate(resolve));
    while (!isQuiet());
  }
}
