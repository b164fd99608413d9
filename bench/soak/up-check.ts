import type { ReadFamily } from '../../test/support/exposition-parser.ts';
import type { SeenCall } from './appliance-process.ts';
import type { Pace } from './pace.ts';

/** Holds `zlb_up` against what the appliances answered. */
export interface UpCheck {
  /** What the appliances saw since it was told last. */
  saw(calls: readonly SeenCall[]): void;
  /** Returns each appliance that is said to be up without a reason; `atMs` is when the scrape began. */
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

  /** How long an authenticated answer may count: the shortest `max_stale`, where it is not stretched. */
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
