import type { ReadFamily } from '../../test/support/exposition-parser.ts';
import type { SeenCall } from './appliance-process.ts';
import type { Pace } from './plan.ts';

/** Compares every counter with its value in the scrape before. */
export interface CounterWatch {
  /** Takes the next page; returns what fell, and what was lost of the appliances that are there. */
  next(page: string, isThere: (appliance: string) => boolean): readonly string[];
  /** Number of series that were compared at least once. */
  readonly compared: number;
}

/** Watches appliances to which nothing happens: a series that was once there has to stay. */
export interface SteadySeries {
  /** Returns the series that are gone. */
  next(page: string): readonly string[];
}

/** Buckets and sums of histograms count as well. */
export function createCounterWatch(): CounterWatch {
  const known = new Map<string, number>();
  const compared = new Set<string>();

  return {
    get compared() {
      return compared.size;
    },
    next(page, isThere) {
      const now = new Map(countersIn(page));
      const problems: string[] = [];
      for (const [series, value] of now) {
        const before = known.get(series);
        if (before !== undefined && !compared.has(series)) compared.add(ownText(series));
        if (before !== undefined && value < before) problems.push(`${series} fell from ${before} to ${value}`);
        known.set(before === undefined ? ownText(series) : series, value);
      }
      for (const series of known.keys()) {
        if (now.has(series)) continue;
        const appliance = applianceOf(series);
        // An appliance that comes back counts from 0; what it counts itself goes with its reading.
        if (appliance !== undefined && !isThere(appliance)) known.delete(series);
        else if (!series.startsWith('zlb_interface_')) problems.push(`${series} is gone`);
      }
      return problems;
    },
  };
}

export function createSteadySeries(appliances: ReadonlySet<string>): SteadySeries {
  const seen = new Set<string>();
  return {
    next(page) {
      const now = new Set(
        page
          .split('\n')
          .filter((line) => line !== '' && !line.startsWith('#'))
          .map((line) => line.slice(0, line.lastIndexOf(' ')))
          .filter((series) => appliances.has(applianceOf(series) ?? '')),
      );
      const gone = [...seen].filter((series) => !now.has(series));
      for (const series of now) if (!seen.has(series)) seen.add(ownText(series));
      return gone.map((series) => `${series} is gone`);
    },
  };
}

function applianceOf(series: string): string | undefined {
  return /[{,]appliance="([^"]*)"/.exec(series)?.[1];
}

function* countersIn(page: string): Generator<readonly [series: string, value: number]> {
  let counts = false;
  for (const line of page.split('\n')) {
    if (line.startsWith('# TYPE ')) counts = line.endsWith(' counter') || line.endsWith(' histogram');
    else if (counts && line !== '' && !line.startsWith('#')) {
      const end = line.lastIndexOf(' ');
      yield [line.slice(0, end), Number(line.slice(end + 1))];
    }
  }
}

/**
 * Returns the same text in memory of its own: a part of a page keeps all of the page, megabytes.
 */
function ownText(text: string): string {
  return Buffer.from(text).toString();
}

/** Holds `zlb_up` against what the appliances answered. */
export interface UpCheck {
  /** Records the calls that the appliances saw since the last time. */
  saw(calls: readonly SeenCall[]): void;
  /**
   * Returns each appliance that is said to be up without a reason; `atMs` is when the scrape began.
   */
  check(page: readonly ReadFamily[], atMs: number): readonly string[];
  /** How often an appliance was up and down. */
  readonly seen: { readonly up: number; readonly down: number };
}

/** Between the end of an answer as the appliance logs it and its arrival. */
const toleranceMs = 1_000;

export function createUpCheck({ collectors }: Pace): UpCheck {
  const answeredAt = new Map<string, number>();
  const configured = new Map(collectors.map((collector) => [collector.name, collector]));
  let announcedBefore: ReadonlyMap<string, number> = new Map();
  const seen = { up: 0, down: 0 };

  /**
   * How long an authenticated answer may count: the shortest `max_stale`, where it is not
   * stretched.
   */
  function upForMs(announced: readonly { readonly key: string; readonly collector: string; readonly ms: number }[]) {
    const each = announced.flatMap(({ key, collector, ms }) => {
      const { intervalMs = 0, maxStaleMs = Number.POSITIVE_INFINITY } = configured.get(collector) ?? {};
      const longest = Math.max(ms, announcedBefore.get(key) ?? 0);
      return longest > intervalMs ? Math.max(maxStaleMs, longest * 2) : maxStaleMs;
    });
    return Math.min(...each);
  }

  return {
    seen,
    saw(calls) {
      for (const { appliance, endedAt, authenticated } of calls)
        if (authenticated) answeredAt.set(appliance, Math.max(endedAt, answeredAt.get(appliance) ?? 0));
    },
    check(page, atMs) {
      const announced = samplesOf(page, 'zlb_collector_interval_seconds').map(({ labels, value }) => ({
        key: `${labels['appliance']} ${labels['collector']}`,
        appliance: labels['appliance'],
        collector: labels['collector'] ?? '',
        ms: value * 1_000,
      }));
      const byAppliance = Map.groupBy(announced, ({ appliance }) => appliance);
      const problems = samplesOf(page, 'zlb_up').flatMap(({ labels: { appliance = '' }, value }) => {
        seen[value === 1 ? 'up' : 'down'] += 1;
        if (value !== 1) return [];
        const agoMs = atMs - (answeredAt.get(appliance) ?? Number.NEGATIVE_INFINITY);
        const allowedMs = upForMs(byAppliance.get(appliance) ?? []) + toleranceMs;
        const ago = `${(agoMs / 1_000).toFixed(1)} s ago, and ${(allowedMs / 1_000).toFixed(1)} s count`;
        return agoMs <= allowedMs ? [] : [`${appliance} is up; its last authenticated answer was ${ago}`];
      });
      announcedBefore = new Map(announced.map(({ key, ms }) => [key, ms]));
      return problems;
    },
  };
}

/** The samples of a family; none where the page lacks it. */
export function samplesOf(page: readonly ReadFamily[], family: string): ReadFamily['samples'] {
  return page.find(({ name }) => name === family)?.samples ?? [];
}
