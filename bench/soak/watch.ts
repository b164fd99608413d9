import { sleep } from '../../src/lib/time.ts';
import { parseExposition, type ReadFamily } from '../../test/support/exposition-parser.ts';
import { feed } from '../../test/support/programs.ts';
import { usageOf } from '../measure.ts';
import type { SeenCall } from './appliance-process.ts';
import type { CanarySearch } from './canaries.ts';
import type { Fleet } from './fleet.ts';
import type { Measure, Point } from './memory.ts';
import { createCounterWatch, createSteadySeries, createUpCheck, samplesOf } from './page-checks.ts';
import type { PageReader } from './exporter.ts';
import type { Pace } from './plan.ts';
import type { Waits } from './punctuality.ts';

/** Scrapes all the time and holds every page against everything that has to be true of it. */
export interface Watch {
  readonly problems: Readonly<Record<Problem, readonly string[]>>;
  readonly measured: Readonly<Record<Measure, readonly Point[]>>;
  /** The calls that the simulated appliances saw, newest last. */
  readonly calls: readonly SeenCall[];
  /** Looks that began, and how many of them are over. */
  readonly begun: number;
  readonly over: number;
  readonly comparedCounters: number;
  readonly seen: { readonly up: number; readonly down: number };
  /** Sets the appliances that are configured at present; undefined for all. */
  expect(appliances: ReadonlySet<string> | undefined): void;
  /** Sets the appliances that have no faults from now on. */
  follow(appliances: readonly string[]): void;
  look(): Promise<void>;
  /** Looks again and again until the signal aborts. */
  keepLooking(everyMs: number, signal: AbortSignal): Promise<void>;
}

export const problems = ['unanswered', 'invalid', 'counter', 'steady', 'up', 'stale', 'leak'] as const;
export type Problem = (typeof problems)[number];

export interface WatchParts {
  readonly pid: number;
  readonly reader: PageReader;
  readonly fleet: Fleet;
  readonly pace: Pace;
  readonly search: CanarySearch;
  readonly waits: Waits;
  readonly promtool: boolean;
}

const promtoolEvery = 20;
const mostProblems = 1_000;

export function createWatch({ pid, reader, fleet, pace, search, waits, promtool }: WatchParts): Watch {
  const found: Record<Problem, string[]> = {
    unanswered: [],
    invalid: [],
    counter: [],
    steady: [],
    up: [],
    stale: [],
    leak: [],
  };
  const measured: Record<Measure, Point[]> = { resident: [], heap: [] };
  const calls: SeenCall[] = [];
  const counters = createCounterWatch();
  const upCheck = createUpCheck(pace);
  let expected: ReadonlySet<string> | undefined;
  let steady: ReadonlySet<string> = new Set();
  let steadySeries = createSteadySeries(steady);
  let begun = 0;
  let over = 0;

  /** Only so many: what is wrong with every series would fill the memory. */
  function note(problem: Problem, what: string | readonly string[]): void {
    const kept = found[problem];
    kept.push(...[what].flat().slice(0, Math.max(0, mostProblems - kept.length)));
  }

  async function look(): Promise<void> {
    begun += 1;
    waits.sample();
    const askedAtMs = Date.now();
    try {
      await lookAt(begun % 2 === 0 ? 'openmetrics' : 'text');
    } catch (error) {
      // The soak goes on: what memory does is worth knowing in any case.
      note('unanswered', `${new Date(askedAtMs).toISOString()}: ${String(error)}`);
    } finally {
      over += 1;
    }
  }

  async function lookAt(format: 'text' | 'openmetrics'): Promise<void> {
    const { status, text, askedAtMs } = await reader.read('/metrics', format);
    const seen = await fleet.drain();
    for (const call of seen) calls.push(call);
    upCheck.saw(seen);
    if (status !== 200) return note('invalid', `a scrape is answered with ${status}: ${text.slice(0, 200)}`);
    const page = readPage(text, format);
    if (!page) return;
    if (promtool && format === 'text' && begun % promtoolEvery === 1) checkByPromtool(text);
    note(
      'counter',
      counters.next(text, (name) => expected?.has(name) ?? true),
    );
    note('steady', steadySeries.next(text));
    note('up', upCheck.check(page, askedAtMs));
    note('leak', search.findIn(text) ?? []);
    measure(page, askedAtMs);
    checkAges(page, askedAtMs);
  }

  function readPage(text: string, format: 'text' | 'openmetrics'): ReadFamily[] | undefined {
    try {
      return parseExposition(text, format);
    } catch (error) {
      note('invalid', String(error));
      return undefined;
    }
  }

  function checkByPromtool(text: string): void {
    const { status, stdout, stderr } = feed('promtool', ['check', 'metrics'], Buffer.from(text));
    if (status !== 0) note('invalid', `promtool: ${stdout.toString()}${stderr}`);
  }

  function measure(page: readonly ReadFamily[], atMs: number): void {
    const take = (name: Measure, value: number): void => void measured[name].push({ atMs, value });
    take('resident', usageOf(pid).residentBytes);
    take('heap', samplesOf(page, 'nodejs_heap_size_used_bytes')[0]?.value ?? Number.NaN);
  }

  /** The list of farms of each steady appliance is as new as the schedule makes it. */
  function checkAges(page: readonly ReadFamily[], atMs: number): void {
    const times = samplesOf(page, 'zlb_collector_last_success_timestamp_seconds').filter(
      ({ labels: { appliance = '', collector } }) => steady.has(appliance) && collector === 'farms',
    );
    const ages = times.map(({ labels, value }) => ({ name: labels['appliance'], ageMs: atMs - value * 1_000 }));
    // An interval, and the time that a call and the machine may take.
    const oldestMs = pace.cycleMs * 1.25 + 1_000;
    for (const { name, ageMs } of ages)
      if (ageMs > oldestMs + waits.between(atMs - ageMs, atMs))
        note('stale', `the farms of ${name} were read ${(ageMs / 1_000).toFixed(1)} s ago`);
    for (const { labels, value } of samplesOf(page, 'zlb_up'))
      if (value !== 1 && steady.has(labels['appliance'] ?? '')) note('stale', `${labels['appliance']} is down`);
  }

  return {
    problems: found,
    measured,
    calls,
    get begun() {
      return begun;
    },
    get over() {
      return over;
    },
    get comparedCounters() {
      return counters.compared;
    },
    seen: upCheck.seen,
    expect(appliances) {
      expected = appliances;
    },
    follow(appliances) {
      steady = new Set(appliances);
      steadySeries = createSteadySeries(steady);
    },
    look,
    async keepLooking(everyMs, signal) {
      while (!signal.aborted) {
        await look();
        await sleep(everyMs, signal).catch(() => undefined);
      }
    },
  };
}
