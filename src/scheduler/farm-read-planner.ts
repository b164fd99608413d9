import type { Farm } from '../appliance/farm.ts';
import { backendsCollector } from '../collectors/backends.ts';
import { farmConfigCollector } from '../collectors/farm-config.ts';
import { type FarmList, farmsCollector } from '../collectors/farms.ts';
import { stateImpliesAllUp } from '../collectors/implied-states.ts';
import type { ApplianceState } from '../state/appliance-state.ts';
import type { Origin } from '../state/reading.ts';
import type { Job } from './job.ts';

/** A farm that is read for its numbers alone is read with every fourth run. */
const maxRunsPerRound = 4;
/**
 * A list of backends of this age is read at the cost of the urgent budget, and all such lists
 * within the second time: the state of a farm does not tell that a backend was removed.
 */
const oldListMs = 4_500_000;
const oldListsWithinMs = 900_000;

/**
 * Plans which farms a run reads. A farm whose own state implies those of its backends is read less
 * often: only its numbers are new.
 */
export class FarmReadPlanner {
  readonly #state: Pick<ApplianceState, 'reading' | 'elapsedNow'>;
  #byName: { readonly list: FarmList; readonly farms: ReadonlyMap<string, Farm> } | undefined;

  constructor(state: Pick<ApplianceState, 'reading' | 'elapsedNow'>) {
    this.#state = state;
  }

  /**
   * Returns true if the fresh state of the farm implies all states of this reading. Then only its
   * numbers grow old.
   */
  areStatesKnown({ collector, farm }: Origin): boolean {
    if (farm === undefined) return false;
    if (collector !== backendsCollector.name) return true;
    const read = this.#state.reading(backendsCollector, farm)?.data;
    const listed = this.#farm(farm);
    return (
      read !== undefined &&
      listed !== undefined &&
      stateImpliesAllUp(listed, read, this.#state.reading(farmConfigCollector, farm)?.data)
    );
  }

  /**
   * Plans a run over farms, those that waited longest first. `needed` are the farms whose states
   * only a read tells, then a part of those with an old list of backends. `others` is a part of the
   * rest, such that all are read within `max_stale`.
   */
  plan(
    job: Pick<Job, 'collector' | 'isUrgent' | 'intervalMs' | 'maxStaleMs' | 'runs'>,
    all: readonly Farm[],
  ): { readonly needed: readonly Farm[]; readonly others: readonly Farm[] } {
    const { collector, isUrgent, intervalMs } = job;
    if (isUrgent) return { needed: all, others: [] };
    if (collector.name !== backendsCollector.name) return { needed: [], others: all };
    const { needed = [], known = [] } = Object.groupBy(all, ({ name }) =>
      this.areStatesKnown({ collector: collector.name, farm: name }) ? 'known' : 'needed',
    );
    const oldPerRun = Math.ceil((known.length * intervalMs) / oldListsWithinMs);
    const old = known.filter((farm) => this.#isOld(farm)).slice(0, oldPerRun);
    const others = known.filter((farm) => !old.includes(farm));
    const every = runsPerRound(job);
    // An even part with each run, so that all are read in `every` runs.
    const upTo = (run: number): number => Math.floor((run * others.length) / every);
    const run = job.runs % every;
    return { needed: [...needed, ...old], others: others.slice(0, upTo(run + 1) - upTo(run)) };
  }

  #isOld({ name }: Farm): boolean {
    const { askedAtElapsedMs = this.#state.elapsedNow() } = this.#state.reading(backendsCollector, name) ?? {};
    return this.#state.elapsedNow() - askedAtElapsedMs > oldListMs;
  }

  #farm(name: string): Farm | undefined {
    const list = this.#state.reading(farmsCollector)?.data;
    if (!list) return undefined;
    if (this.#byName?.list !== list)
      this.#byName = { list, farms: new Map(list.farms.map((farm) => [farm.name, farm])) };
    return this.#byName.farms.get(name);
  }
}

/** Returns how many runs it takes to read every farm whose states are known without it. */
export function runsPerRound({ maxStaleMs, intervalMs }: Pick<Job, 'maxStaleMs' | 'intervalMs'>): number {
  return Math.min(Math.max(Math.floor(maxStaleMs / intervalMs) - 1, 1), maxRunsPerRound);
}
