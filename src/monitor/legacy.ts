import type { Job, ScheduledCollector } from './job.ts';
import type { LedgerState } from './ledger.ts';
import type { Held, Withheld } from './shelf.ts';
import type { KnownStates } from './transitions.ts';

/** What is known of an appliance, and shown: more than a change of its settings should cost. */
export interface Legacy {
  /** See lib/age-clock.ts; all ages are by it. */
  readonly age: () => number;
  /** The newest data of the collectors that read the whole appliance, by name. */
  readonly newest: ReadonlyMap<string, unknown>;
  readonly held: Held;
  readonly withheld: Withheld;
  readonly states: KnownStates;
  readonly ledger: LedgerState;
  /** The appliance is at rest until then, by the steady clock: a reload is no reason to ask it more often than it can bear. */
  readonly opensAtMs: number;
}

/** The data known already, but for collectors that are off now: it would stay true for ever, since nobody looks again. */
export function newestFrom(
  legacy: Legacy | undefined,
  collectors: readonly ScheduledCollector[],
): Map<string, unknown> {
  const on = new Set(collectors.map(({ collector }) => collector.name));
  return new Map([...(legacy?.newest ?? [])].filter(([name]) => on.has(name)));
}

/** What stands on the page stays, and only as long as the settings of now allow. */
export function heldFrom(legacy: Legacy | undefined, jobs: ReadonlyMap<string, Job>): Held {
  const held: Held = new Map(legacy?.held);
  for (const [key, reading] of held) {
    const job = jobs.get(reading.collector);
    if (job) held.set(key, { ...reading, maxStaleMs: job.maxStaleMs });
  }
  return held;
}
