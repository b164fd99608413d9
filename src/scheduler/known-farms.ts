import type { Farm } from '../appliance/farm.ts';
import { backendsCollector } from '../collectors/backends.ts';
import { farmConfigCollector } from '../collectors/farm-config.ts';
import type { FarmList } from '../collectors/farm-list.ts';
import { farmsCollector } from '../collectors/farms.ts';
import { saysAllUp } from '../collectors/known-states.ts';
import type { ApplianceState } from '../state/appliance-state.ts';
import type { Origin } from '../state/reading.ts';
import type { Job } from './job.ts';

/** Farms of which only numbers are new are read with every fourth run. */
const maxRunsPerRound = 4;
/**
 * The age from which a list of backends is read at the cost of the urgent budget, and the time in
 * which all of that age are read: no word tells of a backend that somebody removed.
 */
const oldListMs = 4_500_000;
const oldListsWithinMs = 900_000;

/** Knows which farms need not be read to know the states of their backends: their word says them. */
export class KnownFarms {
  readonly #state: Pick<ApplianceState, 'reading' | 'elapsedNow'>;
  #byName: { readonly list: FarmList; readonly farms: ReadonlyMap<string, Farm> } | undefined;

  constructor(state: Pick<ApplianceState, 'reading' | 'elapsedNow'>) {
    this.#state = state;
  }

  /**
   * Returns true for a reading that says nothing about states which is not known anyway, so that
   * it may be as old as its numbers: while the word of its farm is fresh.
   */
  isKnown({ collector, farm }: Origin): boolean {
    if (farm === undefined) return false;
    if (collector !== backendsCollector.name) return true;
    const read = this.#state.reading(backendsCollector, farm)?.data;
    const fact = this.#farm(farm);
    return (
      read !== undefined &&
      fact !== undefined &&
      saysAllUp(fact, read, this.#state.reading(farmConfigCollector, farm)?.data)
    );
  }

  /**
   * Splits the farms of a run, those that waited longest first, into those that it must read, and
   * those of the others that it reads: a part of them, so that they all are read within `max_stale`.
   * Lists that are too old come after the farms in trouble, a part of them too.
   */
  split(
    job: Pick<Job, 'collector' | 'isUrgent' | 'intervalMs' | 'maxStaleMs' | 'runs'>,
    all: readonly Farm[],
  ): { readonly needed: readonly Farm[]; readonly others: readonly Farm[] } {
    const { collector, isUrgent, intervalMs } = job;
    if (isUrgent) return { needed: all, others: [] };
    if (collector.name !== backendsCollector.name) return { needed: [], others: all };
    const { needed = [], known = [] } = Object.groupBy(all, ({ name }) =>
      this.isKnown({ collector: collector.name, farm: name }) ? 'known' : 'needed',
    );
    const oldPerRun = Math.ceil((known.length * intervalMs) / oldListsWithinMs);
    const old = known.filter((farm) => this.#isOld(farm)).slice(0, oldPerRun);
    const others = known.filter((farm) => !old.includes(farm));
    const every = runsPerRound(job);
    // So many with each run that all have been read after the last.
    const upTo = (run: number): number => Math.floor((run * others.length) / every);
    const run = job.runs % every;
    return { needed: [...needed, ...old], others: others.slice(0, upTo(run + 1) - upTo(run)) };
  }

  #isOld({ name }: Farm): boolean {
    const { takenAtElapsedMs = this.#state.elapsedNow() } = this.#state.reading(backendsCollector, name) ?? {};
    return this.#state.elapsedNow() - takenAtElapsedMs > oldListMs;
  }

  #farm(name: string): Farm | undefined {
    const list = this.#state.reading(farmsCollector)?.data;
    if (!list) return undefined;
    if (this.#byName?.list !== list)
      this.#byName = { list, farms: new Map(list.farms.map((farm) => [farm.name, farm])) };
    return this.#byName.farms.get(name);
  }
}

/** Returns with how many runs of a collector the farms are read once whose words say their states. */
export function runsPerRound({ maxStaleMs, intervalMs }: Pick<Job, 'maxStaleMs' | 'intervalMs'>): number {
  return Math.min(Math.max(Math.floor(maxStaleMs / intervalMs) - 1, 1), maxRunsPerRound);
}
